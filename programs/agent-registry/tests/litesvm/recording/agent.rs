//! An agent's registration, its owner's settings, and a sale.

use super::{Cast, NONCE, Recording, hex, key, wide};
use crate::localnet::{
    URI,
    instructions::{agent_identity, register_agent},
    settings::{
        metadata_entry, set_agent_uri, set_agent_wallet, set_auth_schemes, set_feedback_authority,
        set_metadata,
    },
    token_2022::{create_associated, token_account, transfer},
};
use serde_json::{Value, json};
use solana_signer::Signer;

const NEW_URI: &str = "ipfs://bafy/agent.json";
const METADATA: (&str, &[u8]) = ("fee", b"\x00\xff2 %");

/// When the agent was registered, and when its owner set the wallet and the last of its settings.
pub struct Times {
    registered: i64,
    wallet: i64,
    updated: i64,
}

pub fn set_up_agent(record: &mut Recording, cast: &Cast) -> Times {
    let (owner, mint) = (cast.owner.pubkey(), cast.mint);
    let by_owner = |field: &str, value: Value| {
        let mut fields = json!({"nft_mint": key(&mint), "owner": key(&owner)});
        fields[field] = value;
        fields
    };
    record.step(
        &[&cast.owner],
        &[register_agent(&owner, NONCE, URI)],
        &[("AgentRegistered", by_owner("metadata_uri", json!(URI)))],
    );
    record.step(
        &[&cast.owner],
        &[set_agent_uri(&owner, &mint, NEW_URI.as_bytes())],
        &[("AgentUriSet", by_owner("metadata_uri", json!(NEW_URI)))],
    );
    let registered = record.now - 1;
    let (name, value) = METADATA;
    let mut fields = by_owner("metadata_key", json!(name));
    fields["metadata_value"] = hex(value);
    record.step(
        &[&cast.owner],
        &[set_metadata(&owner, &mint, name.as_bytes(), value)],
        &[("MetadataSet", fields)],
    );
    let wallet = cast.wallet.pubkey();
    record.step(
        &[&cast.owner, &cast.wallet],
        &[set_agent_wallet(&owner, &mint, &wallet)],
        &[("AgentWalletSet", by_owner("agent_wallet", key(&wallet)))],
    );
    let set_wallet = record.now;
    let authority = cast.feedback_authority.pubkey();
    record.step(
        &[&cast.owner, &cast.feedback_authority],
        &[set_feedback_authority(&owner, &mint, &authority)],
        &[(
            "FeedbackAuthoritySet",
            by_owner("feedback_authority", key(&authority)),
        )],
    );
    record.step(
        &[&cast.owner],
        &[set_auth_schemes(&owner, &mint, 3)],
        &[("AuthSchemesSet", by_owner("auth_schemes", json!(3)))],
    );
    Times {
        registered,
        wallet: set_wallet,
        updated: record.now,
    }
}

pub fn keep_agent(record: &mut Recording, cast: &Cast, times: &Times) {
    let mint = cast.mint;
    let fields = json!({
        "nft_mint": key(&mint),
        "owner": key(&cast.owner.pubkey()),
        "owner_version": wide(1),
        "feedback_authority": key(&cast.feedback_authority.pubkey()),
        "agent_wallet": key(&cast.wallet.pubkey()),
        "auth_schemes": 3,
        "created_at": wide(times.registered),
        "updated_at": wide(times.updated),
        "verified_feedback_count": wide(1),
        "verified_score_sum": wide(85),
        "unverified_feedback_count": wide(0),
        "unverified_score_sum": wide(0),
        "validation_count": wide(1),
        "client_count": wide(1),
        "open_client_count": wide(1),
        "wallet_set_at": wide(times.wallet),
        "reserved": hex(&[0; 56]),
    });
    let seeds: [&[u8]; 2] = [b"agent", mint.as_ref()];
    record.keep("AgentIdentity", &agent_identity(&mint), &seeds, fields);
    let (name, value) = METADATA;
    let fields = json!({"nft_mint": key(&mint), "key": name, "value": hex(value)});
    let hash = <sha2::Sha256 as sha2::Digest>::digest(name);
    let seeds: [&[u8]; 3] = [b"metadata", mint.as_ref(), &hash];
    let address = metadata_entry(&mint, name.as_bytes());
    record.keep("MetadataEntry", &address, &seeds, fields);
}

/// The hook's event is two calls deep: Token-2022 calls the hook, the hook itself.
pub fn sell(record: &mut Recording, cast: &Cast) {
    let agent = record.net.agent();
    let (from, to) = (agent.owner.pubkey(), cast.stranger.pubkey());
    let transfer = transfer(
        &token_account(&from, &agent.mint),
        &agent.mint,
        &token_account(&to, &agent.mint),
        &from,
        1,
    );
    let fields = json!({"nft_mint": key(&agent.mint), "from": key(&from), "to": key(&to)});
    record.step(
        &[&agent.owner],
        &[create_associated(&from, &to, &agent.mint), transfer],
        &[("AgentTransferred", fields)],
    );
}
