//! What Token-2022 and its associated-account program do with an agent's token: no instruction of
//! ours.
use crate::backend::svm::addresses::{
    ASSOCIATED_TOKEN, SYSTEM, TOKEN_2022, event_authority, extra_account_metas, identity, program,
    token_account,
};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};

/// Bytes of a token account with the one extension that the mint's transfer hook asks for, and so
/// without ImmutableOwner.
pub const MUTABLE_ACCOUNT: usize = 171;
const ONE: [u8; 8] = 1u64.to_le_bytes();

/// Makes the receiver's associated token account where there is none: instruction 1,
/// CreateIdempotent. It has ImmutableOwner, which R4 asks for.
pub fn open_associated_account(payer: Address, owner: Address, mint: Address) -> Instruction {
    Instruction {
        program_id: ASSOCIATED_TOKEN,
        accounts: vec![
            AccountMeta::new(payer, true),
            AccountMeta::new(token_account(&owner, &mint), false),
            AccountMeta::new_readonly(owner, false),
            AccountMeta::new_readonly(mint, false),
            AccountMeta::new_readonly(SYSTEM, false),
            AccountMeta::new_readonly(TOKEN_2022, false),
        ],
        data: vec![1],
    }
}

/// A token account of `owner` at `account`, a new key's address, whose owner can be changed:
/// the system program's CreateAccount (instruction 0), then InitializeAccount3.
pub fn open_mutable_account(
    payer: Address,
    account: Address,
    owner: Address,
    mint: Address,
    lamports: u64,
) -> [Instruction; 2] {
    const INITIALIZE_ACCOUNT_3: u8 = 18;
    let space = (MUTABLE_ACCOUNT as u64).to_le_bytes();
    let create = Instruction {
        program_id: SYSTEM,
        accounts: vec![
            AccountMeta::new(payer, true),
            AccountMeta::new(account, true),
        ],
        data: [
            &[0; 4],
            &lamports.to_le_bytes()[..],
            &space,
            TOKEN_2022.as_ref(),
        ]
        .concat(),
    };
    let initialize = Instruction {
        program_id: TOKEN_2022,
        accounts: vec![
            AccountMeta::new(account, false),
            AccountMeta::new_readonly(mint, false),
        ],
        data: [&[INITIALIZE_ACCOUNT_3], owner.as_ref()].concat(),
    };
    [create, initialize]
}

/// TransferChecked of the one token, 0 decimals, out of `from`'s associated account, with the
/// hook's accounts.
pub fn transfer(authority: Address, from: Address, to: Address, mint: Address) -> Instruction {
    const TRANSFER_CHECKED: u8 = 12;
    Instruction {
        program_id: TOKEN_2022,
        accounts: vec![
            AccountMeta::new(token_account(&from, &mint), false),
            AccountMeta::new_readonly(mint, false),
            AccountMeta::new(to, false),
            AccountMeta::new_readonly(authority, true),
            AccountMeta::new(identity(&mint), false),
            AccountMeta::new_readonly(event_authority(), false),
            AccountMeta::new_readonly(program(), false),
            AccountMeta::new_readonly(extra_account_metas(&mint), false),
        ],
        data: [&[TRANSFER_CHECKED], &ONE[..], &[0]].concat(),
    }
}

/// Burn of the one token, out of `from`'s associated account.
pub fn burn(authority: Address, from: Address, mint: Address) -> Instruction {
    const BURN: u8 = 8;
    Instruction {
        program_id: TOKEN_2022,
        accounts: vec![
            AccountMeta::new(token_account(&from, &mint), false),
            AccountMeta::new(mint, false),
            AccountMeta::new_readonly(authority, true),
        ],
        data: [&[BURN], &ONE[..]].concat(),
    }
}
