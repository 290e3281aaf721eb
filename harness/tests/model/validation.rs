//! Validation (R20).
use super::*;
use concord_canonical::ErrorClass::*;
use concord_harness::model::{ValidationAnswer, ValidationRequest};

fn request(by: &str, validator: Option<&str>, hash: Bytes32) -> Operation {
    Operation::ValidationRequest(ValidationRequest {
        agent: "desk".into(),
        by: by.into(),
        validator: validator.map(Into::into),
        request: hash,
        uri: String::new(),
    })
}

fn answer(by: &str, hash: Bytes32, score: u8) -> Operation {
    Operation::ValidationResponse(Box::new(ValidationAnswer {
        agent: "desk".into(),
        validator: "vera".into(),
        by: by.into(),
        request: hash,
        score,
        uri: String::new(),
        hash: Bytes32::default(),
        tag: PaddedTag::default(),
    }))
}

fn hash(last: u8) -> Bytes32 {
    let mut hash = Bytes32([1; 32]);
    hash.0[31] = last;
    hash
}

#[test]
fn r20_a_validator_answers_more_than_once_and_counts_once() {
    for chain in BOTH {
        let mut model = registered(chain);
        expect(
            &mut model,
            2,
            request("alice", Some("vera"), hash(1)),
            Verdict::Ok,
        );
        for (now, score) in [(3, 0), (4, 100)] {
            expect(&mut model, now, answer("vera", hash(1), score), Verdict::Ok);
            let validations = &model.state().agents[&"desk".into()].validations;
            assert_eq!(validations.answered, 1);
            let stored = &validations.requests[&hash(1)][&"vera".into()];
            let answer = stored.answer.as_ref().expect("answered");
            assert_eq!((stored.time, answer.score), (now, score));
        }
    }
}

#[test]
fn r20_the_order_of_a_request_s_checks() {
    for chain in BOTH {
        let mut model = registered(chain);
        expect(
            &mut model,
            2,
            request("alice", Some("vera"), hash(1)),
            Verdict::Ok,
        );
        for (operation, class) in [
            (request("bob", None, hash(1)), ValidatorZero),
            (request("bob", Some("vera"), hash(1)), RequestExists),
            (request("bob", Some("vera"), hash(2)), NotAuthorized),
        ] {
            expect(&mut model, 3, operation, refused(class));
        }
    }
}

#[test]
fn r20_the_order_of_a_response_s_checks() {
    for chain in BOTH {
        let mut model = registered(chain);
        expect(
            &mut model,
            2,
            request("alice", Some("vera"), hash(1)),
            Verdict::Ok,
        );
        for (operation, verdict) in [
            (answer("bob", hash(2), 101), refused(RequestNotFound)),
            (answer("bob", hash(1), 101), refused(NotValidator)),
            (answer("vera", hash(1), 101), refused(ScoreOutOfRange)),
            (answer("vera", hash(1), 100), Verdict::Ok),
        ] {
            expect(&mut model, 3, operation, verdict);
        }
    }
}

#[test]
fn variance_3_a_hash_is_one_request_on_evm_and_one_a_validator_on_solana() {
    let ask = |chain, validator: &str, hash| {
        let mut model = registered(chain);
        expect(
            &mut model,
            2,
            request("alice", Some("vera"), self::hash(1)),
            Verdict::Ok,
        );
        let operation = request("alice", Some(validator), hash);
        model.apply(&operation, 3).verdict
    };
    assert_eq!(ask(Chain::Evm, "otto", hash(1)), refused(RequestExists));
    assert_eq!(ask(Chain::Svm, "otto", hash(1)), Verdict::Ok);
    assert_eq!(ask(Chain::Evm, "vera", hash(2)), Verdict::Ok);
    assert_eq!(
        ask(Chain::Svm, "vera", hash(2)),
        refused(RequestPrefixCollision)
    );
    assert_eq!(ask(Chain::Svm, "otto", hash(2)), Verdict::Ok);
}

#[test]
fn r20_self_validation_and_hash_zero_are_allowed() {
    let zero = Bytes32::default();
    for chain in BOTH {
        let mut model = registered(chain);
        expect(
            &mut model,
            2,
            request("alice", Some("alice"), zero),
            Verdict::Ok,
        );
    }
}
