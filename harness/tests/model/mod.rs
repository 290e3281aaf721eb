//! The model in every scenario, and what scenarios do not show of it, with expected values that are worked out by hand.
//! A rule that scenarios show has no test here (`tests/deep/rust_mutants.py` says which faults they find).
mod authorized;
mod identity;
mod labels;
mod operations;
mod payments;
mod reads;
mod records;
mod scenarios;
mod state;

use concord_canonical::ErrorClass;
use concord_harness::model::{
    Agent, Authorization, Bytes32, Chain, Feedback, Form, Integer, Model, OpenFeedback, Operation,
    Outcome, PaddedTag, Register, Revocation, Summary, SummaryQuery, Transfer, Verdict,
};

pub const BOTH: [Chain; 2] = Chain::ALL;

/// A model with agent `desk` of `alice`, registered at second 1.
pub fn registered(chain: Chain) -> Model {
    let mut model = Model::new(chain);
    let done = model.apply(&register("desk", "alice", "https://a.example"), 1);
    assert_eq!(done.verdict, Verdict::Ok);
    model
}

pub fn register(agent: &str, by: &str, uri: &str) -> Operation {
    Operation::Register(Register {
        agent: agent.into(),
        by: by.into(),
        uri: uri.to_owned(),
        metadata: Vec::new(),
    })
}

pub fn transfer(by: &str, to: &str) -> Operation {
    Operation::Transfer(Transfer {
        agent: "desk".into(),
        by: by.into(),
        to: to.into(),
        into_mutable_account: false,
    })
}

pub fn revoke(by: &str, index: u64) -> Operation {
    Operation::RevokeFeedback(Revocation {
        agent: "desk".into(),
        by: by.into(),
        index,
    })
}

pub fn summary(model: &mut Model) -> (u64, u8) {
    let agent = Agent::from("desk");
    let answer = model
        .apply(&Operation::Summary(SummaryQuery { agent }), 0)
        .summary;
    match answer {
        Some(Summary::Authorized { count, average }) => (count, average),
        other => panic!("a summary answers, not {other:?}"),
    }
}

/// Alice lets Bob review `desk` nine times, until second 100.
pub fn granted() -> Authorization {
    Authorization {
        agent: "desk".into(),
        client: "bob".into(),
        index_limit: 9,
        expiry: 100,
        signer: "alice".into(),
        form: Form::Bounded,
        tamper: None,
    }
}

pub fn feedback(by: &str, score: u8, authorization: Option<Authorization>) -> Feedback {
    Feedback {
        agent: "desk".into(),
        by: by.into(),
        score,
        tag1: PaddedTag::default(),
        tag2: PaddedTag::default(),
        uri: String::new(),
        hash: Bytes32::default(),
        index: None,
        authorization,
    }
}

pub fn open_feedback(by: &str, value: i128, decimals: u8) -> OpenFeedback {
    OpenFeedback {
        agent: "desk".into(),
        by: by.into(),
        value: Integer(value),
        decimals,
        tag1: String::new(),
        tag2: String::new(),
        endpoint: String::new(),
        uri: String::new(),
        hash: Bytes32::default(),
        index: None,
    }
}

pub fn give(model: &mut Model, feedback: Feedback, now: u64) -> Outcome {
    model.apply(&Operation::GiveFeedback(Box::new(feedback)), now)
}

pub fn given(model: &mut Model, score: u8, now: u64) {
    let outcome = give(model, feedback("bob", score, Some(granted())), now);
    assert_eq!(outcome.verdict, Verdict::Ok);
}

/// Bob's feedback under a grant that `change` breaks, at second 50.
pub fn broken(chain: Chain, change: impl FnOnce(&mut Authorization)) -> Verdict {
    let mut authorization = granted();
    change(&mut authorization);
    let feedback = feedback("bob", 50, Some(authorization));
    give(&mut registered(chain), feedback, 50).verdict
}

pub fn refused(class: ErrorClass) -> Verdict {
    Verdict::Refused(class)
}

/// Runs `operation` at `now`, and expects `verdict` of it.
pub fn expect(model: &mut Model, now: u64, operation: Operation, verdict: Verdict) -> Outcome {
    let outcome = model.apply(&operation, now);
    assert_eq!(outcome.verdict, verdict, "{operation:?}");
    outcome
}
