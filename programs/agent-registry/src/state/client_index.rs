use super::raised;
use anchor_lang::prelude::*;
use concord_canonical::pda::CLIENT;

/// How far one client's authorized feedback about one agent has counted,
/// `["client", mint, client]`. Never closed, so the index never resets (R8).
#[account]
#[derive(InitSpace, Debug)]
pub struct ClientIndex {
    /// The agent's mint.
    pub agent: Pubkey,
    pub client: Pubkey,
    /// The index of the client's latest entry; the first entry has index 1.
    pub last_index: u64,
    /// 1 for the agent's first client, 2 for its second…: whoever lists the agent's clients
    /// has all of them when it has the ordinals 1 to `AgentIdentity::client_count`.
    pub ordinal: u64,
    pub bump: u8,
    pub version: u8,
}

impl ClientIndex {
    pub const SPACE: usize = Self::DISCRIMINATOR.len() + Self::INIT_SPACE;

    /// R8: indices are 1-based and never decrease.
    pub fn advance(&mut self) -> Result<()> {
        self.last_index = raised(self.last_index, 1)?;
        Ok(())
    }

    /// `["client", mint, client]`.
    pub fn find(mint: &Pubkey, client: &Pubkey) -> (Pubkey, u8) {
        Pubkey::find_program_address(&[CLIENT, mint.as_ref(), client.as_ref()], &crate::ID)
    }
}
