use crate::{
    AgentWalletSet, ConcordError,
    account_data::store,
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
        require!(self.wallet_consents(), ConcordError::WalletConsentMissing); // R3
        let now = Clock::get()?.unix_timestamp;
        agent.set_wallet(wallet, now);
        store(&self.agent, &agent)?;
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

    /// R3: a fee payer has signed too, but for the fee; he is always writable, by which he is
    /// told from who signed for this. The owner, who may pay the fee himself, has asked for it.
    fn wallet_consents(&self) -> bool {
        let wallet = &self.new_wallet;
        wallet.is_signer && (!wallet.is_writable || wallet.key == self.owner.key)
    }
}
