use super::*;
use crate::consent;

#[derive(Accounts)]
pub struct SetAgentWallet<'info> {
    pub owner: Signer<'info>,
    pub agent: AgentAccounts<'info>,
    /// CHECK: its consent is checked in the handler
    pub new_wallet: UncheckedAccount<'info>,
    /// CHECK: read through the sysvar's own functions
    #[account(address = solana_instructions_sysvar::ID @ account_mismatch())]
    pub instructions_sysvar: UncheckedAccount<'info>,
    pub events: EventAccounts<'info>,
}

impl SetAgentWallet<'_> {
    pub fn set_agent_wallet(&self) -> Result<()> {
        let mut agent = self.agent.load_for(&self.owner)?;
        let wallet = self.new_wallet.key();
        require!(wallet != Pubkey::default(), WalletZero); // R3
        let (named, owner) = (&self.new_wallet, self.owner.key);
        let consents = consent::is_given(named, owner, &self.instructions_sysvar)?;
        require!(consents, WalletConsentMissing); // R3
        let now = Clock::get()?.unix_timestamp;
        agent.set_wallet(wallet, now);
        self.agent.store(&agent)?;
        self.events.emit(&AgentWalletSet {
            nft_mint: agent.nft_mint,
            owner: agent.owner,
            agent_wallet: wallet,
            timestamp: now,
        })
    }
}
