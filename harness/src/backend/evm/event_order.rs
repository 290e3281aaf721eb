//! The events of a registration, from contracts with an order of their own.
use alloy::{
    primitives::{Address, B256, Log, keccak256},
    sol_types::SolEvent,
};
use concord_canonical::limits::RESERVED_METADATA_KEY;
use concord_registry::evm::abi::IdentityRegistry as Identity;

/// Puts `Registered` first among a registration's events, and the wallet's entry second. ERC-8004 names these events and
/// leaves their order open; indexers read them all from one transaction.
pub(super) fn registration_first(logs: &[Log], identity: Address) -> Vec<Log> {
    let mut ordered = logs.to_vec();
    let is =
        |log: &Log, event: B256| log.address == identity && log.topics().first() == Some(&event);
    let registered = logs
        .iter()
        .position(|log| is(log, Identity::Registered::SIGNATURE_HASH));
    let Some(at) = registered else {
        return ordered;
    };
    let agent = logs[at].topics().get(1);
    let is_entry =
        |log: &Log| is(log, Identity::MetadataSet::SIGNATURE_HASH) && log.topics().get(1) == agent;
    let wallet = keccak256(RESERVED_METADATA_KEY);
    if let Some(first) = logs[..at].iter().position(is_entry) {
        ordered[first..=at].sort_by_key(|log| match log.topics() {
            [Identity::Registered::SIGNATURE_HASH, ..] => 0,
            [_, _, key, ..] if is_entry(log) && *key == wallet => 1,
            _ => 2,
        });
    }
    ordered
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy::primitives::U256;

    const IDENTITY: Address = Address::repeat_byte(1);

    fn log(address: Address, event: &impl SolEvent) -> Log {
        Log {
            address,
            data: event.encode_log_data(),
        }
    }

    fn registered(agent: u64) -> Log {
        let event = Identity::Registered {
            agentId: U256::from(agent),
            agentURI: "ipfs://desk".to_owned(),
            owner: Address::repeat_byte(7),
        };
        log(IDENTITY, &event)
    }

    fn entry(agent: u64, key: &str) -> Log {
        let event = Identity::MetadataSet {
            agentId: U256::from(agent),
            indexedMetadataKey: keccak256(key),
            metadataKey: key.to_owned(),
            metadataValue: vec![7; 20].into(),
        };
        log(IDENTITY, &event)
    }

    #[test]
    fn the_registration_and_the_wallet_come_first_and_entries_keep_their_order() {
        let wallet = entry(1, "agentWallet");
        let usual = [registered(1), wallet, entry(1, "b"), entry(1, "a")];
        let [first, wallet, b, a] = &usual;
        for other in [
            [first, wallet, b, a],
            [wallet, b, a, first],
            [b, wallet, a, first],
        ] {
            let ordered = registration_first(&other.map(Clone::clone), IDENTITY);
            assert_eq!(ordered, usual);
        }
    }

    #[test]
    fn other_agents_other_contracts_and_other_calls_stay_as_they_are() {
        let elsewhere = Log {
            address: Address::repeat_byte(2),
            ..entry(1, "a")
        };
        for logs in [
            vec![entry(2, "a"), registered(1)],
            vec![elsewhere, registered(1)],
            vec![entry(1, "b"), entry(1, "agentWallet")],
            Vec::new(),
        ] {
            assert_eq!(registration_first(&logs, IDENTITY), logs);
        }
    }
}
