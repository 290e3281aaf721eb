use http::Uri;

/// Scheme, host and port of a URL: what answers for a request.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    scheme: String,
    host: String,
    port: u16,
}

impl Origin {
    /// The origin of an absolute URL; `None` for any other text, and for user info.
    #[must_use]
    pub fn of(url: &str) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let scheme = uri.scheme_str()?.to_ascii_lowercase();
        let default = match scheme.as_str() {
            "https" => 443,
            "http" => 80,
            _ => return None,
        };
        let authority = uri.authority()?;
        if authority.as_str().contains('@') {
            return None;
        }
        Some(Self {
            host: authority.host().to_ascii_lowercase(),
            port: authority.port_u16().unwrap_or(default),
            scheme,
        })
    }

    /// The host, in lower case.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Whether it is reached over TLS.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.scheme == "https"
    }

    /// Where the origin proves that it is the agent's (R43).
    #[must_use]
    pub fn proof_url(&self) -> String {
        let Self { scheme, host, port } = self;
        format!("{scheme}://{host}:{port}/.well-known/agent-registration.json")
    }
}
