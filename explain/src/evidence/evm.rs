use super::{Evidence, Gap};
use crate::{
    EvmAccount, EvmChain, EvmTransaction, HexHash, Need, Step,
    proof::{
        account::{require_account, require_slot},
        header::Header,
        receipt::Receipt,
        trie::{key_of_index, require},
    },
};
use alloy_primitives::{Address, B256, U256, address, keccak256};

/// The contract that keeps the hashes of the last blocks (EIP-2935), and how many.
pub(crate) const HISTORY: Address = address!("0000F90827F1C53a10cb7A02335B175320002935");
pub(crate) const HISTORY_BLOCKS: u64 = 8191;

/// Parents that are followed from the anchor.
const PARENTS_MAX: u64 = 100_000;

/// One EVM chain of a bundle.
#[derive(Clone, Copy)]
pub(crate) struct EvmView<'a> {
    evidence: &'a Evidence<'a>,
    chain: &'a str,
    data: Option<&'a EvmChain>,
    /// The step whose fault a broken header is; `None`: that of whoever asks.
    headers: Option<Step>,
}

/// A transaction that is in a block.
#[derive(Clone, Debug)]
pub(crate) struct Executed<'a> {
    pub block: B256,
    pub header: Header,
    /// The transaction's place in the block, from 0: the key in both tries.
    pub index: u64,
    pub raw: &'a [u8],
    pub receipt: Receipt,
}

impl<'a> EvmView<'a> {
    pub(super) fn new(evidence: &'a Evidence<'a>, chain: &'a str, headers: Option<Step>) -> Self {
        let data = evidence.bundle.evm.get(chain);
        Self {
            evidence,
            chain,
            data,
            headers,
        }
    }

    /// A header that leads to the anchor, which is the trusted block if there is one.
    pub(crate) fn header(&self, hash: B256) -> Result<Header, Gap> {
        let fault = |gap: Gap| match (gap, self.headers) {
            (Gap::Broken(_), Some(step)) => Gap::Needs(step),
            (gap, _) => gap,
        };
        self.require_trusted_anchor().map_err(fault)?;
        let header = self.header_alone(hash).map_err(fault)?;
        self.require_ancestor(hash, &header).map_err(fault)?;
        Ok(header)
    }

    /// The anchor must be the block that the caller trusts, if they trust one.
    pub(crate) fn require_trusted_anchor(&self) -> Result<(), Gap> {
        let anchor = self.data.map(|it| it.anchor.b256());
        match (anchor, self.evidence.trust.block(self.chain)) {
            (Some(anchor), _) if anchor.is_zero() => {
                Err(Gap::cannot_check("the bundle names no block to rest on"))
            }
            (Some(anchor), Some(trusted)) if anchor != trusted => Err(Gap::Broken(format!(
                "the bundle rests on block {anchor}; the trusted one is {trusted}"
            ))),
            _ => Ok(()),
        }
    }

    fn header_alone(&self, hash: B256) -> Result<Header, Gap> {
        let found = self.data.and_then(|it| it.headers.get(&HexHash(hash.0)));
        let found = found.ok_or_else(|| {
            self.evidence.missing(Need::Header {
                chain: self.chain.to_owned(),
                hash: hash.into(),
            })
        })?;
        Header::of_hash(hash, &found.0).map_err(Gap::broken)
    }

    /// Requires that a block is the anchor or one before it.
    pub(crate) fn require_ancestor(&self, hash: B256, header: &Header) -> Result<(), Gap> {
        let missing = || {
            self.evidence.missing(Need::BlockHash {
                chain: self.chain.to_owned(),
                number: header.number,
            })
        };
        let anchor = self.data.ok_or_else(missing)?.anchor.b256();
        if hash == anchor {
            return Ok(());
        }
        let newest = self.header_alone(anchor)?;
        if let Some(found) = self.hash_in_history(anchor, &newest, header.number)? {
            return if found == hash {
                Ok(())
            } else {
                Err(Gap::Broken(format!(
                    "block {} is {found} for the chain, and {hash} in the bundle",
                    header.number
                )))
            };
        }
        if self.leads_back(&newest, hash, header.number)? {
            Ok(())
        } else {
            Err(missing())
        }
    }

