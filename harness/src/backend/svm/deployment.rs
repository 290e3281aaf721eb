use super::{
    Keyring, SvmLitesvm,
    in_process::{LAMPORTS, Litesvm},
    ledger::Ledger,
    precompile::LOCALNET,
};
use crate::{
    backend::SetupError,
    model::{Actor, DEPLOYER},
};
use concord_chain::svm::BuiltProgram;
use concord_registry::svm::Program;
use litesvm::LiteSVM;
use solana_address::Address;
use solana_loader_v3_interface::state::UpgradeableLoaderState;
use solana_signer::Signer;
use std::{fs, io, path::Path};

const ELF_MAGIC: &[u8] = b"\x7fELF";

/// A VM with the program loaded and its registry initialized. `replacements` are ELFs that run in
/// place of those that the VM has at these addresses.
pub fn deploy(
    file: &Path,
    replacements: &[(Address, &[u8])],
) -> Result<(Litesvm, Program), SetupError> {
    check_elf(file)?;
    let built = BuiltProgram::read(file).map_err(|fault| unusable(file, fault.to_string()))?;
    let program = Program::new(built.id);
    let mut svm = LiteSVM::new();
    for (address, elf) in replacements {
        svm.add_program(*address, elf)
            .map_err(|fault| failed(format!("{address}: the VM refuses it: {fault:?}")))?;
    }
    svm.add_program(built.id, &built.elf)
        .map_err(|fault| unusable(file, format!("the VM refuses it: {fault:?}")))?;
    let authority = Keyring::Public.actor_key(&Actor::from(DEPLOYER));
    set_upgrade_authority(&mut svm, &program, &authority.pubkey())
        .ok_or_else(|| unusable(file, "the loader keeps no program data".to_owned()))?;
    let mut ledger = Litesvm::new(svm);
    ledger
        .svm
        .airdrop(&authority.pubkey(), LAMPORTS)
        .map_err(|fault| failed(format!("{:?}", fault.err)))?;
    let initialize = program.initialize(authority.pubkey(), LOCALNET); // R9
    let sent = ledger
        .send(&[&authority], &[initialize])
        .map_err(|fault| failed(fault.to_string()))?;
    match sent.ran {
        Ok(_) => Ok((ledger, program)),
        Err(failure) => Err(failed(format!("initialize: {:?}", failure.fault))),
    }
}

fn check_elf(file: &Path) -> Result<(), SetupError> {
    let bytes = fs::read(file).map_err(|fault| match fault.kind() {
        io::ErrorKind::NotFound => SetupError::Program(file.to_owned()),
        _ => unusable(file, fault.to_string()),
    })?;
    if bytes.starts_with(ELF_MAGIC) {
        Ok(())
    } else {
        Err(unusable(file, "it is not an ELF file".to_owned()))
    }
}

fn unusable(path: &Path, reason: String) -> SetupError {
    SetupError::ProgramUnusable {
        path: path.to_owned(),
        reason,
    }
}

fn failed(reason: String) -> SetupError {
    SetupError::Deployment {
        participant: SvmLitesvm::NAME,
        reason,
    }
}

/// litesvm deploys without an authority; this writes one.
fn set_upgrade_authority(svm: &mut LiteSVM, program: &Program, authority: &Address) -> Option<()> {
    let address = program.program_data();
    let mut account = svm.get_account(&address)?;
    let UpgradeableLoaderState::ProgramData { slot, .. } =
        wincode::deserialize(&account.data).ok()?
    else {
        return None;
    };
    let state = UpgradeableLoaderState::ProgramData {
        slot,
        upgrade_authority_address: Some(*authority),
    };
    let header = UpgradeableLoaderState::size_of_programdata_metadata();
    let written = wincode::serialize(&state).ok()?;
    account.data.get_mut(..header)?.copy_from_slice(&written);
    svm.set_account(address, account).ok()
}
