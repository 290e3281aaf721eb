use crate::{
    AgentRegistered, ConcordError,
    account_creation::{create_pda, is_vacant},
    agent_mint::AgentMint,
    error::{account_mismatch, require},
    event_emission, extra_account_metas,
    portable_text::require_portable,
    state::AgentIdentity,
};
use anchor_lang::{prelude::*, system_program};
use anchor_spl::{associated_token, token_2022};
use concord_canonical::{
    limits::URI_MAX,
    pda::{AGENT, MINT},
};

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
    /// CHECK: only its address is used
    #[account(address = token_2022::ID @ account_mismatch())]
    pub token_program: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    #[account(address = associated_token::ID @ account_mismatch())]
    pub associated_token_program: UncheckedAccount<'info>,
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

impl RegisterAgent<'_> {
    pub fn register_agent(&self, nonce: u64, uri: String) -> Result<()> {
        require_portable(&uri, URI_MAX)?; // R17
        // R4: derived, so that the mint had no earlier life and has no key
        let nonce = nonce.to_le_bytes();
        let (mint, mint_bump) =
            Pubkey::find_program_address(&[MINT, self.payer.key.as_ref(), &nonce], &crate::ID);
        require!(*self.nft_mint.key == mint, ConcordError::AccountMismatch);
        require!(
            is_vacant(&self.nft_mint) && is_vacant(&self.agent),
            ConcordError::AlreadyInitialized
        );
        let owner = self.owner.key();
        let (address, bump) = AgentIdentity::find(&mint); // R1: the mint is the agent's id
        require!(*self.agent.key == address, ConcordError::AccountMismatch);
        let agent_seeds: &[&[u8]] = &[AGENT, mint.as_ref(), &[bump]];
        AgentMint {
            payer: &self.payer,
            owner: &self.owner,
            mint: &self.nft_mint,
            mint_seeds: &[MINT, self.payer.key.as_ref(), &nonce, &[mint_bump]],
            token_account: &self.token_account,
            agent: &self.agent,
            agent_seeds,
            token_program: &self.token_program,
            system_program: &self.system_program,
        }
        .create(&uri)?;
        extra_account_metas::create(&self.payer, &self.extra_account_metas, &mint, &address)?;

        let now = Clock::get()?.unix_timestamp;
        create_pda(&self.payer, &self.agent, AgentIdentity::SPACE, agent_seeds)?;
        AgentIdentity::registered(mint, owner, now, bump).store(&self.agent)?;
        event_emission::emit(
            &self.event_authority,
            &AgentRegistered {
                nft_mint: mint,
                owner,
                metadata_uri: uri,
                timestamp: now,
            },
        )
    }
}