    /// Requires that a block is the anchor. What the state was before it is true of an earlier time only: since then feedback
    /// may have been given or revoked.
    pub(crate) fn require_newest(&self, block: B256, number: u64) -> Result<(), Gap> {
        let anchor = self.data.map(|it| it.anchor.b256());
        match anchor.filter(|it| *it != block) {
            None => Ok(()),
            Some(anchor) => Err(Gap::CannotCheck(format!(
                "the state is that of block {number}; block {anchor}, on which the bundle rests, is a later one"
            ))),
        }
    }

    /// Requires that each header of the bundle hashes to its name and leads to the anchor. Returns how many.
    pub(crate) fn require_every_header(&self) -> Result<usize, Gap> {
        let Some(data) = self.data else {
            return Err(Gap::cannot_check("the bundle has no headers of this chain"));
        };
        for (hash, bytes) in &data.headers {
            let header = Header::of_hash(hash.b256(), &bytes.0).map_err(Gap::broken)?;
            self.require_ancestor(hash.b256(), &header)?;
        }
        if data.headers.contains_key(&data.anchor) {
            Ok(data.headers.len())
        } else {
            Err(Gap::Broken(format!(
                "the bundle lacks the header of its block {}",
                data.anchor
            )))
        }
    }

    /// EIP-2935: what the chain itself says of an earlier block, if the bundle has it.
    fn hash_in_history(
        &self,
        anchor: B256,
        newest: &Header,
        number: u64,
    ) -> Result<Option<B256>, Gap> {
        let age = newest.number.checked_sub(number);
        if !age.is_some_and(|age| (1..=HISTORY_BLOCKS).contains(&age)) {
            return Ok(None);
        }
        let slot = HexHash(U256::from(number % HISTORY_BLOCKS).to_be_bytes());
        let Some(account) = self.find_account(anchor, HISTORY) else {
            return Ok(None);
        };
        let Some(stated) = account.slots.get(&slot) else {
            return Ok(None);
        };
        require_account(newest.state_root, account)?;
        let word = require_slot(account.storage_hash.b256(), slot, stated)?;
        Ok((!word.is_zero()).then(|| B256::from(word)))
    }

    /// Whether the parents lead from the newest header to a hash.
    fn leads_back(&self, newest: &Header, hash: B256, number: u64) -> Result<bool, Gap> {
        let Some(data) = self.data else {
            return Ok(false);
        };
        let mut at = *newest;
        for _ in 0..PARENTS_MAX {
            if at.parent == hash {
                return Ok(true);
            }
            let parent = data.headers.get(&HexHash(at.parent.0));
            let Some(parent) = parent.filter(|_| at.number > number) else {
                return Ok(false);
            };
            at = Header::of_hash(at.parent, &parent.0).map_err(Gap::broken)?;
        }
        Ok(false)
    }

    /// The hash of the block with this number.
    pub(crate) fn block_at(&self, number: u64) -> Result<B256, Gap> {
        let headers = self.data.iter().flat_map(|it| &it.headers);
        let mut read = headers.filter_map(|(hash, bytes)| {
            let header = Header::of_hash(hash.b256(), &bytes.0).ok()?;
            Some((hash.b256(), header.number))
        });
        let found = read.find(|(_, found)| *found == number);
        found.map(|(hash, _)| hash).ok_or_else(|| {
            self.evidence.missing(Need::BlockHash {
                chain: self.chain.to_owned(),
                number,
            })
        })
    }

