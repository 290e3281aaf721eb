//! A feedback with X402's proof: what the agent signed, and a payment on the same chain.
use crate::online::{
    anvil::{CHAIN, CLIENT, OWNER, World},
    authorized::judge,
    evm::{explained, trust},
    flips, local_fetcher, offline, serve,
    signed::{self, RESPONSE, Rated, TARGET},
    steps_in,
};
use alloy::primitives::{Address, B256, Bytes, U256, hex, keccak256};
use concord_canonical::sign::{PreparedKey, PublicKey};
use concord_explain::{
    Bundle, Exchange, Need, ReadFile, Report, State, Step, Trust, complete, explain, online::Online,
};
use concord_files::encode_uri;
use concord_registry::evm::calls;
use serde_json::json;

/// A token that moves nothing: it emits ERC-20's Transfer with the three words of its input.
pub fn token() -> Bytes {
    token_of_transfers(1)
}

/// As [`token`], with one event for each of the words from the third on.
pub fn token_of_transfers(transfers: u8) -> Bytes {
    let topic = keccak256("Transfer(address,address,uint256)");
    let emitted = (0..transfers).flat_map(|it| {
        let amount = 0x40 + 0x20 * it;
        let head = [&[0x60, amount][..], &hex!("35600052602035600035 7f")];
        [&head.concat()[..], topic.as_slice(), &hex!("60206000a3")].concat()
    });
    let code: Vec<u8> = emitted.chain([0]).collect();
    let length = u8::try_from(code.len()).expect("short");
    [
        &[0x60, length, 0x80, 0x60, 0x0b, 0x60, 0, 0x39, 0x60, 0, 0xf3][..],
        &code,
    ]
    .concat()
    .into()
}

pub fn transfer(from: Address, to: Address, amount: u64) -> Bytes {
    let words = [from.into_word(), to.into_word(), U256::from(amount).into()];
    words.concat().into()
}

pub struct Paid<'a> {
    world: &'a World,
    pub trust: Trust,
    payment: B256,
    token: Address,
}

impl<'a> Paid<'a> {
    /// The client pays somebody.
    pub async fn to(world: &'a World, payee: Address) -> Self {
        let token = world.deploy(token()).await;
        let input = transfer(world.accounts[CLIENT], payee, 1_000);
        Self {
            trust: trust(world).await,
            payment: world.send(CLIENT, token, input).await,
            token,
            world,
        }
    }

    /// The client's file, with what `agent` signed.
    fn file(&self, agent: &PreparedKey) -> String {
        self.file_of(CHAIN, agent)
    }

    /// As if the client had paid on another chain.
    fn file_of(&self, chain: &str, agent: &PreparedKey) -> String {
        let client = format!("{CHAIN}:{}", self.world.accounts[CLIENT]);
        signed::file(&Rated {
            registry: &self.world.registry(),
            agent_id: "1",
            client: &client,
            payer: &format!("{chain}:{}", self.world.accounts[CLIENT]),
            task_ref: &format!("{chain}:{}", self.payment),
            agent,
            reviewer: &self.world.key(CLIENT),
        })
    }

    pub async fn rated(&self, agent: &PreparedKey) -> (Bundle, Report) {
        let (bundle, report, trust) = self.read(agent).await;
        assert_eq!(offline(&bundle, &trust), report);
        (bundle, report)
    }

    /// Another account gives the client's file as its own.
    pub async fn copied(&self, agent: &PreparedKey, by: usize) {
        let input = self.given(agent);
        self.world.send(by, self.world.open, input).await;
    }

    /// A call that gives the client's file as the caller's own.
    pub fn given(&self, agent: &PreparedKey) -> Bytes {
        let file = self.file(agent);
        self.world
            .give(87, &encode_uri(file.as_bytes()), keccak256(&file))
    }

    /// What was read, what it came to, and the block that is trusted.
    async fn read(&self, agent: &PreparedKey) -> (Bundle, Report, Trust) {
        let input = self.given(agent);
        let sent = self.world.send(CLIENT, self.world.open, input).await;
        let mut trust = self.trust.clone();
        let name = format!("{CHAIN}:{sent}");
        let (bundle, report) = explained(self.world, &name, None, &mut trust)
            .await
            .unwrap();
        (bundle, report, trust)
    }
}

fn authorship(report: &Report) -> &str {
    let finding = report.finding(Step::Authorship).expect("a finding");
    let fact = finding.evidence.iter().find(|it| it.name == "authorship");
    &fact.expect("a fact").value
}

#[tokio::test(flavor = "multi_thread")]
async fn r49_a_paid_and_signed_feedback_is_the_reviewers() {
    for world in [World::start().await, World::canonical().await] {
        check_paid(&world).await;
    }
}

