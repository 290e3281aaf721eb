use super::{Evidence, Gap};
use crate::{Need, ReadFile};
use concord_canonical::caip::EIP155;
use concord_files::{
    UriKind, decode_uri_bytes,
    ipfs::{IpfsError, IpfsFile},
};
use concord_registry::evm::text::bytes_of;

/// What says that some bytes are the file of a URI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum ProvenBy {
    /// The URI holds them.
    Uri,
    /// The URI is their CID.
    Cid,
    /// Only a host, or a gateway, that the reader asked in this run.
    Host(String),
    /// Only who made the bundle: it names a host, and anybody can write that.
    Bundle(String),
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
                // EVM-31: on Solana, a text is its own bytes
                let bytes = if self.bundle.feedback.chain().starts_with(EIP155) {
                    bytes_of(uri)
                } else {
                    uri.as_bytes().to_vec()
                };
                let inline = decode_uri_bytes(&bytes)
                    .map_err(|error| Gap::CannotCheck(error.to_string()))?;
                Ok(Content {
                    bytes: inline.bytes,
                    proven_by: ProvenBy::Uri,
                })
            }
            kind => self.fetched(uri, kind),
        }
    }

    /// The agent's file, behind its URI. If only the bundle says so, it is read again where it can be: nothing on chain has its
    /// hash, as it has a feedback file's. If it cannot be had, the bundle's stays.
    pub(crate) fn registration(&self, uri: &str) -> Result<Content, Gap> {
        let content = self.content(uri)?;
        if matches!(content.proven_by, ProvenBy::Bundle(_)) && self.bundle.has_source {
            let _ = self.missing(file_at(uri));
        }
        Ok(content)
    }

    fn fetched(&self, uri: &str, kind: UriKind) -> Result<Content, Gap> {
        let need = file_at(uri);
        let file = self.bundle.files.get(uri);
        let file = file.ok_or_else(|| self.missing(need.clone()))?;
        let found = match kind {
            UriKind::Ipfs => by_cid(uri, file)?,
            _ => ProvenBy::Host(host_of(file)),
        };
        let proven_by = match found {
            ProvenBy::Host(host) if !self.bundle.read_here.contains(&need) => {
                ProvenBy::Bundle(host)
            }
            found => found,
        };
        Ok(Content {
            bytes: file.bytes.0.clone(),
            proven_by,
        })
    }
}

fn file_at(uri: &str) -> Need {
    Need::File {
        uri: uri.to_owned(),
    }
}

fn host_of(file: &ReadFile) -> String {
    file.host.clone().unwrap_or_else(|| "a gateway".to_owned())
}

/// A CID of a kind that is not read here proves nothing, and refutes nothing; nor does a tree without its blocks.
fn by_cid(uri: &str, file: &ReadFile) -> Result<ProvenBy, Gap> {
    let read = match IpfsFile::new(uri, file.bytes.0.len()) {
        Ok(read) => read,
        Err(_) => return Ok(ProvenBy::Host(host_of(file))),
    };
    let is_tree = read.wanted().is_some_and(|cid| !cid.is_raw());
    if is_tree && file.blocks.is_empty() {
        return Ok(ProvenBy::Host(host_of(file)));
    }
    let same = if file.blocks.is_empty() {
        content_of(read, [file.bytes.0.as_slice()])
    } else {
        content_of(read, file.blocks.iter().map(|it| it.0.as_slice()))
    };
    match same {
        Ok(Some(content)) if content == file.bytes.0 => Ok(ProvenBy::Cid),
        Ok(Some(_)) => Err(Gap::broken("the blocks under the CID are another file")),
        Ok(None) => Err(Gap::broken(
            "the bundle lacks blocks between the CID and the file",
        )),
        Err(error) => Err(Gap::broken(error)),
    }
}

/// The file that blocks make; `None` if there are too few of them.
fn content_of<'b>(
    mut file: IpfsFile,
    blocks: impl IntoIterator<Item = &'b [u8]>,
) -> Result<Option<Vec<u8>>, IpfsError> {
    for block in blocks {
        file.take(block)?;
    }
    Ok(file.wanted().is_none().then(|| file.into_content()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Bundle, Subject, Trust};

    #[test]
    fn r17_a_uri_on_an_evm_chain_holds_the_contracts_bytes() {
        let uri = "{\"name\":\"\u{10FEFF}\"}";
        for (registry, expected) in [
            (
                "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e",
                &b"{\"name\":\"\xff\"}"[..],
            ),
            (
                "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb",
                uri.as_bytes(),
            ),
        ] {
            let bundle = Bundle::new(Subject {
                agent_registry: registry.to_owned(),
                reputation_registry: String::new(),
                profile: "open".to_owned(),
                agent_id: "1".to_owned(),
                client: String::new(),
                index: 1,
                transaction: String::new(),
                at_block: 1,
            });
            let trust = Trust::default();
            let evidence = Evidence::new(&bundle, &trust);
            for uri in [uri.to_owned(), format!("data:application/json,{uri}")] {
                let content = evidence.content(&uri).unwrap();
                assert_eq!(content.bytes, expected, "{registry} {uri}");
            }
        }
    }
}
