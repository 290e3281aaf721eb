use super::*;

/// The accounts of an instruction that writes the registry's account. Shared, because Anchor
/// generates some 10 KB for each such struct.
#[derive(Accounts)]
pub struct RegistryChange<'info> {
    /// The registry's authority; of an acceptance, its successor.
    pub authority: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch(), address = Registry::ADDRESS @ account_mismatch())]
    pub registry: UncheckedAccount<'info>,
    pub events: EventAccounts<'info>,
}
