use crate::{
    AgentUriSet, agent_mint::UriChange, error::account_mismatch, event_emission,
    portable_text::require_portable, state::AgentIdentity,
};
use anchor_lang::{prelude::*, system_program};
use anchor_spl::token_2022;
use concord_canonical::{limits::URI_MAX, pda::AGENT};

#[derive(Accounts)]
pub struct SetAgentUri<'info> {
    pub owner: Signer<'info>,
    /// Pays for what a longer URI needs.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: loaded in the handler; the metadata's authority
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: holds the metadata; Token-2022's matter
    #[account(mut @ account_mismatch())]
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    #[account(address = token_2022::ID @ account_mismatch())]
    pub token_program: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    #[account(address = system_program::ID @ account_mismatch())]
    pub system_program: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ account_mismatch())]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ account_mismatch())]
    pub program: UncheckedAccount<'info>,
}

impl SetAgentUri<'_> {
    pub fn set_agent_uri(&self, uri: String) -> Result<()> {
        let mint = self.nft_mint.key();
        let mut agent = AgentIdentity::of_owner(&self.agent, &mint, self.owner.key)?;
        require_portable(&uri, URI_MAX)?; // R17
        UriChange {
            payer: &self.payer,
            mint: &self.nft_mint,
            agent: &self.agent,
            agent_seeds: &[AGENT, mint.as_ref(), &[agent.bump]],
        }
        .write(&uri)?;
        let now = Clock::get()?.unix_timestamp;
        agent.updated_at = now;
        agent.store(&self.agent)?;
        event_emission::emit(
            &self.event_authority,
            &AgentUriSet {
                nft_mint: mint,
                owner: agent.owner,
                metadata_uri: uri,
                timestamp: now,
            },
        )
    }
}
