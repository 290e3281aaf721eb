//! The account that tells Token-2022 which accounts to pass to our transfer hook.
use crate::{account_creation::create_pda, error::require};
use anchor_lang::prelude::*;
use spl_discriminator::SplDiscriminate;
use spl_tlv_account_resolution::{account::ExtraAccountMeta, state::ExtraAccountMetaList};
use spl_transfer_hook_interface::{
    collect_extra_account_metas_signer_seeds, get_extra_account_metas_address_and_bump_seed,
    instruction::ExecuteInstruction,
};

/// The discriminator of `transfer_hook`.
pub const EXECUTE: &[u8] = ExecuteInstruction::SPL_DISCRIMINATOR_SLICE;

/// Creates the list for `mint`. `AccountMismatch` where `list` is not its PDA.
///
/// It holds literal addresses, because it is the mint's own anyway: with seeds Token-2022 would search for a PDA in every
/// transfer. The program itself is listed because the event self-CPI needs it among the hook's accounts.
pub fn create<'info>(
    payer: &AccountInfo<'info>,
    list: &AccountInfo<'info>,
    mint: &Pubkey,
    agent: &Pubkey,
) -> Result<()> {
    let (address, bump) = get_extra_account_metas_address_and_bump_seed(mint, &crate::ID);
    require!(*list.key == address, AccountMismatch);
    let (event_authority, _) = crate::EVENT_AUTHORITY_AND_BUMP;
    let metas = [
        ExtraAccountMeta::new_with_pubkey(agent, false, true)?,
        ExtraAccountMeta::new_with_pubkey(&event_authority, false, false)?,
        ExtraAccountMeta::new_with_pubkey(&crate::ID, false, false)?,
    ];
    let space = ExtraAccountMetaList::size_of(metas.len())?;
    let bump = [bump];
    let seeds = collect_extra_account_metas_signer_seeds(mint, &bump);
    create_pda(payer, list, space, &seeds)?;
    let mut data = list.try_borrow_mut_data()?;
    ExtraAccountMetaList::init::<ExecuteInstruction>(&mut data, &metas)?;
    Ok(())
}
