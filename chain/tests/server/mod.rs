//! The server of every service, attacked by slow and idle clients.
use concord_chain::server::{Peer, ServerLimits, serve};
use std::{
    convert::Infallible,
    future::{Ready, ready},
    net::SocketAddr,
    pin::Pin,
    sync::Arc,
    task::{Context, Poll},
    time::Duration,
};
use tokio::{
    io::{AsyncReadExt, AsyncWriteExt},
    net::{TcpListener, TcpStream},
    sync::{Semaphore, oneshot},
    task::JoinHandle,
};
use tower_service::Service;

/// Longer than a test takes.
const HOUR: Duration = Duration::from_secs(3_600);

const LIMITS: ServerLimits = ServerLimits {
    connections: 4,
    headers: HOUR,
    request: HOUR,
    end: HOUR,
};

/// Answers `/livez` at once, and every other path when it is released.
#[derive(Clone)]
struct App {
    begun: Arc<Semaphore>,
    released: Arc<Semaphore>,
}

type Answer = hyper::Response<String>;

impl Service<hyper::Request<hyper::body::Incoming>> for App {
    type Response = Answer;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Answer, Infallible>> + Send>>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: hyper::Request<hyper::body::Incoming>) -> Self::Future {
        let peer = request.extensions().get::<Peer>().unwrap().0;
        let text = format!("{} answered", peer.ip());
        let answered: Ready<_> = ready(Ok(Answer::new(text)));
        if request.uri().path() == "/livez" {
            return Box::pin(answered);
        }
        self.begun.add_permits(1);
        let released = Arc::clone(&self.released);
        Box::pin(async move {
            released.acquire().await.unwrap().forget();
            answered.await
        })
    }
}

struct Server {
    address: SocketAddr,
    app: App,
    end: oneshot::Sender<()>,
    serving: JoinHandle<()>,
}

impl Server {
    async fn start(limits: ServerLimits) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let app = App {
            begun: Arc::new(Semaphore::new(0)),
            released: Arc::new(Semaphore::new(0)),
        };
        let (end, ended) = oneshot::channel();
        let serving = serve(listener, app.clone(), limits, async {
            let _ = ended.await;
        });
        Self {
            address,
            app,
            end,
            serving: tokio::spawn(serving),
        }
    }

    async fn sent(&self, text: &str) -> TcpStream {
        let mut stream = TcpStream::connect(self.address).await.unwrap();
        stream.write_all(text.as_bytes()).await.unwrap();
        stream
    }

    /// A request that is not answered until it is released.
    async fn begun(&self) -> TcpStream {
        let stream = self.sent("GET /slow HTTP/1.1\r\nHost: a\r\n\r\n").await;
        self.app.begun.acquire().await.unwrap().forget();
        stream
    }

    async fn is_live(&self) -> bool {
        let request = "GET /livez HTTP/1.1\r\nHost: a\r\nConnection: close\r\n\r\n";
        let answer = rest(self.sent(request).await).await;
        answer.starts_with("HTTP/1.1 200 OK\r\n") && answer.ends_with("127.0.0.1 answered")
    }
}

/// What the server sends until it closes the connection.
async fn rest(mut stream: TcpStream) -> String {
    let mut bytes = Vec::new();
    let _ = stream.read_to_end(&mut bytes).await; // a reset is an end too
    String::from_utf8(bytes).unwrap()
}

#[tokio::test]
async fn headers_that_never_end_close_their_connection() {
    let server = Server::start(ServerLimits {
        headers: Duration::from_millis(50),
        ..LIMITS
    })
    .await;
    for text in ["", "GET /li", "GET /livez HTTP/1.1\r\nX: a\r\n"] {
        let slow = server.sent(text).await;
        let answer = rest(slow).await;
        assert!(!answer.contains("200"), "{text:?}: {answer}");
    }
    // Also those after a request that was answered.
    let kept = "GET /livez HTTP/1.1\r\nHost: a\r\n\r\nGET /li";
    let answer = rest(server.sent(kept).await).await;
    assert!(answer.starts_with("HTTP/1.1 200 OK\r\n"), "{answer}");
    assert!(server.is_live().await);
}

#[tokio::test]
async fn more_idle_connections_than_the_limit_keep_nobody_out() {
    let server = Server::start(LIMITS).await;
    let mut idle = Vec::new();
    for number in 0..5 * LIMITS.connections {
        let text = ["", "GET /livez HTTP/1.1\r\nX: "][number % 2];
        idle.push(server.sent(text).await);
    }
    assert!(server.is_live().await);
    // The oldest ones made room.
    for old in idle.drain(..4 * LIMITS.connections) {
        assert_eq!(rest(old).await, "");
    }
}

#[tokio::test]
async fn a_request_that_has_begun_keeps_its_connection() {
    let server = Server::start(LIMITS).await;
    let mut begun = Vec::new();
    for _ in 0..LIMITS.connections {
        begun.push(server.begun().await);
    }
    assert!(!server.is_live().await); // there is no room
    server.app.released.add_permits(LIMITS.connections);
    for mut stream in begun {
        let mut answer = vec![0; 15];
        stream.read_exact(&mut answer).await.unwrap();
        assert_eq!(answer, b"HTTP/1.1 200 OK");
    }
    assert!(server.is_live().await);
}

#[tokio::test]
async fn a_request_that_takes_too_long_makes_room() {
    let server = Server::start(ServerLimits {
        request: Duration::ZERO,
        ..LIMITS
    })
    .await;
    let mut begun = Vec::new();
    for _ in 0..LIMITS.connections {
        begun.push(server.begun().await);
    }
    assert!(server.is_live().await);
    assert_eq!(rest(begun.remove(0)).await, "");
}

#[tokio::test]
async fn a_server_that_ends_answers_what_has_begun_and_waits_for_nothing_else() {
    let server = Server::start(LIMITS).await;
    let half = server.sent("GET /li").await;
    let begun = server.begun().await;
    server.end.send(()).unwrap();
    assert_eq!(rest(half).await, "");
    server.app.released.add_permits(1);
    let answer = rest(begun).await;
    assert!(answer.ends_with("answered"), "{answer}");
    server.serving.await.unwrap();
    assert!(TcpStream::connect(server.address).await.is_err());
}

#[tokio::test]
async fn a_server_ends_in_time_also_if_a_request_does_not() {
    let server = Server::start(ServerLimits {
        end: Duration::ZERO,
        ..LIMITS
    })
    .await;
    let begun = server.begun().await;
    server.end.send(()).unwrap();
    server.serving.await.unwrap();
    assert_eq!(rest(begun).await, "");
}
