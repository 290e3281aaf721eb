//! What an accepted operation says in ERC-721's and ERC-4906's events and of the first wallet (R2, R3, HARN-62).
//!
//! Canonical events leave these out, because others say the same. Wallets, marketplaces and indexers
//! of others read nothing else.
use super::Agents;
use crate::backend::TokenEventsDifference;
use alloy::{
    primitives::{Address, Log, U256},
    sol_types::SolEvent,
};
use concord_canonical::limits::RESERVED_METADATA_KEY;
use concord_registry::evm::abi::IdentityRegistry as Identity;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum TokenEvent {
    Transfer {
        from: Address,
        to: Address,
        id: U256,
    },
    Approval {
        owner: Address,
        approved: Address,
        id: U256,
    },
    ApprovalForAll {
        owner: Address,
        operator: Address,
        approved: bool,
    },
    /// `MetadataSet` of the reserved key in a registration.
    FirstWallet { id: U256, wallet: Address },
    /// At least once, alone or in a range.
    MetadataUpdate { id: U256 },
}

/// Returns `None` if the logs of an accepted operation have these events, each once, and no other move or approval.
pub(super) fn difference(
    logs: &[Log],
    identity: Address,
    mut expected: Vec<TokenEvent>,
    agents: &Agents,
) -> Option<TokenEventsDifference> {
    let of_identity = logs.iter().filter(|log| log.address == identity);
    let mut actual: Vec<_> = of_identity.filter_map(|log| read(log, &expected)).collect();
    expected.sort();
    actual.sort();
    actual.dedup_by(|it, last| it == last && matches!(it, TokenEvent::MetadataUpdate { .. }));
    if actual == expected {
        return None;
    }
    let in_labels = |events: &[TokenEvent]| {
        let words: Vec<_> = events.iter().map(|it| it.in_labels(agents)).collect();
        words.join(", ")
    };
    Some(TokenEventsDifference {
        expected: in_labels(&expected),
        actual: in_labels(&actual),
    })
}

/// `None` for an event of another kind, or one that any operation may have.
fn read(log: &Log, expected: &[TokenEvent]) -> Option<TokenEvent> {
    if let Ok(moved) = Identity::Transfer::decode_log_data_validate(log) {
        return Some(TokenEvent::Transfer {
            from: moved.from,
            to: moved.to,
            id: moved.tokenId,
        });
    }
    if let Ok(set) = Identity::Approval::decode_log_data_validate(log) {
        let is_expected = |it: &TokenEvent| matches!(it, TokenEvent::Approval { .. });
        // Older tokens say with it that a transfer has ended the approval.
        let is_an_end = set.approved == Address::ZERO && !expected.iter().any(is_expected);
        return (!is_an_end).then_some(TokenEvent::Approval {
            owner: set.owner,
            approved: set.approved,
            id: set.tokenId,
        });
    }
    if let Ok(set) = Identity::ApprovalForAll::decode_log_data_validate(log) {
        return Some(TokenEvent::ApprovalForAll {
            owner: set.owner,
            operator: set.operator,
            approved: set.approved,
        });
    }
    expected.iter().find_map(|it| match *it {
        TokenEvent::MetadataUpdate { id } if updates(log, id) => Some(*it),
        TokenEvent::FirstWallet { id, .. } => {
            wallet(log, id).map(|wallet| TokenEvent::FirstWallet { id, wallet })
        }
        _ => None,
    })
}

/// Does it say that the token's metadata are to be read again?
fn updates(log: &Log, id: U256) -> bool {
    let one = Identity::MetadataUpdate::decode_log_data_validate(log);
    let some = Identity::BatchMetadataUpdate::decode_log_data_validate(log);
    one.is_ok_and(|it| it.tokenId == id)
        || some.is_ok_and(|it| (it.fromTokenId..=it.toTokenId).contains(&id))
}

