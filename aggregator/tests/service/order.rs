//! R52: each refusal has its code and its member, and the checks come in their order.
use crate::{
    payload::Draft,
    shut_out::as_owner,
    world::{Running, World, network},
};
use concord_canonical::sign::PreparedKey;
use concord_registry::evm::calls;
use concord_x402::feedback::FileFolder;
use serde_json::{Value, json};
use std::sync::Arc;

struct Case {
    payload: Value,
    status: u16,
    code: &'static str,
    class: &'static str,
    field: &'static str,
}

fn case(
    payload: Value,
    (status, code): (u16, &'static str),
    class: &'static str,
    field: &'static str,
) -> Case {
    Case {
        payload,
        status,
        code,
        class,
        field,
    }
}

const PAYLOAD: (u16, &str) = (400, "INVALID_PAYLOAD");
const REVIEWER: (u16, &str) = (422, "INVALID_REVIEWER_SIGNATURE");
const AGENT: (u16, &str) = (404, "UNKNOWN_AGENT");
const SIGNATURE: (u16, &str) = (422, "INVALID_AGENT_SIGNATURE");

fn with(payload: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = payload.clone();
    *changed.pointer_mut(pointer).unwrap() = value;
    changed
}

fn without(payload: &Value, parent: &str, key: &str) -> Value {
    let mut changed = payload.clone();
    let object = changed.pointer_mut(parent).unwrap();
    object.as_object_mut().unwrap().remove(key).unwrap();
    changed
}

/// Flips one bit of the hash that a signature covers.
fn flipped(payload: &Value, pointer: &str) -> Value {
    let text = payload.pointer(pointer).unwrap().as_str().unwrap();
    let digit = match &text[9..10] {
        "0" => "1",
        _ => "0",
    };
    let text = format!("{}{digit}{}", &text[..9], &text[10..]);
    with(payload, pointer, json!(text))
}

fn forms(good: &Value) -> Vec<Case> {
    let long = "x".repeat(33);
    let review = |key: &str, value: Value, class, field| {
        case(
            with(good, &format!("/review/{key}"), value),
            PAYLOAD,
            class,
            field,
        )
    };
    vec![
        case(
            without(good, "", "review"),
            PAYLOAD,
            "FieldMissing",
            "review",
        ),
        case(
            with(good, "/interactionData", json!(7)),
            PAYLOAD,
            "WrongType",
            "interactionData",
        ),
        case(
            without(good, "/interactionData", "dataHash"),
            PAYLOAD,
            "FieldMissing",
            "interactionData.dataHash",
        ),
        case(
            with(good, "/interactionData/taskRef", json!("eip155:84532")),
            PAYLOAD,
            "MalformedTaskRef",
            "interactionData.taskRef",
        ),
        case(
            with(good, "/interactionData/agentSignature", json!("0x00")),
            PAYLOAD,
            "MalformedField",
            "interactionData.agentSignature",
        ),
        case(
            without(good, "", "reviewerAddress"),
            PAYLOAD,
            "FieldMissing",
            "reviewerAddress",
        ),
        case(
            with(good, "/reviewerSignatureAlgorithm", json!("ed25519")),
            PAYLOAD,
            "MalformedField",
            "reviewerSignatureAlgorithm",
        ),
        case(
            with(
                good,
                "/reviewerAddress",
                json!("eip155:1:0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
            ),
            PAYLOAD,
            "ReviewerMismatch",
            "reviewerAddress",
        ),
        case(
            without(good, "/review", "value"),
            PAYLOAD,
            "FieldMissing",
            "review.value",
        ),
        review(
            "value",
            json!("-1000000000000000000000000000000000000001"),
            "NumberOutOfRange",
            "review.value",
        ),
        review("value", json!(1.5), "NumberOutOfRange", "review.value"),
        review(
            "valueDecimals",
            json!(19),
            "DecimalsOutOfRange",
            "review.valueDecimals",
        ),
        review("tag1", json!(long), "LengthLimit", "review.tag1"),
        review("tag2", json!("a\u{0}"), "MalformedTag", "review.tag2"),
        review(
            "endpoint",
            json!("e".repeat(201)),
            "LengthLimit",
            "review.endpoint",
        ),
        review("comment", json!(["a"]), "WrongType", "review.comment"),
        case(
            flipped(good, "/interactionData/interactionHash"),
            PAYLOAD,
            "InteractionHashMismatch",
            "interactionData.interactionHash",
        ),
        // the forms of the whole payload come before the hash
        case(
            flipped(
                &with(good, "/review/valueDecimals", json!(19)),
                "/interactionData/interactionHash",
            ),
            PAYLOAD,
            "DecimalsOutOfRange",
            "review.valueDecimals",
        ),
        case(
            flipped(
                &without(good, "", "reviewerSignature"),
                "/interactionData/interactionHash",
            ),
            PAYLOAD,
            "FieldMissing",
            "reviewerSignature",
        ),
        case(
            flipped(
                &with(
                    good,
                    "/reviewerAddress",
                    json!("eip155:1:0x70997970C51812dc3A010C7d01b50e0d17dc79C8"),
                ),
                "/interactionData/interactionHash",
            ),
            PAYLOAD,
            "ReviewerMismatch",
            "reviewerAddress",
        ),
        // and the hash before the signature
        case(
            flipped(
                &flipped(good, "/interactionData/interactionHash"),
                "/reviewerSignature",
            ),
            PAYLOAD,
            "InteractionHashMismatch",
            "interactionData.interactionHash",
        ),
        // a form comes before the signature over it
        case(
            flipped(
                &with(good, "/review/valueDecimals", json!(19)),
                "/reviewerSignature",
            ),
            PAYLOAD,
            "DecimalsOutOfRange",
            "review.valueDecimals",
        ),
    ]
}

fn changed(good: &Draft, change: impl FnOnce(&mut Draft)) -> Draft {
    let mut draft = good.clone();
    change(&mut draft);
    draft
}

fn signatures(good: &Draft) -> Vec<Case> {
    let stranger = PreparedKey::secp256k1(&[5; 32]).unwrap();
    let foreign = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e";
    let strange_reviewer = changed(good, |it| it.reviewer_key = stranger.clone());
    let strange_agent = changed(good, |it| it.agent_key = stranger.clone());
    let elsewhere = changed(good, |it| it.registry = foreign.to_owned());
    let unknown = changed(good, |it| it.agent_id = "4242".to_owned());
    vec![
        // the reviewer's signature comes before the registry
        case(
            changed(&strange_reviewer, |it| it.registry = foreign.to_owned()).json(),
            REVIEWER,
            "BadSignature",
            "reviewerSignature",
        ),
        case(
            with(&good.json(), "/review/value", json!(5)),
            REVIEWER,
            "BadSignature",
            "reviewerSignature",
        ),
        case(
            elsewhere.json(),
            AGENT,
            "RegistryNotServed",
            "interactionData.agentRegistry",
        ),
        case(
            unknown.json(),
            AGENT,
            "AgentNotFound",
            "interactionData.agentId",
        ),
        case(
            strange_agent.json(),
            SIGNATURE,
            "SignerUnknown",
            "interactionData.agentSignature",
        ),
        case(
            flipped(&good.json(), "/interactionData/agentSignature"),
            SIGNATURE,
            "SignatureInvalid",
            "interactionData.agentSignature",
        ),
    ]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r52_each_check_answers_with_its_code_and_in_its_order() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let running = Running::start(&world, folder.path()).await;
    let good = world.review(&world.pay(1_000).await);
    let mut cases = forms(&good.json());
    cases.extend(signatures(&good));

    // the payment
    let missing = changed(&good, |it| {
        it.task_ref = format!("eip155:84532:0x{}", "ab".repeat(32))
    });
    let field = "interactionData.taskRef";
    cases.push(case(missing.json(), PAYLOAD, "PaymentNotFound", field));
    let elsewhere = world
        .send_token(&world.chain.payer, world.client(), 1)
        .await;
    let elsewhere = world.review(&elsewhere);
    cases.push(case(elsewhere.json(), PAYLOAD, "PaymentMismatch", field));
    let nothing = world.review(&world.pay(0).await);
    cases.push(case(nothing.json(), PAYLOAD, "PaymentMismatch", field));
    let other_payer = changed(&good, |it| {
        let key = &world.chain.facilitator;
        it.reviewer = format!("eip155:84532:{}", key.address());
        it.reviewer_key = PreparedKey::secp256k1(&key.to_bytes().0).unwrap();
    });
    cases.push(case(other_payer.json(), PAYLOAD, "PaymentMismatch", field));
    // the signer comes before the payment
    let both = changed(&elsewhere, |it| {
        it.agent_key = PreparedKey::secp256k1(&[5; 32]).unwrap()
    });
    cases.push(case(
        both.json(),
        SIGNATURE,
        "SignerUnknown",
        "interactionData.agentSignature",
    ));

    for (index, case) in cases.iter().enumerate() {
        let answer = running.post(case.payload.to_string()).await;
        let found = [
            &answer.body["code"],
            &answer.body["class"],
            &answer.body["field"],
        ];
        let expected = [case.code, case.class, case.field];
        assert_eq!(
            (answer.status, found.map(|it| it.as_str().unwrap_or(""))),
            (case.status, expected),
            "case {index}: {}",
            answer.body
        );
        assert_eq!(answer.body["status"], "error");
        assert!(!answer.body["message"].as_str().unwrap().is_empty());
    }
    for (body, class) in [
        ("{".to_owned(), "MalformedJson"),
        ("{\"review\":{},\"review\":{}}".to_owned(), "MalformedJson"),
        (format!("\"{}\"", "x".repeat(70_000)), "PayloadTooLarge"),
    ] {
        let answer = running.post(body).await;
        assert_eq!(
            (answer.status, answer.body["class"].as_str()),
            (400, Some(class))
        );
    }
    assert_eq!(world.feedbacks().await, 0, "nothing was submitted");
    assert_eq!(
        running.store.page(1, 10).unwrap().len(),
        0,
        "nothing was accepted"
    );

    // R18: the payer is approved for the agent
    let approve = calls::approve(world.chain.agent_id, world.chain.payer.address());
    as_owner(&world, approve).await;
    let answer = running.submit(&good).await;
    let found = (answer.status, answer.body["class"].as_str());
    assert_eq!(found, (400, Some("SelfFeedback")), "{}", answer.body);

    // R36: an unreachable node is not a refusal
    world.chain.stop();
    let answer = running.submit(&good).await;
    let found = (answer.status, answer.body["code"].as_str());
    assert_eq!(found, (503, Some("UNAVAILABLE")), "{}", answer.body);
    running.stop().await;
}

/// A token that anybody can deploy has any transfers.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_payment_in_a_token_that_is_not_listed_does_not_count() {
    let world = World::start().await;
    let place = world.place();
    let draft = world.review(&world.pay(1).await);
    let token = format!("{}:{}", network(), world.chain.token);
    let other = format!("{}:{}", network(), world.open);
    let elsewhere = format!("eip155:1:{}", world.chain.token);
    let cases = [
        (vec![other.clone()], 400),
        (vec![other, token.to_lowercase()], 200),
        (vec![elsewhere], 400),
        (vec![], 400),
    ];
    for (assets, status) in cases {
        let folder = tempfile::tempdir().unwrap();
        let registries = place.registries().await;
        let mut admission = place.admission(vec![place.served()]).await;
        admission.assets = assets.clone();
        let files = Arc::new(FileFolder::ipfs(&folder.path().join("files")));
        let settlement = place.settlement();
        let running = Running::with(folder.path(), registries, &settlement, admission, files).await;
        let answer = running.submit(&draft).await;
        assert_eq!(answer.status, status, "{assets:?}: {}", answer.body);
        if status == 400 {
            assert_eq!(answer.body["class"], "PaymentMismatch");
        }
        running.stop().await;
    }
}
