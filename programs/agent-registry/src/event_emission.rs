//! Events by self-CPI, in the wire format of Anchor's `emit_cpi!`: the transaction keeps the
//! inner instruction however full its log is. One allocation, where the macro makes several.
use crate::error::account_mismatch;
use anchor_lang::{
    Discriminator,
    prelude::*,
    solana_program::{
        instruction::{AccountMeta, Instruction},
        program::invoke_signed,
    },
};

/// Holds the longest event: `OpenFeedbackGiven` with every text at its limit is 625 bytes.
const CAPACITY: usize = 640;

/// The accounts that Anchor's `event_cpi` adds, the program's address compared too: the last of every instruction that
/// reports an event.
#[derive(Accounts)]
pub struct EventAccounts<'info> {
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ account_mismatch())]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ account_mismatch())]
    pub program: UncheckedAccount<'info>,
}

impl EventAccounts<'_> {
    pub fn emit<E: AnchorSerialize + Discriminator>(&self, event: &E) -> Result<()> {
        let mut data = Vec::with_capacity(CAPACITY);
        data.extend_from_slice(anchor_lang::event::EVENT_IX_TAG_LE);
        data.extend_from_slice(E::DISCRIMINATOR);
        event.serialize(&mut data)?;
        call_ourselves(&self.event_authority, data)
    }
}

/// Apart from [`EventAccounts::emit`], which is compiled anew for each event.
fn call_ourselves(event_authority: &AccountInfo, data: Vec<u8>) -> Result<()> {
    let (authority, bump) = crate::EVENT_AUTHORITY_AND_BUMP;
    let instruction = Instruction {
        program_id: crate::ID,
        accounts: vec![AccountMeta::new_readonly(authority, true)],
        data,
    };
    let seeds: &[&[u8]] = &[b"__event_authority", &[bump]];
    invoke_signed(
        &instruction,
        std::slice::from_ref(event_authority),
        &[seeds],
    )?;
    Ok(())
}
