//! What the API refuses, and how.
use crate::api::server::{Server, patient};
use crate::worlds::given::{account, name};
use axum::{
    body::Body,
    http::{Method, Request, StatusCode, header},
};
use concord_index::{
    StoreError,
    api::{Api, Limits, Reader, Readers, router},
    store::{Dialect, Engine, Sqlite, Store, Value},
};
use serde_json::json;
use std::{
    sync::{
        Arc, Weak,
        atomic::{AtomicBool, AtomicUsize, Ordering},
    },
    thread,
    time::Duration,
};
use tower::ServiceExt;

#[tokio::test]
async fn an_unknown_filter_is_an_error_that_names_it() {
    let server = Server::start();
    let feedback = |member: &str| json!({ "filters": { "feedback": { "fromReviewers": "everyone", member: 1 } } });
    let cases = [
        (
            "/v1/agents/search",
            json!({ "filters": { "hasMcp": true } }),
            "filters.hasMcp",
        ),
        (
            "/v1/agents/search",
            feedback("minStars"),
            "filters.feedback.minStars",
        ),
        ("/v1/agents/search", json!({ "filter": {} }), "filter"),
        (
            "/v1/agents/search",
            json!({ "options": { "size": 1 } }),
            "options.size",
        ),
        (
            "/v1/feedback/search",
            json!({ "filters": { "agentid": "1:1" } }),
            "filters.agentid",
        ),
        (
            "/v1/feedback/search",
            json!({ "options": { "sort": [] } }),
            "options.sort",
        ),
        ("/v1/summaries", json!({ "reviewers": [] }), "reviewers"),
    ];
    for (path, body, field) in cases {
        let found = server.post(path, &body).await.error();
        assert_eq!(
            found,
            (400, "unknown_field".to_owned(), json!(field)),
            "{body}"
        );
    }
    let found = server
        .get(&format!("/v1/agents/{}?full=1", name(0, 1)))
        .await
        .error();
    assert_eq!(found, (400, "unknown_field".to_owned(), json!("full")));
}

/// An empty answer would be a wrong one.
#[tokio::test]
async fn a_filter_that_is_not_indexed_is_refused_by_name() {
    let server = Server::start();
    for filter in ["capabilities", "skills", "tasks", "names"] {
        let body = json!({ "filters": { filter: true } });
        let found = server.post("/v1/feedback/search", &body).await.error();
        let field = json!(format!("filters.{filter}"));
        assert_eq!(found, (501, "unavailable_filter".to_owned(), field));
    }
}

#[tokio::test]
async fn what_is_malformed_is_named_with_its_limit() {
    let server = Server::start();
    let feedback = |member: &str, value| json!({ "filters": { "feedback": { "fromReviewers": "everyone", member: value } } });
    let cases = [
        (
            feedback("minValue", json!("1e3")),
            "filters.feedback.minValue",
        ),
        (feedback("minCount", json!(-1)), "filters.feedback.minCount"),
        (
            feedback("profile", json!("both")),
            "filters.feedback.profile",
        ),
        (
            json!({ "filters": { "owners": ["0x12"] } }),
            "filters.owners",
        ),
        (
            json!({ "filters": { "operators": ["0x12"] } }),
            "filters.operators",
        ),
        (
            json!({ "filters": { "chains": ["eip155:2"] } }),
            "filters.chains",
        ),
        (
            json!({ "filters": { "agentIds": ["42"] } }),
            "filters.agentIds",
        ),
        (
            json!({ "options": { "sort": ["name:asc"] } }),
            "options.sort",
        ),
        (
            json!({ "options": { "sort": ["count:desc"] } }),
            "options.sort",
        ),
        (json!({ "options": { "pageSize": 0 } }), "pageSize"),
        (json!({ "options": { "pageSize": 201 } }), "pageSize"),
        (json!({ "options": { "cursor": "00" } }), "cursor"),
    ];
    for (body, field) in cases {
        let (status, code, found) = server.post("/v1/agents/search", &body).await.error();
        assert_eq!((status, code.as_str()), (400, "malformed"), "{body}");
        assert_eq!(found, json!(field), "{body}");
    }
    for name in ["name", "description", "keyword", "webContains"] {
        let search = |length| json!({ "filters": { name: "x".repeat(length) } });
        let path = "/v1/agents/search";
        server.posted(path, search(256)).await;
        let answer = server.post(path, &search(257)).await;
        assert!(answer.text.contains("the limit is 256"), "{}", answer.text);
        assert_eq!(answer.error().2, json!(format!("filters.{name}")));
    }
    let many = vec![account(1).to_string(); 1_001];
    let body = json!({ "filters": { "owners": many } });
    let answer = server.post("/v1/agents/search", &body).await;
    assert!(answer.text.contains("the limit is 1000"), "{}", answer.text);
}

