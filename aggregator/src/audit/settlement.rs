use alloy::primitives::{Address as EvmAddress, B256, U256};
use concord_chain::{ChainError, evm::Node, svm::Cluster};
use concord_registry::{
    event::{AccountId, AgentId, Event},
    evm::{RegistryAddresses, abi::ReputationRegistry},
    svm::{Program, accounts::OpenFeedback},
};

/// Base58 characters of 64 bytes at most.
const SIGNATURE_MAX: usize = 88;

/// The registries of a chain that count.
pub enum Settlement {
    /// Contracts on an EVM chain.
    Evm {
        /// A node of the chain.
        node: Node,
        /// The identity registry.
        identity: EvmAddress,
        /// The open reputation registry.
        reputation: EvmAddress,
    },
    /// The program on a Solana cluster.
    Svm {
        /// The cluster.
        cluster: Cluster,
        /// The program.
        program: Program,
    },
}

impl Settlement {
    /// The identity registry, CAIP-10.
    pub(super) fn identity(&self, chain: &str) -> String {
        match self {
            Self::Evm { identity, .. } => format!("{chain}:{identity}"),
            Self::Svm { program, .. } => format!("{chain}:{}", program.id()),
        }
    }

    /// The registry that records feedback, CAIP-10.
    pub(super) fn reputation(&self, chain: &str) -> String {
        match self {
            Self::Evm { reputation, .. } => format!("{chain}:{reputation}"),
            Self::Svm { program, .. } => format!("{chain}:{}", program.id()),
        }
    }

    /// Whether a transaction can have this name: nodes answer others with an error. The audited aggregator wrote it, and the
    /// time of decoding base58 grows with the square of its length.
    pub(super) fn is_name(&self, transaction: &str) -> bool {
        match self {
            Self::Evm { .. } => transaction.parse::<B256>().is_ok(),
            Self::Svm { .. } if transaction.len() > SIGNATURE_MAX => false,
            Self::Svm { .. } => {
                let signature = bs58::decode(transaction).into_vec();
                signature.is_ok_and(|it| it.len() == 64)
            }
        }
    }

    /// The registries' events of a transaction; `None` if it is not on chain, or failed.
    pub(super) async fn events(
        &self,
        chain: &str,
        transaction: &str,
    ) -> Result<Option<Vec<Event>>, ChainError> {
        let decoded = match self {
            Self::Evm {
                node,
                identity,
                reputation,
            } => {
                let addresses = RegistryAddresses::open(*identity, *reputation);
                let Ok(hash) = transaction.parse() else {
                    return Ok(None);
                };
                let receipt = node.receipt(hash).await?;
                let Some(receipt) = receipt.filter(|it| it.status()) else {
                    return Ok(None);
                };
                addresses.events(chain, &receipt.placed_logs())
            }
            Self::Svm { cluster, program } => {
                let executed = cluster.transaction(transaction).await?;
                let Some(transaction) = executed.and_then(|it| it.program_calls()) else {
                    return Ok(None);
                };
                program.events(chain, &transaction)
            }
        };
        let events = decoded.events.into_iter().map(|it| it.event);
        Ok(Some(events.collect()))
    }

    /// R36: what the node has dropped of the blocks since a time (unix seconds): it does not say what is in them. The time
    /// is the audited aggregator's own, so this concerns one entry and never ends an audit.
    pub(super) async fn lost_since(&self, since: u64) -> Result<Option<String>, ChainError> {
        let Self::Svm { cluster, .. } = self else {
            return Ok(None);
        };
        let first = cluster.first_kept_block().await?;
        let from = first.block_time.and_then(|it| u64::try_from(it).ok());
        Ok(match from {
            Some(from) if from <= since => None,
            Some(from) => Some(format!(
                "the node has transactions from {from} on, wanted from {since}"
            )),
            None => Some("the node does not say since when it has transactions".to_owned()),
        })
    }

    /// Whether a feedback is revoked; `None` if the registry does not have it.
    pub(super) async fn is_revoked(&self, event: &Event) -> Result<Option<bool>, ChainError> {
        let Event::OpenFeedback {
            agent,
            client,
            index,
            ..
        } = event
        else {
            return Ok(None);
        };
        match (self, agent, client) {
            (
                Self::Evm {
                    node, reputation, ..
                },
                AgentId::Evm(agent),
                AccountId::Evm(client),
            ) => {
                let call = ReputationRegistry::readFeedbackCall {
                    agentId: U256::from_be_bytes(*agent),
                    clientAddress: EvmAddress::from(*client),
                    feedbackIndex: *index,
                };
                let read = node.read(*reputation, &call).await?;
                Ok(read.ok().map(|it| it.isRevoked))
            }
            (Self::Svm { cluster, program }, AgentId::Svm(mint), AccountId::Svm(client)) => {
                let address = program.open_feedback(mint, client, *index);
                let Some(account) = cluster.account(&address).await? else {
                    return Ok(None);
                };
                let entry: Option<OpenFeedback> = program
                    .find(&account.owner, &account.data)
                    .unwrap_or_default();
                Ok(entry.map(|it| it.revoked))
            }
            _ => Ok(None),
        }
    }
}
