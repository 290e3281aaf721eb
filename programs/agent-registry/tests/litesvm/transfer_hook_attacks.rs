//! R4: the hook believes Token-2022 in the middle of a transfer of the agent's own mint, and
//! nobody else.

use crate::{
    calls_by_programs::relay,
    localnet::{
        Localnet,
        instructions::{
            agent_identity, event_authority, extra_account_metas, readonly, registry,
            signer_and_payer, system_program, writable,
        },
        program_id,
        refusal::*,
        sale::Sale,
        stranger_id, token_2022,
        token_2022::{bare_transfer, in_transfer, token_account},
    },
};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_signer::Signer;

const EXECUTE: [u8; 8] = [105, 37, 101, 197, 75, 251, 102, 26];

/// The hook, called by whoever wants to.
pub fn direct_call(
    mint: &Address,
    source: Address,
    destination: Address,
    amount: u64,
) -> Instruction {
    Instruction {
        program_id: program_id(),
        accounts: vec![
            readonly(source),
            readonly(*mint),
            readonly(destination),
            readonly(source),
            readonly(extra_account_metas(mint)),
            writable(agent_identity(mint)),
            readonly(event_authority()),
            readonly(program_id()),
        ],
        data: [EXECUTE, amount.to_le_bytes()].concat(),
    }
}

#[test]
fn refuses_to_be_called_outside_a_transfer() {
    let mut sale = Sale::new();
    let (from, to) = (sale.held_by(&sale.agent.owner), sale.held_by(&sale.buyer));
    for amount in [0, 1] {
        let call = direct_call(&sale.agent.mint, from, to, amount);
        let sent = sale.send_as_owner(std::slice::from_ref(&call));
        assert_refused(&sent, 0, NOT_IN_TRANSFER);
        let stranger = sale.stranger.insecure_clone();
        for call in [call.clone(), relay(&[call])] {
            assert_refused(
                &sale.net.send(&[&stranger], std::slice::from_ref(&call)),
                0,
                NOT_IN_TRANSFER,
            );
            assert_refused(&sale.send_as_owner(&[call]), 0, NOT_IN_TRANSFER);
        }
    }
    sale.assert_nothing_changed();
}

