//! The shapes of answers, as Solana's documentation of JSON-RPC has them.
use crate::client::{Client, SOL, still, written};
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use solana_address::Address;
use solana_message::VersionedMessage;
use solana_signer::Signer;
use solana_system_interface::instruction::transfer;

const FRIEND: Address = Address::new_from_array([3; 32]);
const SYSTEM: &str = "11111111111111111111111111111111";

fn paid(client: &mut Client) -> String {
    let call = transfer(&client.payer.pubkey(), &FRIEND, SOL);
    client.carry_out(&[], &[call])
}

#[test]
fn a_transaction_in_json() {
    let mut client = Client::new(still());
    let signature = paid(&mut client);
    let hash = client.block_hash().to_string();
    client.advance(1);
    let config = json!({"commitment": "confirmed", "maxSupportedTransactionVersion": 0});
    let answer = client.result("getTransaction", json!([signature, config]));
    let payer = client.payer.pubkey().to_string();
    assert_eq!(answer["version"], "legacy");
    assert_eq!(answer["transaction"]["signatures"], json!([signature]));
    // u32 LE 2 (transfer), u64 LE lamports
    let data = [&2u32.to_le_bytes()[..], &SOL.to_le_bytes()].concat();
    let expected = json!({
        "accountKeys": [payer, FRIEND.to_string(), SYSTEM],
        "header": {"numReadonlySignedAccounts": 0, "numReadonlyUnsignedAccounts": 1, "numRequiredSignatures": 1},
        "instructions": [{
            "accounts": [0, 1],
            "data": bs58::encode(data).into_string(),
            "programIdIndex": 2,
            "stackHeight": 1,
        }],
        "recentBlockhash": hash,
    });
    assert_eq!(answer["transaction"]["message"], expected);
    let meta = &answer["meta"];
    assert_eq!(meta["err"], Value::Null);
    assert_eq!(meta["fee"], 5000);
    assert_eq!(meta["preBalances"], json!([100 * SOL, 0, 1]));
    assert_eq!(meta["postBalances"], json!([99 * SOL - 5000, SOL, 1]));
    assert_eq!(meta["computeUnitsConsumed"], 150);
    assert_eq!(meta["innerInstructions"], json!([]));
    assert_eq!(
        meta["logMessages"],
        json!([
            format!("Program {SYSTEM} invoke [1]"),
            format!("Program {SYSTEM} success")
        ])
    );
}

#[test]
fn a_transaction_in_base64_is_what_was_sent() {
    let mut client = Client::new(still());
    let call = transfer(&client.payer.pubkey(), &FRIEND, SOL);
    let transaction = client.signed(&[], &[call]);
    let signature = client.send(&transaction);
    client.advance(1);
    let config = json!({"commitment": "confirmed", "encoding": "base64"});
    let answer = client.result("getTransaction", json!([signature, config]));
    assert_eq!(
        answer["transaction"],
        json!([written(&transaction), "base64"])
    );
    assert!(answer.get("version").is_none());
}

#[test]
fn accounts_in_every_encoding() {
    let mut client = Client::new(still());
    let clock = "SysvarC1ock11111111111111111111111111111111";
    let mut data = |config| client.value("getAccountInfo", json!([clock, config]))["data"].take();
    let base64 = data(json!({"encoding": "base64"}));
    let bytes = STANDARD.decode(base64[0].as_str().unwrap()).unwrap();
    let base58 = bs58::encode(&bytes).into_string();
    assert_eq!(data(json!(null)), json!(base58));
    assert_eq!(
        data(json!({"encoding": "base58"})),
        json!([base58, "base58"])
    );
    assert_eq!(data(json!({"encoding": "jsonParsed"})), base64);
    let slice = json!({"encoding": "base64", "dataSlice": {"offset": 1, "length": 3}});
    assert_eq!(
        data(slice),
        json!([STANDARD.encode(&bytes[1..4]), "base64"])
    );
    let beyond = json!({"encoding": "base64", "dataSlice": {"offset": 1000, "length": 3}});
    assert_eq!(data(beyond), json!(["", "base64"]));
    let several = client.value(
        "getMultipleAccounts",
        json!([[clock, FRIEND.to_string()], {"encoding": "base64"}]),
    );
    assert_eq!((&several[0]["data"], &several[1]), (&base64, &Value::Null));
    assert_eq!(several[0]["space"], bytes.len());
}

#[test]
fn the_signatures_of_an_address_newest_first() {
    let mut client = Client::new(still());
    let mut signatures = Vec::new();
    for _ in 0..3 {
        signatures.push(paid(&mut client));
        client.advance(1);
    }
    let mut found = |config: Value| -> Vec<String> {
        let answer = client.result(
            "getSignaturesForAddress",
            json!([FRIEND.to_string(), config]),
        );
        let name = |one: &Value| one["signature"].as_str().unwrap().to_owned();
        answer.as_array().unwrap().iter().map(name).collect()
    };
    let [first, second, third] = <[String; 3]>::try_from(signatures).unwrap();
    let of = |names: &[&String]| names.iter().map(|name| (*name).clone()).collect::<Vec<_>>();
    assert_eq!(
        found(json!({"commitment": "confirmed"})),
        of(&[&third, &second, &first])
    );
    assert_eq!(
        found(json!({"commitment": "confirmed", "limit": 1})),
        of(&[&third])
    );
    assert_eq!(
        found(json!({"commitment": "confirmed", "before": third})),
        of(&[&second, &first])
    );
    assert_eq!(
        found(json!({"commitment": "confirmed", "until": first})),
        of(&[&third, &second])
    );
    assert_eq!(found(json!({})), of(&[]));
}

