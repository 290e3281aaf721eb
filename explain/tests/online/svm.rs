use crate::{
    cluster::{CHAIN, World},
    local_fetcher, offline, serve, steps_in,
};
use concord_canonical::hash::keccak256;
use concord_explain::{
    Bundle, Report, State, Step, Trust, complete, explain,
    online::{FeedbackName, Online},
};
use concord_registry::svm::{Program, instructions::GiveOpenFeedback};
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_signer::Signer;

async fn explained(world: &World, name: &str, trust: &Trust) -> (Bundle, Report) {
    let mut online = Online::new(local_fetcher());
    online.add_svm(world.reader().await);
    let name: FeedbackName = name.parse().expect("a name");
    let subject = online.subject(&name, trust).await.expect("a feedback");
    let mut bundle = Bundle::new(subject);
    let completed = complete(&mut bundle, trust, &mut online)
        .await
        .expect("a feedback");
    assert!(completed.needs.is_empty(), "{:?}", completed.needs);
    (bundle, completed.report)
}

fn trust(program: &Program) -> Trust {
    let mut trust = Trust::default();
    let named = format!("AgentRegistry={CHAIN}:{}", program.id());
    trust.add_named(&named).expect("a registry");
    trust
}

const SOUND: [Step; 8] = [
    Step::Event,
    Step::Registry,
    Step::NotRevoked,
    Step::FileHash,
    Step::FileAgrees,
    Step::Authorship,
    Step::SelfFeedback,
    Step::Registration,
];

#[tokio::test(flavor = "multi_thread")]
async fn a_feedback_of_a_running_cluster_is_verified_but_for_its_inclusion() {
    let (owner, client, mint) = (Keypair::new(), Keypair::new(), Keypair::new());
    let world = World::start(&[owner.pubkey(), client.pubkey()]);
    let program = world.deploy(&owner).await;
    let registry = format!("{CHAIN}:{}", program.id());
    let agent = mint.pubkey();
    let registration =
        json!({ "registrations": [{ "agentId": agent.to_string(), "agentRegistry": registry }] });
    let uri = format!("data:,{registration}");
    let register = program.register_agent(owner.pubkey(), agent, &uri);
    world.send(&[&owner, &mint], &[register]).await;
    let file = json!({
        "agentId": agent.to_string(),
        "agentRegistry": registry,
        "clientAddress": format!("{CHAIN}:{}", client.pubkey()),
        "createdAt": "2026-01-02T03:04:05Z",
        "value": 50,
        "valueDecimals": 1,
        "tag1": "starred",
    });
    let file = file.to_string();
    let uri = serve(file.clone()); // a URI has 200 bytes at most (R17)
    let give = |index| {
        let given = GiveOpenFeedback {
            index,
            value: 50,
            decimals: 1,
            tag1: "starred",
            tag2: "",
            endpoint: "",
            uri: &uri,
            hash: keccak256(file.as_bytes()),
        };
        program.give_open_feedback(client.pubkey(), agent, &given)
    };
    // of the client's two feedbacks the second
    world.send(&[&client], &[give(1)]).await;
    let sent = world.send(&[&client], &[give(2)]).await;
    world.advance(2).await;
    let trust = trust(&program);
    let (bundle, report) = explained(&world, &format!("{CHAIN}:{sent}"), &trust).await;
    assert_eq!(bundle.feedback.index, 2);
    assert_eq!(
        steps_in(&report, State::CannotCheck),
        [Step::Inclusion],
        "{report:#?}"
    );
    // only its host says that it is the file of this URI; the hash says more
    assert_eq!(steps_in(&report, State::Claimed), [Step::File]);
    assert_eq!(steps_in(&report, State::Verified), SOUND, "{report:#?}");
    assert_eq!(offline(&bundle, &trust), report);
    check_flips(&bundle, &trust, &report);
    let (by_id, again) = explained(&world, &bundle.feedback.name(), &trust).await;
    assert_eq!((by_id.feedback, again), (bundle.feedback.clone(), report));

    let revoke = program.revoke_open_feedback(client.pubkey(), agent, 2);
    world.send(&[&client], &[revoke]).await;
    world.advance(2).await;
    let (_, report) = explained(&world, &bundle.feedback.name(), &trust).await;
    assert_eq!(
        steps_in(&report, State::Refuted),
        [Step::NotRevoked],
        "{report:#?}"
    );
}

/// Every text of hex digits in a bundle, by its pointer.
fn hex_texts(value: &Value, pointer: &str, found: &mut Vec<String>) {
    let below = |key: &str| {
        let key = key.replace('~', "~0").replace('/', "~1");
        format!("{pointer}/{key}")
    };
    match value {
        Value::String(text) if text.starts_with("0x") && text.len() > 2 => {
            found.push(pointer.to_owned());
        }
        Value::Array(all) => all
            .iter()
            .enumerate()
            .for_each(|(place, it)| hex_texts(it, &below(&place.to_string()), found)),
        Value::Object(all) => all
            .iter()
            .for_each(|(key, it)| hex_texts(it, &below(key), found)),
        _ => (),
    }
}

fn flipped(bundle: &Value, pointer: &str, place: usize) -> Value {
    let mut bundle = bundle.clone();
    let text = bundle.pointer_mut(pointer).expect("a place");
    let mut digits = text.as_str().expect("digits")[2..].to_owned().into_bytes();
    let at = place * 2 + 1;
    digits[at] = if digits[at] == b'0' { b'1' } else { b'0' };
    *text = json!(format!("0x{}", String::from_utf8(digits).expect("digits")));
    bundle
}

/// What a signature covers refutes the event. The rest is the node's word: it may be another word, but it
/// verifies nothing that was not verified.
fn check_flips(bundle: &Bundle, trust: &Trust, before: &Report) {
    let bundle: Value = serde_json::from_str(&bundle.to_canonical().expect("JSON")).expect("JSON");
    let mut pointers = Vec::new();
    hex_texts(&bundle, "", &mut pointers);
    let mut flips = 0;
    for pointer in pointers {
        let text = bundle
            .pointer(&pointer)
            .and_then(Value::as_str)
            .expect("digits");
        let length = text.len() / 2 - 1;
        for place in (0..length).step_by((length / 9).max(1)) {
            let changed = flipped(&bundle, &pointer, place).to_string();
            let changed = Bundle::parse(&changed).expect("a bundle");
            let after = explain(&changed, trust).expect("a feedback").report;
            let shown = format!("byte {place} of {pointer}: {after:#?}");
            if pointer.ends_with("/raw") {
                assert_eq!(steps_in(&after, State::Refuted), [Step::Event], "{shown}");
            }
            for step in steps_in(&after, State::Verified) {
                assert_eq!(
                    before.state_of(step),
                    Some(State::Verified),
                    "{step}: {shown}"
                );
            }
            flips += 1;
        }
    }
    assert!(flips > 30, "{flips} flips");
}
