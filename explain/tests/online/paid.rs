//! A feedback with X402's proof: what the agent signed, and a payment on the same chain.
use crate::{
    anvil::{CHAIN, CLIENT, OWNER, World},
    evm::{explained, trust},
    offline, steps_in,
};
use alloy::primitives::{Address, B256, Bytes, U256, hex, keccak256};
use concord_canonical::{
    caip::AccountId,
    interaction::{data_hash, interaction_hash, request_bytes},
    sign::PreparedKey,
};
use concord_explain::{Bundle, Exchange, Report, State, Step, Trust, explain};
use concord_files::{
    AgentId, Algorithm, Bytes as FileBytes, Extra, FeedbackFile, FeedbackHead, HexWord,
    ParticipationProof, ProofField, RatingValue, SignedInteraction, Timestamp, X402Feedback,
    X402Profile, encode_uri,
};

const PROFILE: X402Profile = X402Profile::Reputation8004;
const TARGET: &str = "/quote?city=paris";
const RESPONSE: &[u8] = b"19 degrees";

/// A token that moves nothing: it emits ERC-20's Transfer with the three words of its input.
fn token() -> Bytes {
    let topic = keccak256("Transfer(address,address,uint256)");
    let code = [
        &hex!("604035600052602035600035 7f")[..],
        topic.as_slice(),
        &hex!("60206000a300"),
    ]
    .concat();
    let length = u8::try_from(code.len()).expect("short");
    [
        &[0x60, length, 0x80, 0x60, 0x0b, 0x60, 0, 0x39, 0x60, 0, 0xf3][..],
        &code,
    ]
    .concat()
    .into()
}

fn transfer(from: Address, to: Address, amount: u64) -> Bytes {
    let words = [from.into_word(), to.into_word(), U256::from(amount).into()];
    words.concat().into()
}

struct Paid<'a> {
    world: &'a World,
    trust: Trust,
    payment: B256,
}

impl<'a> Paid<'a> {
    /// The client pays somebody.
    async fn to(world: &'a World, payee: Address) -> Self {
        let token = world.deploy(token()).await;
        let input = transfer(world.accounts[CLIENT], payee, 1_000);
        Self {
            trust: trust(world).await,
            payment: world.send(CLIENT, token, input).await,
            world,
        }
    }

    /// The client's file, with what `agent` signed.
    fn file(&self, agent: &PreparedKey) -> String {
        let world = self.world;
        let task_ref = format!("{CHAIN}:{}", self.payment);
        let request = request_bytes("GET", TARGET, b"").expect("a request");
        let exchanged = data_hash(request, RESPONSE).expect("a hash");
        let hash = interaction_hash(PROFILE.hash_profile(), &task_ref, &exchanged).expect("a hash");
        let signed = SignedInteraction {
            task_ref,
            data_hash: HexWord(exchanged),
            agent_signer_public_key: agent.public_key(),
            agent_signature: FileBytes(agent.sign(&hash, <[u8]>::to_vec).expect("a signature")),
            agent_signature_algorithm: Algorithm::of_key(&agent.public_key()),
        };
        let proof = |signature| ParticipationProof {
            signed: signed.clone(),
            reviewer_address: format!("{CHAIN}:{}", world.accounts[CLIENT]),
            reviewer_signature: FileBytes(signature),
            reviewer_signature_algorithm: Algorithm::Secp256k1,
            extra: Extra::default(),
        };
        let registry = world.registry();
        let registry = AccountId::parse(&registry).expect("a registry");
        let mut file = X402Feedback {
            head: FeedbackHead {
                agent_registry: world.registry(),
                client_address: format!("{CHAIN}:{}", world.accounts[CLIENT]),
                created_at: Timestamp::from_unix_seconds(1_800_000_000).expect("a time"),
                tag1: Some("starred".to_owned()),
                tag2: Some("quote".to_owned()),
                endpoint: Some("https://agent.example/quote".to_owned()),
            },
            agent_id: AgentId::parse(&registry, "1").expect("an id"),
            value: RatingValue {
                value: 87,
                value_decimals: 0,
            },
            proof: ProofField::new(PROFILE, proof(Vec::new())),
            comment: None,
            extra: Extra::default(),
        };
        let message = file.review().message().expect("a message");
        let reviewer = world.key(CLIENT);
        let signature = reviewer
            .sign(&message, <[u8]>::to_vec)
            .expect("a signature");
        file.proof = ProofField::new(PROFILE, proof(signature));
        FeedbackFile::X402(file).to_canonical().expect("a file")
    }

    async fn rated(&self, agent: &PreparedKey) -> (Bundle, Report) {
        let file = self.file(agent);
        let uri = encode_uri(file.as_bytes());
        let input = self.world.give(87, &uri, keccak256(&file));
        let sent = self.world.send(CLIENT, self.world.open, input).await;
        let mut trust = self.trust.clone();
        let name = format!("{CHAIN}:{sent}");
        let (bundle, report) = explained(self.world, &name, None, &mut trust)
            .await
            .unwrap();
        assert_eq!(offline(&bundle, &trust), report);
        (bundle, report)
    }
}

fn authorship(report: &Report) -> &str {
    let finding = report.finding(Step::Authorship).expect("a finding");
    let fact = finding.evidence.iter().find(|it| it.name == "authorship");
    &fact.expect("a fact").value
}

#[tokio::test(flavor = "multi_thread")]
async fn r49_a_paid_and_signed_feedback_is_the_reviewers() {
    let world = World::start().await;
    let paid = Paid::to(&world, world.accounts[OWNER]).await;
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
    if let Some(exchange) = &mut bundle.exchange {
        exchange.response = b"20 degrees".to_vec().into();
    }
    assert_eq!(with(&bundle).state_of(Step::DataHash), Some(State::Refuted));
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
