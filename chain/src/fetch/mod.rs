//! Fetches files that strangers name, such as the file behind an agent's URI, and asks services that they name.
//!
//! A URI from a chain can point anywhere: into the operator's own network, at an endless answer, at a small
//! answer that inflates to gigabytes, at a server that redirects elsewhere. [`Fetcher`] asks only public
//! addresses, and checks them when it connects, so that a name cannot change its answer in between. It
//! follows few redirects and checks each of them, limits time and size, and believes an IPFS gateway nothing
//! that does not hash to the CID.

mod address;
mod ask;
mod error;
mod http;
mod ipfs;
mod resolver;

pub use address::is_public;
pub use ask::{Answer, Method, Question};
pub use error::FetchError;
pub use resolver::{HostLookup, SystemLookup};

use alloy::transports::http::reqwest::{Client, Url, redirect::Policy};
use resolver::PublicOnly;
use std::{sync::Arc, time::Duration};

/// What a [`Fetcher`] may do.
#[derive(Clone)]
pub struct FetchOptions {
    /// Whether `http:` is fetched. Anyone on the way can change such a file.
    pub allow_http: bool,
    /// Whether addresses are asked that are not public: loopback, private, link-local and the like.
    pub allow_private: bool,
    /// Redirects that are followed.
    pub redirects: usize,
    /// Bytes of a file, after decompression.
    pub size_max: usize,
    /// For the whole fetch.
    pub timeout: Duration,
    /// The IPFS gateway, such as `https://trustless-gateway.link`. It may be in the operator's own network.
    pub gateway: Option<String>,
    /// Looks up hosts.
    pub lookup: Arc<dyn HostLookup>,
}

impl Default for FetchOptions {
    fn default() -> Self {
        Self {
            allow_http: false,
            allow_private: false,
            redirects: 3,
            size_max: 1 << 20,
            timeout: Duration::from_secs(10),
            gateway: None,
            lookup: Arc::new(SystemLookup),
        }
    }
}

/// A file that was fetched.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Fetched {
    /// Its bytes, decompressed.
    pub bytes: Vec<u8>,
    /// The host that had it, after redirects; `None` if a CID proves it.
    pub host: Option<String>,
    /// The blocks from the CID to the file, in the order in which they lead to it; empty if a host had it.
    pub blocks: Vec<Vec<u8>>,
}

/// Fetches `https:` (and, if allowed, `http:`) and `ipfs:` URIs. Clones share their connections.
#[derive(Clone)]
pub struct Fetcher {
    options: FetchOptions,
    client: Client,
    gateway: Option<(Client, Url)>,
}

impl Fetcher {
    /// Makes a fetcher. No request is made yet.
    ///
    /// # Errors
    /// [`FetchError::GatewayMalformed`], [`FetchError::Setup`].
    pub fn new(options: FetchOptions) -> Result<Self, FetchError> {
        let builder = || {
            // no proxy: it would look up the names itself
            let builder = Client::builder().no_proxy().redirect(Policy::none());
            builder.referer(false)
        };
        let resolver = PublicOnly {
            lookup: options.lookup.clone(),
            allow_private: options.allow_private,
        };
        let client = builder().dns_resolver(resolver).build();
        let gateway = match &options.gateway {
            None => None,
            Some(url) => {
                let url = gateway_url(url)?;
                let client = builder().build().map_err(|_| FetchError::Setup)?;
                Some((client, url))
            }
        };
        Ok(Self {
            client: client.map_err(|_| FetchError::Setup)?,
            gateway,
            options,
        })
    }

    /// Fetches a file.
    ///
    /// # Errors
    /// [`FetchError`]. [`FetchError::is_permanent`] separates those that no later attempt would change.
    pub async fn fetch(&self, uri: &str) -> Result<Fetched, FetchError> {
        self.fetch_if(uri, |_| true).await
    }

    /// Fetches a file from hosts that may be asked. `may_ask` gets the host before each request to one that the URI or a
    /// redirect names, in the spelling of the URL parser: lower case and punycode, but a dot at the end stays. The
    /// gateway is always asked.
    ///
    /// # Errors
    /// As [`Self::fetch`], and [`FetchError::AskedEnough`].
    pub async fn fetch_if(
        &self,
        uri: &str,
        may_ask: impl Fn(&str) -> bool,
    ) -> Result<Fetched, FetchError> {
        let limit = self.options.timeout;
        let fetching = tokio::time::timeout(limit, self.fetch_unlimited(uri, may_ask));
        fetching.await.unwrap_or(Err(FetchError::TimedOut(limit)))
    }

    /// Asks a service over HTTP. Any status is an answer.
    ///
    /// # Errors
    /// [`FetchError`], and never [`FetchError::Status`].
    pub async fn ask(&self, question: &Question<'_>) -> Result<Answer, FetchError> {
        let limit = self.options.timeout;
        let asking = tokio::time::timeout(limit, ask::ask(&self.client, &self.options, question));
        asking.await.unwrap_or(Err(FetchError::TimedOut(limit)))
    }

    async fn fetch_unlimited(
        &self,
        uri: &str,
        may_ask: impl Fn(&str) -> bool,
    ) -> Result<Fetched, FetchError> {
        let scheme = uri.split(':').next().unwrap_or_default();
        match scheme.to_ascii_lowercase().as_str() {
            "ipfs" => {
                let (client, gateway) = self.gateway.as_ref().ok_or(FetchError::NoGateway)?;
                let limit = self.options.size_max;
                let proven = ipfs::fetch(client, gateway, uri, limit).await?;
                Ok(Fetched {
                    bytes: proven.bytes,
                    host: None,
                    blocks: proven.blocks,
                })
            }
            "https" | "http" => http::fetch(&self.client, &self.options, uri, may_ask).await,
            _ => Err(FetchError::Scheme {
                found: scheme.chars().take(16).collect(),
            }),
        }
    }
}

fn gateway_url(text: &str) -> Result<Url, FetchError> {
    let url: Url = text.parse().map_err(|_| FetchError::GatewayMalformed)?;
    if matches!(url.scheme(), "http" | "https") && url.has_host() && url.query().is_none() {
        Ok(url)
    } else {
        Err(FetchError::GatewayMalformed)
    }
}
