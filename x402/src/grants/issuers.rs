use std::sync::Arc;

use async_trait::async_trait;

use crate::server::{Grant, GrantIssuer, GrantRequest, SignerError};

/// Issuers for several registries. The first one that serves a request answers it.
pub struct GrantIssuers(Vec<Arc<dyn GrantIssuer>>);

impl GrantIssuers {
    /// Takes the issuers, in the order in which they are asked.
    #[must_use]
    pub fn new(issuers: Vec<Arc<dyn GrantIssuer>>) -> Self {
        Self(issuers)
    }
}

#[async_trait]
impl GrantIssuer for GrantIssuers {
    async fn issue(&self, request: GrantRequest<'_>) -> Result<Option<Grant>, SignerError> {
        for issuer in &self.0 {
            if let Some(grant) = issuer.issue(request).await? {
                return Ok(Some(grant));
            }
        }
        Ok(None)
    }
}
