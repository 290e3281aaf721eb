//! Feedback on Solana that the agent authorized, and feedback with X402's proof of a payment on Solana.
use crate::online::{
    cluster::{CHAIN, World},
    flips, offline, serve,
    signed::{self, ENDPOINT, Rated},
    steps_in,
    svm::{explained, trust},
};
use concord_canonical::{
    auth::{SvmFeedbackAuth, x84_message},
    caip::ChainId,
    hash::keccak256,
    sign::PreparedKey,
};
use concord_explain::{Bundle, Report, State, Step, explain};
use concord_registry::svm::{
    AccountMeta, Address, Instruction, Program,
    accounts::{AUTH_SCHEME_BOUNDED, AUTH_SCHEME_X84},
    ed25519,
    instructions::{Consent, FeedbackAuthorization, GiveFeedback, GiveOpenFeedback},
    programs::TOKEN_2022,
};
use serde_json::{Value, json};
use solana_account::Account;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::collections::BTreeSet;

pub const SPL_TOKEN: Address =
    Address::from_str_const("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
/// Before every expiry.
const FUTURE: u64 = 4_000_000_000;
const AMOUNT: u64 = 1_000;

/// An agent whose owner is its wallet, and a client.
pub struct Agent {
    pub world: World,
    pub program: Program,
    pub owner: Keypair,
    pub client: Keypair,
    pub mint: Address,
}

impl Agent {
    async fn start() -> Self {
        Self::start_with(Keypair::new(), Keypair::new(), Vec::new()).await
    }

    async fn start_with(
        owner: Keypair,
        client: Keypair,
        accounts: Vec<(Address, Account)>,
    ) -> Self {
        let world = World::start_with(&[owner.pubkey(), client.pubkey()], accounts);
        let program = world.deploy(&owner).await;
        let registry = format!("{CHAIN}:{}", program.id());
        let agent = program.agent_mint(&owner.pubkey(), 0);
        let listed = json!({ "agentId": agent.to_string(), "agentRegistry": registry });
        let uri = format!("data:,{}", json!({ "registrations": [listed] }));
        let register = program.register_agent(owner.pubkey(), owner.pubkey(), 0, &uri);
        world.send(&[&owner], &[register]).await;
        let consent = Consent::Signs;
        let wallet = program.set_agent_wallet(owner.pubkey(), agent, owner.pubkey(), consent);
        world.send(&[&owner], &[wallet]).await;
        Self {
            world,
            program,
            owner,
            client,
            mint: agent,
        }
    }

    pub fn registry(&self) -> String {
        format!("{CHAIN}:{}", self.program.id())
    }

    pub fn client_account(&self) -> String {
        format!("{CHAIN}:{}", self.client.pubkey())
    }

    /// Sends, and explains the feedback that it gave, online and from the bundle alone.
    async fn given(&self, instructions: &[Instruction]) -> (Bundle, Report) {
        let sent = self.world.send(&[&self.client], instructions).await;
        self.world.advance(2).await;
        let trust = trust(&self.program);
        let (bundle, report) = explained(&self.world, &format!("{CHAIN}:{sent}"), &trust).await;
        same_but_for_the_payment(&offline(&bundle, &trust), &report);
        (bundle, report)
    }
}

/// R36: what a cluster carried out is nobody's word in a file, whatever the reader's own node said.
fn same_but_for_the_payment(offline: &Report, online: &Report) {
    for (again, first) in offline.findings.iter().zip(&online.findings) {
        let expected = match first.step {
            Step::Payment => State::CannotCheck,
            _ => first.state,
        };
        assert_eq!((again.step, again.state), (first.step, expected));
    }
    assert_eq!(offline.findings.len(), online.findings.len());
}

/// The owner's authorization of the client's feedback, and the feedback (R11).
fn authorized(agent: &Agent, authorization: FeedbackAuthorization) -> Vec<Instruction> {
    let (mint, client, signer) = (agent.mint, agent.client.pubkey(), agent.owner.pubkey());
    let message = match authorization {
        FeedbackAuthorization::X84 => x84_message(client.as_array(), mint.as_array()).to_vec(),
        FeedbackAuthorization::Bounded {
            index_limit,
            expiry,
        } => SvmFeedbackAuth {
            agent_mint: mint.to_bytes(),
            client: client.to_bytes(),
            index_limit,
            expiry,
            chain: ChainId::parse(CHAIN).expect("a chain").hash(),
            program_id: agent.program.id().to_bytes(),
            signer: signer.to_bytes(),
        }
        .message()
        .to_vec(),
    };
    let file = json!({
        "agentId": mint.to_string(),
        "agentRegistry": agent.registry(),
        "clientAddress": agent.client_account(),
        "createdAt": "2026-01-02T03:04:05Z",
        "score": 87,
    });
    let file = file.to_string();
    let feedback = GiveFeedback {
        index: 1,
        score: 87,
        tag1: [0; 32],
        tag2: [0; 32],
        uri: &serve(file.clone()),
        hash: keccak256(file.as_bytes()),
        authorization,
    };
    let signature = agent.owner.sign_message(&message);
    let verify = ed25519::verify(signer.as_array(), signature.as_array(), &message);
    vec![
        verify.expect("short"),
        agent.program.give_feedback(client, mint, &feedback),
    ]
}

#[tokio::test(flavor = "multi_thread")]
async fn r9_r10_an_authorization_on_solana_is_made_again_and_verified() {
    let bounded = FeedbackAuthorization::Bounded {
        index_limit: 1,
        expiry: FUTURE,
    };
    for authorization in [bounded, FeedbackAuthorization::X84] {
        let agent = Agent::start().await;
        let schemes = AUTH_SCHEME_X84 | AUTH_SCHEME_BOUNDED;
        let owner = agent.owner.pubkey();
        let opt_in = agent.program.set_auth_schemes(owner, agent.mint, schemes);
        agent.world.send(&[&agent.owner], &[opt_in]).await;
        let (bundle, report) = agent.given(&authorized(&agent, authorization)).await;
        assert_eq!(
            report.state_of(Step::Authorization),
            Some(State::Verified),
            "{report:#?}"
        );
        assert_eq!(steps_in(&report, State::Refuted), []);
        assert_eq!(steps_in(&report, State::CannotCheck), [Step::Inclusion]);
        let refuted = flips::check_svm(&bundle, &trust(&agent.program));
        assert_eq!(refuted, BTreeSet::from([Step::Event, Step::FileHash]));
    }
}

/// R13, R18: the entry keeps that its reviewer was a stranger. Open feedback keeps nothing, and an agent's wallet was none.
#[tokio::test(flavor = "multi_thread")]
async fn r13_r18_a_reviewer_who_is_named_later_was_a_stranger_when_they_reviewed() {
    let bounded = FeedbackAuthorization::Bounded {
        index_limit: 1,
        expiry: FUTURE,
    };
    let open = GiveOpenFeedback {
        index: 1,
        value: 50,
        decimals: 1,
        tag1: "starred",
        tag2: "",
        endpoint: "",
        uri: "",
        hash: [0; 32],
    };
    for (is_open, is_wallet, expected) in [
        (false, false, State::Verified),
        (true, false, State::CannotCheck),
        (false, true, State::CannotCheck),
    ] {
        let agent = Agent::start().await;
        let (owner, client) = (agent.owner.pubkey(), agent.client.pubkey());
        let both = [&agent.owner, &agent.client];
        if is_wallet {
            let set = (agent.program).set_agent_wallet(owner, agent.mint, client, Consent::Signs);
            agent.world.send(&both, &[set]).await;
        }
        let give = if is_open {
            vec![(agent.program).give_open_feedback(client, agent.mint, &open)]
        } else {
            authorized(&agent, bounded)
        };
        let sent = agent.world.send(&[&agent.client], &give).await;
        let consent = Some((client, Consent::Signs));
        let name = (agent.program).set_feedback_authority(owner, agent.mint, consent);
        agent.world.send(&both, &[name]).await;
        agent.world.advance(2).await;
        let trust = trust(&agent.program);
        let (_, report) = explained(&agent.world, &format!("{CHAIN}:{sent}"), &trust).await;
        let found = report.state_of(Step::SelfFeedback);
        assert_eq!(found, Some(expected), "{is_open} {is_wallet} {report:#?}");
    }
}

/// A mint of six decimals and its token accounts, as SPL Token and Token-2022 lay them out.
fn token(program: Address, mint: Address, held: &[(Address, Address)]) -> Vec<(Address, Account)> {
    let account = |data| Account {
        lamports: 1_000_000_000,
        data,
        owner: program,
        executable: false,
        rent_epoch: u64::MAX,
    };
    let supply = AMOUNT.to_le_bytes();
    let of_mint = [&[0; 36][..], &supply, &[6, 1], &[0; 36]].concat();
    let mut all = vec![(mint, account(of_mint))];
    for (place, owner) in held {
        let head = [mint.as_ref(), owner.as_ref(), &supply, &[0; 36]].concat();
        let data = [&head[..], &[1], &[0; 56]].concat(); // initialized; neither native nor delegated
        all.push((*place, account(data)));
    }
    all
}

fn transfer(program: Address, mint: Address, [from, to]: [Address; 2], by: Address) -> Instruction {
    Instruction {
        program_id: program,
        accounts: vec![
            AccountMeta::new(from, false),
            AccountMeta::new_readonly(mint, false),
            AccountMeta::new(to, false),
            AccountMeta::new_readonly(by, true),
        ],
        data: [&[12][..], &AMOUNT.to_le_bytes(), &[6]].concat(), // TransferChecked
    }
}

/// An agent, and the client's transfer to `payee`, or to the agent's owner.
pub async fn paying(program: Address, payee: Option<Address>) -> (Agent, Instruction) {
    let (owner, client) = (Keypair::new(), Keypair::new());
    let [mut mint, from, to] = [(); 3].map(|()| Keypair::new().pubkey());
    // as a multisig begins: m, n, initialized
    mint = [&[1, 11, 1], &mint.as_ref()[3..]]
        .concat()
        .try_into()
        .expect("32 bytes");
    let payee = payee.unwrap_or(owner.pubkey());
    let tokens = token(program, mint, &[(from, client.pubkey()), (to, payee)]);
    let agent = Agent::start_with(owner, client, tokens).await;
    let pay = transfer(program, mint, [from, to], agent.client.pubkey());
    (agent, pay)
}

impl Agent {
    /// The client's feedback for a payment, with a file that both signed.
    pub fn rated(&self, payment: &str, index: u64) -> Instruction {
        let seed = |key: &Keypair| *key.secret_bytes();
        let file = signed::file(&Rated {
            registry: &self.registry(),
            agent_id: &self.mint.to_string(),
            client: &self.client_account(),
            payer: &self.client_account(),
            task_ref: &format!("{CHAIN}:{payment}"),
            agent: &PreparedKey::ed25519(&seed(&self.owner)),
            reviewer: &PreparedKey::ed25519(&seed(&self.client)),
        });
        let given = GiveOpenFeedback {
            index,
            value: 87,
            decimals: 0,
            tag1: "starred",
            tag2: "quote",
            endpoint: ENDPOINT,
            uri: &serve(file.clone()),
            hash: keccak256(file.as_bytes()),
        };
        (self.program).give_open_feedback(self.client.pubkey(), self.mint, &given)
    }
}

/// The client pays `payee`, or the agent's owner, and rates the agent.
async fn paid(program: Address, payee: Option<Address>) -> (Agent, Bundle, Report) {
    let (agent, pay) = paying(program, payee).await;
    let payment = agent.world.send(&[&agent.client], &[pay]).await;
    let (bundle, report) = agent.given(&[agent.rated(&payment, 1)]).await;
    (agent, bundle, report)
}

/// R36: the payer's signature holds over a transaction that was never sent, and what it did is written by hand.
#[tokio::test(flavor = "multi_thread")]
async fn r36_a_payment_that_only_a_file_says_was_carried_out_is_not_verified() {
    let (agent, pay) = paying(SPL_TOKEN, None).await;
    let (payment, raw) = agent
        .world
        .signed(&[&agent.client], std::slice::from_ref(&pay))
        .await;
    let (bundle, report) = agent.given(&[agent.rated(&payment, 1)]).await;
    assert_eq!(report.state_of(Step::Payment), Some(State::CannotCheck));
    let balance = |account: u8, owner: Address, amount: u64| {
        let mint = pay.accounts[1].pubkey.to_string();
        json!({ "account": account, "mint": mint, "owner": owner.to_string(), "amount": amount.to_string() })
    };
    let (payer, wallet) = (agent.client.pubkey(), agent.owner.pubkey());
    let mut forged: Value =
        serde_json::from_str(&bundle.to_canonical().expect("JSON")).expect("JSON");
    forged["svm"][CHAIN]["transactions"][&payment] = json!({
        "slot": 1, "blockTime": 1_800_000_000, "err": null, "raw": format!("0x{}", hex::encode(raw)), "inner": [], "logs": [],
        "holders": {
            "before": [balance(1, payer, AMOUNT), balance(2, wallet, 0)],
            "after": [balance(1, payer, 0), balance(2, wallet, AMOUNT)],
        },
    });
    let forged = Bundle::parse(&forged.to_string()).expect("a bundle");
    let report = offline(&forged, &trust(&agent.program));
    let payment = report.finding(Step::Payment).expect("a finding");
    assert_eq!(payment.state, State::CannotCheck, "{payment:#?}");
    assert!(payment.detail.contains("a file proves"), "{payment:#?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn r27_r49_a_payment_on_solana_is_in_the_bundle_and_verified() {
    for program in [SPL_TOKEN, TOKEN_2022] {
        let (agent, bundle, report) = paid(program, None).await;
        for step in [
            Step::Signer,
            Step::AgentSignature,
            Step::ReviewerSignature,
            Step::Payment,
            Step::Authorship,
        ] {
            let state = report.state_of(step);
            assert_eq!(state, Some(State::Verified), "{step}: {report:#?}");
        }
        let payment = report.finding(Step::Payment).expect("a finding");
        let rests = payment.evidence.iter().find(|it| it.name == "rests on");
        assert!(rests.expect("a fact").value.contains("the node's word"));
        assert_eq!(steps_in(&report, State::Refuted), []);
        assert_eq!(
            steps_in(&report, State::CannotCheck),
            [Step::Inclusion, Step::PaymentUse]
        );
        let refuted = flips::check_svm(&bundle, &trust(&agent.program));
        let evidence = [Step::Event, Step::FileHash, Step::Payment];
        assert_eq!(refuted, BTreeSet::from(evidence));
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn r27_a_payment_on_solana_to_somebody_else_is_refuted() {
    let (_, _, report) = paid(SPL_TOKEN, Some(Keypair::new().pubkey())).await;
    assert_eq!(
        steps_in(&report, State::Refuted),
        [Step::Payment],
        "{report:#?}"
    );
}

/// The payer closed the account that they paid to, and opened a multisig in its place: 11 keys of their choice, which spell the
/// agent's wallet, and 2 for a token account at byte 165.
#[tokio::test(flavor = "multi_thread")]
async fn r27_a_payment_into_a_multisig_that_spells_the_wallets_account_is_refuted() {
    let (agent, pay) = paying(TOKEN_2022, None).await;
    let payment = agent
        .world
        .send(&[&agent.client], std::slice::from_ref(&pay))
        .await;
    let (mut bundle, report) = agent.given(&[agent.rated(&payment, 1)]).await;
    assert_eq!(report.state_of(Step::Payment), Some(State::Verified));
    let cluster = bundle.svm.get_mut(CHAIN).expect("a chain");
    let paid = cluster
        .accounts
        .get_mut(&pay.accounts[2].pubkey.to_string());
    let data = &mut paid.expect("the account that was paid").data.0;
    data.push(2);
    data.resize(355, 0);
    let report = explain(&bundle, &trust(&agent.program))
        .expect("a feedback")
        .report;
    assert_eq!(
        report.state_of(Step::Payment),
        Some(State::Refuted),
        "{report:#?}"
    );
}