#[test]
fn a_simulation_changes_nothing() {
    let mut client = Client::new(still());
    let call = transfer(&client.payer.pubkey(), &FRIEND, SOL);
    let mut transaction = client.signed(&[], &[call]);
    let accounts = json!({"encoding": "base64", "addresses": [FRIEND.to_string()]});
    let config = json!({"encoding": "base64", "commitment": "processed", "sigVerify": true, "accounts": accounts});
    let value = client.value(
        "simulateTransaction",
        json!([written(&transaction), config]),
    );
    assert_eq!(
        (&value["err"], &value["unitsConsumed"]),
        (&Value::Null, &json!(150))
    );
    assert_eq!(value["accounts"][0]["lamports"], SOL);
    assert_eq!(client.balance(&FRIEND), 0);
    transaction.message.set_recent_blockhash(Default::default());
    let text = written(&transaction);
    let mut simulated = |config| client.value("simulateTransaction", json!([text, config]));
    let value = simulated(json!({"encoding": "base64"}));
    assert_eq!(value["err"], "BlockhashNotFound");
    let value = simulated(json!({"encoding": "base64", "replaceRecentBlockhash": true}));
    assert_eq!(value["err"], Value::Null);
    assert!(value["replacementBlockhash"]["lastValidBlockHeight"].is_u64());
    let both = json!({"encoding": "base64", "replaceRecentBlockhash": true, "sigVerify": true});
    let error = client.error("simulateTransaction", json!([text, both]));
    assert_eq!(error["code"], -32602);
    let signed = json!({"encoding": "base64", "sigVerify": true});
    let error = client.error("simulateTransaction", json!([text, signed]));
    assert_eq!(error["code"], -32003);
}

#[test]
fn the_fee_of_a_message() {
    let mut client = Client::new(still());
    let call = transfer(&client.payer.pubkey(), &FRIEND, SOL);
    let transaction = client.signed(&[], &[call]);
    let message: &VersionedMessage = &transaction.message;
    let text = STANDARD.encode(message.serialize());
    let config = json!({"commitment": "processed"});
    assert_eq!(
        client.value("getFeeForMessage", json!([text, config])),
        5000
    );
    assert_eq!(client.value("getFeeForMessage", json!([text])), Value::Null); // not finalized
}

#[test]
fn what_a_node_says_of_itself() {
    let mut client = Client::new(still());
    assert_eq!(client.result("getHealth", json!([])), "ok");
    assert!(client.result("getVersion", json!([]))["feature-set"].is_u64());
    let fees = client.result("getRecentPrioritizationFees", json!([[]]));
    assert_eq!(
        (
            fees.as_array().unwrap().len(),
            &fees[0]["prioritizationFee"]
        ),
        (150, &json!(0))
    );
    // of an account without data: 128 bytes at 6960 lamports a byte
    let rent = client.result("getMinimumBalanceForRentExemption", json!([0]));
    assert_eq!(rent, 890_880);
    let epoch = client.result("getEpochInfo", json!([]));
    assert_eq!(epoch["slotsInEpoch"], 432_000);
}

#[test]
fn a_block_with_its_signatures_in_order() {
    let mut client = Client::new(still());
    let slot = client.result("getSlot", json!([{"commitment": "processed"}]));
    let transfers =
        [1, 2].map(|lamports| transfer(&client.payer.pubkey(), &FRIEND, SOL + lamports));
    let signatures = transfers.map(|call| client.carry_out(&[], &[call]));
    let hash = client.block_hash().to_string();
    let config = json!({
        "commitment": "confirmed", "transactionDetails": "signatures", "rewards": false,
        "maxSupportedTransactionVersion": 0,
    });
    let too_early = client.error("getBlock", json!([slot, config]));
    assert_eq!(too_early["code"], -32004);
    client.advance(1);
    let block = client.result("getBlock", json!([slot, config]));
    assert_eq!(block["blockhash"], hash);
    assert_eq!(block["signatures"], json!(signatures));
    assert_eq!(
        block["parentSlot"].as_u64(),
        slot.as_u64().map(|slot| slot - 1)
    );
    client.advance(1);
    let mut bare = config;
    bare["transactionDetails"] = json!("none");
    let next = json!([slot.as_u64().unwrap() + 1, bare]);
    let next = client.result("getBlock", next);
    assert_eq!(next["previousBlockhash"], hash);
    assert_eq!(next.get("signatures"), None);
}
