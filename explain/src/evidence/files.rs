use super::{Evidence, Gap};
use crate::{
    Need,
    cid::{self, CidSays},
};
use concord_files::{UriKind, decode_uri};

/// What says that some bytes are the file of a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProvenBy {
    /// The URI holds them.
    Uri,
    /// The URI is their CID.
    Cid,
    /// Only a host, or a gateway.
    Host(String),
}

/// A file's bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Content {
    pub bytes: Vec<u8>,
    pub proven_by: ProvenBy,
}

impl Evidence<'_> {
    /// The content behind a URI.
    pub(crate) fn content(&self, uri: &str) -> Result<Content, Gap> {
        match UriKind::of(uri) {
            UriKind::Empty => Err(Gap::cannot_check("there is no URI")),
            UriKind::Data | UriKind::InlineJson => {
                let inline =
                    decode_uri(uri).map_err(|error| Gap::CannotCheck(error.to_string()))?;
                Ok(Content {
                    bytes: inline.bytes,
                    proven_by: ProvenBy::Uri,
                })
            }
            kind => self.fetched(uri, kind),
        }
    }

    fn fetched(&self, uri: &str, kind: UriKind) -> Result<Content, Gap> {
        let file = self.bundle.files.get(uri);
        let file = file.ok_or_else(|| {
            self.missing(Need::File {
                uri: uri.to_owned(),
            })
        })?;
        let host = || ProvenBy::Host(file.host.clone().unwrap_or_else(|| "a gateway".to_owned()));
        let proven_by = match (kind, cid::compare(uri, &file.bytes.0)) {
            (UriKind::Ipfs, CidSays::Matches) => ProvenBy::Cid,
            (UriKind::Ipfs, CidSays::Differs) => {
                return Err(Gap::broken("the file's bytes do not hash to its CID"));
            }
            _ => host(),
        };
        Ok(Content {
            bytes: file.bytes.0.clone(),
            proven_by,
        })
    }
}
