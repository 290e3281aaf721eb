use crate::{
    AgentWalletSet, ConcordError, consent,
    error::{account_mismatch, require},
    event_emission,
    state::AgentIdentity,
};
use anchor_lang::prelude::*;

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
        let (named, owner) = (&self.new_wallet, self.owner.key);
        let consents = consent::is_given(named, owner, &self.instructions_sysvar)?;
        require!(consents, ConcordError::WalletConsentMissing); // R3
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
}