async fn check_paid(world: &World) {
    let paid = Paid::to(world, world.accounts[OWNER]).await;
    let (mut bundle, report) = paid.rated(&world.key(OWNER)).await;
    let proven = [
        Step::Signer,
        Step::AgentSignature,
        Step::ReviewerSignature,
        Step::Payment,
    ];
    for step in proven {
        assert_eq!(
            report.state_of(step),
            Some(State::Verified),
            "{step}: {report:#?}"
        );
    }
    let payment = report.finding(Step::Payment).expect("a finding");
    let moved = payment.evidence.iter().find(|it| it.name == "paid");
    let (token, payee) = (paid.token, world.accounts[OWNER]);
    assert_eq!(
        moved.expect("a fact").value,
        format!("1000 of {token} to {payee}")
    );
    assert_eq!(authorship(&report), "signed");
    assert_eq!(steps_in(&report, State::Refuted), []);
    assert_eq!(steps_in(&report, State::CannotCheck), [Step::PaymentUse]);

    // request and response, of whoever has them
    bundle.exchange = Some(Exchange {
        target: TARGET.to_owned(),
        request: Vec::new().into(),
        response: RESPONSE.to_vec().into(),
    });
    let with = |bundle: &Bundle| explain(bundle, &paid.trust).expect("a feedback").report;
    assert_eq!(
        with(&bundle).state_of(Step::DataHash),
        Some(State::Verified)
    );
    let mut trust = paid.trust.clone();
    trust.add_block(CHAIN, bundle.evm[CHAIN].anchor.0);
    flips::check_evm(&bundle, &trust);
    if let Some(exchange) = &mut bundle.exchange {
        exchange.response = b"20 degrees".to_vec().into();
    }
    assert_eq!(with(&bundle).state_of(Step::DataHash), Some(State::Refuted));
}

/// R36: the agent's file is at a host, and whoever made the bundle puts another one beside it, with a key of their own as its signer.
#[tokio::test(flavor = "multi_thread")]
async fn r36_a_hosts_file_beside_a_bundle_names_no_signer_of_the_agent() {
    let world = World::start().await;
    let listed = json!([{ "agentId": 1, "agentRegistry": world.registry() }]);
    let uri = serve(json!({ "registrations": listed }).to_string());
    let set = calls::set_agent_uri(U256::from(1), &uri);
    world.send(OWNER, world.identity, set).await;
    let paid = Paid::to(&world, world.accounts[OWNER]).await;
    let forger = world.key(3);
    let (mut bundle, _, trust) = paid.read(&forger).await;
    let PublicKey::Secp256k1(key) = forger.public_key() else {
        panic!("anvil's keys are of secp256k1");
    };
    let signer = json!({
        "publicKey": format!("0x{}", hex::encode(key)),
        "algorithm": "secp256k1", "validFrom": 1, "validUntil": null,
    });
    let forged = json!({ "registrations": listed, "signers": [signer] }).to_string();
    let forged = ReadFile {
        bytes: forged.into_bytes().into(),
        host: Some("127.0.0.1".to_owned()),
        blocks: Vec::new(),
    };
    bundle.files.insert(uri.clone(), forged);
    let states = |bundle: &Bundle| {
        let report = explain(bundle, &trust).expect("a feedback").report;
        let steps = [Step::Registration, Step::Signer, Step::AgentSignature];
        (steps.map(|it| report.state_of(it)), report)
    };
    let (found, report) = states(&bundle);
    let [registration, signer, _] = found;
    assert_eq!(registration, Some(State::Claimed), "{report:#?}");
    assert_eq!(signer, Some(State::CannotCheck), "{report:#?}");
    assert_ne!(authorship(&report), "signed");
    // were it from the host, it would be the agent's word
    let mut read = bundle.clone();
    read.read_here.insert(Need::File { uri });
    assert_eq!(states(&read).0[1], Some(State::Verified));
    // a reader with a network asks the host
    let mut online = Online::new(local_fetcher());
    online.add_evm(world.reader(None).await);
    let completed = complete(&mut bundle, &trust, &mut online).await;
    let report = completed.expect("a feedback").report;
    let state = |step| report.state_of(step);
    assert_eq!(
        state(Step::Registration),
        Some(State::Verified),
        "{report:#?}"
    );
    assert_eq!(state(Step::Signer), Some(State::Refuted), "{report:#?}");
}

