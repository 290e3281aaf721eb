use super::*;

/// The agent that an instruction changes.
#[derive(Accounts)]
pub struct AgentAccounts<'info> {
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
}

impl AgentAccounts<'_> {
    /// The agent's id (R1).
    pub fn mint(&self) -> &Pubkey {
        self.nft_mint.key
    }

    /// Errors: `AgentNotFound`, `AccountMismatch`.
    pub fn load(&self) -> Result<AgentIdentity> {
        AgentIdentity::of(&self.agent, self.mint())
    }

    /// Errors: `AgentNotFound`, `AccountMismatch`, `NotAuthorized`.
    pub fn load_for(&self, owner: &Signer) -> Result<AgentIdentity> {
        AgentIdentity::of_owner(&self.agent, self.mint(), owner.key)
    }

    pub fn store(&self, agent: &AgentIdentity) -> Result<()> {
        store(&self.agent, agent)
    }
}
