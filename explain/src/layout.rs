//! Where the registries keep what a step asks for: slots of Concord's contracts and of the canonical ones.
use crate::Family;
use alloy_primitives::{Address, B256, U256, b256, keccak256};
use concord_registry::event::Profile;

/// Slots as solc lays them out; `contracts/` is the source. The first of them belong to the contracts above.
const CONCORD_OPEN_LEDGERS: u64 = 1;
const CONCORD_AUTHORIZED_LEDGERS: u64 = 3;
const CONCORD_OWNERS: u64 = 2;
const CONCORD_APPROVALS: u64 = 4;
const CONCORD_OPERATORS: u64 = 5;
const CONCORD_URIS: u64 = 9;
const CONCORD_WALLETS: u64 = 11;

/// Members of the canonical contracts' ERC-7201 structs, version 2.0.0.
const CANONICAL_LAST_INDICES: u64 = 1;
const CANONICAL_CLIENTS: u64 = 5;
const CANONICAL_METADATA: u64 = 1;

/// ERC-7201 `erc8004.reputation.registry.2`, as the canonical contract's code has it.
const CANONICAL_REPUTATION: B256 =
    b256!("a03d7693f2b3746b2d03f163c788147b71aa82854399a21fdf4de143ba778300");

/// `mapping[key]` of the mapping at `slot`.
pub(crate) fn mapped(key: U256, slot: U256) -> U256 {
    let bytes = [key.to_be_bytes::<32>(), slot.to_be_bytes::<32>()];
    keccak256(bytes.as_flattened()).into()
}

fn of_address(address: Address) -> U256 {
    address.into_word().into()
}

/// The base slot of an ERC-7201 namespace.
fn namespace(id: &str) -> U256 {
    let inner = U256::from_be_bytes(keccak256(id).0) - U256::from(1);
    U256::from_be_bytes(keccak256(inner.to_be_bytes::<32>()).0) & !U256::from(0xff)
}

/// The first slot of a feedback.
pub(crate) fn feedback(
    family: Family,
    profile: Profile,
    agent: U256,
    client: Address,
    index: u64,
) -> U256 {
    let (client, number) = (of_address(client), U256::from(index));
    match (family, profile) {
        (Family::Canonical, _) => {
            let of_agent = mapped(agent, CANONICAL_REPUTATION.into());
            mapped(number, mapped(client, of_agent))
        }
        (Family::Concord, Profile::Open) => {
            let ledger = mapped(agent, U256::from(CONCORD_OPEN_LEDGERS));
            match index {
                1 => mapped(client, ledger + U256::from(1)), // firsts
                _ => mapped(number, mapped(client, ledger + U256::from(2))), // others
            }
        }
        (Family::Concord, Profile::Authorized) => {
            let ledger = mapped(agent, U256::from(CONCORD_AUTHORIZED_LEDGERS));
            mapped(number, mapped(client, ledger + U256::from(2)))
        }
    }
}

/// The slot of the list of an agent's clients.
pub(crate) fn clients(family: Family, profile: Profile, agent: U256) -> U256 {
    match (family, profile) {
        (Family::Canonical, _) => mapped(agent, canonical_reputation(CANONICAL_CLIENTS)),
        (Family::Concord, Profile::Open) => mapped(agent, U256::from(CONCORD_OPEN_LEDGERS)),
        (Family::Concord, Profile::Authorized) => {
            mapped(agent, U256::from(CONCORD_AUTHORIZED_LEDGERS)) + U256::from(1)
        }
    }
}

/// The slot that has a client's last index; [`last_index_in`] reads it.
pub(crate) fn last_index(family: Family, profile: Profile, agent: U256, client: Address) -> U256 {
    match family {
        Family::Canonical => {
            let of_agent = mapped(agent, canonical_reputation(CANONICAL_LAST_INDICES));
            mapped(of_address(client), of_agent)
        }
        // R8: it is in the first slot of feedback 1
        Family::Concord => feedback(family, profile, agent, client, 1),
    }
}

/// The last index in a word of [`last_index`]'s slot.
pub(crate) fn last_index_in(family: Family, profile: Profile, word: U256) -> u64 {
    match family {
        Family::Canonical => word.as_limbs()[0], // a uint64 alone in its slot
        Family::Concord => StoredFeedback::of(word).last_index(profile),
    }
}

