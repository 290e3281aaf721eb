use super::*;

/// The accounts of an owner's instruction that writes the agent's record alone. Shared, because
/// Anchor generates some 10 KB for each such struct.
#[derive(Accounts)]
pub struct OwnerSetting<'info> {
    pub owner: Signer<'info>,
    pub agent: AgentAccounts<'info>,
    pub events: EventAccounts<'info>,
}
