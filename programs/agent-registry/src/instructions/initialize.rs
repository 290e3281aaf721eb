use super::*;
use anchor_lang::solana_program::bpf_loader_upgradeable;
use solana_loader_v3_interface::state::UpgradeableLoaderState;

/// Where the upgradeable loader keeps this program's upgrade authority.
pub const PROGRAM_DATA: Pubkey = {
    let (address, _) = anchor_lang::derive_program_address(
        &[&crate::ID_CONST.to_bytes()],
        &bpf_loader_upgradeable::ID.to_bytes(),
    );
    Pubkey::new_from_array(address)
};

#[derive(Accounts)]
pub struct Initialize<'info> {
    /// Becomes the registry's first authority.
    pub upgrade_authority: Signer<'info>,
    /// Pays for the registry.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: created here, at this address
    #[account(mut @ account_mismatch(), address = Registry::ADDRESS @ account_mismatch())]
    pub registry: UncheckedAccount<'info>,
    /// CHECK: read in the handler, to tell a program that is final from a wrong account
    #[account(address = PROGRAM_DATA @ account_mismatch())]
    pub program_data: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
    pub events: EventAccounts<'info>,
}

impl Initialize<'_> {
    pub fn initialize(&self, chain: &str) -> Result<()> {
        // R9
        require!(
            upgrade_authority(&self.program_data)? == Some(self.upgrade_authority.key()),
            NotUpgradeAuthority
        );
        require!(self.registry.owner != &crate::ID, AlreadyInitialized);
        let registry = Registry::initialized(chain, self.upgrade_authority.key())?;
        Derived::known(&Place::Registry, registry.bump).create(
            &self.payer,
            &self.registry,
            &registry,
        )?;
        self.events.emit(&RegistryInitialized {
            authority: registry.authority,
            chain: registry.chain,
            timestamp: Clock::get()?.unix_timestamp,
        })
    }
}

/// Of the program whose `ProgramData` this is; none if it is final.
fn upgrade_authority(program_data: &AccountInfo) -> Result<Option<Pubkey>> {
    if program_data.owner != &bpf_loader_upgradeable::ID {
        return Ok(None);
    }
    let data = program_data.try_borrow_data()?;
    match wincode::deserialize(&data) {
        Ok(UpgradeableLoaderState::ProgramData {
            upgrade_authority_address,
            ..
        }) => Ok(upgrade_authority_address),
        _ => Ok(None),
    }
}