/// Whom it makes the agent's wallet.
fn wallet(log: &Log, id: U256) -> Option<Address> {
    let set = Identity::MetadataSet::decode_log_data_validate(log).ok()?;
    let is_wallet = set.agentId == id && set.metadataKey == RESERVED_METADATA_KEY;
    let value = <[u8; 20]>::try_from(&set.metadataValue[..]).ok()?;
    is_wallet.then(|| value.into())
}

impl TokenEvent {
    fn in_labels(self, agents: &Agents) -> String {
        let actor = |address: Address| match address {
            Address::ZERO => "nobody".to_owned(),
            address => agents.actor(address).0,
        };
        let agent = |id| agents.agent(id).0;
        match self {
            Self::Transfer { from, to, id } => {
                format!(
                    "Transfer of {} from {} to {}",
                    agent(id),
                    actor(from),
                    actor(to)
                )
            }
            Self::Approval {
                owner,
                approved,
                id,
            } => format!(
                "Approval of {} for {} by {}",
                actor(approved),
                agent(id),
                actor(owner)
            ),
            Self::ApprovalForAll {
                owner,
                operator,
                approved,
            } => format!(
                "ApprovalForAll of {} by {}: {approved}",
                actor(operator),
                actor(owner)
            ),
            Self::FirstWallet { id, wallet } => {
                format!("MetadataSet of {}: wallet {}", agent(id), actor(wallet))
            }
            Self::MetadataUpdate { id } => format!("MetadataUpdate of {}", agent(id)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Actor, Agent};
    use alloy::primitives::keccak256;

    const IDENTITY: Address = Address::repeat_byte(1);
    const ALICE: Address = Address::repeat_byte(7);
    const BOB: Address = Address::repeat_byte(8);
    const NOBODY: Address = Address::ZERO;

    const fn id(number: u64) -> U256 {
        U256::from_limbs([number, 0, 0, 0])
    }

    fn log(event: &impl SolEvent) -> Log {
        Log {
            address: IDENTITY,
            data: event.encode_log_data(),
        }
    }

    fn moved(from: Address, to: Address, number: u64) -> Log {
        log(&Identity::Transfer {
            from,
            to,
            tokenId: id(number),
        })
    }

    fn approval(approved: Address) -> Log {
        log(&Identity::Approval {
            owner: ALICE,
            approved,
            tokenId: id(1),
        })
    }

    fn operator(approved: bool) -> Log {
        log(&Identity::ApprovalForAll {
            owner: ALICE,
            operator: BOB,
            approved,
        })
    }

    fn updated(number: u64) -> Log {
        log(&Identity::MetadataUpdate {
            tokenId: id(number),
        })
    }

    fn entry(key: &str, wallet: Address) -> Log {
        log(&Identity::MetadataSet {
            agentId: id(1),
            indexedMetadataKey: keccak256(key),
            metadataKey: key.to_owned(),
            metadataValue: wallet.to_vec().into(),
        })
    }

    fn agents() -> Agents {
        let mut agents = Agents::default();
        agents.add_actor(ALICE, Actor::from("alice"));
        agents.add_actor(BOB, Actor::from("bob"));
        agents.add_agent(id(1), Agent::from("desk"));
        agents
    }

    fn is_sound(logs: &[&Log], expected: &[TokenEvent]) -> bool {
        let logs: Vec<_> = logs.iter().map(|log| (*log).clone()).collect();
        difference(&logs, IDENTITY, expected.to_vec(), &agents()).is_none()
    }

    #[test]
    fn a_registration_mints_once_names_the_wallet_and_announces_its_uri() {
        // R2, R3
        let [mint, wallet, update] = [
            moved(NOBODY, ALICE, 1),
            entry("agentWallet", ALICE),
            updated(1),
        ];
        let expected = [
            TokenEvent::Transfer {
                from: NOBODY,
                to: ALICE,
                id: id(1),
            },
            TokenEvent::FirstWallet {
                id: id(1),
                wallet: ALICE,
            },
            TokenEvent::MetadataUpdate { id: id(1) },
        ];
        let other = entry("key", BOB);
        assert!(is_sound(&[&mint, &update, &wallet, &other], &expected));
        assert!(is_sound(&[&wallet, &update, &mint, &update], &expected));
        let range = log(&Identity::BatchMetadataUpdate {
            fromTokenId: id(0),
            toTokenId: id(1),
        });
        assert!(is_sound(&[&mint, &range, &wallet], &expected));
        for wrong in [
            vec![&update, &wallet],
            vec![&mint, &mint, &update, &wallet],
            vec![&moved(NOBODY, BOB, 1), &update, &wallet],
            vec![&moved(NOBODY, ALICE, 2), &update, &wallet],
            vec![&mint, &wallet],
            vec![&mint, &updated(2), &wallet],
            vec![&mint, &update],
            vec![&mint, &update, &wallet, &wallet],
            vec![&mint, &update, &entry("agentWallet", BOB)],
            vec![&mint, &update, &wallet, &operator(true)],
        ] {
            assert!(!is_sound(&wrong, &expected), "{wrong:?}");
        }
    }

    #[test]
    fn a_transfer_is_said_once_and_may_say_that_it_ends_an_approval() {
        let expected = [TokenEvent::Transfer {
            from: ALICE,
            to: BOB,
            id: id(1),
        }];
        let sold = moved(ALICE, BOB, 1);
        assert!(is_sound(&[&sold], &expected));
        assert!(is_sound(&[&approval(NOBODY), &sold], &expected));
        for wrong in [
            vec![],
            vec![&sold, &sold],
            vec![&moved(BOB, ALICE, 1)],
            vec![&sold, &moved(ALICE, BOB, 2)],
            vec![&sold, &approval(BOB)],
        ] {
            assert!(!is_sound(&wrong, &expected), "{wrong:?}");
        }
    }

    #[test]
    fn approvals_say_who_got_what_and_come_in_no_other_operation() {
        let mut expected = [TokenEvent::Approval {
            owner: ALICE,
            approved: BOB,
            id: id(1),
        }];
        assert!(is_sound(&[&approval(BOB)], &expected));
        assert!(!is_sound(&[], &expected));
        assert!(!is_sound(&[&approval(NOBODY)], &expected));
        expected[0] = TokenEvent::Approval {
            owner: ALICE,
            approved: NOBODY,
            id: id(1),
        };
        assert!(is_sound(&[&approval(NOBODY)], &expected));
        assert!(!is_sound(&[], &expected));
        let expected = [TokenEvent::ApprovalForAll {
            owner: ALICE,
            operator: BOB,
            approved: true,
        }];
        assert!(is_sound(&[&operator(true)], &expected));
        assert!(!is_sound(&[&operator(false)], &expected));
        assert!(!is_sound(&[], &expected));
        for event in [operator(true), approval(BOB), moved(ALICE, BOB, 1)] {
            assert!(!is_sound(&[&event], &[]), "{event:?}");
        }
    }

    #[test]
    fn events_of_other_contracts_and_updates_that_nobody_asked_for_pass() {
        let elsewhere = Log {
            address: BOB,
            ..moved(ALICE, BOB, 1)
        };
        assert!(is_sound(
            &[&elsewhere, &updated(1), &entry("agentWallet", BOB)],
            &[]
        ));
    }

    #[test]
    fn a_difference_says_in_labels_what_is_missing() {
        let expected = TokenEvent::Transfer {
            from: ALICE,
            to: BOB,
            id: id(1),
        };
        let found = difference(&[], IDENTITY, vec![expected], &agents()).unwrap();
        let words = (found.expected.as_str(), found.actual.as_str());
        assert_eq!(words, ("Transfer of desk from alice to bob", ""));
    }
}