#[test]
fn refuses_forged_token_accounts() {
    let mut sale = Sale::new();
    let (mint, buyer) = (sale.agent.mint, sale.buyer.pubkey());
    let (source, destination) = (Address::from([1; 32]), Address::from([2; 32]));
    let call = direct_call(&mint, source, destination, 1);
    let classic = Address::from_str_const("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
    let put = |sale: &mut Sale, at: Address, program: Address| {
        let account = in_transfer(&mint, &buyer, program);
        sale.net.svm.set_account(at, account).unwrap();
    };
    for forger in [stranger_id(), program_id(), system_program(), classic] {
        // both forged, then one of the two
        for (first, second) in [
            (forger, forger),
            (token_2022::program(), forger),
            (forger, token_2022::program()),
        ] {
            put(&mut sale, source, first);
            put(&mut sale, destination, second);
            let sent = sale.send_as_owner(std::slice::from_ref(&call));
            assert_refused(&sent, 0, NOT_IN_TRANSFER);
        }
    }
    sale.assert_nothing_changed();
    // the control: what carries the refusals is the owner. Token-2022 also owns accounts whose bytes a user chooses:
    // see `transfer_hook_multisig`
    put(&mut sale, source, token_2022::program());
    put(&mut sale, destination, token_2022::program());
    sale.send_as_owner(&[call]).unwrap();
    assert_eq!(sale.net.identity(&mint).owner, buyer);
}

#[test]
fn refuses_genuine_bytes_that_say_no_transfer_of_this_mint() {
    let mut sale = Sale::new();
    let mint = sale.agent.mint;
    let (source, destination) = (Address::from([1; 32]), Address::from([2; 32]));
    let genuine = in_transfer(&mint, &sale.buyer.pubkey(), token_2022::program());
    let mut flag_off = genuine.clone();
    *flag_off.data.last_mut().unwrap() = 0;
    let mut another_mint = genuine.clone();
    another_mint.data[0] ^= 1;
    let mut a_mint = genuine.clone();
    a_mint.data[165] = 1;
    let mut without_extensions = genuine.clone();
    without_extensions.data.truncate(165);
    let mut hidden_behind_the_end = genuine.clone();
    hidden_behind_the_end.data[166] = 0; // uninitialized: the list ends here
    let mut empty_flag = genuine.clone();
    empty_flag.data.pop();
    let mut no_balance = genuine.clone();
    no_balance.data[64] = 0;
    for broken in [
        flag_off,
        another_mint,
        a_mint,
        without_extensions,
        hidden_behind_the_end,
        empty_flag,
        no_balance,
    ] {
        sale.net.svm.set_account(source, genuine.clone()).unwrap();
        sale.net.svm.set_account(destination, broken).unwrap();
        let call = direct_call(&mint, source, destination, 1);
        assert_refused(&sale.send_as_owner(&[call]), 0, NOT_IN_TRANSFER);
    }
    // an amount that an agent's mint does not have
    sale.net.svm.set_account(destination, genuine).unwrap();
    let call = direct_call(&mint, source, destination, 2);
    assert_refused(&sale.send_as_owner(&[call]), 0, NOT_IN_TRANSFER);
    // an account that is not an identity of this mint
    let other = sale.net.agent();
    for account in [agent_identity(&other.mint), registry()] {
        let mut call = direct_call(&mint, source, destination, 1);
        call.accounts[5] = writable(account);
        assert_refused(&sale.send_as_owner(&[call]), 0, NOT_IN_TRANSFER);
    }
    sale.assert_nothing_changed();
}

#[test]
fn refuses_another_programs_hook_in_the_middle_of_its_own_transfer() {
    // The flags are really set, by Token-2022, for a mint of the attacker's.
    let mut sale = Sale::new();
    let (attacker, accomplice, mint) = (sale.net.actor(), sale.net.actor(), sale.net.key());
    create_mint_with_hook(&mut sale.net, &attacker, &accomplice.pubkey(), &mint);
    let mint = mint.pubkey();
    let victim = [
        readonly(program_id()),
        readonly(sale.agent.mint),
        writable(agent_identity(&sale.agent.mint)),
        readonly(event_authority()),
    ];
    let list =
        Address::find_program_address(&[b"extra-account-metas", mint.as_ref()], &stranger_id()).0;
    let account = Account {
        lamports: 10_000_000,
        data: meta_list(&victim),
        owner: stranger_id(),
        ..Account::default()
    };
    sale.net.svm.set_account(list, account).unwrap();
    for amount in [1, 2] {
        let mut instruction = bare_transfer(
            &token_account(&attacker.pubkey(), &mint),
            &mint,
            &token_account(&accomplice.pubkey(), &mint),
            &attacker.pubkey(),
            amount,
        );
        instruction
            .accounts
            .extend([readonly(stranger_id()), readonly(list)]);
        instruction.accounts.extend(victim.clone());
        let sent = sale.net.send(&[&attacker], &[instruction]);
        assert_refused(&sent, 0, NOT_IN_TRANSFER);
        let logs = sent.unwrap_err().meta.logs;
        let ours = format!("Program {} invoke [3]", program_id());
        assert!(logs.contains(&ours), "our hook was reached");
    }
    sale.assert_nothing_changed();
}

/// A mint of 5 tokens in the attacker's account, whose hook is the stranger's program.
fn create_mint_with_hook(
    net: &mut Localnet,
    attacker: &Keypair,
    accomplice: &Address,
    mint: &Keypair,
) {
    let (payer, at) = (attacker.pubkey(), mint.pubkey());
    let hook = [&[36, 0][..], &[0; 32], stranger_id().as_ref()].concat();
    let initialize = [&[20, 0][..], payer.as_ref(), &[0]].concat();
    let mint_to = [&[7][..], &5u64.to_le_bytes()].concat();
    let own = token_account(&payer, &at);
    let instructions = [
        token_2022::create_account(net, &payer, &at, 234),
        token_2022::instruction(hook, vec![writable(at)]),
        token_2022::instruction(initialize, vec![writable(at)]),
        token_2022::create_associated(&payer, &payer, &at),
        token_2022::create_associated(&payer, accomplice, &at),
        token_2022::instruction(
            mint_to,
            vec![writable(at), writable(own), signer_and_payer(payer)],
        ),
    ];
    net.send(&[attacker, mint], &instructions).unwrap();
}

/// The list account of the transfer-hook interface, with literal addresses.
fn meta_list(metas: &[AccountMeta]) -> Vec<u8> {
    let count = metas.len() as u32;
    let mut data = EXECUTE.to_vec();
    data.extend_from_slice(&(4 + 35 * count).to_le_bytes());
    data.extend_from_slice(&count.to_le_bytes());
    for meta in metas {
        data.push(0);
        data.extend_from_slice(meta.pubkey.as_ref());
        data.extend_from_slice(&[0, meta.is_writable.into()]);
    }
    data
}

#[test]
fn refuses_a_foreign_mint_that_names_our_program_as_its_hook() {
    let mut sale = Sale::new();
    let (attacker, accomplice, mint) = (sale.net.actor(), sale.net.actor(), sale.net.key());
    create_mint_with_hook(&mut sale.net, &attacker, &accomplice.pubkey(), &mint);
    let at = mint.pubkey();
    // the hook's program in the mint's extension: after the account type, type, length, authority
    let mut account = sale.net.account(&at);
    account.data[202..234].copy_from_slice(program_id().as_ref());
    sale.net.svm.set_account(at, account).unwrap();
    let (from, to) = (
        token_account(&attacker.pubkey(), &at),
        token_account(&accomplice.pubkey(), &at),
    );
    let mut instruction = bare_transfer(&from, &at, &to, &attacker.pubkey(), 1);
    instruction.accounts.push(readonly(program_id()));
    let (_, error) = refusal(&sale.net.send(&[&attacker], &[instruction]));
    assert_eq!(error, InstructionError::Custom(3005)); // Anchor's AccountNotEnoughKeys
}
