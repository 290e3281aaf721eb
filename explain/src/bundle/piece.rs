use super::{
    Bundle, EvmAccount, EvmChain, EvmTransaction, HexBytes, HexHash, Need, ReadFile, SvmAccount,
    SvmChain, SvmTransaction, Unavailable,
};

/// Something that a reader fetched, for a bundle. It is taken as it is: what it proves is checked by
/// [`crate::explain`] alone.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Piece {
    /// E: the block on which a chain's part of the bundle rests. It comes first.
    Anchor {
        /// CAIP-2.
        chain: String,
        /// Its hash.
        hash: HexHash,
    },
    /// E: a header as RLP.
    Header {
        /// CAIP-2.
        chain: String,
        /// The hash that it should have.
        hash: HexHash,
        /// RLP.
        bytes: HexBytes,
    },
    /// E: a transaction with its receipt.
    EvmTransaction {
        /// CAIP-2.
        chain: String,
        /// The hash that it should have.
        hash: HexHash,
        /// What was read of it.
        transaction: EvmTransaction,
    },
    /// E: an account at a block. Slots of the same account at the same block are added to what is there.
    EvmAccount {
        /// CAIP-2.
        chain: String,
        /// What was read of it.
        account: EvmAccount,
    },
    /// E: code.
    Code {
        /// CAIP-2.
        chain: String,
        /// The hash that it should have.
        hash: HexHash,
        /// The code.
        bytes: HexBytes,
    },
    /// E: what a contract answered ([`Need::Judgement`]).
    Judgement {
        /// What it was asked.
        need: Need,
        /// Whether it accepts the signature.
        accepts: bool,
    },
    /// S: a transaction.
    SvmTransaction {
        /// CAIP-2.
        chain: String,
        /// Its first signature.
        signature: String,
        /// What was read of it.
        transaction: SvmTransaction,
    },
    /// S: an account.
    SvmAccount {
        /// CAIP-2.
        chain: String,
        /// Base58.
        address: String,
        /// What was read of it.
        account: SvmAccount,
    },
    /// S: the place of a transaction that the bundle has, among those of its slot.
    SvmPlace {
        /// CAIP-2.
        chain: String,
        /// Its first signature.
        signature: String,
        /// From 0.
        place: u64,
    },
    /// A file.
    File {
        /// Its URI.
        uri: String,
        /// What was read.
        file: ReadFile,
    },
}

impl Bundle {
    /// Adds what was fetched.
    pub fn add(&mut self, piece: Piece) {
        match piece {
            Piece::Anchor { chain, hash } => self.evm_chain(chain).anchor = hash,
            Piece::Header { chain, hash, bytes } => {
                self.evm_chain(chain).headers.insert(hash, bytes);
            }
            Piece::EvmTransaction {
                chain,
                hash,
                transaction,
            } => {
                self.evm_chain(chain).transactions.insert(hash, transaction);
            }
            Piece::EvmAccount { chain, account } => self.evm_chain(chain).add_account(account),
            Piece::Code { chain, hash, bytes } => {
                self.evm_chain(chain).codes.insert(hash, bytes);
            }
            Piece::Judgement { need, accepts } => {
                self.judgements.insert(need, accepts);
            }
            Piece::SvmTransaction {
                chain,
                signature,
                transaction,
            } => {
                self.read_here.insert(Need::Transaction {
                    chain: chain.clone(),
                    id: signature.clone(),
                });
                self.svm_chain(chain)
                    .transactions
                    .insert(signature, transaction);
            }
            Piece::SvmAccount {
                chain,
                address,
                account,
            } => {
                self.read_here.insert(Need::SvmAccount {
                    chain: chain.clone(),
                    address: address.clone(),
                });
                self.svm_chain(chain).accounts.insert(address, account);
            }
            Piece::SvmPlace {
                chain,
                signature,
                place,
            } => {
                let known = &mut self.svm_chain(chain.clone()).transactions;
                if let Some(transaction) = known.get_mut(&signature) {
                    transaction.place = Some(place);
                    self.read_here.insert(Need::Place {
                        chain,
                        id: signature,
                    });
                }
            }
            Piece::File { uri, file } => {
                self.read_here.insert(Need::File { uri: uri.clone() });
                self.files.insert(uri, file);
            }
        }
    }

    /// Forgets what only a file says of clusters, so that it is read: nothing proves it, and it would stand beside what the reader's
    /// own node answers (R36).
    pub(crate) fn forget_what_was_not_read_here(&mut self) {
        self.has_source = true;
        self.unavailable.clear(); // it may be had now
        let read = &self.read_here;
        for (chain, of) in &mut self.svm {
            of.transactions.retain(|id, _| {
                let (chain, id) = (chain.clone(), id.clone());
                read.contains(&Need::Transaction { chain, id })
            });
            of.accounts.retain(|address, _| {
                let (chain, address) = (chain.clone(), address.clone());
                read.contains(&Need::SvmAccount { chain, address })
            });
        }
    }

    /// Notes that something could not be had.
    pub fn add_unavailable(&mut self, need: Need, reason: String) {
        self.unavailable.push(Unavailable { need, reason });
    }

    fn evm_chain(&mut self, chain: String) -> &mut EvmChain {
        self.evm.entry(chain).or_default()
    }

    fn svm_chain(&mut self, chain: String) -> &mut SvmChain {
        self.svm.entry(chain).or_default()
    }
}

impl EvmChain {
    fn add_account(&mut self, account: EvmAccount) {
        let same =
            |it: &&mut EvmAccount| it.block == account.block && it.address == account.address;
        match self.accounts.iter_mut().find(same) {
            Some(known) => known.slots.extend(account.slots),
            None => self.accounts.push(account),
        }
    }
}
