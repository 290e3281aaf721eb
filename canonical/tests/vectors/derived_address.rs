//! Program-derived addresses.

use concord_canonical::{Error, pda::Account};
use serde_json::{Value, json};

use crate::vectors::arguments::Arguments;

pub(crate) const PDA: &[&str] = &[
    "program_id",
    "account",
    "mint",
    "key",
    "client",
    "validator",
    "index",
    "request_hash",
    "payer",
    "nonce",
    "hash",
];

pub(crate) fn pda(a: &Arguments<'_>) -> Result<Value, Error> {
    let name = a.text("account");
    let program_id = a.solana_key("program_id")?;
    let (address, bump) = account(name, a)?.find(&program_id);
    Ok(json!({ "address": bs58::encode(address).into_string(), "bump": bump }))
}

fn account<'a>(name: &str, a: &'a Arguments<'_>) -> Result<Account<'a>, Error> {
    let mint = || a.solana_key("mint");
    let client = || a.solana_key("client");
    let payer = || a.solana_key("payer");
    let validator = || a.solana_key("validator");
    let index = || a.u64("index");
    let request_hash = || a.array("request_hash");
    Ok(match name {
        "registry" => Account::Registry,
        "mint" => Account::Mint {
            payer: payer()?,
            nonce: a.u64("nonce"),
        },
        "agent" => Account::Agent { mint: mint()? },
        "metadata" => Account::Metadata {
            mint: mint()?,
            key: a.text("key"),
        },
        "feedback" => Account::Feedback {
            mint: mint()?,
            client: client()?,
            index: index(),
        },
        "open_feedback" => Account::OpenFeedback {
            mint: mint()?,
            client: client()?,
            index: index(),
        },
        "client" => Account::Client {
            mint: mint()?,
            client: client()?,
        },
        "open_client" => Account::OpenClient {
            mint: mint()?,
            client: client()?,
        },
        "val_request" => Account::ValRequest {
            mint: mint()?,
            validator: validator()?,
            request_hash: request_hash(),
        },
        "val_response" => Account::ValResponse {
            mint: mint()?,
            validator: validator()?,
            request_hash: request_hash(),
        },
        "spent" => Account::Spent {
            hash: a.array("hash"),
            payer: payer()?,
        },
        other => panic!("unknown account {other}"),
    })
}
