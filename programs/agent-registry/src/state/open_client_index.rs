use super::{VERSION, raised};
use anchor_lang::prelude::*;
use concord_canonical::pda::OPEN_CLIENT;

/// How far one client's open feedback about one agent has counted,
/// `["open_client", mint, client]`. Never closed, so the index never resets (R8).
#[account]
#[derive(InitSpace, Debug)]
pub struct OpenClientIndex {
    /// The agent's mint.
    pub agent: Pubkey,
    pub client: Pubkey,
    /// The index of the client's latest entry; the first entry has index 1.
    pub last_index: u64,
    /// 1 for the agent's first client, 2 for its second…: whoever lists the agent's clients
    /// has all of them when it has the ordinals 1 to `AgentIdentity::open_client_count`.
    pub ordinal: u64,
    pub bump: u8,
    pub version: u8,
}

impl OpenClientIndex {
    pub const SPACE: usize = Self::DISCRIMINATOR.len() + Self::INIT_SPACE;

    /// A client before its first feedback. The caller stores it once an ordinal is given.
    pub fn without_feedback(agent: Pubkey, client: Pubkey, bump: u8) -> Self {
        Self {
            agent,
            client,
            last_index: 0,
            ordinal: 0,
            bump,
            version: VERSION,
        }
    }

    /// R8: indices are 1-based and never decrease.
    pub fn next_index(&self) -> Result<u64> {
        raised(self.last_index, 1)
    }

    /// Counts the entry with index [`Self::next_index`].
    pub fn advance(&mut self) -> Result<()> {
        self.last_index = self.next_index()?;
        Ok(())
    }

    /// `["open_client", mint, client]`.
    pub fn find(mint: &Pubkey, client: &Pubkey) -> (Pubkey, u8) {
        Pubkey::find_program_address(&[OPEN_CLIENT, mint.as_ref(), client.as_ref()], &crate::ID)
    }
}