    /// A transaction by its hash, with its receipt: both are in their block's tries, at one place.
    pub(crate) fn transaction(&self, hash: B256) -> Result<Executed<'a>, Gap> {
        let found = self
            .data
            .and_then(|it| it.transactions.get(&HexHash(hash.0)));
        let found = found.ok_or_else(|| {
            self.evidence.missing(Need::Transaction {
                chain: self.chain.to_owned(),
                id: hash.to_string(),
            })
        })?;
        let header = self.header(found.block.b256())?;
        require_places(hash, &header, found)?;
        Ok(Executed {
            block: found.block.b256(),
            header,
            index: found.index,
            raw: &found.raw.0,
            receipt: Receipt::read(&found.receipt.0)?,
        })
    }

    fn find_account(&self, block: B256, address: Address) -> Option<&'a EvmAccount> {
        let mut all = self.data?.accounts.iter();
        all.find(|it| it.block.b256() == block && it.address.0 == address.as_slice())
    }

    /// An account after a block.
    pub(crate) fn account(&self, block: B256, address: Address) -> Result<&'a EvmAccount, Gap> {
        let found = self.find_account(block, address);
        let found = found.ok_or_else(|| self.evidence.missing(self.need(block, address, None)))?;
        let header = self.header(block)?;
        require_account(header.state_root, found)?;
        Ok(found)
    }

    /// A slot's word after a block. `step` is the one that a broken account refutes.
    pub(crate) fn slot(
        &self,
        block: B256,
        address: Address,
        slot: U256,
        step: Option<Step>,
    ) -> Result<U256, Gap> {
        let slot = HexHash(slot.to_be_bytes());
        let missing = || self.evidence.missing(self.need(block, address, Some(slot)));
        let found = self.find_account(block, address);
        let stated = found
            .and_then(|it| it.slots.get(&slot))
            .ok_or_else(missing)?;
        let account = self.account(block, address);
        let account = account.map_err(|gap| match (gap, step) {
            (Gap::Broken(_), Some(step)) => Gap::Needs(step),
            (gap, _) => gap,
        })?;
        Ok(require_slot(account.storage_hash.b256(), slot, stated)?)
    }

    /// The answer of a contract (ERC-1271) to the reader of the bundle. No bundle contains it, because it cannot be proven.
    pub(crate) fn judgement(
        &self,
        block: B256,
        contract: &str,
        hash: &[u8; 32],
        signature: &[u8],
    ) -> Result<bool, Gap> {
        let need = Need::Judgement {
            chain: self.chain.to_owned(),
            block: block.into(),
            address: contract.to_lowercase(),
            hash: HexHash(*hash),
            signature: signature.to_vec().into(),
        };
        let answer = self.evidence.bundle.judgements.get(&need).copied();
        answer.ok_or_else(|| self.evidence.missing(need))
    }

    fn need(&self, block: B256, address: Address, slot: Option<HexHash>) -> Need {
        Need::Account {
            chain: self.chain.to_owned(),
            block: block.into(),
            address: address.to_string().to_lowercase(),
            slot,
        }
    }

    /// An account's code after a block.
    pub(crate) fn code(&self, block: B256, address: Address) -> Result<&'a [u8], Gap> {
        let hash = self.account(block, address)?.code_hash;
        let found = self.data.and_then(|it| it.codes.get(&hash));
        let found = found.ok_or_else(|| {
            self.evidence.missing(Need::Code {
                chain: self.chain.to_owned(),
                address: address.to_string().to_lowercase(),
                hash,
            })
        })?;
        if keccak256(&found.0) == hash.b256() {
            Ok(&found.0)
        } else {
            Err(Gap::Broken(format!(
                "the code of {address} does not hash to {hash}"
            )))
        }
    }
}

/// Transaction and receipt are at one place of the block's two tries.
fn require_places(hash: B256, header: &Header, found: &EvmTransaction) -> Result<(), Gap> {
    let own = keccak256(&found.raw.0);
    if own != hash {
        return Err(Gap::Broken(format!(
            "the transaction hashes to {own}, and should to {hash}"
        )));
    }
    let key = key_of_index(found.index);
    let raw = Some(found.raw.0.clone());
    require(
        "the transaction",
        header.transactions_root,
        &key,
        raw,
        &found.proof,
    )?;
    let receipt = Some(found.receipt.0.clone());
    require(
        "the receipt",
        header.receipts_root,
        &key,
        receipt,
        &found.receipt_proof,
    )?;
    Ok(())
}