#[tokio::test]
async fn a_cursor_of_another_search_is_refused() {
    let server = Server::start();
    let options = json!({ "pageSize": 1 });
    let path = "/v1/agents/search";
    let first = server.posted(path, json!({ "options": options })).await;
    let options = json!({ "cursor": first["nextCursor"] });
    let other = json!({ "filters": { "incomplete": false }, "options": options });
    let answer = server.post(path, &other).await;
    assert_eq!(answer.error().2, json!("cursor"));
    assert!(answer.text.contains("another search"), "{}", answer.text);
}

#[tokio::test]
async fn a_long_body_and_an_unknown_path_or_method_are_refused() {
    let server = Server::start();
    let body = json!({ "filters": { "owners": ["x".repeat(300_000)] } });
    assert_eq!(server.post("/v1/agents/search", &body).await.error().0, 413);
    assert_eq!(server.get("/v1/nothing").await.error().0, 404);
    assert_eq!(
        server.get("/v1/agents/eip155:1:0x12:1").await.error().0,
        404
    );
    assert_eq!(server.get("/v1/summaries").await.error().0, 405);
    let request = Request::builder()
        .method(Method::POST)
        .uri("/v1/agents/search");
    let broken = request.body(Body::from("{")).unwrap();
    assert_eq!(server.send(broken).await.error().0, 400);
}

#[tokio::test]
async fn a_path_that_is_not_text_is_refused_as_json() {
    let server = Server::start();
    for path in [
        "/v1/agents/%FF",
        "/v1/agents/%FF/summary",
        "/v1/agents/%FF/validations",
        "/v1/agents/%FF/given",
        "/v1/agents/%FF/metadata",
        "/v1/raters/%FF",
        "/v1/feedback/31337:1/open/%FF/1",
        "/v1/feedback/31337:1/open/%FF/1/responses",
    ] {
        let found = server.get(path).await.error();
        let expected = (400, "malformed".to_owned(), json!("the path"));
        assert_eq!(found, expected, "{path}");
    }
}

