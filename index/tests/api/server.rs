//! The router, asked without a socket.
use crate::api::described::Description;
use crate::worlds::database::{Fresh, filled, fresh};
use crate::worlds::given::fill;
use axum::{
    Router,
    body::{Body, to_bytes},
    http::{HeaderMap, Method, Request, StatusCode, header},
};
use concord_index::{
    api::{Api, ExplainPage, Limits, Readers, router},
    store::{Database, DeploymentId, Store},
};
use serde_json::Value;
use std::time::Duration;
use tokio::sync::OnceCell;
use tower::ServiceExt;

static DESCRIPTION: OnceCell<Description> = OnceCell::const_new();

pub struct Server {
    router: Router,
    pub database: Fresh,
    pub store: Store<Database>,
    pub ids: Vec<DeploymentId>,
}

pub struct Answer {
    pub status: StatusCode,
    pub headers: HeaderMap,
    pub text: String,
}

impl Answer {
    pub fn json(&self) -> Value {
        assert_eq!(
            self.headers[header::CONTENT_TYPE],
            "application/json; charset=utf-8"
        );
        serde_json::from_str(&self.text).unwrap()
    }

    /// The error's code and field.
    pub fn error(&self) -> (u16, String, Value) {
        let error = &self.json()["error"];
        let code = error["code"].as_str().unwrap().to_owned();
        assert!(!error["message"].as_str().unwrap().is_empty());
        (self.status.as_u16(), code, error["field"].clone())
    }
}

/// The limits of a service, but for the time: a busy machine may take longer.
pub fn patient() -> Limits {
    Limits {
        time: Duration::from_secs(600),
        ..Limits::default()
    }
}

impl Server {
    pub fn empty(limits: Limits) -> Self {
        Self::of(fresh(), limits, None)
    }

    /// With a page that verifies bundles.
    pub fn with_explain_page(page: ExplainPage) -> Self {
        Self::of(fresh(), patient(), Some(page))
    }

    fn of(database: Fresh, limits: Limits, page: Option<ExplainPage>) -> Self {
        let store = Store::open(database.location.open().unwrap()).unwrap();
        let readers = Readers::of_store(database.location.clone(), limits.queries, limits.time);
        Self {
            router: router(Api::new(readers, limits, page)),
            database,
            store,
            ids: vec![],
        }
    }

    pub fn start() -> Self {
        Self::with(patient())
    }

    pub fn with(limits: Limits) -> Self {
        let filled = filled(|database| {
            fill(&mut Store::open(database).unwrap());
        });
        let mut server = Self::of(filled, limits, None);
        let deployments = server.store.deployments().unwrap();
        server.ids = deployments.into_iter().map(|it| it.id).collect();
        server
    }

    /// The same on a port of its own: its URL.
    pub async fn listen(&self) -> String {
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let router = self.router.clone();
        tokio::spawn(async move { axum::serve(listener, router).await });
        url
    }

    /// The answer, which must be of the form that the API's description has for it.
    pub async fn send(&self, request: Request<Body>) -> Answer {
        let (method, path) = (request.method().clone(), request.uri().path().to_owned());
        let answer = self.sent(request).await;
        let description = DESCRIPTION.get_or_init(|| self.description()).await;
        description.require(&method, &path, &answer);
        answer
    }

    async fn sent(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = to_bytes(body, 16 << 20).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            text: String::from_utf8(bytes.to_vec()).unwrap(),
        }
    }

    /// What the API says of itself: the same in every server.
    pub async fn description(&self) -> Description {
        let request = Request::builder().uri("/v1/openapi.json");
        let answer = self.sent(request.body(Body::empty()).unwrap()).await;
        Description::new(answer.json())
    }

    pub async fn get(&self, path: &str) -> Answer {
        let request = Request::builder().uri(path).body(Body::empty());
        self.send(request.unwrap()).await
    }

    pub async fn post(&self, path: &str, body: &Value) -> Answer {
        let request = Request::builder().method(Method::POST).uri(path);
        let request = request.header(header::CONTENT_TYPE, "application/json");
        self.send(request.body(Body::from(body.to_string())).unwrap())
            .await
    }

    /// The answer to a request that must succeed.
    pub async fn posted(&self, path: &str, body: Value) -> Value {
        let answer = self.post(path, &body).await;
        assert_eq!(answer.status, StatusCode::OK, "{body}: {}", answer.text);
        answer.json()
    }

    pub async fn got(&self, path: &str) -> Value {
        let answer = self.get(path).await;
        assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
        answer.json()
    }
}
