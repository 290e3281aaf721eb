//! R36: what only a file says of a cluster proves nothing, and is not taken beside what the reader's own node answers.
use crate::online::{
    cluster::CHAIN,
    local_fetcher, serve,
    svm::{explained, trust},
    svm_paid::{Agent, SPL_TOKEN, paying},
};
use concord_canonical::hash::keccak256;
use concord_explain::{
    Bundle, Finding, Piece, Query, Report, ReputationBundle, ReputationReport, ReviewerSet, State,
    Step, Trust, complete, complete_reputation, explain, explain_reputation,
    online::{AgentName, Online},
};
use concord_registry::{
    event::Profile,
    svm::{Address, instructions::GiveOpenFeedback},
};
use serde_json::{Value, json};
use solana_keypair::Keypair;
use solana_signer::Signer;

async fn online(agent: &Agent) -> Online {
    let mut online = Online::new(local_fetcher());
    online.add_svm(agent.world.reader().await);
    online
}

/// Every feedback of an agent, not yet read.
async fn listed(agent: &Agent, online: &mut Online, trust: &Trust) -> ReputationBundle {
    let name: AgentName = format!("{}:{}", agent.registry(), agent.mint)
        .parse()
        .expect("an agent");
    let all = online.feedback_of(&name, Profile::Open, trust).await;
    let all = all.expect("an agent");
    let query = Query {
        agent_registry: all.agent_registry,
        reputation_registry: all.reputation_registry,
        profile: "open".to_owned(),
        agent_id: agent.mint.to_string(),
        reviewers: ReviewerSet::Everyone,
        tag1: String::new(),
        tag2: String::new(),
        at_block: all.at_block,
    };
    ReputationBundle::new(query, all.subjects)
}

/// [`Step::PaymentUse`] of the client's first and second feedback.
fn uses(report: &ReputationReport) -> [Option<State>; 2] {
    [1, 2].map(|index| {
        let ends = format!("/{index}");
        let mut feedbacks = report.feedbacks.iter();
        let found = feedbacks.find(|it| it.feedback.ends_with(&ends));
        found.expect("a feedback").report.state_of(Step::PaymentUse)
    })
}

const UNKNOWN: [Option<State>; 2] = [Some(State::CannotCheck); 2];

/// R32: both are in one slot, in which only the order of the transactions says which came first.
#[tokio::test(flavor = "multi_thread")]
async fn r32_in_one_slot_the_order_of_transactions_counts() {
    let (agent, pay) = paying(SPL_TOKEN, None).await;
    let payment = agent.world.send(&[&agent.client], &[pay]).await;
    let mut sent = Vec::new();
    for index in [1, 2] {
        let give = agent.rated(&payment, index);
        sent.push(agent.world.send(&[&agent.client], &[give]).await);
    }
    agent.world.advance(2).await;
    let (trust, mut online) = (trust(&agent.program), online(&agent).await);
    let mut bundle = listed(&agent, &mut online, &trust).await;
    let explained = complete_reputation(&mut bundle, &trust, &mut online).await;
    let in_order = [Some(State::CannotCheck), Some(State::Refuted)];
    let report = explained.expect("an agent").report;
    assert_eq!(uses(&report), in_order, "{report:#?}");
    for _ in 0..2 {
        bundle.feedbacks.reverse();
        let again = explain_reputation(&bundle, &trust).expect("an agent");
        assert_eq!(uses(&again.report), in_order);
    }
    files_order_nothing(&bundle, &sent, &trust);
    // a reader that is handed the file reads the cluster again
    let mut parsed = swapped(&bundle, &sent);
    let explained = complete_reputation(&mut parsed, &trust, &mut online).await;
    let report = explained.expect("an agent").report;
    assert_eq!(uses(&report), in_order, "{report:#?}");
    // without the places neither is the first
    let chain = bundle.read.svm.get_mut(CHAIN).expect("a chain");
    let transactions = chain.transactions.values_mut();
    transactions.for_each(|it| it.place = None);
    let unplaced = explain_reputation(&bundle, &trust).expect("an agent");
    assert_eq!(unplaced.needs.len(), 2, "{:?}", unplaced.needs);
    assert_eq!(uses(&unplaced.report), UNKNOWN);
}

