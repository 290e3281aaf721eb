use super::*;
use crate::{account_creation::is_vacant, agent_mint::AgentMint, extra_account_metas};
use anchor_spl::{associated_token::AssociatedToken, token_2022::Token2022};

#[derive(Accounts)]
pub struct RegisterAgent<'info> {
    /// Owns the agent.
    pub owner: Signer<'info>,
    /// Pays for everything.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: created in the handler; its address becomes the agent's id
    #[account(mut @ account_mismatch())]
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: created in the handler
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: the owner's associated token account; its program checks the address
    #[account(mut @ account_mismatch())]
    pub token_account: UncheckedAccount<'info>,
    /// CHECK: created in the handler
    #[account(mut @ account_mismatch())]
    pub extra_account_metas: UncheckedAccount<'info>,
    pub token_program: Program<'info, Token2022>,
    pub associated_token_program: Program<'info, AssociatedToken>,
    pub system_program: Program<'info, System>,
    pub events: EventAccounts<'info>,
}

impl RegisterAgent<'_> {
    pub fn register_agent(&self, nonce: u64, uri: String) -> Result<()> {
        require_portable(&uri, URI_MAX)?; // R17
        // R4: derived, so that the mint had no earlier life and has no key
        let payer = self.payer.key.to_bytes();
        let mint = Derived::at(&self.nft_mint, &Place::Mint { payer, nonce })?;
        require!(
            is_vacant(&self.nft_mint) && is_vacant(&self.agent),
            AlreadyInitialized
        );
        let agent = Derived::at(&self.agent, &AgentIdentity::place_of(self.nft_mint.key))?;
        AgentMint {
            accounts: self,
            mint: &mint,
            agent: &agent,
        }
        .create(&uri)?;
        extra_account_metas::create(
            &self.payer,
            &self.extra_account_metas,
            self.nft_mint.key,
            self.agent.key,
        )?;

        let (mint, owner, now) = (
            self.nft_mint.key(),
            self.owner.key(),
            Clock::get()?.unix_timestamp,
        );
        let identity = AgentIdentity::registered(mint, owner, now, agent.bump());
        agent.create(&self.payer, &self.agent, &identity)?;
        self.events.emit(&AgentRegistered {
            nft_mint: mint,
            owner,
            metadata_uri: uri,
            timestamp: now,
        })
    }
}