fn canonical_reputation(member: u64) -> U256 {
    U256::from_be_bytes(CANONICAL_REPUTATION.0) + U256::from(member)
}

/// The slot of an element of a list of addresses.
pub(crate) fn element(list: U256, place: usize) -> U256 {
    let first = U256::from_be_bytes(keccak256(list.to_be_bytes::<32>()).0);
    first.wrapping_add(U256::from(place))
}

/// What the first slot of a feedback says. Both profiles and both families keep `isRevoked` in one place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct StoredFeedback {
    word: U256,
}

impl StoredFeedback {
    pub(crate) const fn of(word: U256) -> Self {
        Self { word }
    }

    /// The client's last index, if this is their feedback 1.
    fn last_index(self, profile: Profile) -> u64 {
        let bytes = self.word.to_le_bytes::<32>();
        let start = match profile {
            Profile::Open => 20, // after value, decimals, isRevoked and the tags' shape
            Profile::Authorized => 0,
        };
        u64::from_le_bytes(core::array::from_fn(|place| bytes[start + place]))
    }

    /// Byte 17 from the low end.
    pub(crate) fn is_revoked(self) -> bool {
        self.word.byte(17) != 0
    }

    /// Open: the low 16 bytes, two's complement.
    pub(crate) fn value(self) -> i128 {
        let bytes = self.word.to_le_bytes::<32>();
        i128::from_le_bytes(core::array::from_fn(|place| bytes[place]))
    }

    /// Open: decimals. Authorized: the score.
    pub(crate) fn byte_16(self) -> u8 {
        self.word.byte(16)
    }
}

/// The slot of an agent's owner (ERC-721).
pub(crate) fn owner(family: Family, agent: U256) -> U256 {
    mapped(agent, erc721(family, CONCORD_OWNERS))
}

/// The slot of the account that may act for an agent (ERC-721's `approve`).
pub(crate) fn approved(family: Family, agent: U256) -> U256 {
    mapped(agent, erc721(family, CONCORD_APPROVALS))
}

/// The slot that says whether an account may act for all agents of an owner.
pub(crate) fn operator(family: Family, owner: Address, operator: Address) -> U256 {
    let of_owner = mapped(of_address(owner), erc721(family, CONCORD_OPERATORS));
    mapped(of_address(operator), of_owner)
}

/// OpenZeppelin's ERC721, whose members have one order in both of its editions.
fn erc721(family: Family, slot: u64) -> U256 {
    match family {
        Family::Concord => U256::from(slot),
        Family::Canonical => namespace("openzeppelin.storage.ERC721") + U256::from(slot),
    }
}

/// The slot of an agent's wallet. Concord: the address, and whether it is written. Canonical: the metadata
/// `agentWallet`, which is `bytes`.
pub(crate) fn wallet(family: Family, agent: U256) -> U256 {
    match family {
        Family::Concord => mapped(agent, U256::from(CONCORD_WALLETS)),
        Family::Canonical => {
            let all = namespace("erc8004.identity.registry") + U256::from(CANONICAL_METADATA);
            let of_agent = mapped(agent, all).to_be_bytes::<32>();
            keccak256([&b"agentWallet"[..], &of_agent].concat()).into()
        }
    }
}

/// Where an agent's URI begins.
pub(crate) fn uri(family: Family, agent: U256) -> U256 {
    match family {
        Family::Concord => mapped(agent, U256::from(CONCORD_URIS)),
        Family::Canonical => mapped(agent, namespace("openzeppelin.storage.ERC721URIStorage")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The constants that the canonical contracts' code has, and OpenZeppelin's own.
    #[test]
    fn namespaces_are_those_of_the_contracts() {
        assert_eq!(
            namespace("erc8004.reputation.registry.2"),
            U256::from_be_bytes(CANONICAL_REPUTATION.0)
        );
        let identity = b256!("a040f782729de4970518741823ec1276cbcd41a0c7493f62d173341566a04e00");
        assert_eq!(
            namespace("erc8004.identity.registry"),
            U256::from_be_bytes(identity.0)
        );
        let erc721 = b256!("80bb2b638cc20bc4d0a60d66940f3ab4a00c1d7b313497ca82fb0b4ab0079300");
        assert_eq!(
            namespace("openzeppelin.storage.ERC721"),
            U256::from_be_bytes(erc721.0)
        );
    }
}