/// R36: no signature covers slot and place, so that a file could refute the honest one.
fn files_order_nothing(bundle: &ReputationBundle, sent: &[String], trust: &Trust) {
    let text = bundle.to_canonical().expect("JSON");
    let as_read = ReputationBundle::parse(&text).expect("a bundle");
    for parsed in [as_read, swapped(bundle, sent)] {
        let explained = explain_reputation(&parsed, trust).expect("an agent");
        assert_eq!(uses(&explained.report), UNKNOWN, "{:#?}", explained.report);
    }
}

/// The text says that the second came a slot before the first.
fn swapped(bundle: &ReputationBundle, sent: &[String]) -> ReputationBundle {
    let text = bundle.to_canonical().expect("JSON");
    let mut forged: Value = serde_json::from_str(&text).expect("JSON");
    let transactions = &mut forged["read"]["svm"][CHAIN]["transactions"];
    let slot = transactions[&sent[0]]["slot"].as_u64().expect("a slot");
    transactions[&sent[1]]["slot"] = json!(slot - 1);
    ReputationBundle::parse(&forged.to_string()).expect("a bundle")
}

/// The client's feedback, whose file states a payment to `payee`, explained with the cluster.
async fn stated(payee: Option<Address>) -> (Agent, String, Bundle, Report) {
    let (agent, pay) = paying(SPL_TOKEN, payee).await;
    let token = pay.accounts[1].pubkey.to_string();
    let payment = agent.world.send(&[&agent.client], &[pay]).await;
    let payee = payee.unwrap_or(agent.owner.pubkey());
    let file = json!({
        "agentId": agent.mint.to_string(),
        "agentRegistry": agent.registry(),
        "clientAddress": agent.client_account(),
        "createdAt": "2026-01-02T03:04:05Z",
        "value": 50,
        "valueDecimals": 1,
        "tag1": "starred",
        "proofOfPayment": {
            "fromAddress": agent.client.pubkey().to_string(),
            "toAddress": payee.to_string(),
            "chainId": CHAIN,
            "txHash": payment,
            "tokenAddress": token,
        },
    });
    let file = file.to_string();
    let given = GiveOpenFeedback {
        index: 1,
        value: 50,
        decimals: 1,
        tag1: "starred",
        tag2: "",
        endpoint: "",
        uri: &serve(file.clone()),
        hash: keccak256(file.as_bytes()),
    };
    let give = (agent.program).give_open_feedback(agent.client.pubkey(), agent.mint, &given);
    let sent = agent.world.send(&[&agent.client], &[give]).await;
    agent.world.advance(2).await;
    let name = format!("{CHAIN}:{sent}");
    let (bundle, report) = explained(&agent.world, &name, &trust(&agent.program)).await;
    (agent, payment, bundle, report)
}

fn proof(report: &Report) -> &Finding {
    report.finding(Step::PaymentProof).expect("a finding")
}

#[tokio::test(flavor = "multi_thread")]
async fn r27_a_stated_payment_on_solana_to_the_agents_wallet_is_verified() {
    let (_, _, _, report) = stated(None).await;
    assert_eq!(proof(&report).state, State::Verified, "{report:#?}");
}