/// R36: a chain that somebody wrote into the bundle, on which the payment is. Its block is nobody's but the bundle's.
#[tokio::test(flavor = "multi_thread")]
async fn r36_a_payment_on_a_chain_without_a_trusted_block_is_not_checked() {
    const OTHER: &str = "eip155:8453";
    let world = World::start().await;
    let paid = Paid::to(&world, world.accounts[OWNER]).await;
    let (own, _) = paid.rated(&world.key(OWNER)).await;
    let file = paid.file_of(OTHER, &world.key(OWNER));
    let uri = encode_uri(file.as_bytes());
    let give = world.give(87, &uri, keccak256(&file));
    let sent = world.send(CLIENT, world.open, give).await;
    let mut trust = paid.trust.clone();
    let found = explained(&world, &format!("{CHAIN}:{sent}"), None, &mut trust).await;
    let (mut bundle, _) = found.expect("a feedback");
    let payment = |bundle: &Bundle, trust: &Trust| {
        let report = explain(bundle, trust).expect("a feedback").report;
        report.finding(Step::Payment).expect("a finding").clone()
    };
    let invented = own.evm[CHAIN].clone();
    let anchor = invented.anchor.0;
    bundle.evm.insert(OTHER.to_owned(), invented);
    let finding = payment(&bundle, &trust);
    assert_eq!(finding.state, State::CannotCheck, "{finding:#?}");
    assert!(finding.detail.contains("no trusted block"), "{finding:#?}");
    // with the block it is: the agent's file names no wallet there (R27)
    trust.add_block(OTHER, anchor);
    assert_eq!(payment(&bundle, &trust).state, State::Refuted);
}

#[tokio::test(flavor = "multi_thread")]
async fn r27_a_payment_to_somebody_else_is_refuted() {
    let world = World::start().await;
    let paid = Paid::to(&world, world.accounts[5]).await;
    let (_, report) = paid.rated(&world.key(OWNER)).await;
    assert_eq!(
        steps_in(&report, State::Refuted),
        [Step::Payment],
        "{report:#?}"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn r29_a_key_that_is_not_the_wallets_is_refuted_and_only_claims() {
    let world = World::start().await;
    let paid = Paid::to(&world, world.accounts[OWNER]).await;
    let (_, report) = paid.rated(&world.key(6)).await;
    assert_eq!(
        steps_in(&report, State::Refuted),
        [Step::Signer],
        "{report:#?}"
    );
    assert_eq!(authorship(&report), "claimed");
}

/// The canonical registry keeps a wallet in its metadata, and none after it was unset.
#[tokio::test(flavor = "multi_thread")]
async fn r27_without_a_wallet_nobody_signs_and_nobody_is_paid_for_the_agent() {
    for world in [World::start().await, World::canonical().await] {
        let unset = calls::unset_agent_wallet(U256::from(1));
        world.send(OWNER, world.identity, unset).await;
        let paid = Paid::to(&world, world.accounts[OWNER]).await;
        let (_, report) = paid.rated(&world.key(OWNER)).await;
        assert_eq!(
            steps_in(&report, State::Refuted),
            [Step::Signer, Step::Payment],
            "{report:#?}"
        );
    }
}

/// R29: at the block of the payment, whatever it answers later. Nothing in a file proves what a contract answers (R36).
#[tokio::test(flavor = "multi_thread")]
async fn r29_a_contracts_judgement_is_checked_by_who_can_ask_it() {
    for (refuses_before, refuses_after, expected) in [
        (false, false, State::Verified),
        (false, true, State::Verified),
        (true, true, State::Refuted),
    ] {
        let world = World::start().await;
        let wallet = world.deploy(judge()).await;
        let deadline = world.time().await + 200;
        let set = calls::set_agent_wallet(U256::from(1), wallet, deadline, &[7; 65]);
        world.send(OWNER, world.identity, set).await;
        let refuse = || world.send(OWNER, wallet, Bytes::new());
        if refuses_before {
            refuse().await;
        }
        let paid = Paid::to(&world, wallet).await;
        if refuses_after {
            refuse().await;
        }
        let (bundle, report, trust) = paid.read(&world.key(6)).await;
        assert_eq!(
            report.state_of(Step::Signer),
            Some(State::Verified),
            "{report:#?}"
        );
        assert_eq!(report.state_of(Step::Payment), Some(State::Verified));
        let finding = report.finding(Step::AgentSignature).expect("a finding");
        assert_eq!(finding.state, expected, "{report:#?}");
        let judge = finding
            .evidence
            .iter()
            .find(|it| it.name == "judged by contract");
        assert_eq!(judge.expect("a fact").value, wallet.to_string());

        let text = bundle.to_canonical().expect("JSON");
        let again = explain(&Bundle::parse(&text).expect("a bundle"), &trust).expect("a feedback");
        let finding = again
            .report
            .finding(Step::AgentSignature)
            .expect("a finding");
        assert_eq!(finding.state, State::CannotCheck);
        assert!(finding.detail.contains("(ERC-1271)"), "{finding:?}");
        assert_eq!(again.needs.len(), 1, "{:?}", again.needs);
    }
}
