//! The events of a registration, from contracts with an order of their own.
use alloy::{
    primitives::{Address, B256, Log, keccak256},
    sol_types::SolEvent,
};
use concord_canonical::limits::RESERVED_METADATA_KEY;
use concord_registry::evm::abi::IdentityRegistry as Identity;

/// Puts `Registered` before all events of a registration, and the wallet's first entry directly after it, as the events are
/// read. Other logs keep their order. ERC-8004 names these events and leaves their order open; indexers read them all from
/// one transaction.
pub(super) fn registration_first(logs: &[Log], identity: Address) -> Vec<Log> {
    let is =
        |log: &Log, event: B256| log.address == identity && log.topics().first() == Some(&event);
    let registered = logs
        .iter()
        .position(|log| is(log, Identity::Registered::SIGNATURE_HASH));
    let Some(registered) = registered else {
        return logs.to_vec();
    };
    let agent = logs[registered].topics().get(1);
    let is_entry =
        |log: &Log| is(log, Identity::MetadataSet::SIGNATURE_HASH) && log.topics().get(1) == agent;
    let key = keccak256(RESERVED_METADATA_KEY);
    let is_wallet = |log: &Log| is_entry(log) && log.topics().get(2) == Some(&key);
    let entry = logs.iter().position(is_entry).unwrap_or(registered);
    let wallet = logs.iter().position(is_wallet);
    let front: Vec<_> = [Some(registered), wallet].into_iter().flatten().collect();
    let mut order: Vec<_> = (0..logs.len()).filter(|at| !front.contains(at)).collect();
    let first = registered.min(entry); // no place before it is in `front`
    order.splice(first..first, front);
    order.into_iter().map(|at| logs[at].clone()).collect()
}

/// Puts `Registered` before the wallet's first entry if it comes directly after it: in version 2.0.0 of the canonical contracts it
/// is first, and 2.1.0 is announced to report it after the wallet. Other logs keep their order.
pub(super) fn registration_before_its_wallet(logs: &[Log], identity: Address) -> Vec<Log> {
    let is =
        |log: &Log, event: B256| log.address == identity && log.topics().first() == Some(&event);
    let key = keccak256(RESERVED_METADATA_KEY);
    let is_pair = |wallet: &Log, registered: &Log| {
        is(wallet, Identity::MetadataSet::SIGNATURE_HASH)
            && wallet.topics().get(2) == Some(&key)
            && is(registered, Identity::Registered::SIGNATURE_HASH)
            && wallet.topics().get(1) == registered.topics().get(1)
    };
    let mut logs = logs.to_vec();
    if let Some(at) = logs.windows(2).position(|it| is_pair(&it[0], &it[1])) {
        logs.swap(at, at + 1);
    }
    logs
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

    fn mint(agent: u64) -> Log {
        let event = Identity::Transfer {
            from: Address::ZERO,
            to: Address::repeat_byte(7),
            tokenId: U256::from(agent),
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
            [first, b, wallet, a],
            [first, b, a, wallet],
            [b, first, wallet, a],
            [b, first, a, wallet],
        ] {
            let ordered = registration_first(&other.map(Clone::clone), IDENTITY);
            assert_eq!(ordered, usual);
        }
        let exchanged = [first, wallet, a, b].map(Clone::clone);
        assert_eq!(registration_first(&exchanged, IDENTITY), exchanged);
    }

    #[test]
    fn the_canonical_registration_may_come_directly_after_its_wallet_and_nowhere_else() {
        let [first, wallet, b] = [registered(1), entry(1, "agentWallet"), entry(1, "b")];
        let usual = [&mint(1), &first, &wallet, &b].map(Clone::clone);
        let ordered =
            |logs: [&Log; 4]| registration_before_its_wallet(&logs.map(Clone::clone), IDENTITY);
        assert_eq!(ordered([&mint(1), &wallet, &first, &b]), usual);
        let other = [registered(2), entry(2, "agentWallet")];
        for kept in [
            [&mint(1), &first, &wallet, &b],
            [&mint(1), &wallet, &b, &first],
            [&mint(1), &b, &first, &wallet],
            [&mint(1), &other[1], &first, &wallet],
        ] {
            assert_eq!(ordered(kept), kept.map(Clone::clone));
        }
    }

    #[test]
    fn what_is_not_of_the_registration_keeps_its_order_around_it() {
        let [first, wallet] = [registered(1), entry(1, "agentWallet")];
        let before = [mint(1), first.clone(), wallet.clone()];
        assert_eq!(registration_first(&before, IDENTITY), before);
        let between = [&first, &mint(1), &wallet].map(Clone::clone);
        let after = [&first, &wallet, &mint(1)].map(Clone::clone);
        assert_eq!(registration_first(&between, IDENTITY), after);
        let second = [&mint(1), &wallet, &first, &wallet].map(Clone::clone);
        let ordered = [&mint(1), &first, &wallet, &wallet].map(Clone::clone);
        assert_eq!(registration_first(&second, IDENTITY), ordered);
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
