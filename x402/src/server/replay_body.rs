use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::{Bytes, BytesMut};
use http_body::{Body, Frame, SizeHint};

/// Bytes below which a piece is copied to those before it. A piece that is kept takes some hundred bytes beside its own: a sender
/// of single bytes would fill the memory long before it reaches the limit.
const SMALL: usize = 4 << 10;

/// Bytes of small pieces that are put together.
const GATHERED_MAX: usize = 64 << 10;

/// A body, some of which was read ahead. It yields the same bytes and trailers as the original, small pieces put together.
#[derive(Debug)]
pub struct ReplayBody<B: Body> {
    read: VecDeque<Frame<Bytes>>,
    /// Small pieces after those in `read`; empty unless the body is being read ahead.
    gathered: BytesMut,
    error: Option<B::Error>,
    rest: Option<B>,
}

/// How reading ahead ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum ReadAhead {
    Complete,
    TooLong,
    Slow,
    Broken,
}

impl<B: Body<Data = Bytes> + Unpin> ReplayBody<B> {
    /// A body of which nothing was read.
    pub(super) fn untouched(body: B) -> Self {
        Self {
            read: VecDeque::new(),
            gathered: BytesMut::new(),
            error: None,
            rest: Some(body),
        }
    }

    /// Reads a body to its end, but no further than the limits.
    pub(super) async fn read_ahead(body: B, limit: usize, within: Duration) -> (Self, ReadAhead) {
        let mut this = Self::untouched(body);
        let at_least = usize::try_from(this.size_hint().lower()).unwrap_or(usize::MAX);
        if at_least > limit {
            return (this, ReadAhead::TooLong);
        }
        let reading = tokio::time::timeout(within, this.read_frames(limit));
        let outcome = reading.await.unwrap_or(ReadAhead::Slow);
        this.keep_gathered();
        (this, outcome)
    }

    /// Keeps all that arrives, also if the future is dropped.
    async fn read_frames(&mut self, limit: usize) -> ReadAhead {
        let mut length = 0;
        while let Some(rest) = &mut self.rest {
            match poll_fn(|context| Pin::new(&mut *rest).poll_frame(context)).await {
                Some(Ok(frame)) => {
                    length += frame.data_ref().map_or(0, Bytes::len);
                    self.keep(frame);
                    if length > limit {
                        return ReadAhead::TooLong;
                    }
                }
                Some(Err(error)) => {
                    self.error = Some(error);
                    self.rest = None;
                    return ReadAhead::Broken;
                }
                None => self.rest = None,
            }
        }
        ReadAhead::Complete
    }

    /// Puts a small piece to those before it. The first one is kept as it is: most bodies have one.
    fn keep(&mut self, frame: Frame<Bytes>) {
        match frame.data_ref() {
            Some(data) if data.len() < SMALL && !self.read.is_empty() => {
                self.gathered.extend_from_slice(data);
                if self.gathered.len() >= GATHERED_MAX {
                    self.keep_gathered();
                }
            }
            _ => {
                self.keep_gathered();
                self.read.push_back(frame);
            }
        }
    }

    fn keep_gathered(&mut self) {
        if !self.gathered.is_empty() {
            let data = std::mem::take(&mut self.gathered).freeze();
            self.read.push_back(Frame::data(data));
        }
    }

    /// The data that was read ahead.
    pub(super) fn pieces(&self) -> impl Iterator<Item = &Bytes> {
        self.read.iter().filter_map(Frame::data_ref)
    }
}

/// No field is pinned.
impl<B: Body + Unpin> Unpin for ReplayBody<B> {}

