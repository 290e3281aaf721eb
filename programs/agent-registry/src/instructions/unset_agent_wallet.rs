use super::*;

impl OwnerSetting<'_> {
    pub fn unset_agent_wallet(&self) -> Result<()> {
        let mut agent = self.agent.load_for(&self.owner)?;
        let now = Clock::get()?.unix_timestamp;
        agent.set_wallet(Pubkey::default(), now); // R3
        self.agent.store(&agent)?;
        self.events.emit(&AgentWalletSet {
            nft_mint: agent.nft_mint,
            owner: agent.owner,
            agent_wallet: agent.agent_wallet,
            timestamp: now,
        })
    }
}
