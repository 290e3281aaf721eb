use std::collections::HashMap;

use alloy::{
    consensus::BlockHeader as _,
    primitives::{Address, B256, Bytes, U256},
    providers::Provider as _,
    rpc::types::{Log, state::StateOverride},
    sol_types::{SolCall, SolEvent},
};
use async_trait::async_trait;
use concord_canonical::{Word, caip::AccountId, caip::TaskRef};
use concord_chain::{
    ChainError,
    evm::{Node, TxReceipt, view_request},
};
use concord_files::RegistrationId;
use concord_registry::evm::{abi::IdentityRegistry as Identity, text::decode_returns};
use futures_util::future::join;

use super::agent_reader::{self, AgentRead, Answer};
use super::reads::{
    AgentRecord, BETWEEN_TRIES, Payment, Payments, Registries, TRIES, Transfer, Unavailable,
};

/// ERC-20's event.
mod erc20 {
    alloy::sol! {
        event Transfer(address indexed from, address indexed to, uint256 value);
    }
}

/// Reads agents and payments on EVM chains.
#[derive(Clone, Debug, Default)]
pub struct EvmChains {
    nodes: HashMap<String, ChainNode>,
}

/// A chain's node.
#[derive(Clone, Debug)]
struct ChainNode {
    node: Node,
    /// Whether it reads an agent and the block's number in one request.
    reads_at_once: bool,
}

impl EvmChains {
    /// Adds a chain's node, which must be one of this chain.
    ///
    /// # Errors
    /// [`ChainError::WrongChain`], [`ChainError::Unreachable`].
    pub async fn add(&mut self, chain_id: u64, node: Node) -> Result<(), ChainError> {
        let (checked, reads_at_once) =
            join(node.require_chain(chain_id), reads_at_once(&node)).await;
        checked?;
        let chain_node = ChainNode {
            node,
            reads_at_once,
        };
        self.nodes.insert(format!("eip155:{chain_id}"), chain_node);
        Ok(())
    }

    pub(crate) fn node(&self, network: &str) -> Result<&Node, Unavailable> {
        Ok(&self.chain_node(network)?.node)
    }

    fn chain_node(&self, network: &str) -> Result<&ChainNode, Unavailable> {
        let node = self.nodes.get(network);
        node.ok_or_else(|| Unavailable(format!("no node for {network} is configured")))
    }

    /// A registry's node and address, and the agent's number.
    fn place(
        &self,
        registration: &RegistrationId,
    ) -> Result<(&ChainNode, Address, U256), Unavailable> {
        let unusable = |error: &dyn ToString| Unavailable(error.to_string());
        let registry = AccountId::parse(&registration.agent_registry);
        let registry = registry.map_err(|error| unusable(&error))?;
        let node = self.chain_node(&registry.chain_id().to_string())?;
        let address = registry
            .address()
            .parse()
            .map_err(|error| unusable(&error))?;
        let id = registration.agent_id.as_str().parse();
        Ok((node, address, id.map_err(|error| unusable(&error))?))
    }
}

impl From<ChainError> for Unavailable {
    fn from(error: ChainError) -> Self {
        Self(error.to_string())
    }
}

#[async_trait]
impl Registries for EvmChains {
    async fn agent(
        &self,
        registration: &RegistrationId,
        block: Option<u64>,
    ) -> Result<Option<AgentRecord>, Unavailable> {
        let (chain, registry, id) = self.place(registration)?;
        if chain.reads_at_once && block.is_none() {
            let asked = agent_reader::request(registry, id);
            let answer = chain.node.call(&asked, &StateOverride::default()).await?;
            if let Some(read) = answer.ok().and_then(|it| agent_reader::decode(&it)) {
                return record_of(read);
            }
        }
        read_each(&chain.node, registry, id, block).await
    }

    async fn is_signed_by_contract(
        &self,
        registration: &RegistrationId,
        block: u64,
        wallet: &str,
        hash: &Word,
        signature: &[u8],
    ) -> Result<bool, Unavailable> {
        let (ChainNode { node, .. }, ..) = self.place(registration)?;
        let wallet: Address =
            (wallet.parse()).map_err(|_| Unavailable(format!("{wallet} is not an address")))?;
        let judged = node.is_signed_by_contract(wallet, hash, signature, block);
        Ok(judged.await?)
    }
}

#[async_trait]
impl Payments for EvmChains {
    async fn payment(&self, task_ref: &str) -> Result<Option<Payment>, Unavailable> {
        let task_ref = TaskRef::parse(task_ref).map_err(|error| Unavailable(error.to_string()))?;
        let node = self.node(&task_ref.chain_id().to_string())?;
        let hash = task_ref.transaction().parse::<B256>();
        let hash = hash.map_err(|error| Unavailable(error.to_string()))?;
        let Some((receipt, block)) = patiently(node, hash).await? else {
            return Ok(None);
        };
        Ok(Some(Payment {
            succeeded: receipt.status(),
            block: Some(block),
            time: node.time_of_block(block).await?,
            transfers: receipt.logs().iter().filter_map(transfer).collect(),
        }))
    }
}

