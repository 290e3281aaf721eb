use super::{
    OnlineError,
    block::{missing, transaction_at, word},
};
use crate::{
    EvmAccount, EvmSlot, HexBytes, HexHash, Piece, evidence::HISTORY, evidence::HISTORY_BLOCKS, rpc,
};
use alloy_primitives::{Address, U256};
use concord_chain::{ChainError, ChainId, evm::Node};
use core::{fmt, str::FromStr};
use serde_json::{Value, json};
use std::collections::BTreeMap;

/// Parents that are read on a chain that does not keep the hashes of its last blocks (EIP-2935).
const PARENTS_MAX: u64 = 1024;

/// The block on which everything rests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum At {
    /// The newest one.
    Latest,
    /// The newest one that cannot be undone.
    Finalized,
    /// The one with this number.
    Number(u64),
}

impl fmt::Display for At {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Latest => f.write_str("latest"),
            Self::Finalized => f.write_str("finalized"),
            Self::Number(number) => write!(f, "{number:#x}"),
        }
    }
}

impl FromStr for At {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "latest" => Ok(Self::Latest),
            "finalized" => Ok(Self::Finalized),
            number => number
                .parse()
                .map(Self::Number)
                .map_err(|_| format!("{number:?} is neither latest, finalized nor a number")),
        }
    }
}

/// A block: its number, and its hash.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Anchor {
    number: u64,
    hash: HexHash,
}

/// Reads an EVM chain as it was at one block.
pub struct EvmReader {
    chain: String,
    node: Node,
    anchor: Anchor,
    /// Numbers of blocks by their hashes.
    numbers: BTreeMap<HexHash, u64>,
    /// Whether the caller left the choice of the block open.
    may_move: bool,
}

impl EvmReader {
    /// Asks a node for the block on which everything rests. With `None` that is the newest one that cannot be
    /// undone, or the newest one if a feedback is in a later block.
    ///
    /// # Errors
    /// [`ChainError::WrongChain`]; [`OnlineError::Missing`] if there is no such block.
    pub async fn new(node: Node, chain: &ChainId, at: Option<At>) -> Result<Self, OnlineError> {
        node.require_chain(chain.evm_number()?).await?;
        let mut reader = Self {
            chain: chain.to_string(),
            node,
            anchor: Anchor {
                number: 0,
                hash: HexHash::default(),
            },
            numbers: BTreeMap::new(),
            may_move: at.is_none(),
        };
        reader.rest_on(at.unwrap_or(At::Finalized)).await?;
        Ok(reader)
    }

    /// Requires that a block is not after the one on which everything rests, which may move on to the newest.
    pub(super) async fn cover(&mut self, number: u64) -> Result<(), OnlineError> {
        if self.anchor.number < number && self.may_move {
            self.rest_on(At::Latest).await?;
        }
        match self.anchor.number {
            anchor if anchor < number => Err(OnlineError::AfterAnchor { number, anchor }),
            _ => Ok(()),
        }
    }

    async fn rest_on(&mut self, at: At) -> Result<(), OnlineError> {
        let block = self.block_at(at).await?;
        self.anchor = Anchor {
            number: rpc::quantity_of(&block, "number")?,
            hash: word(&block, "hash")?.into(),
        };
        self.numbers.insert(self.anchor.hash, self.anchor.number);
        Ok(())
    }

    /// The chain, CAIP-2.
    #[must_use]
    pub fn chain(&self) -> &str {
        &self.chain
    }

    /// The chain, and the number and the hash of the block on which everything rests.
    #[must_use]
    pub fn anchor(&self) -> (&str, u64, [u8; 32]) {
        (&self.chain, self.anchor.number, self.anchor.hash.0)
    }

