//! Feedback files on an IPFS node, by Kubo's RPC API.

use std::time::Duration;

use crate::{FileFolder, FileStore, cid_of};
use alloy::transports::http::reqwest::{
    Client, Response, StatusCode, Url, header, redirect::Policy,
};
use async_trait::async_trait;
use concord_chain::ChainError;
use serde::Deserialize;

const METHOD: &str = "block/put";
/// For one answer.
const TIMEOUT: Duration = Duration::from_secs(30);
/// Bytes of an answer.
const ANSWER_MAX: usize = 64 << 10;

/// A folder, and a node of IPFS that pins what is in it (`POST /api/v0/block/put` of Kubo). A file is stored once both
/// have it.
pub struct PinnedFiles {
    folder: FileFolder,
    url: Url,
    token: Option<String>,
    client: Client,
}

/// Kubo's answer.
#[derive(Deserialize)]
#[serde(rename_all = "PascalCase")]
struct Put {
    key: String,
}

impl PinnedFiles {
    /// `rpc`: the node's RPC API, such as `http://127.0.0.1:5001`. `token`: sent as a bearer token, if the node wants one.
    ///
    /// # Errors
    /// In words, if the URL is none.
    pub fn new(folder: FileFolder, rpc: &str, token: Option<String>) -> Result<Self, String> {
        let url = Url::parse(rpc).ok().filter(|it| it.has_host());
        // the URL may have a password
        let mut url = url.ok_or("expected an http or https URL, such as http://127.0.0.1:5001")?;
        url.set_path(&format!("/api/v0/{METHOD}"));
        let options = "cid-codec=raw&mhtype=sha2-256&mhlen=-1&pin=true&allow-big-block=false";
        url.set_query(Some(options));
        let client = Client::builder().timeout(TIMEOUT).redirect(Policy::none());
        Ok(Self {
            folder,
            url,
            token,
            client: client.build().map_err(|error| error.to_string())?,
        })
    }

    fn unreachable(&self, reason: impl ToString) -> ChainError {
        ChainError::Unreachable {
            host: self.url.host_str().unwrap_or_default().to_owned(),
            method: METHOD.to_owned(),
            reason: reason.to_string(),
        }
    }

    async fn put(&self, file: &[u8]) -> Result<(), ChainError> {
        let cid = cid_of(file);
        // the file's own hash cannot be in it
        let boundary = format!("concord-{cid}");
        let mut body = format!(
            "--{boundary}\r\nContent-Disposition: form-data; name=\"data\"; filename=\"{cid}\"\r\n\
             Content-Type: application/octet-stream\r\n\r\n"
        )
        .into_bytes();
        body.extend_from_slice(file);
        body.extend(format!("\r\n--{boundary}--\r\n").into_bytes());
        let form = format!("multipart/form-data; boundary={boundary}");
        let mut request = self.client.post(self.url.clone());
        request = request.header(header::CONTENT_TYPE, form).body(body);
        if let Some(token) = &self.token {
            request = request.bearer_auth(token);
        }
        let silent =
            |error: alloy::transports::http::reqwest::Error| self.unreachable(error.without_url());
        let answer = request.send().await.map_err(silent)?;
        let status = answer.status();
        let body = bounded(answer).await.map_err(silent)?;
        if status != StatusCode::OK {
            return Err(self.unreachable(format!("HTTP status {status}")));
        }
        let put: Result<Put, _> = serde_json::from_slice(&body);
        let put = put.map_err(|_| self.unreachable("the answer is not that of Kubo"))?;
        if put.key == cid {
            Ok(())
        } else {
            let found: String = put.key.chars().take(100).collect();
            Err(self.unreachable(format!("the node has it as {found:?}, expected {cid}")))
        }
    }
}

async fn bounded(mut answer: Response) -> Result<Vec<u8>, alloy::transports::http::reqwest::Error> {
    let mut body = Vec::new();
    while let Some(chunk) = answer.chunk().await? {
        body.extend_from_slice(&chunk);
        if body.len() > ANSWER_MAX {
            body.clear(); // which is not an answer
            break;
        }
    }
    Ok(body)
}

#[async_trait]
impl FileStore for PinnedFiles {
    fn uri(&self, file: &[u8]) -> String {
        self.folder.uri(file)
    }

    async fn store(&self, file: &[u8]) -> Result<(), ChainError> {
        self.folder.store(file).await?;
        self.put(file).await
    }
}
