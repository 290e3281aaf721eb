//! What was settled here is summed up, each payment once, as a signal that can be published.
use crate::{
    solana_payments::{
        MINT, ask, keys, next_second, pay, pay_unchecked, request, start, start_with,
    },
    sponsored::get,
    world::store,
};
use concord_aggregator::{Facilitator, Revenues, revenue_router};
use concord_chain::{Signer, Svm};
use concord_registry::svm::Address;
use concord_testkit::cluster::{NETWORK, Solana};
use concord_x402::verify::SvmChains;
use serde_json::{Value, json};
use std::{path::Path, sync::Arc};
use tokio::net::TcpListener;

const DAY: u64 = 86_400;

async fn serve(solana: &Solana, folder: &Path) -> String {
    let mut payments = SvmChains::default();
    let network = NETWORK.parse().unwrap();
    payments
        .add(&network, solana.cluster.clone())
        .await
        .unwrap();
    let [settler, key] = keys();
    let routes = revenue_router(Revenues {
        store: store(folder),
        facilitators: Arc::new([Facilitator {
            network: NETWORK.to_owned(),
            cluster: solana.cluster.clone(),
            program: solana.program,
            payments: Arc::new(payments),
            key: Box::new(key),
            settlers: vec![Signer::<Svm>::address(&settler)],
            validity: 1,
        }]),
        evm: Vec::new(),
        assets: vec![format!("{NETWORK}:{}", Address::from(MINT))],
    });
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let origin = format!("http://{}", listener.local_addr().unwrap());
    tokio::spawn(async move { axum::serve(listener, routes).await.unwrap() });
    origin
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_revenues_are_what_was_settled_here_each_payment_once() {
    let solana = start().await;
    let folder = tempfile::tempdir().unwrap();
    let origin = serve(&solana, folder.path()).await;
    let url = format!("{origin}/settlements");
    next_second(&solana).await;
    let [settler, _] = keys();
    let first = request(&solana, &pay(&solana, &settler, &[700, 300]).await);
    let second = request(&solana, &pay(&solana, &settler, &[5]).await);
    let mut paid_at = 0;
    for (told, amount) in [(&first, "1000"), (&second, "5"), (&first, "1000")] {
        let (status, body) = ask(&url, told).await;
        let found = (status, &body["status"], &body["amount"]);
        assert_eq!(found, (200, &json!("recorded"), &json!(amount)), "{body}");
        paid_at = paid_at.max(body["paidAt"].as_u64().unwrap());
    }
    // whose fee somebody else paid
    let elsewhere = request(&solana, &pay(&solana, &solana.client, &[9]).await);
    let mut other_token = second.clone();
    other_token["token"] = json!(Address::from([9; 32]).to_string());
    let mut other_registry = second.clone();
    other_registry["agentRegistry"] = json!(format!("{NETWORK}:{}", Address::from([9; 32])));
    let mut stranger = second.clone();
    stranger["payer"] = json!(Address::from([9; 32]).to_string());
    for (told, status, class) in [
        (&elsewhere, 400, "NotSettledHere"),
        (&other_token, 400, "TokenNotListed"),
        (&other_registry, 404, "RegistryNotServed"),
        (&stranger, 400, "PaymentMismatch"),
    ] {
        let (found, body) = ask(&url, told).await;
        assert_eq!((found, &body["class"]), (status, &json!(class)), "{body}");
    }

    let registration = solana.registration();
    let registry = registration.agent_registry.replace(':', "%3A");
    let agent = format!("agentRegistry={registry}&agentId={}", registration.agent_id);
    let revenues = async |query: String| get(&format!("{origin}/revenues?{query}")).await;
    let asset = format!("{NETWORK}:{}", Address::from(MINT));
    for (window, seconds) in [("day", DAY), ("week", 7 * DAY)] {
        let end = paid_at + 1;
        let (status, body) = revenues(format!("{agent}&window={window}&end={end}")).await;
        let expected = json!([{
            "asset": asset, "payments": 2, "payers": 1, "amount": "1005",
            "signal": { "tag1": "revenues", "tag2": window, "value": "1005", "valueDecimals": 6 },
        }]);
        assert_eq!((status, &body["revenues"]), (200, &expected), "{body}");
        let span = json!({ "name": window, "from": end - seconds, "to": end });
        assert_eq!(body["window"], span);
        // the end is not in the window, and its begin is
        for (end, payments) in [(paid_at + seconds, 1), (paid_at + seconds + 1, 0)] {
            let (_, body) = revenues(format!("{agent}&window={window}&end={end}")).await;
            let found = body["revenues"].as_array().unwrap();
            let found = found
                .first()
                .map_or(0, |it| it["payments"].as_u64().unwrap());
            assert!(found >= payments && found <= 2 * payments, "{end}: {body}");
        }
    }
    let (_, body) = revenues(format!("{agent}&window=day")).await;
    assert_eq!(
        body["window"]["to"].as_u64().unwrap() % DAY,
        0,
        "a midnight"
    );
    assert_eq!(body["isComplete"], true);
    for (query, field) in [
        (agent.clone(), "window"),
        (format!("{agent}&window=month"), "window"),
        (format!("{agent}&window=day&end=x"), "end"),
        (format!("{agent}&window=week&end=1"), "end"),
        ("agentId=1&window=day".to_owned(), "agentRegistry"),
        (
            "agentRegistry=x&agentId=1&window=day".to_owned(),
            "agentRegistry",
        ),
        (format!("agentRegistry={registry}&window=day"), "agentId"),
    ] {
        let (status, body): (u16, Value) = revenues(query).await;
        assert_eq!((status, &body["field"]), (400, &json!(field)), "{body}");
    }
}

/// A multisig: m, n, initialized, then 11 keys that its maker chose; the byte where a mint has its decimals is 6.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn r60_what_was_paid_in_an_asset_that_is_not_a_mint_is_not_recorded() {
    let multisig = [&[1, 11, 1][..], &[0; 41], &[6, 1], &[0; 309]].concat();
    assert_eq!(multisig.len(), 355);
    let solana = start_with(multisig).await;
    let folder = tempfile::tempdir().unwrap();
    let url = format!("{}/settlements", serve(&solana, folder.path()).await);
    next_second(&solana).await;
    let [settler, _] = keys();
    let paid = request(&solana, &pay_unchecked(&solana, &settler, 700).await);
    let (status, body) = ask(&url, &paid).await;
    assert_eq!(status, 503, "{body}");
    assert!(body.to_string().contains("mint"), "{body}");
}
