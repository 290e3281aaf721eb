//! Token-2022's own instructions, byte by byte, as far as an agent's token needs them.

use super::{
    Localnet,
    instructions::{
        agent_identity, event_authority, extra_account_metas, readonly, signer, signer_and_payer,
        system_program, writable,
    },
    program_id,
};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

pub fn program() -> Address {
    Address::from_str_const("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb")
}

pub fn associated_token_program() -> Address {
    Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL")
}

/// The owner's associated token account.
pub fn token_account(owner: &Address, mint: &Address) -> Address {
    let program = program();
    let seeds = &[owner.as_ref(), program.as_ref(), mint.as_ref()];
    Address::find_program_address(seeds, &associated_token_program()).0
}

pub fn instruction(data: Vec<u8>, accounts: Vec<solana_instruction::AccountMeta>) -> Instruction {
    Instruction {
        program_id: program(),
        accounts,
        data,
    }
}

/// TransferChecked with no more than its own four accounts.
pub fn bare_transfer(
    source: &Address,
    mint: &Address,
    destination: &Address,
    authority: &Address,
    amount: u64,
) -> Instruction {
    let data = [&[12], &amount.to_le_bytes()[..], &[0]].concat();
    let accounts = vec![
        writable(*source),
        readonly(*mint),
        writable(*destination),
        signer(*authority),
    ];
    instruction(data, accounts)
}

/// TransferChecked with the accounts that the agent's hook needs.
pub fn transfer(
    source: &Address,
    mint: &Address,
    destination: &Address,
    authority: &Address,
    amount: u64,
) -> Instruction {
    let mut instruction = bare_transfer(source, mint, destination, authority, amount);
    instruction.accounts.extend([
        writable(agent_identity(mint)),
        readonly(event_authority()),
        readonly(program_id()),
        readonly(extra_account_metas(mint)),
    ]);
    instruction
}

/// The associated token account of `owner`, or nothing if it exists.
pub fn create_associated(payer: &Address, owner: &Address, mint: &Address) -> Instruction {
    Instruction {
        program_id: associated_token_program(),
        accounts: vec![
            signer_and_payer(*payer),
            writable(token_account(owner, mint)),
            readonly(*owner),
            readonly(*mint),
            readonly(system_program()),
            readonly(program()),
        ],
        data: vec![1],
    }
}

pub fn approve(
    source: &Address,
    mint: &Address,
    delegate: &Address,
    owner: &Address,
) -> Instruction {
    let data = [&[13], &1u64.to_le_bytes()[..], &[0]].concat();
    let accounts = vec![
        writable(*source),
        readonly(*mint),
        readonly(*delegate),
        signer(*owner),
    ];
    instruction(data, accounts)
}

/// The system program's CreateAccount, for Token-2022.
pub fn create_account(
    net: &Localnet,
    payer: &Address,
    account: &Address,
    space: usize,
) -> Instruction {
    let lamports = net.svm.minimum_balance_for_rent_exemption(space);
    let data = [
        &[0; 4][..],
        &lamports.to_le_bytes(),
        &(space as u64).to_le_bytes(),
        program().as_ref(),
    ]
    .concat();
    Instruction {
        program_id: system_program(),
        accounts: vec![signer_and_payer(*payer), signer_and_payer(*account)],
        data,
    }
}

/// A token account that is not the associated one, with or without ImmutableOwner.
pub fn spare_account(
    net: &mut Localnet,
    payer: &Keypair,
    owner: &Address,
    mint: &Address,
    immutable: bool,
) -> Address {
    let account = Keypair::new();
    let address = account.pubkey();
    let space = if immutable { 175 } else { 171 };
    let mut instructions = vec![create_account(net, &payer.pubkey(), &address, space)];
    if immutable {
        instructions.push(instruction(vec![22], vec![writable(address)]));
    }
    let initialize = [&[18], owner.as_ref()].concat();
    instructions.push(instruction(
        initialize,
        vec![writable(address), readonly(*mint)],
    ));
    net.send(&[payer, &account], &instructions)
        .expect("the token account is created");
    address
}

/// The balance in a token account.
pub fn balance(net: &Localnet, account: &Address) -> u64 {
    u64::from_le_bytes(net.account(account).data[64..72].try_into().unwrap())
}

/// A token account in mid-transfer, as Token-2022 would write it.
pub fn in_transfer(mint: &Address, owner: &Address, program: Address) -> Account {
    let mut data = vec![0; 165];
    data[..32].copy_from_slice(mint.as_ref());
    data[32..64].copy_from_slice(owner.as_ref());
    data[64] = 1; // amount
    data[108] = 1; // initialized
    data.push(2); // a token account
    data.extend_from_slice(&[7, 0, 0, 0]); // ImmutableOwner
    data.extend_from_slice(&[15, 0, 1, 0, 1]); // TransferHookAccount { transferring: true }
    Account {
        lamports: 10_000_000,
        data,
        owner: program,
        ..Account::default()
    }
}