/// The file names the payee as the agent's wallet, and leaves the payment to be read.
#[tokio::test(flavor = "multi_thread")]
async fn r36_a_wallet_that_only_a_file_names_was_not_paid() {
    let payee = Keypair::new().pubkey();
    let (agent, payment, honest, report) = stated(Some(payee)).await;
    let found = proof(&report);
    assert_eq!(found.state, State::Claimed, "{found:#?}");
    let mut forged: Value =
        serde_json::from_str(&honest.to_canonical().expect("JSON")).expect("JSON");
    let cluster = &mut forged["svm"][CHAIN];
    let record = agent.program.agent(&agent.mint).to_string();
    let [wallet, paid] = [agent.owner.pubkey(), payee].map(hex::encode);
    let data = cluster["accounts"][&record]["data"].as_str();
    let named = data.expect("data").replace(&wallet, &paid);
    assert!(named.contains(&paid));
    cluster["accounts"][&record]["data"] = json!(named);
    let transactions = cluster["transactions"].as_object_mut();
    transactions.expect("transactions").remove(&payment);
    let forged = Bundle::parse(&forged.to_string()).expect("a bundle");

    let (trust, mut read) = (trust(&agent.program), forged.clone());
    let again = complete(&mut read, &trust, &mut online(&agent).await).await;
    let again = again.expect("a feedback").report;
    assert_eq!(proof(&again), found);
    assert_eq!(read.svm, honest.svm);

    let mixed = all_read_but(&record, &honest, forged, payment);
    let mixed = explain(&mixed, &trust).expect("a feedback").report;
    let found = proof(&mixed);
    assert_eq!(found.state, State::Claimed, "{found:#?}");
    assert!(found.detail.contains("is not known"), "{found:#?}");
}

/// A file with what the cluster answered, but for one account, which is as the file has it.
fn all_read_but(record: &str, honest: &Bundle, file: Bundle, payment: String) -> Bundle {
    let (mut mixed, cluster) = (file, &honest.svm[CHAIN]);
    mixed.add(Piece::SvmTransaction {
        chain: CHAIN.to_owned(),
        transaction: cluster.transactions[&payment].clone(),
        signature: payment,
    });
    let others = cluster.accounts.iter().filter(|(it, _)| **it != record);
    for (address, account) in others {
        mixed.add(Piece::SvmAccount {
            chain: CHAIN.to_owned(),
            address: address.clone(),
            account: account.clone(),
        });
    }
    mixed
}

/// The same of a payment that X402's proof names: the file could name any payee, and any wallet.
#[tokio::test(flavor = "multi_thread")]
async fn r36_a_proven_payment_to_a_wallet_that_only_a_file_names_is_not_verified() {
    let payee = Keypair::new().pubkey();
    for (paid, state) in [(None, State::Verified), (Some(payee), State::Refuted)] {
        let (agent, pay) = paying(SPL_TOKEN, paid).await;
        let payment = agent.world.send(&[&agent.client], &[pay]).await;
        let give = agent.rated(&payment, 1);
        let sent = agent.world.send(&[&agent.client], &[give]).await;
        agent.world.advance(2).await;
        let trust = trust(&agent.program);
        let (honest, report) = explained(&agent.world, &format!("{CHAIN}:{sent}"), &trust).await;
        assert_eq!(report.state_of(Step::Payment), Some(state), "{report:#?}");

        let record = agent.program.agent(&agent.mint).to_string();
        let mut forged = Bundle::parse(&honest.to_canonical().expect("JSON")).expect("a bundle");
        let cluster = forged.svm.get_mut(CHAIN).expect("a chain");
        let data = &mut cluster.accounts.get_mut(&record).expect("the agent").data.0;
        let (wallet, paid) = (agent.owner.pubkey(), paid.unwrap_or(agent.owner.pubkey()));
        let places: Vec<usize> = (0..data.len().saturating_sub(32))
            .filter(|at| data[*at..*at + 32] == *wallet.as_array())
            .collect();
        assert!(!places.is_empty());
        for at in places {
            data[at..at + 32].copy_from_slice(paid.as_array());
        }
        let mixed = all_read_but(&record, &honest, forged, payment);
        let mixed = explain(&mixed, &trust).expect("a feedback").report;
        let found = mixed.finding(Step::Payment).expect("a finding");
        assert_eq!(found.state, State::CannotCheck, "{found:#?}");
        assert!(found.detail.contains("a file proves"), "{found:#?}");
    }
}