impl<B: Body<Data = Bytes> + Unpin> Body for ReplayBody<B> {
    type Data = Bytes;
    type Error = B::Error;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, B::Error>>> {
        if let Some(frame) = self.read.pop_front() {
            return Poll::Ready(Some(Ok(frame)));
        }
        if let Some(error) = self.error.take() {
            return Poll::Ready(Some(Err(error)));
        }
        match &mut self.rest {
            Some(rest) => Pin::new(rest).poll_frame(context),
            None => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        let is_rest_over = self.rest.as_ref().is_none_or(B::is_end_stream);
        self.read.is_empty() && self.error.is_none() && is_rest_over
    }

    fn size_hint(&self) -> SizeHint {
        let read: u64 = self.pieces().map(|it| it.len() as u64).sum();
        let rest = self.rest.as_ref().map(B::size_hint);
        let rest = rest.unwrap_or_else(|| SizeHint::with_exact(0));
        let mut hint = SizeHint::new();
        if let Some(upper) = rest.upper() {
            hint.set_upper(read.saturating_add(upper));
        }
        hint.set_lower(read.saturating_add(rest.lower()));
        hint
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use futures_util::{StreamExt, stream};
    use http_body_util::{BodyExt, StreamBody};
    use std::convert::Infallible;

    type Piece = Result<Frame<Bytes>, Infallible>;

    fn body(pieces: Vec<Bytes>) -> impl Body<Data = Bytes, Error = Infallible> + Unpin {
        StreamBody::new(stream::iter(pieces).map(|it| -> Piece { Ok(Frame::data(it)) }))
    }

    /// Pieces of these lengths in turn, each byte the piece's number.
    fn pieces(lengths: &[usize], count: usize) -> Vec<Bytes> {
        let lengths = lengths.iter().cycle().take(count).enumerate();
        let pieces = lengths.map(|(at, length)| Bytes::from(vec![at as u8; *length]));
        pieces.collect()
    }

    #[tokio::test]
    async fn small_pieces_are_put_together_and_none_is_lost() {
        const LIMIT: usize = 1 << 20;
        let within = Duration::from_secs(60);
        for (lengths, count, most) in [
            (&[1][..], LIMIT, 18),
            (&[0], 1_000_000, 1),
            (&[1, 0, 3, SMALL - 1], 500, 20),
            (&[1, SMALL], 512, 512),
            (&[SMALL, 1, 1, 1], 1_000, 502),
            (&[LIMIT], 1, 1),
            (&[1], LIMIT + 5, 18), // too long
        ] {
            let sent = pieces(lengths, count);
            let expected: Vec<u8> = sent.concat();
            let reading = ReplayBody::read_ahead(body(sent), LIMIT, within);
            let (replayed, outcome) = reading.await;
            let is_whole = expected.len() <= LIMIT;
            assert_eq!(outcome == ReadAhead::Complete, is_whole, "{lengths:?}");
            let kept = replayed.pieces().count();
            assert!(kept <= most, "{kept} pieces of {count} of {lengths:?}");
            assert!(replayed.size_hint().lower() <= expected.len() as u64);
            let found = replayed.collect().await.unwrap().to_bytes();
            assert!(found == expected, "{lengths:?}");
        }
    }

    #[tokio::test]
    async fn a_slow_body_loses_none_of_its_small_pieces() {
        let (release, held) = tokio::sync::oneshot::channel();
        let late = stream::once(async {
            held.await.unwrap();
            Ok(Frame::data(Bytes::from_static(b"late")))
        });
        let first = stream::iter(pieces(&[1], 100)).map(|it| -> Piece { Ok(Frame::data(it)) });
        let body = StreamBody::new(Box::pin(first.chain(late)));
        let reading = ReplayBody::read_ahead(body, 1 << 20, Duration::from_millis(50));
        let (replayed, outcome) = reading.await;
        assert_eq!((outcome, replayed.pieces().count()), (ReadAhead::Slow, 2));
        release.send(()).unwrap();
        let found = replayed.collect().await.unwrap().to_bytes();
        let expected = [pieces(&[1], 100).concat(), b"late".to_vec()].concat();
        assert_eq!(found, expected);
    }
}
