//! The shapes of registration and feedback files that are found on Base, written anew: each is explained without a
//! crash, and nothing is verified that does not hold.
use crate::online::{
    anvil::{CHAIN, CLIENT, OWNER, World},
    evm::{explained, trust},
    offline,
};
use alloy::primitives::{B256, keccak256};
use base64::{Engine as _, engine::general_purpose::STANDARD as BASE64};
use concord_canonical::hash::sha256;
use concord_explain::{Report, State, Step, online::At};
use concord_registry::evm::{U256, calls};

/// Anvil's first contract: files name it.
const REGISTRY: &str = "eip155:31337:0x5FbDB2315678afecb367f032d93F642f64180aa3";
/// By Python: `base64.b64encode(gzip.compress(file, mtime=0))`.
const GZIP: &str = "H4sIAAAAAAACAyXLMQ6DMAxA0bt4ZohjklCPFUJi7Vp1MMVBGRoQZKBC3L2V2P7w/gFZPgoMAhWsOqWtrFLSnDfg5wEyaS79CIzV1Y+LfP+HpgWdY0KiwGZ33dDeLaHzoZGo74F8iIbseKPO1zb6GhsjQnC+zh/YrtEydgAAAA==";

/// The state of a step; `None` if it does not apply.
fn state(report: &Report, step: Step) -> Option<State> {
    let found = report.findings.iter().find(|it| it.step == step);
    found.map(|it| it.state)
}

/// Explains the newest feedback, online and then without a network.
async fn newest(world: &World, sent: B256) -> Report {
    let mut trust = trust(world).await;
    let name = format!("{CHAIN}:{sent}");
    let explained = explained(world, &name, Some(At::Latest), &mut trust).await;
    let (bundle, report) = explained.expect("it is explained");
    assert_eq!(offline(&bundle, &trust), report);
    report
}

struct Shape {
    what: &'static str,
    file: String,
    hash: B256,
    /// Of the steps file, file-hash and file-agrees.
    states: [Option<State>; 3],
}

