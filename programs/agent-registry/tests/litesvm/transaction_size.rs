//! Every flow fits one legacy transaction beside two compute-budget instructions, every text at
//! its limit. litesvm does not enforce the size, so these tests do.

use crate::localnet::{
    calls::instruction_names,
    open_feedback::{OPEN_SUMMARY, OPEN_SUMMARY_PART, open_summary},
    stage::Stage,
    token_2022,
    token_2022::token_account,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_message::Message;
use solana_signer::Signer;
use std::collections::BTreeMap;

/// Bytes of an UDP packet that a cluster accepts.
const LIMIT: usize = 1232;

/// A legacy transaction's bytes; every account is a key of its message.
fn size(payer: &Address, instructions: &[Instruction]) -> usize {
    let budget = Address::from_str_const("ComputeBudget111111111111111111111111111111");
    let limit = [&[2][..], &30_000u32.to_le_bytes()].concat();
    let price = [&[3][..], &1u64.to_le_bytes()].concat();
    let with_budget: Vec<Instruction> = [limit, price]
        .map(|data| Instruction {
            program_id: budget,
            accounts: vec![],
            data,
        })
        .into_iter()
        .chain(instructions.iter().cloned())
        .collect();
    let message = Message::new(&with_budget, Some(payer));
    let signatures = usize::from(message.header.num_required_signatures);
    1 + 64 * signatures + message.serialize().len()
}

/// By instruction; the fee is the sponsor's if it pays the rent (R12), or of who signs first. The transfer hook's is that of the transfer, which
/// creates the receiver's token account.
pub fn of_every_instruction() -> BTreeMap<&'static str, usize> {
    let mut stage = Stage::new();
    let transfer = transfer(&stage);
    let calls = stage.calls().into_iter().map(|call| {
        let named = |key: Address| {
            let mut metas = call.instruction.accounts.iter();
            metas.any(|meta| meta.is_signer && meta.pubkey == key)
        };
        let (sponsor, first) = (stage.sponsor.pubkey(), call.instruction.accounts[0].pubkey);
        let payer = match (named(sponsor), named(first)) {
            (true, _) => sponsor,
            (false, true) => first,
            (false, false) => stage.relayer.pubkey(),
        };
        match call.name {
            "transfer_hook" => (call.name, transfer),
            name => (name, size(&payer, &call.transaction())),
        }
    });
    calls.collect()
}

fn transfer(stage: &Stage) -> usize {
    let (owner, mint) = (stage.agent.owner.pubkey(), stage.agent.mint);
    let buyer = stage.friend.pubkey();
    let (from, to) = (token_account(&owner, &mint), token_account(&buyer, &mint));
    let create = token_2022::create_associated(&owner, &buyer, &mint);
    let transfer = token_2022::transfer(&from, &mint, &to, &owner, 1);
    size(&owner, &[create, transfer])
}

#[test]
fn every_instruction_fits_with_every_text_at_its_limit() {
    let sizes = of_every_instruction();
    let mut names = instruction_names();
    names.sort_unstable();
    assert_eq!(sizes.keys().copied().collect::<Vec<_>>(), names);
    for (name, bytes) in sizes {
        assert!(bytes <= LIMIT, "{name}: {bytes} bytes");
    }
}

#[test]
fn a_summary_fits_as_many_accounts_as_stated() {
    // What does not fit goes into further transactions, whose parts add up; a client with more
    // entries than these needs a v0 transaction with a lookup table.
    let (payer, mint) = (Address::from([6; 32]), Address::from([7; 32]));
    let tag = "t".repeat(32);
    for kind in [OPEN_SUMMARY, OPEN_SUMMARY_PART] {
        let bytes = |clients: &[(Address, u64)]| {
            size(&payer, &[open_summary(kind, &mint, clients, &tag, &tag)])
        };
        let many = |count: u8| {
            let client = |i| (Address::from([i + 20; 32]), 1);
            (0..count).map(client).collect::<Vec<_>>()
        };
        assert!(bytes(&many(9)) <= LIMIT && bytes(&many(10)) > LIMIT);
        let one = |entries| [(Address::from([20; 32]), entries)];
        assert!(bytes(&one(25)) <= LIMIT && bytes(&one(26)) > LIMIT);
    }
}
