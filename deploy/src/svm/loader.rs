//! The upgradeable loader: its accounts, as bytes, and its instructions.
use alloy::hex;
use concord_chain::svm::{Account, PROGRAM_DATA_HEADER};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_loader_v3_interface::{get_program_data_address, instruction as loader};
use solana_sdk_ids::{bpf_loader_upgradeable, system_program};
use solana_system_interface::instruction as system;

/// The bytes before the program in a buffer: u32 LE 1, then an optional key.
pub(super) const BUFFER_HEADER: usize = 37;
const SLOT: std::ops::Range<usize> = 4..12;
/// The program account: u32 LE 2, then its data account's key.
pub(super) const PROGRAM_BYTES: usize = 36;
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

/// A buffer's authority and content.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Buffer<'a> {
    pub authority: Option<Address>,
    pub content: &'a [u8],
}

impl<'a> Buffer<'a> {
    pub fn of(account: &'a Account) -> Option<Self> {
        let is_buffer = account.owner == bpf_loader_upgradeable::ID && tag(account) == Some(1);
        let (header, content) = account.data.split_at_checked(BUFFER_HEADER)?;
        is_buffer.then(|| Self {
            authority: optional_key(&header[4..]),
            content,
        })
    }
}

/// A deployed program's bytes, and who may change them.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct ProgramData<'a> {
    /// When it was last deployed.
    pub slot: u64,
    pub authority: Option<Address>,
    /// The program, then zeros.
    pub content: &'a [u8],
}

impl<'a> ProgramData<'a> {
    pub fn of(account: &'a Account) -> Option<Self> {
        let is_data = account.owner == bpf_loader_upgradeable::ID && tag(account) == Some(3);
        let (header, content) = account.data.split_at_checked(PROGRAM_DATA_HEADER)?;
        Some(Self {
            slot: u64::from_le_bytes(header[SLOT].try_into().ok()?),
            authority: optional_key(&header[SLOT.end..]),
            content,
        })
        .filter(|_| is_data)
    }
}

/// Whether the account is a program whose bytes are in its data account.
pub(super) fn is_program(account: &Account) -> bool {
    account.owner == bpf_loader_upgradeable::ID && tag(account) == Some(2)
}

fn tag(account: &Account) -> Option<u32> {
    let bytes = account.data.first_chunk()?;
    Some(u32::from_le_bytes(*bytes))
}

fn optional_key(bytes: &[u8]) -> Option<Address> {
    match bytes {
        [1, key @ ..] => Some(Address::from(*key.first_chunk::<32>()?)),
        _ => None,
    }
}

pub(super) const fn buffer_bytes(elf: usize) -> usize {
    BUFFER_HEADER + elf
}

pub(super) const fn program_data_bytes(elf: usize) -> usize {
    PROGRAM_DATA_HEADER + elf
}

/// By how much a data account with room for `room` bytes must grow to hold `elf`.
pub(super) fn missing_room(room: usize, elf: usize) -> Option<usize> {
    let missing = elf.checked_sub(room).filter(|missing| *missing > 0)?;
    Some(missing.max(EXTENSION_MIN))
}

/// Opens the buffer. `rent`: lamports that it needs and does not have, for it may have been sent
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

/// The lamports that the instructions transfer: u32 LE 2, u64 LE lamports, to the system program.
pub(super) fn transferred(instructions: &[Instruction]) -> u128 {
    let to_system = instructions
        .iter()
        .filter(|it| it.program_id == system_program::ID);
    let lamports = to_system.filter_map(|it| match &it.data[..] {
        [2, 0, 0, 0, lamports @ ..] => Some(u64::from_le_bytes(*lamports.first_chunk()?)),
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
