use std::{
    collections::VecDeque,
    future::poll_fn,
    pin::Pin,
    task::{Context, Poll},
    time::Duration,
};

use bytes::Bytes;
use http_body::{Body, Frame, SizeHint};

/// A body, some of which was read ahead. It yields the same frames as the original.
#[derive(Debug)]
pub struct ReplayBody<B: Body> {
    read: VecDeque<Frame<Bytes>>,
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
        (this, outcome)
    }

    /// Keeps every frame, also if the future is dropped.
    async fn read_frames(&mut self, limit: usize) -> ReadAhead {
        let mut length = 0;
        while let Some(rest) = &mut self.rest {
            match poll_fn(|context| Pin::new(&mut *rest).poll_frame(context)).await {
                Some(Ok(frame)) => {
                    length += frame.data_ref().map_or(0, Bytes::len);
                    self.read.push_back(frame);
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
