//! Reads what an explanation asks for: from nodes, clusters, hosts and gateways. None of them is believed more
//! than what they deliver proves; what a chain's block hash is, is all that the reader's own node says.
mod block;
mod error;
mod evm;
mod feedback;
mod name;
mod svm;

pub use error::OnlineError;
pub use evm::{At, EvmReader};
pub use feedback::AgentFeedback;
pub use name::{AgentName, FeedbackName, NameMalformed};
pub use svm::SvmReader;

use crate::{Need, Piece, ReadFile, Source};
use concord_chain::fetch::Fetcher;
use std::collections::BTreeMap;

/// Chains by CAIP-2 id, and a fetcher for files.
pub struct Online {
    evm: BTreeMap<String, EvmReader>,
    svm: BTreeMap<String, SvmReader>,
    fetcher: Fetcher,
}

impl Online {
    /// A reader that has no chain yet.
    #[must_use]
    pub const fn new(fetcher: Fetcher) -> Self {
        Self {
            evm: BTreeMap::new(),
            svm: BTreeMap::new(),
            fetcher,
        }
    }

    /// Adds an EVM chain.
    pub fn add_evm(&mut self, reader: EvmReader) {
        self.evm.insert(reader.chain().to_owned(), reader);
    }

    /// Adds a Solana cluster.
    pub fn add_svm(&mut self, reader: SvmReader) {
        self.svm.insert(reader.chain().to_owned(), reader);
    }

    /// The blocks on which each EVM chain's part of a bundle rests: chain, number, hash.
    pub fn anchors(&self) -> impl Iterator<Item = (&str, u64, [u8; 32])> {
        self.evm.values().map(EvmReader::anchor)
    }

    fn evm(&mut self, chain: &str) -> Result<&mut EvmReader, OnlineError> {
        let found = self.evm.get_mut(chain);
        found.ok_or_else(|| OnlineError::NoEndpoint(chain.to_owned()))
    }

    fn svm(&mut self, chain: &str) -> Result<&mut SvmReader, OnlineError> {
        let found = self.svm.get_mut(chain);
        found.ok_or_else(|| OnlineError::NoEndpoint(chain.to_owned()))
    }

    async fn file(&self, uri: &str) -> Result<Piece, OnlineError> {
        let fetched = self.fetcher.fetch(uri).await?;
        // one raw block is the file itself
        let is_file = fetched.blocks.len() == 1 && fetched.blocks[0] == fetched.bytes;
        let blocks = if is_file {
            Vec::new()
        } else {
            fetched.blocks.into_iter().map(Into::into).collect()
        };
        Ok(Piece::File {
            uri: uri.to_owned(),
            file: ReadFile {
                bytes: fetched.bytes.into(),
                host: fetched.host,
                blocks,
            },
        })
    }

    async fn read(&mut self, need: &Need) -> Result<Vec<Piece>, OnlineError> {
        match need {
            Need::Header { chain, hash } => self.evm(chain)?.header(*hash).await,
            Need::Transaction { chain, id } => match self.svm.get_mut(chain) {
                Some(cluster) => cluster.transaction(id).await,
                None => self.evm(chain)?.transaction(id).await,
            },
            Need::Account {
                chain,
                block,
                address,
                slot,
            } => self.evm(chain)?.account(*block, address, *slot).await,
            Need::Code {
                chain,
                address,
                hash,
            } => self.evm(chain)?.code(address, *hash).await,
            Need::BlockHash { chain, number } => self.evm(chain)?.way_to(*number).await,
            Need::Judgement {
                chain,
                block,
                address,
                hash,
                signature,
            } => {
                let asked = (*block, address.as_str());
                let accepts = self.evm(chain)?.judgement(asked, hash, signature).await?;
                let need = need.clone();
                Ok(vec![Piece::Judgement { need, accepts }])
            }
            Need::SvmAccount { chain, address } => self.svm(chain)?.account(address).await,
            Need::Place { chain, id } => self.svm(chain)?.place(id).await,
            Need::File { uri } => Ok(vec![self.file(uri).await?]),
        }
    }
}

impl Source for Online {
    async fn fetch(&mut self, need: &Need) -> Result<Vec<Piece>, String> {
        self.read(need).await.map_err(|error| error.to_string())
    }
}
