//! Feedback given through another program (CPI).

use crate::localnet::{
    Localnet,
    authorization::Authorization,
    instructions::{GiveFeedback, readonly},
    refusal::*,
    stranger_id,
};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use solana_signer::Signer;
use test_caller::{Call, Passed, RELAY, WALLET};

/// The address that the stranger's program signs for in its calls.
pub fn stranger_wallet() -> Address {
    Address::find_program_address(&[WALLET], &stranger_id()).0
}

/// One top-level instruction to the stranger's program, which makes `calls` one after another,
/// each with the rights that it names, however many more the relay itself has.
pub fn relay(calls: &[Instruction]) -> Instruction {
    let mut accounts: Vec<AccountMeta> = vec![];
    let mut place_of = |meta: &AccountMeta| {
        let place = accounts
            .iter()
            .position(|known| known.pubkey == meta.pubkey);
        let place = place.unwrap_or_else(|| {
            accounts.push(readonly(meta.pubkey));
            accounts.len() - 1
        });
        accounts[place].is_signer |= meta.is_signer && meta.pubkey != stranger_wallet();
        accounts[place].is_writable |= meta.is_writable;
        u8::try_from(place).unwrap()
    };
    let mut passed = |meta: &AccountMeta| Passed {
        place: place_of(meta),
        is_signer: meta.is_signer,
        is_writable: meta.is_writable,
    };
    let calls: Vec<Call> = calls
        .iter()
        .map(|call| Call {
            accounts: call.accounts.iter().map(&mut passed).collect(),
            program: passed(&readonly(call.program_id)).place,
            data: call.data.clone(),
        })
        .collect();
    let mut data = RELAY.to_vec();
    anchor_lang::AnchorSerialize::serialize(&calls, &mut data).unwrap();
    Instruction {
        program_id: stranger_id(),
        accounts,
        data,
    }
}

#[test]
fn a20_the_precompile_stands_before_the_top_level_caller() {
    // R11
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let precompile = Authorization::of(&feedback, &agent.owner.pubkey()).signed_by(&agent.owner);
    let through = relay(&[feedback.instruction()]);
    let sent = net.send(&[&client], std::slice::from_ref(&through));
    assert_refused(&sent, 0, AUTH_MISSING);
    net.send(&[&client], &[precompile, through]).unwrap();
    assert_eq!(net.identity(&agent.mint).unverified, (1, 85));
}

#[test]
fn one_precompile_serves_nested_calls_and_the_limit_bounds_them() {
    // R11
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let nth = |feedback_index| GiveFeedback {
        feedback_index,
        index_limit: 2,
        ..GiveFeedback::new(&agent.mint, &client.pubkey())
    };
    let precompile = Authorization::of(&nth(1), &agent.owner.pubkey()).signed_by(&agent.owner);
    let three = relay(&[1, 2, 3].map(|index| nth(index).instruction()));
    let sent = net.send(&[&client], &[precompile.clone(), three]);
    assert_refused(&sent, 1, AUTH_INDEX_LIMIT);
    let two = relay(&[1, 2].map(|index| nth(index).instruction()));
    net.send(&[&client], &[precompile, two]).unwrap();
    assert_eq!(net.identity(&agent.mint).unverified, (2, 170));
}
