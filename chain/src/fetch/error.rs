use std::{net::IpAddr, time::Duration};

/// Why a file was not fetched. No error shows more of a URL than its host.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum FetchError {
    /// The TLS library could not be set up.
    #[error("the HTTP client could not be set up")]
    Setup,
    /// The gateway's URL is malformed.
    #[error("the IPFS gateway is not an http or https URL without a query")]
    GatewayMalformed,
    /// A scheme that is not fetched.
    #[error("the scheme {found:?} is not fetched, only https, ipfs and, if it is allowed, http")]
    Scheme {
        /// The scheme.
        found: String,
    },
    /// A URL that cannot be read.
    #[error("the URL is malformed")]
    UrlMalformed,
    /// A URL with a user name or a password.
    #[error("the URL of {host} has a user name or a password")]
    UserInfo {
        /// The host.
        host: String,
    },
    /// A host in a network that is not public. The address is not in the text: whoever names a host must not
    /// learn from an answer what a private resolver knows.
    #[error("{host} is not at a public address")]
    PrivateAddress {
        /// The host.
        host: String,
        /// Its address.
        address: IpAddr,
    },
    /// Too many redirects.
    #[error("more than {limit} redirects")]
    Redirects {
        /// How many are followed.
        limit: usize,
    },
    /// A host's redirect to a URL that is malformed, of another scheme, or with a user name or a password.
    #[error("{host} redirects to what is not fetched")]
    RedirectRefused {
        /// The host that redirects.
        host: String,
    },
    /// A file that is longer than the limit, decompressed.
    #[error("the file is longer than {limit} bytes")]
    TooLong {
        /// In bytes.
        limit: usize,
    },
    /// An encoding that was not asked for.
    #[error("the content is encoded as {found:?}; only gzip is read")]
    Encoding {
        /// The value of `Content-Encoding`.
        found: String,
    },
    /// Content that is not gzip, although its header says so.
    #[error("the content is labelled gzip and is not")]
    Gzip,
    /// A CID that is malformed, or of another kind than SHA-256 over raw or dag-pb blocks.
    #[error("the CID {found:?} {reason}")]
    Cid {
        /// Its first characters.
        found: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// A part of the path behind a CID that can name no entry.
    #[error("the path's part {found:?} {reason}")]
    Path {
        /// Its first characters.
        found: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// Content that is not what its CID names.
    #[error("the gateway's block does not hash to {cid}")]
    ContentMismatch {
        /// The CID.
        cid: String,
    },
    /// More than a block may have. Whether it would hash to the CID is not known.
    #[error("the gateway sends more than {limit} bytes for the block {cid}")]
    BlockTooLong {
        /// The CID.
        cid: String,
        /// In bytes.
        limit: usize,
    },
    /// A block that proves its CID and is not a file.
    #[error("the block {cid} {reason}")]
    Block {
        /// The CID.
        cid: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// No gateway is configured.
    #[error("no IPFS gateway is configured")]
    NoGateway,
    /// An answer other than success.
    #[error("{host} answers with HTTP status {status}")]
    Status {
        /// The host.
        host: String,
        /// The status.
        status: u16,
    },
    /// A connection that could not be made, or broke.
    #[error("there is no connection to {host}, or it broke")]
    Broken {
        /// The host.
        host: String,
    },
    /// [`Fetcher::fetch_if`](super::Fetcher::fetch_if) was not allowed to ask a host.
    #[error("{host} was asked often enough for now")]
    AskedEnough {
        /// The host, as the URL parser has it.
        host: String,
    },
    /// No answer in time.
    #[error("the file did not arrive within {0:?}")]
    TimedOut(Duration),
}

impl FetchError {
    /// Whether the URI, or what its host answers, is at fault: what was asked for is refuted, for now. All else says nothing of it:
    /// an unreachable host, a time-out, a gateway that lies, a host that is not to be asked now.
    #[must_use]
    pub const fn is_refusal(&self) -> bool {
        !matches!(
            self,
            Self::Setup
                | Self::GatewayMalformed
                | Self::NoGateway
                | Self::ContentMismatch { .. }
                | Self::BlockTooLong { .. }
                | Self::Status { .. }
                | Self::Broken { .. }
                | Self::AskedEnough { .. }
                | Self::TimedOut(_)
        )
    }

    /// Whether the URI alone decides it, so that fetching again is of no use, ever. A host can answer better later, a name can
    /// get another address, and an operator can allow more.
    #[must_use]
    pub fn is_permanent(&self) -> bool {
        match self {
            Self::Scheme { found } => found != "http", // which can be allowed
            Self::UrlMalformed
            | Self::UserInfo { .. }
            | Self::Cid { .. }
            | Self::Path { .. }
            | Self::Block { .. } => true,
            _ => false,
        }
    }
}