    pub(super) const fn node(&self) -> &Node {
        &self.node
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Option<Value>, ChainError> {
        self.node.endpoint().expect(method, params).await
    }

    async fn block_at(&self, at: At) -> Result<Value, OnlineError> {
        let params = json!([at.to_string(), false]);
        let found = self.ask("eth_getBlockByNumber", params).await?;
        found.ok_or_else(|| missing(&self.node, format!("block {at}")))
    }

    async fn block_of(&self, hash: HexHash, with_transactions: bool) -> Result<Value, OnlineError> {
        let params = json!([hash, with_transactions]);
        let found = self.ask("eth_getBlockByHash", params).await?;
        found.ok_or_else(|| missing(&self.node, format!("block {hash}")))
    }

    /// A header, and the one of the block on which everything rests.
    async fn with_anchor(&mut self, block: &Value) -> Result<Vec<Piece>, OnlineError> {
        let mut pieces = vec![self.rests_on()];
        let found = self.header_of(block)?;
        let is_anchor = matches!(&found, Piece::Header { hash, .. } if *hash == self.anchor.hash);
        if !is_anchor {
            let anchor = self.block_of(self.anchor.hash, false).await?;
            pieces.push(self.header_of(&anchor)?);
        }
        pieces.push(found);
        Ok(pieces)
    }

    fn rests_on(&self) -> Piece {
        Piece::Anchor {
            chain: self.chain.clone(),
            hash: self.anchor.hash,
        }
    }

    fn header_of(&mut self, block: &Value) -> Result<Piece, OnlineError> {
        let hash = word(block, "hash")?.into();
        let number = rpc::quantity_of(block, "number")?;
        self.numbers.insert(hash, number);
        Ok(Piece::Header {
            chain: self.chain.clone(),
            hash,
            bytes: rpc::header(block)?.into(),
        })
    }

    pub(super) async fn header(&mut self, hash: HexHash) -> Result<Vec<Piece>, OnlineError> {
        let block = self.block_of(hash, false).await?;
        self.with_anchor(&block).await
    }

    pub(super) async fn transaction(&mut self, id: &str) -> Result<Vec<Piece>, OnlineError> {
        let receipt = self.receipt(id).await?;
        let block = self
            .block_of(word(&receipt, "blockHash")?.into(), true)
            .await?;
        let place = rpc::quantity_of(&receipt, "transactionIndex")?;
        let transaction = transaction_at(&self.node, &block, place).await?;
        let mut pieces = self.with_anchor(&block).await?;
        pieces.push(Piece::EvmTransaction {
            chain: self.chain.clone(),
            hash: word(&receipt, "transactionHash")?.into(),
            transaction,
        });
        Ok(pieces)
    }

    pub(super) async fn receipt(&self, id: &str) -> Result<Value, OnlineError> {
        let found = self.ask("eth_getTransactionReceipt", json!([id])).await?;
        found.ok_or_else(|| missing(&self.node, format!("receipt of transaction {id}")))
    }

    async fn number_of(&self, block: HexHash) -> Result<u64, OnlineError> {
        match self.numbers.get(&block) {
            Some(number) => Ok(*number),
            None => Ok(rpc::quantity_of(
                &self.block_of(block, false).await?,
                "number",
            )?),
        }
    }

    /// ERC-1271, of a contract after a block.
    pub(super) async fn judgement(
        &self,
        (block, contract): (HexHash, &str),
        hash: &HexHash,
        signature: &HexBytes,
    ) -> Result<bool, OnlineError> {
        let number = self.number_of(block).await?;
        let contract: Address = contract
            .parse()
            .map_err(|_| OnlineError::NotOfChain(contract.to_owned()))?;
        let judged = self
            .node
            .is_signed_by_contract(contract, &hash.0, &signature.0, number);
        Ok(judged.await?)
    }

    /// EIP-1186.
    pub(super) async fn account(
        &mut self,
        block: HexHash,
        address: &str,
        slot: Option<HexHash>,
    ) -> Result<Vec<Piece>, OnlineError> {
        let number = self.number_of(block).await?;
        let slots: Vec<HexHash> = slot.into_iter().collect();
        let params = json!([address, slots, format!("{number:#x}")]);
        let found = self.ask("eth_getProof", params).await?;
        let found = found.ok_or_else(|| missing(&self.node, format!("proof of {address}")))?;
        let account = account_of(block, address, &found)?;
        Ok(vec![Piece::EvmAccount {
            chain: self.chain.clone(),
            account,
        }])
    }

    pub(super) async fn code(
        &mut self,
        address: &str,
        hash: HexHash,
    ) -> Result<Vec<Piece>, OnlineError> {
        let wanted: Address = address
            .parse()
            .map_err(|_| OnlineError::NotOfChain(address.to_owned()))?;
        let code = self.node.code(wanted).await?;
        Ok(vec![Piece::Code {
            chain: self.chain.clone(),
            hash,
            bytes: code.to_vec().into(),
        }])
    }

    /// The header of a number, and what leads from the anchor to it: the chain's own history of hashes, or the
    /// parents between them.
    pub(super) async fn way_to(&mut self, number: u64) -> Result<Vec<Piece>, OnlineError> {
        let Anchor { number: anchor, .. } = self.anchor;
        let age = anchor.checked_sub(number);
        let age = age.ok_or(OnlineError::AfterAnchor { number, anchor })?;
        let block = self.block_at(At::Number(number)).await?;
        let mut pieces = self.with_anchor(&block).await?;
        if age == 0 {
            return Ok(pieces);
        }
        match self.history(number, age).await? {
            Some(history) => pieces.push(history),
            None => pieces.extend(self.parents(number, age).await?),
        }
        Ok(pieces)
    }

    /// EIP-2935.
    async fn history(&mut self, number: u64, age: u64) -> Result<Option<Piece>, OnlineError> {
        if age > HISTORY_BLOCKS {
            return Ok(None);
        }
        let slot = HexHash(U256::from(number % HISTORY_BLOCKS).to_be_bytes());
        let address = HISTORY.to_string().to_lowercase();
        let found = self.account(self.anchor.hash, &address, Some(slot)).await?;
        Ok(found.into_iter().find(|piece| match piece {
            Piece::EvmAccount { account, .. } => account
                .slots
                .get(&slot)
                .is_some_and(|it| it.value.0 != [0; 32]),
            _ => false,
        }))
    }

    async fn parents(&mut self, number: u64, age: u64) -> Result<Vec<Piece>, OnlineError> {
        let anchor = self.anchor.number;
        let limit = PARENTS_MAX;
        if age > limit {
            return Err(OnlineError::TooOld {
                number,
                anchor,
                age,
                limit,
            });
        }
        let mut pieces = Vec::new();
        for between in number + 1..anchor {
            let block = self.block_at(At::Number(between)).await?;
            pieces.push(self.header_of(&block)?);
        }
        Ok(pieces)
    }
}

fn account_of(block: HexHash, address: &str, found: &Value) -> Result<EvmAccount, OnlineError> {
    let mut slots = BTreeMap::new();
    for stated in rpc::elements(found, "storageProof")? {
        let slot = EvmSlot {
            value: HexHash(rpc::word_of(stated, "value")?),
            proof: rpc::read(stated, "proof")?,
        };
        slots.insert(HexHash(rpc::word_of(stated, "key")?), slot);
    }
    let address: Address = address
        .parse()
        .map_err(|_| OnlineError::NotOfChain(address.to_owned()))?;
    Ok(EvmAccount {
        block,
        address: HexBytes(address.to_vec()),
        nonce: rpc::quantity_of(found, "nonce")?,
        balance: rpc::quantity_bytes(found, "balance")?.into(),
        storage_hash: rpc::read(found, "storageHash")?,
        code_hash: rpc::read(found, "codeHash")?,
        proof: rpc::read(found, "accountProof")?,
        slots,
    })
}
