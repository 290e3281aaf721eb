use super::*;
use crate::consent;

#[derive(Accounts)]
pub struct SetFeedbackAuthority<'info> {
    pub owner: Signer<'info>,
    pub agent: AgentAccounts<'info>,
    /// CHECK: its consent is checked in the handler
    pub new_authority: UncheckedAccount<'info>,
    /// CHECK: read through the sysvar's own functions
    #[account(address = solana_instructions_sysvar::ID @ account_mismatch())]
    pub instructions_sysvar: UncheckedAccount<'info>,
    pub events: EventAccounts<'info>,
}

impl SetFeedbackAuthority<'_> {
    pub fn set_feedback_authority(&self) -> Result<()> {
        let mut agent = self.agent.load_for(&self.owner)?;
        let authority = self.new_authority.key();
        require!(self.authority_consents()?, AuthorityConsentMissing);
        let now = Clock::get()?.unix_timestamp;
        agent.set_feedback_authority(authority, now); // R7
        self.agent.store(&agent)?;
        self.events.emit(&FeedbackAuthoritySet {
            nft_mint: agent.nft_mint,
            owner: agent.owner,
            feedback_authority: authority,
            timestamp: now,
        })
    }

    /// R7: an authority cannot review the agent (R18), so an owner could silence a reviewer by naming them. The owner,
    /// who signs, and the default key, which stands for the owner's, are asked for nothing more.
    fn authority_consents(&self) -> Result<bool> {
        let (named, owner) = (&self.new_authority, self.owner.key);
        if named.key == owner || *named.key == Pubkey::default() {
            return Ok(true);
        }
        consent::is_given(named, owner, &self.instructions_sysvar)
    }
}
