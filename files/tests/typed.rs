//! What the typed views answer beside reading and writing.

use concord_canonical::caip::AccountId;
use concord_files::{
    AgentId, Algorithm, Dialect, Extra, FeedbackFile, MappingKind, RawJson, RegistrationFile, Rule,
    UriKind, decode_uri, decode_uri_bytes, encode_uri, info_from_extensions, info_schema,
    parse_feedback, parse_registration,
};

const BASE: &str = "eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";
const MINT: &str = "7xKXtg2CW87d97TXJSDpbD5jBkheTqA83TZRuJosgAsU";
const PROGRAM: &str =
    "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp:satiRkxEiwZ51cv8PRu8UMzuaqeaNU9jABo6oAFMsLe";

fn account(text: &str) -> AccountId<'_> {
    AccountId::parse(text).expect("CAIP-10")
}

fn id(registry: &str, text: &str) -> AgentId {
    AgentId::parse(&account(registry), text).expect("an id")
}

fn registration(text: &str) -> RegistrationFile {
    parse_registration(text.as_bytes())
        .expect("a file")
        .into_view()
}

#[test]
fn a_registration_claims_what_it_lists_and_nothing_else() {
    let file = registration(&format!(
        r#"{{"registrations":[{{"agentId":42,"agentRegistry":"{BASE}"}},{{"agentId":"{MINT}","agentRegistry":"{PROGRAM}"}},
            {{"agentId":null,"agentRegistry":"eip155:1:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432"}}]}}"#
    ));
    assert!(file.claims(&account(BASE), &id(BASE, "42")));
    assert!(
        file.claims(&account(&BASE.to_lowercase()), &id(BASE, "42")),
        "EVM addresses have no case"
    );
    assert!(file.claims(&account(PROGRAM), &id(PROGRAM, MINT)));
    assert!(!file.claims(&account(BASE), &id(BASE, "43")));
    let mainnet = BASE.replace("8453", "1");
    assert!(
        !file.claims(&account(&mainnet), &id(BASE, "42")),
        "the id there is null"
    );
    let other = BASE.replace("8004A169", "8004A170");
    assert!(!file.claims(&account(&other), &id(BASE, "42")));
}

#[test]
fn wallets_are_the_services_of_that_name() {
    let wallet = "eip155:8453:0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
    let file = registration(&format!(
        r#"{{"services":[{{"name":"agentwallet","endpoint":"x"}},{{"name":"agentWallet","endpoint":"{wallet}"}}]}}"#
    ));
    assert_eq!(file.agent_wallets().expect("a wallet"), [account(wallet)]);
    let text =
        r#"{"services":[{"name":"web","endpoint":""},{"name":"agentWallet","endpoint":"0xf39F"}]}"#;
    let error = registration(text)
        .agent_wallets()
        .expect_err("no CAIP-10 id");
    assert_eq!(
        (error.path(), error.rule().name()),
        ("$.services[1].endpoint", "account-id")
    );
    assert_eq!(error.value(), Some("0xf39F"));
}

#[test]
fn r30_a_signer_is_valid_from_its_first_second_until_before_its_last() {
    let key = "d75a980182b10ab7d54bfed3c964073a0ee172f3daa62325af021a68f707511a"; // RFC 8032, test 1
    let file = registration(&format!(
        r#"{{"signers":[{{"publicKey":"{key}","algorithm":"ed25519","validFrom":100,"validUntil":200}},
            {{"publicKey":"{key}","algorithm":"ed25519","validFrom":0,"validUntil":null}}]}}"#
    ));
    let [window, open] = &file.signers[..] else {
        panic!("two signers")
    };
    let valid = [99, 100, 199, 200].map(|time| window.is_valid_at(time));
    assert_eq!(valid, [false, true, true, false]);
    assert!(open.is_valid_at(0) && open.is_valid_at(u64::MAX));
    assert_eq!(Algorithm::of_key(&open.public_key), Algorithm::Ed25519);
}