/// The receipt and its block. The node may be behind the one that settled, or the transaction pending: no answer at first does
/// not refute a payment.
async fn patiently(node: &Node, hash: B256) -> Result<Option<(TxReceipt, u64)>, Unavailable> {
    for attempt in 1..=TRIES {
        let receipt = node.receipt(hash).await?;
        let landed = receipt.and_then(|it| it.block_number.map(|block| (it, block)));
        if landed.is_some() || attempt == TRIES {
            return Ok(landed);
        }
        tokio::time::sleep(BETWEEN_TRIES).await;
    }
    Ok(None)
}

/// Whether a node runs creation code, and gives it the number that the block has at the node: chains on top of others may
/// give it another chain's (Arbitrum does).
async fn reads_at_once(node: &Node) -> bool {
    let asked = agent_reader::request(Address::ZERO, U256::ZERO);
    let answer = node.call(&asked, &StateOverride::default()).await;
    let Some(read) = (answer.ok().and_then(Result::ok)).and_then(|it| agent_reader::decode(&it))
    else {
        return false;
    };
    let Ok(number) = u64::try_from(read.number) else {
        return false;
    };
    let block = node.provider().get_block_by_number(number.into());
    let block = node.expect("eth_getBlockByNumber", block).await;
    let time = block.ok().flatten().map(|it| it.header.timestamp());
    time.is_some_and(|time| read.time == U256::from(time))
}

/// What one request brought.
fn record_of(read: AgentRead) -> Result<Option<AgentRecord>, Unavailable> {
    let answer = |it: Answer| {
        if it.succeeded {
            Ok(it.data)
        } else {
            Err(it.data)
        }
    };
    let unusable = || Unavailable(format!("the node answers with block {}", read.number));
    let block = u64::try_from(read.number).map_err(|_| unusable())?;
    let answers = [answer(read.owner), answer(read.uri), answer(read.wallet)];
    let agent = agent_of(&answers)?;
    Ok(agent.map(|(uri, wallet)| AgentRecord {
        is_wallet_contract: read.isWalletContract,
        wallet: wallet.map(|it| it.to_string()),
        uri,
        block,
    }))
}

/// Reads an agent after a block, or as it is now, with a request for each field.
async fn read_each(
    node: &Node,
    registry: Address,
    id: U256,
    block: Option<u64>,
) -> Result<Option<AgentRecord>, Unavailable> {
    let block = match block {
        Some(block) => block,
        None => node.block_number().await?,
    };
    // one block for all of them
    let calls = [
        view_request(registry, &Identity::ownerOfCall { tokenId: id }),
        view_request(registry, &Identity::tokenURICall { tokenId: id }),
        view_request(registry, &Identity::getAgentWalletCall { agentId: id }),
    ];
    let Some((uri, wallet)) = agent_of(&node.calls(&calls, block).await?)? else {
        return Ok(None);
    };
    Ok(Some(AgentRecord {
        is_wallet_contract: match wallet {
            Some(wallet) => !node.code_after(wallet, block).await?.is_empty(),
            None => false,
        },
        wallet: wallet.map(|it| it.to_string()),
        uri,
        block,
    }))
}

/// The URI and the wallet, from what `ownerOf`, `tokenURI` and `getAgentWallet` answer; `None` if there is no such agent.
fn agent_of(
    answers: &[Result<Bytes, Bytes>],
) -> Result<Option<(String, Option<Address>)>, Unavailable> {
    let [owner, uri, wallet] = answers else {
        return Err(Unavailable("the node gave too few answers".to_owned()));
    };
    if owner.is_err() {
        return Ok(None); // reverts for an agent that does not exist
    }
    let uri = decoded::<Identity::tokenURICall>("tokenURI", uri)?;
    let wallet = decoded::<Identity::getAgentWalletCall>("getAgentWallet", wallet)?;
    Ok(Some((uri, (!wallet.is_zero()).then_some(wallet))))
}

fn decoded<C: SolCall>(
    name: &str,
    answer: &Result<Bytes, Bytes>,
) -> Result<C::Return, Unavailable> {
    let answer = answer.as_ref();
    let answer = answer.map_err(|_| Unavailable(format!("{name} reverts")))?;
    decode_returns::<C>(answer).map_err(|_| Unavailable(format!("{name} answers {answer}")))
}

/// An ERC-20 transfer; ERC-721's has a fourth topic.
fn transfer(log: &Log) -> Option<Transfer> {
    let event = erc20::Transfer::decode_log_validate(&log.inner).ok()?;
    Some(Transfer {
        asset: event.address.to_string(),
        from: event.from.to_string(),
        to: event.to.to_string(),
        amount: event.value.to_be_bytes(),
    })
}
