use super::{FetchError, is_public};
use alloy::transports::http::reqwest::dns::{Addrs, Name, Resolve, Resolving};
use async_trait::async_trait;
use std::{
    io,
    net::{IpAddr, SocketAddr},
    sync::Arc,
};

/// Looks up the addresses of a host.
#[async_trait]
pub trait HostLookup: Send + Sync {
    /// Every address of a host.
    ///
    /// # Errors
    /// If there is none, or no answer.
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>>;
}

/// The operating system's lookup.
#[derive(Clone, Copy, Debug)]
pub struct SystemLookup;

#[async_trait]
impl HostLookup for SystemLookup {
    async fn addresses(&self, host: &str) -> io::Result<Vec<IpAddr>> {
        let found = tokio::net::lookup_host((host, 0)).await?;
        Ok(found.map(|it| it.ip()).collect())
    }
}

/// Gives the connector the addresses that were checked, and no others. A name with one address that is not
/// public is refused: the next attempt would take that one.
pub(super) struct PublicOnly {
    pub lookup: Arc<dyn HostLookup>,
    pub allow_private: bool,
}

impl Resolve for PublicOnly {
    fn resolve(&self, name: Name) -> Resolving {
        let (lookup, allow_private) = (self.lookup.clone(), self.allow_private);
        Box::pin(async move {
            let host = name.as_str();
            let addresses = lookup.addresses(host).await?;
            for address in &addresses {
                require_public(host, *address, allow_private)?;
            }
            let addresses = addresses.into_iter().map(|it| SocketAddr::new(it, 0));
            Ok(Box::new(addresses) as Addrs)
        })
    }
}

pub(super) fn require_public(
    host: &str,
    address: IpAddr,
    allow_private: bool,
) -> Result<(), FetchError> {
    if allow_private || is_public(address) {
        Ok(())
    } else {
        Err(FetchError::PrivateAddress {
            host: host.to_owned(),
            address,
        })
    }
}
