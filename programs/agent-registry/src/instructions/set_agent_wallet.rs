use crate::{
    AgentWalletSet, ConcordError,
    ed25519::require_addressable,
    error::{account_mismatch, require},
    event_emission,
    state::AgentIdentity,
};
use anchor_lang::prelude::*;
use solana_instructions_sysvar::{load_current_index_checked, load_instruction_at_checked};

#[derive(Accounts)]
pub struct SetAgentWallet<'info> {
    pub owner: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: its consent is checked in the handler
    pub new_wallet: UncheckedAccount<'info>,
    /// CHECK: read through the sysvar's own functions
    #[account(address = solana_instructions_sysvar::ID @ account_mismatch())]
    pub instructions_sysvar: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ account_mismatch())]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ account_mismatch())]
    pub program: UncheckedAccount<'info>,
}

impl SetAgentWallet<'_> {
    pub fn set_agent_wallet(&self) -> Result<()> {
        let mut agent = AgentIdentity::of_owner(&self.agent, self.nft_mint.key, self.owner.key)?;
        let wallet = self.new_wallet.key();
        require!(wallet != Pubkey::default(), ConcordError::WalletZero); // R3
        require!(self.wallet_consents()?, ConcordError::WalletConsentMissing); // R3
        let now = Clock::get()?.unix_timestamp;
        agent.set_wallet(wallet, now);
        agent.store(&self.agent)?;
        event_emission::emit(
            &self.event_authority,
            &AgentWalletSet {
                nft_mint: agent.nft_mint,
                owner: agent.owner,
                agent_wallet: wallet,
                timestamp: now,
            },
        )
    }

    /// R3: a fee payer has signed too, but for the fee. It is always writable, which tells it
    /// from an account that signed for this. The owner may pay the fee, and has asked for it.
    fn wallet_consents(&self) -> Result<bool> {
        let wallet = &self.new_wallet;
        if !wallet.is_signer || wallet.key == self.owner.key {
            return Ok(wallet.is_signer);
        }
        Ok(!self.is_wallet_writable_in_message()?)
    }

    /// R3: a program that calls us can pass a writable account on as one that is not, never the
    /// other way; whatever it passes on stands in the top-level instruction, with the message's flags.
    fn is_wallet_writable_in_message(&self) -> Result<bool> {
        require_addressable(&self.instructions_sysvar)?;
        let current = load_current_index_checked(&self.instructions_sysvar)?;
        let top_level = load_instruction_at_checked(current.into(), &self.instructions_sysvar)?;
        let mut metas = top_level.accounts.iter();
        Ok(metas.any(|meta| meta.pubkey == *self.new_wallet.key && meta.is_writable))
    }
}
