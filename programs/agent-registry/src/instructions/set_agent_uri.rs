use super::*;
use crate::agent_mint::write_uri;
use anchor_spl::token_2022::Token2022;

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
    pub token_program: Program<'info, Token2022>,
    pub system_program: Program<'info, System>,
    pub events: EventAccounts<'info>,
}

impl SetAgentUri<'_> {
    pub fn set_agent_uri(&self, uri: String) -> Result<()> {
        let mint = self.nft_mint.key();
        let mut agent = AgentIdentity::of_owner(&self.agent, &mint, self.owner.key)?;
        require_portable(&uri, URI_MAX)?; // R17
        let signer = Derived::known(&agent.place(), agent.bump);
        write_uri(
            &self.payer,
            &self.nft_mint,
            &self.agent,
            &signer,
            uri.clone(),
        )?;
        let now = Clock::get()?.unix_timestamp;
        agent.updated_at = now;
        store(&self.agent, &agent)?;
        self.events.emit(&AgentUriSet {
            nft_mint: mint,
            owner: agent.owner,
            metadata_uri: uri,
            timestamp: now,
        })
    }
}
