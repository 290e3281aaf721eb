//! The seeds of every account (§3b), and one address of each for fixed arguments that another
//! implementation (@solana/web3.js) derived.

use crate::localnet::{instructions::agent_mint, pda};
use agent_registry::{
    AgentIdentity, ClientIndex, FeedbackEntry, MetadataEntry, OpenClientIndex, OpenFeedback,
    Registry, SpentPayment, ValidationRequest, ValidationResponse, account_data::derive,
};
use anchor_lang::prelude::Pubkey;
use sha2::{Digest, Sha256};
use solana_address::Address;

const MINT: [u8; 32] = [0xA1; 32];
const CLIENT: [u8; 32] = [0xC2; 32];
/// Its first 8 bytes differ from each other.
const HASH: [u8; 32] = *b"0123456789abcdef0123456789abcdef";
const INDEX: u64 = 0x0102_0304_0506_0708;
const INDEX_LE: [u8; 8] = [8, 7, 6, 5, 4, 3, 2, 1];

#[test]
fn each_accounts_seeds_are_the_documented_ones() {
    let (mint, client) = (Pubkey::from(MINT), Pubkey::from(CLIENT));
    let key: [u8; 32] = Sha256::digest(b"fee").into();
    let cases: [(Pubkey, &[&[u8]], &str); 10] = [
        (
            Registry::ADDRESS,
            &[b"registry"],
            "9gb3WVubAcHWeasoyP19mTDdPssqjsEYDqrUSQYs2JN9",
        ),
        (
            derive(&AgentIdentity::place_of(&mint)).0,
            &[b"agent", &MINT],
            "BX4SepheCnrZdKMXghSprySixzGCoTi9JsXm3DTkcJfF",
        ),
        (
            derive(&MetadataEntry::place_of(&mint, "fee")).0,
            &[b"metadata", &MINT, &key],
            "FXzuFoy9sB48MNRkXsGVZHzoXrMF8Jrce3WkcN9pEBuw",
        ),
        (
            derive(&FeedbackEntry::place_of(&mint, &client, INDEX)).0,
            &[b"feedback", &MINT, &CLIENT, &INDEX_LE],
            "44SQrPth7tcYmGpHZCPBTbsuASpoj1oe4stW91CeDYDf",
        ),
        (
            derive(&ClientIndex::place_of(&mint, &client)).0,
            &[b"client", &MINT, &CLIENT],
            "BiPYYKTj4rKUZFpychtzdSoLAZWyLQRajPrJooMH7gLr",
        ),
        (
            derive(&OpenFeedback::place_of(&mint, &client, INDEX)).0,
            &[b"open_feedback", &MINT, &CLIENT, &INDEX_LE],
            "2z2J4Hm5mGuApqBc8AaRNA7XFLc2A6SrDxdVAcJ8FvAd",
        ),
        (
            derive(&OpenClientIndex::place_of(&mint, &client)).0,
            &[b"open_client", &MINT, &CLIENT],
            "GQ2ypDaiiSkVjAQmbgwspD8SicCyB6Hciy5Ha8z4JmRc",
        ),
        (
            derive(&ValidationRequest::place_of(&mint, &client, &HASH)).0,
            &[b"val_request", &MINT, &CLIENT, b"01234567"],
            "34fEtCKeXb4nn759BZQgutP2ZnR5CJEpdVwH2vAEKrEr",
        ),
        (
            derive(&ValidationResponse::place_of(&mint, &client, &HASH)).0,
            &[b"val_response", &MINT, &CLIENT, b"01234567"],
            "DsZR6uDKknMKzXReERLhJdf16ycm3EZfyw945nzVZNfi",
        ),
        (
            derive(&SpentPayment::place_of(&HASH, &client)).0,
            &[b"spent", &HASH, &CLIENT],
            "H9ZsxzNoXJEqfpqFRAwgJBXya2THDnD19WMwoY7jNX5F",
        ),
    ];
    for (found, seeds, address) in cases {
        assert_eq!(found.to_bytes(), pda(seeds).to_bytes(), "{address}");
        assert_eq!(Address::from(found.to_bytes()).to_string(), address);
    }
    // `register_agent` takes no other mint
    assert_eq!(
        agent_mint(&CLIENT.into(), INDEX).to_string(),
        "HXqbH6YVHkUvmeaq7Yz9ycn81ycjsW3rdihJ7zA5yrLX"
    );
}
