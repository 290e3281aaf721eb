//! R45, R46: what the registries' views say of agents and clients.
use super::{EvmSource, REQUESTS_AT_ONCE};
use crate::{
    SourceError,
    batch::Header,
    state::{Fact, Field, StateRead, Subject},
};
use alloy::{
    eips::BlockId,
    network::TransactionBuilder,
    primitives::{Address, Bytes, U256},
    providers::Provider,
    rpc::types::TransactionRequest,
    sol_types::SolCall,
};
use concord_registry::{
    event::{AccountId, AgentId, Profile},
    evm::{
        abi::{Feedback, IdentityRegistry as Identity},
        text::decode_returns,
    },
};

/// A view, and what its answer says.
struct View {
    agent: AgentId,
    field: Field,
    contract: Address,
    input: Vec<u8>,
}

/// What a view returned, or with what it reverted.
type Answer = Result<Bytes, Bytes>;

impl EvmSource {
    /// Everything is asked of one block, which must still be on the chain afterwards.
    pub(super) async fn read_state(
        &self,
        subjects: &[Subject],
        at: &Header,
    ) -> Result<StateRead, SourceError> {
        let views: Vec<View> = subjects.iter().flat_map(|it| self.views(it)).collect();
        let answers = self.answers(&views, at.number).await?;
        let mut facts = Vec::new();
        let mut listed = Vec::new();
        for (view, answer) in views.iter().zip(&answers) {
            match (view.field, answer) {
                // The canonical contracts list their clients, and do not count them.
                (Field::Clients(_), Err(_)) => listed.push(view.with(list_of_clients(&view.agent))),
                _ => facts.extend(view.fact(answer)),
            }
        }
        for view in &listed {
            let count = self.listed_clients(view, at.number).await?;
            facts.extend(count.map(|it| view.says(it.to_string())));
        }
        if self.known_block(at.number).await?.header.hash == at.hash {
            Ok(StateRead {
                block: at.number,
                facts,
            })
        } else {
            Err(self.inconsistent(at.number, "it was replaced while its state was read"))
        }
    }

    /// How many clients a contract lists. A list that takes more gas than the node gives to a call says nothing: whoever gives
    /// an agent that many must not end the comparison of the others.
    async fn listed_clients(&self, view: &View, block: u64) -> Result<Option<usize>, SourceError> {
        let call = self.node.provider().call(view.request());
        let call = call.block(BlockId::number(block));
        let answer = self.node.endpoint().ask("eth_call", call).await?.ok();
        let clients = answer.map(|it| Feedback::getClientsCall::abi_decode_returns(&it));
        Ok(clients.and_then(Result::ok).map(|it| it.len()))
    }

    async fn answers(&self, views: &[View], block: u64) -> Result<Vec<Answer>, SourceError> {
        let requests: Vec<TransactionRequest> = views.iter().map(View::request).collect();
        let mut answers = Vec::with_capacity(views.len());
        for some in requests.chunks(REQUESTS_AT_ONCE) {
            answers.extend(self.node.calls(some, block).await?);
        }
        Ok(answers)
    }

    fn views(&self, subject: &Subject) -> Vec<View> {
        let agent = subject.agent();
        let id = number(&agent);
        let view = |field, contract, input| View {
            agent,
            field,
            contract,
            input,
        };
        if let Subject::Client(key) = subject {
            let (Some(contract), AccountId::Evm(client)) =
                (self.reputation(key.profile), key.client)
            else {
                return Vec::new();
            };
            let call = Feedback::getLastIndexCall {
                agentId: id,
                clientAddress: client.into(),
            };
            let field = Field::LastIndex(key.profile, key.client);
            return vec![view(field, contract, call.abi_encode())];
        }
        let identity = self.registries.identity;
        let owner = Identity::ownerOfCall { tokenId: id }.abi_encode();
        let wallet = Identity::getAgentWalletCall { agentId: id }.abi_encode();
        let uri = Identity::tokenURICall { tokenId: id }.abi_encode();
        let mut views = vec![
            view(Field::Owner, identity, owner),
            view(Field::Wallet, identity, wallet),
            view(Field::Uri, identity, uri),
        ];
        for profile in [Profile::Authorized, Profile::Open] {
            let count = Feedback::getClientCountCall { agentId: id }.abi_encode();
            let contract = self.reputation(profile);
            views.extend(contract.map(|it| view(Field::Clients(profile), it, count)));
        }
        views
    }

    const fn reputation(&self, profile: Profile) -> Option<Address> {
        match profile {
            Profile::Authorized => self.registries.authorized_reputation,
            Profile::Open => self.registries.open_reputation,
        }
    }
}

fn list_of_clients(agent: &AgentId) -> Vec<u8> {
    let agent = number(agent);
    Feedback::getClientsCall { agentId: agent }.abi_encode()
}

pub(super) fn number(agent: &AgentId) -> U256 {
    match agent {
        AgentId::Evm(word) => U256::from_be_bytes(*word),
        AgentId::Svm(mint) => U256::from_be_bytes(mint.to_bytes()),
    }
}

impl View {
    fn request(&self) -> TransactionRequest {
        TransactionRequest::default()
            .with_to(self.contract)
            .with_input(self.input.clone())
    }

    fn with(&self, input: Vec<u8>) -> Self {
        Self { input, ..*self }
    }

    fn says(&self, value: String) -> Fact {
        Fact {
            agent: self.agent,
            field: self.field,
            value,
        }
    }

    /// An agent that the registry denies has no owner. What cannot be read says nothing.
    fn fact(&self, answer: &Answer) -> Option<Fact> {
        let account = |address: Address| {
            if address.is_zero() {
                String::new()
            } else {
                AccountId::from(address).to_string()
            }
        };
        let Ok(answer) = answer else {
            return (self.field == Field::Owner).then(|| self.says(String::new()));
        };
        let value = match self.field {
            Field::Owner => Identity::ownerOfCall::abi_decode_returns(answer).map(account),
            Field::Wallet => Identity::getAgentWalletCall::abi_decode_returns(answer).map(account),
            Field::Uri => decode_returns::<Identity::tokenURICall>(answer),
            Field::Clients(_) => {
                Feedback::getClientCountCall::abi_decode_returns(answer).map(|it| it.to_string())
            }
            Field::LastIndex(..) => {
                Feedback::getLastIndexCall::abi_decode_returns(answer).map(|it| it.to_string())
            }
        };
        value.ok().map(|it| self.says(it))
    }
}
