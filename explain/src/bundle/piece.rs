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
            Piece::SvmTransaction {
                chain,
                signature,
                transaction,
            } => {
                self.svm_chain(chain)
                    .transactions
                    .insert(signature, transaction);
            }
            Piece::SvmAccount {
                chain,
                address,
                account,
            } => {
                self.svm_chain(chain).accounts.insert(address, account);
            }
            Piece::File { uri, file } => {
                self.files.insert(uri, file);
            }
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
