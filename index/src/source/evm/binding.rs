//! ERC-8217: what binding contracts say of agents.
use super::{EvmSource, REQUESTS_AT_ONCE, state::number};
use crate::{
    SourceError,
    batch::Header,
    binding::{BindingRead, BoundToken, TokenStandard},
};
use alloy::{
    eips::BlockId, network::TransactionBuilder, primitives::Bytes, providers::Provider,
    rpc::types::TransactionRequest, sol, sol_types::SolCall,
};
use concord_registry::event::AgentId;
use futures_util::future::try_join_all;

sol! {
    /// The draft's `Binding`, with its enumeration as a number: a contract may return one that the draft does not have.
    struct Bound {
        uint8 standard;
        address tokenContract;
        uint256 tokenId;
    }

    function bindingOf(uint256 agentId) external view returns (Bound memory);
}

/// So much gas has a contract of strangers to answer.
const GAS: u64 = 5_000_000;

impl EvmSource {
    /// All are asked of one block, which must still be on the chain afterwards.
    pub(super) async fn ask_bindings(
        &self,
        declared: &[(AgentId, [u8; 20])],
        at: &Header,
    ) -> Result<Vec<BindingRead>, SourceError> {
        let mut found = Vec::with_capacity(declared.len());
        for some in declared.chunks(REQUESTS_AT_ONCE) {
            let some = some.iter().map(|it| self.ask_binding(*it, at.number));
            found.extend(try_join_all(some).await?);
        }
        if !found.is_empty() && self.known_block(at.number).await?.header.hash != at.hash {
            let what = "it was replaced while bindings were read";
            return Err(self.inconsistent(at.number, what));
        }
        Ok(found)
    }

    /// A contract that reverts, or takes more gas than it is given, names no token: it must not end what is said of others.
    async fn ask_binding(
        &self,
        (agent, contract): (AgentId, [u8; 20]),
        block: u64,
    ) -> Result<BindingRead, SourceError> {
        let agent_id = number(&agent);
        let request = TransactionRequest::default()
            .with_to(contract.into())
            .with_gas_limit(GAS)
            .with_input(bindingOfCall { agentId: agent_id }.abi_encode());
        let call = self.node.provider().call(request);
        let call = call.block(BlockId::number(block));
        let answer = self.node.endpoint().ask("eth_call", call).await?;
        Ok(BindingRead {
            agent,
            contract,
            token: answer.ok().as_ref().and_then(token),
            block,
        })
    }
}

/// A contract that knows no binding answers with zeros.
fn token(answer: &Bytes) -> Option<BoundToken> {
    let bound = bindingOfCall::abi_decode_returns_validate(answer).ok()?;
    (!bound.tokenContract.is_zero()).then_some(BoundToken {
        standard: TokenStandard::of(bound.standard)?,
        contract: bound.tokenContract.into_array(),
        id: bound.tokenId.to_be_bytes(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answer(words: [[u8; 32]; 3]) -> Bytes {
        words.concat().into()
    }

    fn word(last: u8) -> [u8; 32] {
        let mut word = [0; 32];
        word[31] = last;
        word
    }

    #[test]
    fn an_answer_names_a_token_of_one_of_three_standards() {
        let contract = {
            let mut it = [0; 20];
            it[19] = 9;
            it
        };
        for (number, standard) in [
            (0, TokenStandard::Erc721),
            (1, TokenStandard::Erc1155),
            (2, TokenStandard::Erc6909),
        ] {
            let found = token(&answer([word(number), word(9), word(5)]));
            let expected = BoundToken {
                standard,
                contract,
                id: word(5),
            };
            assert_eq!(found, Some(expected));
        }
        for other in [
            answer([word(3), word(9), word(5)]),
            answer([word(0), word(0), word(5)]),
            answer([word(0), [9; 32], word(5)]), // more than an address
            Bytes::from(vec![0; 95]),
            Bytes::new(),
        ] {
            assert_eq!(token(&other), None, "{other}");
        }
    }
}
