//! The upgradeable loader's accounts, as `solana-loader-v3-interface` has them.
use super::Account;
use solana_address::Address;
use solana_loader_v3_interface::state::UpgradeableLoaderState;
use solana_sdk_ids::bpf_loader_upgradeable;

/// Deployed code, and who may change it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProgramData<'a> {
    /// When it was last deployed.
    pub slot: u64,
    /// Who may change it; `None`: nobody, for ever.
    pub authority: Option<Address>,
    /// The program, then zeros.
    pub content: &'a [u8],
}

/// Code that waits to be deployed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Buffer<'a> {
    /// Who may write and deploy it.
    pub authority: Option<Address>,
    /// The program, as far as it is written.
    pub content: &'a [u8],
}

impl<'a> ProgramData<'a> {
    /// Reads the account that keeps a program's code; `None` for any other.
    pub fn read(account: &'a Account) -> Option<Self> {
        let UpgradeableLoaderState::ProgramData {
            slot,
            upgrade_authority_address,
        } = state(account)?
        else {
            return None;
        };
        let header = UpgradeableLoaderState::size_of_programdata_metadata();
        Some(Self {
            slot,
            authority: upgrade_authority_address,
            content: account.data.get(header..)?,
        })
    }
}

impl<'a> Buffer<'a> {
    /// Reads a buffer; `None` for any other account.
    pub fn read(account: &'a Account) -> Option<Self> {
        let UpgradeableLoaderState::Buffer { authority_address } = state(account)? else {
            return None;
        };
        let header = UpgradeableLoaderState::size_of_buffer_metadata();
        Some(Self {
            authority: authority_address,
            content: account.data.get(header..)?,
        })
    }
}

/// Returns where a program of the upgradeable loader keeps its code; `None` for any other account.
pub fn program_data_of(program: &Account) -> Option<Address> {
    match state(program)? {
        UpgradeableLoaderState::Program {
            programdata_address,
        } => Some(programdata_address),
        _ => None,
    }
}

fn state(account: &Account) -> Option<UpgradeableLoaderState> {
    let is_the_loaders = account.owner == bpf_loader_upgradeable::ID;
    let state = is_the_loaders.then(|| wincode::deserialize(&account.data));
    state?.ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn account(data: &[&[u8]]) -> Account {
        Account {
            owner: bpf_loader_upgradeable::ID,
            data: data.concat(),
            lamports: 1,
            executable: false,
        }
    }

    /// Agave's layouts: u32 LE 1 to 3; a slot (u64 LE); an optional key, which keeps its room.
    #[test]
    fn each_account_is_read_as_what_it_is() {
        let key = [7; 32];
        let open = account(&[&[1, 0, 0, 0, 1], &key, b"elf"]);
        let closed = account(&[&[1, 0, 0, 0, 0], &[0; 32], b"elf"]);
        for (buffer, authority) in [(&open, Some(key.into())), (&closed, None)] {
            let content = &b"elf"[..];
            let expected = Buffer { authority, content };
            assert_eq!(Buffer::read(buffer), Some(expected));
            assert_eq!(ProgramData::read(buffer), None);
            assert_eq!(program_data_of(buffer), None);
        }
        let slot = 258_u64.to_le_bytes();
        let last = account(&[&[3, 0, 0, 0], &slot, &[0], &[0; 32], b"elf\0"]);
        let expected = ProgramData {
            slot: 258,
            authority: None,
            content: b"elf\0",
        };
        assert_eq!(ProgramData::read(&last), Some(expected));
        let shared = account(&[&[3, 0, 0, 0], &slot, &[1], &key]);
        let read = ProgramData::read(&shared).map(|it| (it.authority, it.content));
        assert_eq!(read, Some((Some(key.into()), &[][..])));
        let program = account(&[&[2, 0, 0, 0], &key]);
        assert_eq!(program_data_of(&program), Some(key.into()));
        assert_eq!(
            (Buffer::read(&program), ProgramData::read(&program)),
            (None, None)
        );
    }

    #[test]
    fn what_is_cut_off_or_not_the_loaders_is_nothing() {
        for data in [
            &[][..],
            &[2, 0, 0],
            &[&[2, 0, 0, 0][..], &[7; 31]].concat(),
            &[&[1, 0, 0, 0][..], &[0; 32]].concat(),
            &[&[3, 0, 0, 0][..], &[0; 40]].concat(),
            &[&[1, 0, 0, 0, 2][..], &[7; 40]].concat(),
            &[4, 0, 0, 0],
        ] {
            let it = account(&[data]);
            assert_eq!((Buffer::read(&it), ProgramData::read(&it)), (None, None));
            assert_eq!(program_data_of(&it), None);
        }
        let program = Account {
            owner: Address::default(),
            ..account(&[&[2, 0, 0, 0], &[7; 32]])
        };
        assert_eq!(program_data_of(&program), None);
    }
}
