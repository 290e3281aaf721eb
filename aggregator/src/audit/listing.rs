use serde::Deserialize;

use super::{Audit, AuditError, Entry};

/// Receipts that are asked for at once.
const PAGE: u64 = 500;
/// Receipts of one audit: they are held in memory.
const RECEIPTS_MAX: usize = 1_000_000;
/// Bytes of all their pages: the audited aggregator wrote them, and what they say is held in memory.
const BYTES_MAX: usize = 1 << 30;

#[derive(Deserialize)]
struct Page {
    receipts: Vec<Entry>,
}

impl Audit {
    /// Every entry of `GET /receipts`.
    pub(super) async fn entries(&self) -> Result<Vec<Entry>, AuditError> {
        self.entries_within(BYTES_MAX).await
    }

    async fn entries_within(&self, bytes_max: usize) -> Result<Vec<Entry>, AuditError> {
        let (mut entries, mut length): (Vec<Entry>, usize) = (Vec::new(), 0);
        loop {
            let from = entries.len() as u64 + 1;
            let path = format!("receipts?from={from}&limit={PAGE}");
            let bytes = self.get(&path).await?;
            length += bytes.len();
            if length > bytes_max {
                let reason = format!("the receipts have more than {bytes_max} bytes");
                return Err(self.unusable(&path, reason));
            }
            let page: Page = serde_json::from_slice(&bytes)
                .map_err(|error| self.unusable(&path, error.to_string()))?;
            if page.receipts.is_empty() {
                return Ok(entries);
            }
            entries.extend(page.receipts);
            if entries.len() > RECEIPTS_MAX {
                let reason = format!("has more than {RECEIPTS_MAX} receipts");
                return Err(self.unusable(&path, reason));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use axum::{Router, extract::RawQuery, routing::get};
    use concord_chain::fetch::{FetchOptions, Fetcher};
    use serde_json::json;
    use tokio::net::TcpListener;

    /// So many pages with one entry each, whose request has ten thousand zeros.
    async fn audit_of(pages: u64) -> Audit {
        let page = move |RawQuery(query): RawQuery| async move {
            let query = query.unwrap_or_default();
            let from = query.split(['=', '&']).nth(1).unwrap_or_default();
            let entry = json!({
                "receipt": {
                    "n": 1, "previous": "", "key": "", "payloadDigest": "", "acceptedAt": 1,
                    "receipt": "", "signature": "", "publicKey": "",
                },
                "request": vec![0; 10_000],
            });
            let is_there = from.parse::<u64>().is_ok_and(|from| from <= pages);
            json!({ "receipts": if is_there { vec![entry] } else { Vec::new() } }).to_string()
        };
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let url = format!("http://{}/", listener.local_addr().unwrap());
        let routes = Router::new().route("/receipts", get(page));
        tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
        Audit {
            url: url.parse().unwrap(),
            settlements: Default::default(),
            fetcher: Fetcher::new(FetchOptions::default()).unwrap(),
            grace: 0,
            payloads: Vec::new(),
            client: Default::default(),
        }
    }

    #[tokio::test]
    async fn r57_what_an_aggregator_lists_does_not_exhaust_the_auditors_memory() {
        let few = audit_of(4).await.entries_within(100_000).await;
        let few = few.expect("80,000 bytes and some");
        let request = few[3].request.as_ref().expect("a request");
        assert_eq!(request.get().len(), 20_001, "it is kept as it came");
        let many = audit_of(5).await.entries_within(100_000).await;
        let many = many.map(|it| it.len()); // what a failure prints
        let words = many.expect_err("100,000 bytes and some").to_string();
        let expected = "the receipts have more than 100000 bytes";
        assert!(words.ends_with(expected), "{words}");
    }
}
