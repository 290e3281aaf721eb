//! Draft ERC-8217: the owner of an agent may be a contract that lets the holder of another token control it.
//!
//! The agent's metadata name the contract, and the contract says to which token the agent is bound. Both can be written by
//! whoever likes: a binding is proven only if that contract owns the agent, and confirms the binding when it is asked.
use crate::table::Agent;
use concord_registry::event::{AccountId, AgentId};

/// The metadata key that names the binding contract. Its value is the 20 bytes of an address.
pub const KEY: &str = "agent-binding";

/// What kind of token an agent is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TokenStandard {
    /// ERC-721
    Erc721,
    /// ERC-1155
    Erc1155,
    /// ERC-6909
    Erc6909,
}

impl TokenStandard {
    /// The standard with this number in the draft's enumeration.
    #[must_use]
    pub const fn of(number: u8) -> Option<Self> {
        match number {
            0 => Some(Self::Erc721),
            1 => Some(Self::Erc1155),
            2 => Some(Self::Erc6909),
            _ => None,
        }
    }

    /// Returns its name in the draft.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Erc721 => "ERC721",
            Self::Erc1155 => "ERC1155",
            Self::Erc6909 => "ERC6909",
        }
    }
}

/// The token that an agent is bound to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BoundToken {
    /// Its standard.
    pub standard: TokenStandard,
    /// Its contract.
    pub contract: [u8; 20],
    /// Its id, big-endian.
    pub id: [u8; 32],
}

/// What a binding contract answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BindingRead {
    /// The agent that it was asked about.
    pub agent: AgentId,
    /// The binding contract.
    pub contract: [u8; 20],
    /// `None`: it names no token.
    pub token: Option<BoundToken>,
    /// The block after which it was asked.
    pub block: u64,
}

/// Why a binding is declared and not proven.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Doubt {
    /// The declared value is not an address.
    NotAnAddress,
    /// The agent's owner is another account.
    NotTheOwner,
    /// The contract was not asked yet.
    NotAsked,
    /// The contract was asked, and named no token.
    NotConfirmed,
}

impl Doubt {
    /// Returns it in words.
    #[must_use]
    pub const fn words(self) -> &'static str {
        match self {
            Self::NotAnAddress => "the declared value is not an address",
            Self::NotTheOwner => "the binding contract does not own the agent",
            Self::NotAsked => "the binding contract was not asked yet",
            Self::NotConfirmed => "the binding contract does not confirm it",
        }
    }
}

/// A binding that an agent declares.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Binding {
    /// The contract that the metadata name; `None` if the value is not an address.
    pub contract: Option<[u8; 20]>,
    /// What that contract answered.
    pub read: Option<BindingRead>,
    /// `None`: the binding is proven.
    pub doubt: Option<Doubt>,
}

impl Binding {
    /// Compares what an agent declares with its owner, and with what the contract answered; `None` if it declares nothing.
    #[must_use]
    pub fn of(declared: &[u8], agent: &Agent, read: Option<BindingRead>) -> Option<Self> {
        if declared.is_empty() {
            return None; // an owner deletes metadata so
        }
        let contract: Option<[u8; 20]> = declared.try_into().ok();
        let read = read.filter(|it| Some(it.contract) == contract);
        let doubt = match (contract, read) {
            (None, _) => Some(Doubt::NotAnAddress),
            (Some(it), _) if agent.owner != Some(AccountId::Evm(it)) => Some(Doubt::NotTheOwner),
            (_, None) => Some(Doubt::NotAsked),
            (_, Some(read)) if read.token.is_none() => Some(Doubt::NotConfirmed),
            _ => None,
        };
        Some(Self {
            contract,
            read,
            doubt,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Place;
    use concord_registry::event::Position;

    const CONTRACT: [u8; 20] = [7; 20];

    fn owned_by(owner: [u8; 20]) -> Agent {
        Agent {
            owner: Some(AccountId::Evm(owner)),
            ..Agent::unknown(0, Place::new(1, 0, Position::Evm { log: 0 }))
        }
    }

    fn answer(contract: [u8; 20], is_bound: bool) -> Option<BindingRead> {
        let token = BoundToken {
            standard: TokenStandard::Erc721,
            contract: [9; 20],
            id: [0; 32],
        };
        Some(BindingRead {
            agent: AgentId::Evm([1; 32]),
            contract,
            token: is_bound.then_some(token),
            block: 5,
        })
    }

    #[test]
    fn a_binding_is_proven_by_the_owner_and_the_contract_together() {
        let agent = owned_by(CONTRACT);
        let found = Binding::of(&CONTRACT, &agent, answer(CONTRACT, true)).unwrap();
        assert_eq!((found.contract, found.doubt), (Some(CONTRACT), None));
        assert_eq!(found.read, answer(CONTRACT, true));
    }

    #[test]
    fn a_binding_that_something_does_not_confirm_is_only_declared() {
        let [own, other] = [CONTRACT, [8; 20]].map(owned_by);
        let cases = [
            (
                &CONTRACT[..19],
                &own,
                answer(CONTRACT, true),
                Doubt::NotAnAddress,
            ),
            (
                &CONTRACT[..],
                &other,
                answer(CONTRACT, true),
                Doubt::NotTheOwner,
            ),
            (&CONTRACT[..], &own, None, Doubt::NotAsked),
            // What another contract said counts for nothing.
            (&CONTRACT[..], &own, answer([8; 20], true), Doubt::NotAsked),
            (
                &CONTRACT[..],
                &own,
                answer(CONTRACT, false),
                Doubt::NotConfirmed,
            ),
        ];
        for (declared, agent, read, doubt) in cases {
            let found = Binding::of(declared, agent, read).unwrap();
            assert_eq!(found.doubt, Some(doubt));
        }
        assert_eq!(Binding::of(&[], &own, answer(CONTRACT, true)), None);
    }
}
