//! The HTTP server of every service: one slow client never keeps the others out, or a service from
//! ending.
mod connections;
mod stop;

pub use stop::asked_to_stop;

use connections::{Ask, Connection, Connections, Request as InRequest};
use futures_util::future::{Either, select};
use hyper::{
    Request, Response,
    body::{Body, Frame, Incoming, SizeHint},
    server::conn::http1,
    service::{Service as _, service_fn},
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    service::TowerToHyperService,
};
use std::{
    error::Error,
    future::Future,
    io,
    net::SocketAddr,
    pin::{Pin, pin},
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    net::{TcpListener, TcpStream},
    sync::watch,
    task::JoinSet,
    time::{sleep, timeout},
};
use tower_service::Service;

/// What a server bears of its clients.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ServerLimits {
    /// Connections at once.
    pub connections: usize,
    /// Until a request's headers are complete, and between two requests of a connection.
    pub headers: Duration,
    /// How long a request may hold its connection if others wait for one.
    pub request: Duration,
    /// For requests that have begun when the server is to end.
    pub end: Duration,
}

impl Default for ServerLimits {
    fn default() -> Self {
        Self {
            connections: 1_024,
            headers: Duration::from_secs(10),
            request: Duration::from_secs(60),
            end: Duration::from_secs(30),
        }
    }
}

/// The client's address: each request has it among its extensions.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Peer(pub SocketAddr);

/// Bytes of a request's headers.
const HEADERS: usize = 64 << 10;

/// After an error of the listener, such as no more descriptors.
const PAUSE: Duration = Duration::from_secs(1);

/// Answers requests until `end` is ready. Then requests that have begun are answered within the limit,
/// and all other connections are closed.
///
/// If there are as many connections as the limit allows, a new one takes the place of the oldest that has
/// no request, or else of the oldest request that takes longer than the limit. If there is neither, the
/// new one is closed.
pub async fn serve<S, B>(
    listener: TcpListener,
    service: S,
    limits: ServerLimits,
    end: impl Future<Output = ()>,
) where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let connections = Connections::new(limits);
    let mut tasks = JoinSet::new();
    let mut end = pin!(end);
    while let Either::Right((accepted, _)) = select(end.as_mut(), pin!(listener.accept())).await {
        while tasks.try_join_next().is_some() {}
        match accepted {
            Ok((stream, address)) => {
                if let Some(connection) = connections.open() {
                    let service = service.clone();
                    tasks.spawn(answer((stream, Peer(address)), service, limits, connection));
                }
            }
            Err(error) if is_of_client(&error) => (),
            Err(_) => {
                connections.make_room();
                sleep(PAUSE).await;
            }
        }
    }
    drop(listener);
    connections.end();
    let ended = async { while tasks.join_next().await.is_some() {} };
    let _ = timeout(limits.end, ended).await; // what is left ends here
    tasks.shutdown().await;
}

/// Whether one client failed, and not the listener.
fn is_of_client(error: &io::Error) -> bool {
    use io::ErrorKind::{ConnectionAborted, ConnectionRefused, ConnectionReset, Interrupted};
    let kinds = [
        ConnectionAborted,
        ConnectionRefused,
        ConnectionReset,
        Interrupted,
    ];
    kinds.contains(&error.kind())
}

async fn answer<S, B>(
    (stream, peer): (TcpStream, Peer),
    service: S,
    limits: ServerLimits,
    connection: Arc<Connection>,
) where
    S: Service<Request<Incoming>, Response = Response<B>> + Clone + Send + 'static,
    S::Error: Into<Box<dyn Error + Send + Sync>>,
    S::Future: Send,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + Unpin + 'static,
{
    let _ = stream.set_nodelay(true); // slower without, and no less right
    let mut asked = connection.asked();
    let service = service_fn(move |mut request: Request<Incoming>| {
        request.extensions_mut().insert(peer);
        let held = connection.begin();
        let answered = TowerToHyperService::new(service.clone()).call(request);
        async move {
            let response = answered.await?;
            Ok::<_, S::Error>(response.map(|body| Held {
                body,
                _request: held,
            }))
        }
    });
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(limits.headers)
        .max_buf_size(HEADERS)
        .serve_connection(TokioIo::new(stream), service);
    let mut serving = pin!(serving);
    loop {
        let ask = match select(serving.as_mut(), pin!(next(&mut asked))).await {
            Either::Left(_) => return, // an error is the client's
            Either::Right((ask, _)) => ask,
        };
        match ask {
            Ask::Go => (),
            Ask::Finish => serving.as_mut().graceful_shutdown(),
            Ask::Close => return,
        }
    }
}

async fn next(asked: &mut watch::Receiver<Ask>) -> Ask {
    match asked.changed().await {
        Ok(()) => *asked.borrow_and_update(),
        Err(_) => Ask::Close,
    }
}

/// The body of an answer: its connection has a request until all of it was taken.
struct Held<B> {
    body: B,
    _request: InRequest,
}

impl<B: Body + Unpin> Body for Held<B> {
    type Data = B::Data;
    type Error = B::Error;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<B::Data>, B::Error>>> {
        Pin::new(&mut self.get_mut().body).poll_frame(context)
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}