/// R47: bounds are exact. Most JSON numbers with more than 15 digits are another number as a double.
#[tokio::test]
async fn r47_a_number_that_a_double_would_change_is_refused() {
    let server = Server::start();
    let search = async |min: &str| {
        let of = format!(r#"{{ "fromReviewers": "everyone", "minValue": {min} }}"#);
        let body = format!(r#"{{ "filters": {{ "feedback": {of} }} }}"#);
        let request = Request::builder().method(Method::POST);
        let request = request.uri("/v1/agents/search").body(Body::from(body));
        server.send(request.unwrap()).await
    };
    for min in [
        "79.666666666666666666",
        "-79.666666666666666666",
        "79666666666666666666e-18",
        "0.10000000000000001",
        "100000000000000000001",
        "0.1e-400",
    ] {
        let answer = search(min).await;
        let expected = format!("{min} is not exact as a JSON number: send it as text");
        assert!(answer.text.contains(&expected), "{}", answer.text);
        let field = json!("filters.feedback.minValue");
        assert_eq!(answer.error(), (400, "malformed".to_owned(), field));
    }
    for min in [
        "0",
        "-0.00",
        "80",
        "80.50",
        "8.05E+1",
        "0.30000000000000004",
        "0.000001",
        "1e-18",
        "100000000000000000000",
        "-1e38",
        "18446744073709551615",
        "\"79.666666666666666666\"",
    ] {
        let answer = search(min).await;
        assert_eq!(answer.status, StatusCode::OK, "{min}: {}", answer.text);
    }
}

#[tokio::test]
async fn r22_a_member_that_comes_twice_is_refused() {
    let server = Server::start();
    let request = Request::builder()
        .method(Method::POST)
        .uri("/v1/agents/search");
    let twice = r#"{ "filters": { "active": true, "active": false } }"#;
    let answer = server.send(request.body(Body::from(twice)).unwrap()).await;
    assert_eq!(answer.error().0, 400);
    assert!(answer.text.contains("active"), "{}", answer.text);
}

#[tokio::test]
async fn browsers_of_any_origin_may_read() {
    let server = Server::start();
    let request = Request::builder()
        .method(Method::OPTIONS)
        .uri("/v1/agents/search")
        .header(header::ORIGIN, "https://catalogue.example")
        .header(header::ACCESS_CONTROL_REQUEST_METHOD, "POST")
        .body(Body::empty());
    let answer = server.send(request.unwrap()).await;
    assert_eq!(answer.status, StatusCode::NO_CONTENT);
    assert_eq!(answer.headers["access-control-allow-origin"], "*");
    assert_eq!(
        answer.headers["access-control-allow-headers"],
        "content-type"
    );
    for path in ["/v1/status", "/v1/nothing"] {
        let answer = server.get(path).await;
        assert_eq!(answer.headers["access-control-allow-origin"], "*", "{path}");
        assert!(
            answer
                .headers
                .get("access-control-allow-credentials")
                .is_none()
        );
    }
}

#[tokio::test]
async fn health_and_metrics_say_how_far_the_index_is() {
    let empty = Server::empty(patient());
    assert_eq!(empty.get("/livez").await.text, "ok\n");
    assert_eq!(
        empty.get("/readyz").await.status,
        StatusCode::SERVICE_UNAVAILABLE
    );
    let server = Server::start();
    let ready = server.got("/readyz").await;
    assert_eq!(ready["deployments"][1]["block"], 312); // 12 agents, 300 feedbacks
    assert_eq!(ready["deployments"][0]["incompleteAgents"], 0);
    let metrics = server.get("/metrics").await.text;
    let registry = format!("0x{}", "ab".repeat(20));
    for line in [
        format!("concord_index_block{{chain=\"eip155:1\",registry=\"{registry}\"}} 312"),
        format!("concord_index_agents{{chain=\"eip155:31337\",registry=\"{registry}\"}} 12"),
        "concord_index_request_seconds_count{route=\"/readyz\",status=\"200\"} 1".to_owned(),
    ] {
        assert!(metrics.lines().any(|it| it == line), "{line}\n{metrics}");
    }
}

/// The description is made of the lists that requests are checked against; here every route of it
/// exists, takes its method, and no other.
#[tokio::test]
async fn the_openapi_document_describes_every_route() {
    let server = Server::start();
    let document = server.got("/v1/openapi.json").await;
    assert_eq!(document["openapi"], "3.1.0");
    let paths = document["paths"].as_object().unwrap();
    assert_eq!(paths.len(), 18);
    for (path, methods) in paths {
        let filled = path
            .replace("{agent}", &name(0, 1))
            .replace("{profile}", "open")
            .replace("{client}", &account(1).to_string())
            .replace("{account}", &account(1).to_string())
            .replace("{index}", "1")
            .replace("{name}", "31337");
        for (method, sent) in [("get", Method::GET), ("post", Method::POST)] {
            let operation = &methods[method];
            let request = Request::builder().method(sent).uri(&filled);
            let answer = server.send(request.body(Body::from("{}")).unwrap()).await;
            let is_refused = answer.status == StatusCode::METHOD_NOT_ALLOWED;
            assert_eq!(is_refused, operation.is_null(), "{method} {path}");
            if !operation.is_null() {
                assert!(!operation["summary"].as_str().unwrap().is_empty(), "{path}");
                assert!(!answer.text.contains("the path"), "{path}: {}", answer.text);
            }
        }
    }
    let size = &document["components"]["schemas"]["PageSize"];
    assert_eq!(
        (&size["minimum"], &size["maximum"]),
        (&json!(1), &json!(patient().page))
    );
    let filters = &document["components"]["schemas"]["AgentFilters"]["properties"];
    for (name, _) in filters.as_object().unwrap() {
        // Null is of no filter's type but those that may be left out.
        let body = json!({ "filters": { name: null } });
        let answer = server.post("/v1/agents/search", &body).await;
        assert!(
            !answer.text.contains("unknown_field"),
            "{name}: {}",
            answer.text
        );
    }
}

/// SQLite that never ends a query before it is interrupted, or the test has ended: a runtime waits for its threads.
struct Endless {
    sqlite: Sqlite,
    is_interrupted: Arc<AtomicBool>,
    test: Weak<AtomicUsize>,
}

impl Engine for Endless {
    fn dialect(&self) -> &'static Dialect {
        self.sqlite.dialect()
    }

    fn execute(&mut self, sql: &str, parameters: &[Value]) -> Result<(), StoreError> {
        self.sqlite.execute(sql, parameters)
    }

    fn query(
        &mut self,
        sql: &str,
        parameters: &[Value],
        each: &mut dyn FnMut(&[Value]) -> Result<(), StoreError>,
    ) -> Result<(), StoreError> {
        if !sql.contains("FROM deployment") {
            return self.sqlite.query(sql, parameters, each);
        }
        while !self.is_interrupted.load(Ordering::SeqCst) && self.test.strong_count() > 0 {
            thread::yield_now();
        }
        Err(StoreError::Database("interrupted".to_owned()))
    }

    fn script(&mut self, sql: &str) -> Result<(), StoreError> {
        self.sqlite.script(sql)
    }

    fn claim(&mut self, name: &str) -> Result<(), StoreError> {
        self.sqlite.claim(name)
    }

    fn release(&mut self) -> Result<(), StoreError> {
        self.sqlite.release()
    }
}

/// An API over one connection of that kind at a time; it counts them.
fn endless(connections: &Arc<AtomicUsize>) -> axum::Router {
    endless_for(connections, Duration::from_millis(200))
}

/// Which ends queries after this time.
fn endless_for(connections: &Arc<AtomicUsize>, time: Duration) -> axum::Router {
    let opened = Arc::downgrade(connections);
    let connect = move || -> Result<Reader<Endless>, StoreError> {
        let count = |it: Arc<AtomicUsize>| it.fetch_add(1, Ordering::SeqCst);
        opened.upgrade().map(count);
        let is_interrupted = Arc::new(AtomicBool::new(false));
        let interrupted = Arc::clone(&is_interrupted);
        let engine = Endless {
            sqlite: Sqlite::in_memory()?,
            is_interrupted,
            test: opened.clone(),
        };
        Ok(Reader {
            store: Store::open(engine)?,
            interrupt: Arc::new(move || interrupted.store(true, Ordering::SeqCst)),
        })
    };
    let limits = Limits {
        time,
        queries: 1,
        ..Limits::default()
    };
    let readers = Readers::new(Box::new(connect), limits.queries, limits.time);
    router(Api::new(readers, limits, None))
}

fn status() -> Request<Body> {
    let request = Request::builder().uri("/v1/status").body(Body::empty());
    request.unwrap()
}

#[tokio::test]
async fn a_query_that_takes_too_long_is_ended_and_its_connection_closed() {
    let connections = Arc::new(AtomicUsize::new(0));
    let router = endless(&connections);
    // There is one permit: the second request gets it because the first query was ended.
    for number in 1..=2 {
        let answer = router.clone().oneshot(status()).await.unwrap();
        assert_eq!(answer.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(answer.headers()[header::RETRY_AFTER], "1");
        assert_eq!(connections.load(Ordering::SeqCst), number);
    }
}

/// A server drops the request of a client that closes its connection.
#[tokio::test]
async fn a_query_is_ended_too_if_its_client_has_gone() {
    let connections = Arc::new(AtomicUsize::new(0));
    let router = endless(&connections);
    let asked = tokio::spawn(router.clone().oneshot(status()));
    while connections.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    tokio::time::sleep(Duration::from_millis(50)).await; // the query has begun
    asked.abort();
    assert!(asked.await.unwrap_err().is_cancelled());
    // There is one permit: some later request gets it only if that query was ended.
    while connections.load(Ordering::SeqCst) == 1 {
        router.clone().oneshot(status()).await.unwrap();
    }
}

/// Health checks do not wait for queries, and do not count as queries.
#[tokio::test]
async fn health_and_metrics_do_not_wait_for_queries() {
    let connections = Arc::new(AtomicUsize::new(0));
    let router = endless_for(&connections, Duration::from_secs(20));
    let get = |path: &str| {
        let request = Request::builder().uri(path).body(Body::empty());
        tokio::spawn(router.clone().oneshot(request.unwrap()))
    };
    let query = get("/v1/status"); // it has the only permit until it is ended
    while connections.load(Ordering::SeqCst) == 0 {
        tokio::task::yield_now().await;
    }
    let others = [get("/readyz"), get("/metrics")];
    while connections.load(Ordering::SeqCst) < 3 && !query.is_finished() {
        tokio::task::yield_now().await;
    }
    assert!(!query.is_finished());
    query.abort();
    others.iter().for_each(tokio::task::JoinHandle::abort);
}

/// The slowest requests are those that a client gives up.
#[tokio::test]
async fn a_request_that_its_client_gave_up_is_noted() {
    let server = Server::start();
    let body = json!({});
    {
        let asked = server.post("/v1/feedback/search", &body);
        let mut asked = std::pin::pin!(asked);
        let given_up = tokio::time::timeout(Duration::ZERO, &mut asked).await;
        assert!(given_up.is_err());
    }
    let metrics = server.get("/metrics").await.text;
    let line =
        "concord_index_request_seconds_count{route=\"/v1/feedback/search\",status=\"499\"} 1";
    assert!(metrics.lines().any(|it| it == line), "{metrics}");
}

#[test]
fn readers_cannot_write() {
    let server = Server::start();
    let mut reader = server.database.location.open_read_only().unwrap();
    for sql in ["DELETE FROM feedback", "CREATE TABLE a (b INT)"] {
        let error = reader.script(sql).unwrap_err();
        let words = error.to_string().replace("read-only", "readonly");
        assert!(words.contains("readonly"), "{sql}: {words}");
    }
}
