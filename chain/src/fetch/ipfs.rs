//! Files behind `ipfs:`, block by block from a gateway that need not be trusted: each block must hash to its
//! CID.
use super::{FetchError, http::body};
use alloy::transports::http::reqwest::{Client, Url, header::ACCEPT};
use concord_files::ipfs::{BLOCK_MAX, Cid, IpfsError, IpfsFile};

/// A file, and the blocks that prove it, in the order in which they are asked for.
pub(super) struct Proven {
    pub bytes: Vec<u8>,
    pub blocks: Vec<Vec<u8>>,
}

/// Fetches `ipfs://CID` or `ipfs://CID/path`.
pub(super) async fn fetch(
    client: &Client,
    gateway: &Url,
    uri: &str,
    limit: usize,
) -> Result<Proven, FetchError> {
    let mut file = IpfsFile::new(uri, limit)?;
    let mut blocks = Vec::new();
    while let Some(cid) = file.wanted() {
        let block = block(client, gateway, cid).await?;
        file.take(&block)?;
        blocks.push(block);
    }
    Ok(Proven {
        bytes: file.into_content(),
        blocks,
    })
}

/// What the gateway says is a block.
async fn block(client: &Client, gateway: &Url, cid: &Cid) -> Result<Vec<u8>, FetchError> {
    let path = format!("{}/ipfs/{cid}", gateway.path().trim_end_matches('/'));
    let mut url = gateway.clone();
    url.set_path(&path);
    url.set_query(Some("format=raw"));
    let host = || gateway.host_str().unwrap_or_default().to_owned();
    let request = client.get(url.clone());
    let request = request.header(ACCEPT, "application/vnd.ipld.raw");
    let answer = request.send().await;
    let answer = answer.map_err(|_| FetchError::Broken { host: host() })?;
    match answer.status().as_u16() {
        // A gateway is not trusted: what it sends proves nothing, so too much of it refutes nothing
        200 => body(answer, &url, BLOCK_MAX)
            .await
            .map_err(|error| match error {
                FetchError::TooLong { limit } => FetchError::BlockTooLong {
                    cid: cid.to_string(),
                    limit,
                },
                other => other,
            }),
        status => Err(FetchError::Status {
            host: host(),
            status,
        }),
    }
}

impl From<IpfsError> for FetchError {
    fn from(error: IpfsError) -> Self {
        match error {
            IpfsError::Cid { found, reason } => Self::Cid { found, reason },
            IpfsError::Path { found, reason } => Self::Path { found, reason },
            IpfsError::Mismatch { cid } => Self::ContentMismatch { cid },
            IpfsError::TooLong { limit } => Self::TooLong { limit },
            IpfsError::Block { cid, reason } => Self::Block { cid, reason },
        }
    }
}
