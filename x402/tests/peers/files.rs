//! A host of registration files.
use axum::{
    Router,
    extract::{Path, State},
    http::StatusCode,
    routing::get,
};
use serde_json::Value;
use std::{
    collections::HashMap,
    sync::{Arc, Mutex},
};

type Shared = Arc<Mutex<HashMap<String, Value>>>;

#[derive(Clone)]
pub struct Files {
    origin: String,
    files: Shared,
}

async fn answer(
    State(files): State<Shared>,
    Path(name): Path<String>,
) -> Result<String, StatusCode> {
    let files = files.lock().unwrap();
    let file = files.get(&name).ok_or(StatusCode::NOT_FOUND)?;
    Ok(file.to_string())
}

impl Files {
    pub async fn start() -> Self {
        let files = Shared::default();
        let router = Router::new().route("/{name}", get(answer));
        let router = router.with_state(files.clone());
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let origin = format!("http://{}", listener.local_addr().unwrap());
        tokio::spawn(async move { axum::serve(listener, router).await });
        Self { origin, files }
    }

    pub fn url(&self, name: &str) -> String {
        format!("{}/{name}", self.origin)
    }

    pub fn publish(&self, name: &str, file: Value) {
        self.files.lock().unwrap().insert(name.to_owned(), file);
    }
}
