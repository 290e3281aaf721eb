//! Tags, chain-agnostic names and program-derived addresses.

use super::Answer;
use super::arguments::{Arguments, Failure, hex_json};
use concord_canonical::caip::{AccountId, ChainId, TaskRef};
use concord_canonical::pda::Account;
use concord_canonical::tag::{Tag, decode_padded};
use serde_json::json;

pub(super) fn tag(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["text", "encoding"], &[])?;
    let encode = match arguments.text("encoding")? {
        "padded" => Tag::padded,
        "hashed" => Tag::hashed,
        _ => {
            let message = "encoding must be padded or hashed".into();
            return Err(Failure::bad_request(message));
        }
    };
    Ok(hex_json(&encode(&Tag::named(
        "text",
        arguments.text("text")?,
    )?)))
}

pub(super) fn tag_decode(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["bytes"], &[])?;
    Ok(decode_padded(&arguments.word("bytes")?)?.as_str().into())
}

pub(super) fn chain_id(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["text"], &[])?;
    let chain = ChainId::parse(arguments.text("text")?)?;
    Ok(json!({"namespace": chain.namespace(), "reference": chain.reference()}))
}

pub(super) fn account_id(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["text"], &[])?;
    let account = AccountId::parse(arguments.text("text")?)?;
    Ok(json!({"chain_id": account.chain_id().to_string(), "address": account.address()}))
}

pub(super) fn task_ref(arguments: &Arguments<'_>) -> Answer {
    arguments.expect(&["text"], &[])?;
    let task = TaskRef::parse(arguments.text("text")?)?;
    Ok(json!({
        "chain_id": task.chain_id().to_string(),
        "transaction": task.transaction(),
        "dedupe_key": task.dedupe_key().to_string(),
    }))
}

pub(super) fn pda(arguments: &Arguments<'_>) -> Answer {
    // The account decides which arguments there must be, so it is read before they are judged.
    let account = account(arguments)?;
    let (address, bump) = account.find(&arguments.solana_key("program_id")?);
    Ok(json!({"address": bs58::encode(address).into_string(), "bump": bump}))
}

fn account<'a>(arguments: &Arguments<'a>) -> Result<Account<'a>, Failure> {
    let expect =
        |more: &[&str]| arguments.expect(&[&["program_id", "account"], more].concat(), &[]);
    let key = |name| arguments.solana_key(name);
    match arguments.text("account")? {
        "registry" => expect(&[]).map(|()| Account::Registry),
        "agent" => {
            expect(&["mint"])?;
            Ok(Account::Agent { mint: key("mint")? })
        }
        "metadata" => {
            expect(&["mint", "key"])?;
            Ok(Account::Metadata {
                mint: key("mint")?,
                key: arguments.text("key")?,
            })
        }
        "spent" => {
            expect(&["hash"])?;
            let hash = arguments.word("hash")?;
            Ok(Account::Spent { hash })
        }
        name @ ("feedback" | "open_feedback" | "client" | "open_client") => {
            feedback_account(arguments, name)
        }
        name @ ("val_request" | "val_response") => validation_account(arguments, name),
        _ => Err(Failure::bad_request(
            "account must be registry, agent, metadata, feedback, open_feedback, client, \
             open_client, val_request, val_response or spent"
                .into(),
        )),
    }
}

fn feedback_account<'a>(arguments: &Arguments<'a>, name: &str) -> Result<Account<'a>, Failure> {
    let fields = ["program_id", "account", "mint", "client", "index"];
    let has_index = name.ends_with("feedback");
    arguments.expect(if has_index { &fields } else { &fields[..4] }, &[])?;
    let mint = arguments.solana_key("mint")?;
    let client = arguments.solana_key("client")?;
    let index = match has_index {
        true => arguments.uint64("index")?,
        false => 0,
    };
    Ok(match name {
        "feedback" => Account::Feedback {
            mint,
            client,
            index,
        },
        "open_feedback" => Account::OpenFeedback {
            mint,
            client,
            index,
        },
        "client" => Account::Client { mint, client },
        _ => Account::OpenClient { mint, client },
    })
}

fn validation_account<'a>(arguments: &Arguments<'a>, name: &str) -> Result<Account<'a>, Failure> {
    arguments.expect(
        &["program_id", "account", "mint", "validator", "request_hash"],
        &[],
    )?;
    let mint = arguments.solana_key("mint")?;
    let validator = arguments.solana_key("validator")?;
    let request_hash = arguments.word("request_hash")?;
    Ok(match name {
        "val_request" => Account::ValRequest {
            mint,
            validator,
            request_hash,
        },
        _ => Account::ValResponse {
            mint,
            validator,
            request_hash,
        },
    })
}