fn shapes(client: &str) -> Vec<Shape> {
    const YES: Option<State> = Some(State::Verified);
    const NO: Option<State> = Some(State::Refuted);
    const OPEN: Option<State> = Some(State::CannotCheck);
    let rest = format!(
        r#""agentRegistry":"{REGISTRY}","clientAddress":"{CHAIN}:{client}","createdAt":"2026-01-02T03:04:05Z","endpoint":"https://agent.example/quote","tag1":"starred","tag2":"quote""#
    );
    let rated = format!(r#"{rest},"value":87,"valueDecimals":0"#);
    let nested = r#""proofOfPayment":{"fromAddress":"0x70997970C51812dc3A010C7d01b50e0d17dc79C8","toAddress":"0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266","chainId":"8453","txHash":"0x1111111111111111111111111111111111111111111111111111111111111111"}"#;
    let of = |what, file: String, hash: B256, states| Shape {
        what,
        file,
        hash,
        states,
    };
    let raw = |what, file: String, states| {
        let hash = keccak256(&file);
        of(what, file, hash, states)
    };
    let current = format!(r#"{{"agentId":1,{rated}}}"#);
    let pretty = current.replace(',', ",\n  ");
    let sha = B256::from(sha256(current.as_bytes()));
    // as JSON.stringify with a list of keys writes it: what is nested is left out
    let filtered = current.replace(r#""tag1""#, r#""proofOfPayment":{},"tag1""#);
    let python = current.replace("\":", "\": ").replace(",\"", ", \"");
    vec![
        raw("the current form", current.clone(), [YES, YES, YES]),
        raw(
            "an id as text",
            current.replacen(":1,", ":\"1\",", 1),
            [YES, YES, YES],
        ),
        raw("indented", pretty.clone(), [YES, YES, YES]),
        of(
            "another hash function",
            current.clone(),
            sha,
            [YES, YES, YES],
        ),
        of(
            "agent0 for Python",
            pretty,
            keccak256(python),
            [YES, YES, YES],
        ),
        of(
            "agent0 for TypeScript, which leaves out what is nested",
            format!(r#"{{"agentId":1,{rated},{nested}}}"#),
            keccak256(filtered),
            [YES, OPEN, YES],
        ),
        raw(
            "the older name of a payment's proof",
            format!(
                r#"{{"agentId":1,{rated},{}}}"#,
                nested.replace("proofOfPayment", "proof_of_payment")
            ),
            [YES, YES, YES],
        ),
        raw(
            "a decimal as text, as a block explorer's profile has it",
            format!(r#"{{"agentId":1,{rest},"value":"4.75","valueDecimals":2}}"#),
            [YES, YES, OPEN],
        ),
        raw(
            "a score of the draft, on the open registry",
            format!(r#"{{"agentId":1,{rest},"score":87}}"#),
            [YES, YES, NO],
        ),
        raw(
            "another rating",
            current.replace("87", "99"),
            [YES, YES, NO],
        ),
        raw(
            "another agent",
            current.replacen(":1,", ":2,", 1),
            [YES, YES, NO],
        ),
        raw(
            "somebody else's file",
            current.replace(client, "0x00000000000000000000000000000000000000AA"),
            [YES, YES, NO],
        ),
        of(
            "another file's hash",
            current.clone(),
            keccak256("other"),
            [YES, NO, OPEN],
        ),
        of("no hash", current, B256::ZERO, [YES, None, YES]),
        raw(
            "prose",
            "Great agent, would use again!".to_owned(),
            [YES, YES, OPEN],
        ),
        raw("an empty object", "{}".to_owned(), [YES, YES, OPEN]),
        raw("a list", "[1, 2]".to_owned(), [YES, YES, OPEN]),
        raw(
            "a key twice",
            r#"{"agentId":1,"agentId":2}"#.to_owned(),
            [YES, YES, OPEN],
        ),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn each_shape_of_a_feedback_file_is_explained_without_a_lie() {
    let world = World::start().await;
    assert_eq!(world.registry(), REGISTRY);
    let client = world.accounts[CLIENT].to_string();
    for shape in shapes(&client) {
        let uri = format!(
            "data:application/json;base64,{}",
            BASE64.encode(&shape.file)
        );
        let give = world.give(87, &uri, shape.hash);
        let sent = world.send(CLIENT, world.open, give).await;
        let report = newest(&world, sent).await;
        let found = [Step::File, Step::FileHash, Step::FileAgrees].map(|it| state(&report, it));
        assert_eq!(found, shape.states, "{}: {report:#?}", shape.what);
        // what the chain proves does not depend on the file
        for step in [Step::Event, Step::Inclusion, Step::NotRevoked] {
            let found = state(&report, step);
            assert_eq!(found, Some(State::Verified), "{}: {step}", shape.what);
        }
        // a file that is not the one on chain leaves open whom it would name
        let authorship = match shape.states[1] {
            Some(State::Refuted) => State::CannotCheck,
            _ => State::Verified,
        };
        let found = state(&report, Step::Authorship);
        assert_eq!(found, Some(authorship), "{}", shape.what);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_uri_of_a_feedback_file_is_explained_without_a_lie() {
    let world = World::start().await;
    for (uri, expected) in [
        ("", None),
        (
            "ipfs://bafkreihdwdcefgh4dqkjv67uzcmw7ojee6xedzdetojuzjevtenxquvyku",
            Some(State::CannotCheck),
        ),
        ("ipfs://not-a-cid", Some(State::Refuted)),
        ("https://127.0.0.1:1/file.json", Some(State::CannotCheck)),
        ("ar://abc", Some(State::CannotCheck)),
        ("nonsense", Some(State::CannotCheck)),
        ("data:application/json;base64,@@@", Some(State::Refuted)),
    ] {
        let give = world.give(87, uri, keccak256("file"));
        let sent = world.send(CLIENT, world.open, give).await;
        let report = newest(&world, sent).await;
        let found = state(&report, Step::File);
        assert_ne!(found, Some(State::Verified), "{uri}: {report:#?}");
        assert_eq!(found.is_none(), expected.is_none(), "{uri}: {report:#?}");
        assert_ne!(
            state(&report, Step::FileHash),
            Some(State::Verified),
            "{uri}: {report:#?}"
        );
        assert_ne!(
            state(&report, Step::FileAgrees),
            Some(State::Verified),
            "{uri}: {report:#?}"
        );
        assert_eq!(state(&report, Step::Event), Some(State::Verified), "{uri}");
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn each_shape_of_a_registration_file_is_explained_without_a_lie() {
    const YES: Option<State> = Some(State::Verified);
    const NO: Option<State> = Some(State::Refuted);
    let world = World::start().await;
    assert_eq!(world.registry(), REGISTRY);
    let listed =
        |id: &str| format!(r#""registrations":[{{"agentId":{id},"agentRegistry":"{REGISTRY}"}}]"#);
    let own = listed("1");
    let base64 = |file: &str| format!("data:application/json;base64,{}", BASE64.encode(file));
    for (what, uri, expected) in [
        ("base64", base64(&format!("{{{own}}}")), YES),
        (
            "an id as text",
            base64(&format!("{{{}}}", listed("\"1\""))),
            YES,
        ),
        (
            "plain JSON labelled base64",
            format!("data:application/json;base64,{{{own}}}"),
            YES,
        ),
        ("inline JSON", format!("{{{own}}}"), YES),
        (
            "gzip",
            format!("data:application/json;enc=gzip;base64,{GZIP}"),
            YES,
        ),
        (
            "gzip without its label",
            format!("data:application/json;base64,{GZIP}"),
            YES,
        ),
        (
            "the older names",
            base64(&format!(
                r#"{{{own},"endpoints":[{{"type":"MCP","url":"https://a.example"}}],"x402support":true,"supportedTrusts":["reputation"]}}"#
            )),
            YES,
        ),
        (
            "no list of registrations",
            base64(r#"{"name":"a","services":[]}"#),
            NO,
        ),
        (
            "made before the registration",
            base64(&format!("{{{}}}", listed("null"))),
            NO,
        ),
        (
            "another agent's",
            base64(&format!("{{{}}}", listed("2"))),
            NO,
        ),
        (
            "another chain's",
            base64(&format!("{{{}}}", own.replace("31337", "8453"))),
            NO,
        ),
        ("no JSON", base64("<html>"), NO),
        (
            "a service without an endpoint",
            base64(&format!(r#"{{{own},"services":[{{"name":"web"}}]}}"#)),
            NO,
        ),
        ("nowhere", String::new(), None),
        (
            "a host that does not answer",
            "https://127.0.0.1:1/a.json".to_owned(),
            Some(State::CannotCheck),
        ),
    ] {
        let set = calls::set_agent_uri(U256::from(1), &uri);
        world.send(OWNER, world.identity, set).await;
        let (file, hash) = world.file(87);
        let give = world.give(87, &file, hash);
        let sent = world.send(CLIENT, world.open, give).await;
        let report = newest(&world, sent).await;
        assert_eq!(
            state(&report, Step::Registration),
            expected,
            "{what}: {report:#?}"
        );
        for step in [
            Step::Event,
            Step::FileHash,
            Step::FileAgrees,
            Step::Authorship,
        ] {
            assert_eq!(
                state(&report, step),
                Some(State::Verified),
                "{what}: {step}"
            );
        }
    }
}