#[test]
fn agent0_files_become_best_practices() {
    let text = format!(
        r#"{{"agentRegistry":"{BASE}","agentId":42,"clientAddress":"{BASE}","createdAt":"2025-09-23T12:00:00Z","value":85,
            "valueDecimals":0,"text":"fine","mcpTool":"t","a2aSkills":["s"],"oasfDomains":["d"],"note":1}}"#
    );
    let FeedbackFile::Agent0(file) = parse_feedback(text.as_bytes()).expect("a file").into_view()
    else {
        panic!("agent0's dialect")
    };
    let current = file.into_best_practices().expect("one comment");
    let written = FeedbackFile::BestPractices(current).to_canonical();
    assert_eq!(
        written.expect("a file"),
        format!(
            r#"{{"a2a":{{"skills":["s"]}},"agentId":42,"agentRegistry":"{BASE}","clientAddress":"{BASE}","createdAt":"2025-09-23T12:00:00Z","mcp":{{"tool":"t"}},"note":1,"oasf":{{"domains":["d"]}},"reasoning":"fine","value":85,"valueDecimals":0}}"#
        )
    );
}

/// agent0's `text` becomes `reasoning`, which the file may have already.
#[test]
fn agent0_files_lose_no_comment() {
    let current = |reasoning: &str| {
        let text = format!(
            r#"{{"agentRegistry":"{BASE}","agentId":42,"clientAddress":"{BASE}","createdAt":"2025-09-23T12:00:00Z","value":85,
                "valueDecimals":0,"text":"fine","reasoning":{reasoning}}}"#
        );
        let FeedbackFile::Agent0(file) =
            parse_feedback(text.as_bytes()).expect("a file").into_view()
        else {
            panic!("agent0's dialect")
        };
        file.into_best_practices()
    };
    for reasoning in [r#""fine""#, "null"] {
        let same = current(reasoning).expect("one comment");
        assert_eq!(same.extra["reasoning"].as_str(), r#""fine""#);
    }
    let error = current(r#""slow""#).expect_err("two comments");
    assert_eq!(error.to_string(), "$.reasoning: differs from $.text");
}

#[test]
fn extra_members_cannot_change_what_a_file_says() {
    let text = format!(
        r#"{{"agentRegistry":"{BASE}","agentId":42,"clientAddress":"{BASE}","createdAt":"2025-09-23T12:00:00Z","value":85,"valueDecimals":0}}"#
    );
    let parsed = parse_feedback(text.as_bytes()).expect("a file");
    let with = |key: &str, value: &str| {
        let FeedbackFile::BestPractices(mut file) = parsed.view().clone() else {
            panic!("BP")
        };
        file.extra = Extra::from([(key.to_owned(), RawJson::parse(value).expect("JSON"))]);
        FeedbackFile::BestPractices(file).to_canonical()
    };
    assert!(with("note", "[1]").is_ok());
    let rule = |key, value| with(key, value).expect_err("refused").rule().name();
    assert_eq!(rule("value", "1"), "duplicate-key");
    assert_eq!(rule("score", "1"), "exclusive");
    let error = with("text", "\"fine\"").expect_err("agent0's key");
    let dialect = Dialect::Agent0.name();
    assert_eq!(error.rule(), &Rule::OtherDialect { dialect });
    assert!(RawJson::parse("{\"a\":1,\"a\":2}").is_err());
}

#[test]
fn a_payment_is_a_task_reference() {
    let hash = format!("0x{}", "ab".repeat(32));
    let file = |chain: &str| {
        let text = format!(
            r#"{{"agentRegistry":"{BASE}","agentId":42,"clientAddress":"{BASE}","createdAt":"2025-09-23T12:00:00Z","value":85,"valueDecimals":0,
                "proofOfPayment":{{"fromAddress":"{BASE}","toAddress":"{BASE}","chainId":{chain},"txHash":"{hash}"}}}}"#
        );
        let FeedbackFile::BestPractices(file) =
            parse_feedback(text.as_bytes()).expect("a file").into_view()
        else {
            panic!("BP")
        };
        file.payment.expect("a payment").proof().task_ref()
    };
    for chain in ["8453", "\"8453\"", "\"eip155:8453\""] {
        assert_eq!(file(chain), format!("eip155:8453:{hash}"), "{chain}");
    }
}

