//! What is asked of Token-2022 and of the associated-token program for an agent's token (R4).
use crate::svm::{
    instructions::{readonly, signer, signer_writable, writable},
    program::{Program, associated_token_account},
    programs::{ASSOCIATED_TOKEN, SYSTEM, TOKEN_2022},
};
use alloc::vec;
use solana_address::Address;
use solana_instruction::Instruction;
use spl_token_2022_interface::instruction::TokenInstruction;

/// Creates `owner`'s associated token account for the mint unless it exists (CreateIdempotent).
/// The account has ImmutableOwner, which the program demands of a receiver (R4).
pub fn create_associated_account(payer: Address, owner: Address, mint: Address) -> Instruction {
    /// By hand: `spl-associated-token-account-interface` needs the standard library.
    const CREATE_IDEMPOTENT: u8 = 1;
    Instruction {
        program_id: ASSOCIATED_TOKEN,
        accounts: vec![
            signer_writable(payer),
            writable(associated_token_account(&owner, &mint)),
            readonly(owner),
            readonly(mint),
            readonly(SYSTEM),
            readonly(TOKEN_2022),
        ],
        data: vec![CREATE_IDEMPOTENT],
    }
}

impl Program {
    /// Transfers the agent's token from `from`'s associated account to the token account `to`:
    /// TransferChecked of 1 with 0 decimals, and the accounts of the transfer hook (R4).
    pub fn transfer_agent(
        &self,
        authority: Address,
        from: Address,
        to: Address,
        mint: Address,
    ) -> Instruction {
        let transfer = TokenInstruction::TransferChecked {
            amount: 1,
            decimals: 0,
        };
        Instruction {
            program_id: TOKEN_2022,
            accounts: vec![
                writable(associated_token_account(&from, &mint)),
                readonly(mint),
                writable(to),
                signer(authority),
                writable(self.agent(&mint)),
                readonly(self.event_authority()),
                readonly(self.id()),
                readonly(self.extra_account_metas(&mint)),
            ],
            data: transfer.pack(),
        }
    }
}

/// Burns the agent's token in `from`'s associated account. The program is not asked (§3a, variance
/// 7).
pub fn burn(authority: Address, from: Address, mint: Address) -> Instruction {
    Instruction {
        program_id: TOKEN_2022,
        accounts: vec![
            writable(associated_token_account(&from, &mint)),
            writable(mint),
            signer(authority),
        ],
        data: TokenInstruction::Burn { amount: 1 }.pack(),
    }
}
