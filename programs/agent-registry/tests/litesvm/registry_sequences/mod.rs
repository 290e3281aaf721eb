//! Random sequences over the whole registry: feedback of both profiles, revocations, responses,
//! payment proofs, validations, wallets and sales, by people who own agents and review others'.
//! Every call has the outcome that a plain record of the accepted ones foretells; in the end the
//! counters equal what the entries on chain add up to.

mod record;

use proptest::{collection::vec, prelude::*};
use record::Record;

pub const AGENTS: usize = 2;
/// The first of them own the agents at first.
pub const PEOPLE: usize = 4;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Profile {
    Authorized,
    Open,
}

/// What somebody does about an agent.
#[derive(Clone, Debug)]
pub enum Step {
    /// `skip`: how far the named index is from the next one.
    Give {
        profile: Profile,
        skip: u64,
        score: u8,
    },
    Revoke {
        profile: Profile,
        index: u64,
    },
    /// To the actor's own feedback.
    Respond {
        profile: Profile,
        index: u64,
    },
    /// For the actor's own feedback, with payment number `number`.
    ProvePayment {
        index: u64,
        number: u8,
    },
    /// The owner asks the actor to validate.
    Ask {
        number: u8,
    },
    Validate {
        number: u8,
        score: u8,
    },
    /// The owner makes the actor the wallet.
    SetWallet,
    /// The owner sells the agent to the actor.
    Sell,
}

fn step() -> impl Strategy<Value = Step> {
    let profile = prop_oneof![Just(Profile::Authorized), Just(Profile::Open)];
    let of_profile = (profile.clone(), 0..4u64);
    let given = (
        profile,
        prop_oneof![6 => Just(0u64), 1 => 1..3u64],
        0..=101u8,
    );
    prop_oneof![
        8 => given.prop_map(|(profile, skip, score)| Step::Give { profile, skip, score }),
        3 => of_profile.clone().prop_map(|(profile, index)| Step::Revoke { profile, index }),
        2 => of_profile.prop_map(|(profile, index)| Step::Respond { profile, index }),
        5 => (0..3u64, 0..4u8).prop_map(|(index, number)| Step::ProvePayment { index, number }),
        2 => (0..2u8).prop_map(|number| Step::Ask { number }),
        2 => (0..2u8, 0..=101u8).prop_map(|(number, score)| Step::Validate { number, score }),
        1 => Just(Step::SetWallet),
        1 => Just(Step::Sell),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 32, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn counters_equal_what_the_entries_on_chain_add_up_to(
        steps in vec((0..AGENTS, 0..PEOPLE, step()), 1..60)
    ) {
        let mut record = Record::new();
        for (agent, person, step) in &steps {
            record.run(*agent, *person, step);
        }
        record.check();
    }
}