#[test]
fn uris_are_classified_by_their_scheme() {
    for (uri, kind) in [
        ("", UriKind::Empty),
        ("data:,", UriKind::Data),
        ("DATA:,", UriKind::Data),
        (" {}", UriKind::InlineJson),
        ("HTTPS://agent.example", UriKind::Http),
        ("http://agent.example", UriKind::Http),
        ("ipfs://Qm", UriKind::Ipfs),
        ("ar://x", UriKind::Other),
        ("agent.example", UriKind::Other),
        ("é", UriKind::Other),
    ] {
        assert_eq!(UriKind::of(uri), kind, "{uri}");
    }
    let file = "{\"name\":\"ünï\"}".as_bytes();
    let decoded = decode_uri(&encode_uri(file)).expect("our own form");
    assert_eq!((&decoded.bytes[..], &decoded.mappings[..]), (file, &[][..]));
}

#[test]
fn r17_a_uri_that_is_not_utf8_holds_its_own_bytes() {
    let cases: [(&[u8], &[u8]); 5] = [
        (b"{\"name\":\"\xff\"}", b"{\"name\":\"\xff\"}"),
        (
            b"data:application/json,{\"name\":\"\xff\"}",
            b"{\"name\":\"\xff\"}",
        ),
        (b"data:,{%7\xff%\xc3%C3\xbc}", b"{%7\xff%\xc3\xc3\xbc}"),
        ("data:,{\u{10FEFF}}".as_bytes(), "{\u{10FEFF}}".as_bytes()),
        (b"data:application/json;base64,e30=", b"{}"),
    ];
    for (uri, content) in cases {
        assert_eq!(decode_uri_bytes(uri).expect("content").bytes, content);
    }
    for (uri, rule) in [
        (&b"\xffdata:,{}"[..], "not-inline"),
        (b"data:application/json;base64,e30\xff", "encoding"),
    ] {
        let error = decode_uri_bytes(uri).expect_err("no content");
        assert_eq!(error.rule().name(), rule);
    }
}

#[test]
fn uris_beyond_the_limit_are_not_decoded() {
    let uri = format!("data:application/json,{}", "%20".repeat(1 << 20));
    assert_eq!(
        decode_uri(&uri).expect("1 MiB of spaces").bytes.len(),
        1 << 20
    );
    let error = decode_uri(&format!("{uri}{}", " ".repeat(300))).expect_err("too long");
    assert_eq!((error.path(), error.rule().name()), ("uri", "size"));
}

#[test]
fn the_announced_schema_takes_x402s_own_example() {
    let schema = serde_json::from_str(info_schema()).expect("JSON");
    let schema = jsonschema::draft202012::new(&schema).expect("a schema");
    let text = format!(
        r#"{{"8004-reputation":{{"info":{{"version":"1.0.0","registrations":[{{"agentRegistry":"{BASE}","agentId":"42"}}],"feedbackAggregator":"https://feedback.example/submit"}}}}}}"#
    );
    let [found] = &info_from_extensions(text.as_bytes()).expect("an info")[..] else {
        panic!("one profile")
    };
    let info: serde_json::Value =
        serde_json::from_str(&found.view.to_canonical().expect("JSON")).expect("JSON");
    assert!(schema.is_valid(&info));
    for (pointer, value) in [
        ("/version", "1"),
        ("/registrations", "[]"),
        ("/registrations/0/agentId", "42"),
    ] {
        let mut broken = info.clone();
        *broken.pointer_mut(pointer).expect("a member") =
            serde_json::from_str(value).expect("JSON");
        assert!(!schema.is_valid(&broken), "{pointer}");
    }
}

#[test]
fn every_mapping_has_a_name_of_its_own() {
    let mut names: Vec<_> = MappingKind::ALL.iter().map(|kind| kind.name()).collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

/// Each name occurs in a vector, so each mapping is shown to be applied.
#[test]
fn every_mapping_is_shown_by_a_vector() {
    let folder = format!("{}/../tests/vectors/files", env!("CARGO_MANIFEST_DIR"));
    let files = std::fs::read_dir(folder).expect("vectors");
    let text: String = files
        .map(|file| std::fs::read_to_string(file.expect("a file").path()).expect("text"))
        .collect();
    for kind in MappingKind::ALL {
        let name = kind.name();
        let is_shown = [format!("\"{name} "), format!("\"{name}\"")]
            .iter()
            .any(|it| text.contains(it));
        assert!(is_shown, "{name}");
    }
}
