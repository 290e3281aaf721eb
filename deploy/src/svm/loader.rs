//! The upgradeable loader: where a deployment keeps its accounts, how large they are, and the loader's instructions.
use alloy::hex;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_loader_v3_interface::{
    get_program_data_address, instruction as loader, state::UpgradeableLoaderState,
};
use solana_sdk_ids::{bpf_loader_upgradeable, system_program};
use solana_system_interface::instruction::{self as system, SystemInstruction};

/// Bytes of a program's account.
pub(super) const PROGRAM_BYTES: usize = UpgradeableLoaderState::size_of_program();
/// The least that a program may be given more room by, since SIMD-0431.
const EXTENSION_MIN: usize = 10_240;

/// Where a deployer's copy of a program is put together: found again from the two alone, so that
/// an interrupted deployment needs no other key. None else can open an account there.
pub(super) fn buffer_address(deployer: &Address, sha256: &[u8; 32]) -> Address {
    let owner = bpf_loader_upgradeable::ID;
    // 32 characters and the loader as owner: neither of its errors is possible
    Address::create_with_seed(deployer, &seed(sha256), &owner).unwrap_or_default()
}

/// The most that a seed can hold of the hash, in hex.
fn seed(sha256: &[u8; 32]) -> String {
    hex::encode(sha256)[..32].to_owned()
}

pub(super) fn program_data_address(program: &Address) -> Address {
    get_program_data_address(program)
}

pub(super) const fn buffer_bytes(elf: usize) -> usize {
    UpgradeableLoaderState::size_of_buffer(elf)
}

pub(super) const fn program_data_bytes(elf: usize) -> usize {
    UpgradeableLoaderState::size_of_programdata(elf)
}

/// By how much a data account with room for `room` bytes must grow to hold `elf`.
pub(super) fn missing_room(room: usize, elf: usize) -> Option<usize> {
    let missing = elf.checked_sub(room).filter(|missing| *missing > 0)?;
    Some(missing.max(EXTENSION_MIN))
}

/// Opens the buffer, which an interrupted run finds again without another secret. Not by `create_account`, which fails
/// if anybody has sent lamports to the address. `rent`: lamports that it needs and does not have, for it may have been sent
/// some before it exists.
pub(super) fn open_buffer(
    deployer: &Address,
    sha256: &[u8; 32],
    bytes: usize,
    rent: u64,
) -> Vec<Instruction> {
    let loader_id = bpf_loader_upgradeable::ID;
    let buffer = buffer_address(deployer, sha256);
    let seed = seed(sha256);
    let space = bytes as u64;
    // The second of the loader's pair; the first would need the buffer's own signature.
    let initialize = loader::create_buffer(deployer, &buffer, deployer, 0, 0);
    let initialize = initialize.unwrap_or_default().pop();
    let mut instructions = paid(deployer, &buffer, rent);
    instructions.push(system::allocate_with_seed(
        &buffer, deployer, &seed, space, &loader_id,
    ));
    instructions.push(system::assign_with_seed(
        &buffer, deployer, &seed, &loader_id,
    ));
    instructions.extend(initialize);
    instructions
}

pub(super) fn write(deployer: &Address, buffer: &Address, at: usize, bytes: &[u8]) -> Instruction {
    loader::write(buffer, deployer, at as u32, bytes.to_vec())
}

/// Makes the program account, which signs, and deploys the buffer's content to it. `rent`: as for
/// [`open_buffer`].
pub(super) fn deploy(
    deployer: &Address,
    program: &Address,
    buffer: &Address,
    elf: usize,
    rent: u64,
) -> Vec<Instruction> {
    let deploy =
        loader::deploy_with_max_program_len(deployer, program, buffer, deployer, 0, elf, true);
    let mut instructions = paid(deployer, program, rent);
    instructions.push(system::allocate(program, PROGRAM_BYTES as u64));
    instructions.push(system::assign(program, &bpf_loader_upgradeable::ID));
    instructions.extend(deploy.unwrap_or_default().pop());
    instructions
}

fn paid(deployer: &Address, account: &Address, lamports: u64) -> Vec<Instruction> {
    match lamports {
        0 => Vec::new(),
        _ => vec![system::transfer(deployer, account, lamports)],
    }
}

/// The lamports that the instructions transfer.
pub(super) fn transferred(instructions: &[Instruction]) -> u128 {
    let to_system = instructions
        .iter()
        .filter(|it| it.program_id == system_program::ID);
    let lamports = to_system.filter_map(|it| match wincode::deserialize(&it.data).ok()? {
        SystemInstruction::Transfer { lamports } => Some(lamports),
        _ => None,
    });
    lamports.map(u128::from).sum()
}

/// Gives the program more room.
pub(super) fn extend(deployer: &Address, program: &Address, bytes: usize) -> Instruction {
    loader::extend_program(program, Some(deployer), bytes as u32)
}

/// Replaces the program by the buffer's content. `authority` signs; the buffer's lamports go to the
/// deployer.
pub(super) fn upgrade(
    deployer: &Address,
    program: &Address,
    buffer: &Address,
    authority: &Address,
) -> Instruction {
    loader::upgrade(program, buffer, authority, deployer, true)
}

/// Hands the buffer to the program's upgrade authority: both must have the same one.
pub(super) fn hand_over_buffer(deployer: &Address, buffer: &Address, to: &Address) -> Instruction {
    loader::set_buffer_authority(buffer, deployer, to)
}

/// Names another upgrade authority, or, for ever, none.
pub(super) fn hand_over(
    deployer: &Address,
    program: &Address,
    to: Option<&Address>,
) -> Instruction {
    loader::set_upgrade_authority(program, deployer, to)
}

/// Names another upgrade authority, which signs too: a mistyped key cannot.
pub(super) fn hand_over_checked(
    deployer: &Address,
    program: &Address,
    to: &Address,
) -> Instruction {
    loader::set_upgrade_authority_checked(program, deployer, to)
}

/// Closes a buffer. Its lamports go to the deployer.
pub(super) fn close(deployer: &Address, buffer: &Address) -> Instruction {
    loader::close(buffer, deployer, deployer, false)
}
