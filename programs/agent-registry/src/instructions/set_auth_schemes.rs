use super::*;

impl OwnerSetting<'_> {
    pub fn set_auth_schemes(&self, schemes: u8) -> Result<()> {
        let mut agent = self.agent.load_for(&self.owner)?;
        let now = Clock::get()?.unix_timestamp;
        agent.set_auth_schemes(schemes, now)?; // R10
        self.agent.store(&agent)?;
        self.events.emit(&AuthSchemesSet {
            nft_mint: agent.nft_mint,
            owner: agent.owner,
            auth_schemes: schemes,
            timestamp: now,
        })
    }
}
