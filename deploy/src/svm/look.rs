//! What stands on the cluster, at one moment.
use super::{
    SvmTarget, UpgradeAuthority,
    cluster::Account,
    loader::{self, Buffer, ProgramData},
    program::{Program, code_hash},
    work::Work,
};
use crate::Fault;
use concord_registry::svm::{self, accounts::Registry};
use solana_address::Address;

/// The accounts of a deployment, read together.
pub(super) struct Look {
    of: svm::Program,
    program_id: Address,
    data_address: Address,
    buffer_address: Address,
    program: Option<Account>,
    data: Option<Account>,
    buffer: Option<Account>,
    registry: Option<Account>,
}

/// What stands at the program's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Nothing,
    /// The local build.
    Built,
    /// Another program, with this hash.
    Other(String),
}

impl SvmTarget {
    pub(super) fn look(&self) -> Result<Look, Fault> {
        let program_id = self.program.id;
        let data_address = loader::program_data_address(&program_id);
        // Nobody's buffer is looked for where nobody deploys: the system program's is none.
        let buffer_address = self.buffer_address().unwrap_or_default();
        let registry = self.registry.registry();
        let accounts = [program_id, data_address, buffer_address, registry];
        let found = self.cluster.accounts(&accounts)?;
        let [program, data, buffer, registry] = found.try_into().unwrap_or([const { None }; 4]); // as many as were asked for
        Ok(Look {
            of: self.registry,
            program_id,
            data_address,
            buffer_address,
            program,
            data,
            buffer,
            registry,
        })
    }
}

impl Look {
    /// # Errors
    /// [`Fault::ForeignCode`] where the address has been taken for something else.
    pub fn code(&self, built: &Program) -> Result<Code, Fault> {
        let Some(program) = &self.program else {
            return Ok(Code::Nothing);
        };
        let is_empty = program.data.is_empty() && program.owner == Address::default();
        if is_empty {
            return Ok(Code::Nothing); // lamports that somebody sent
        }
        match self.program_data() {
            Some(data) if loader::is_program(program) => Ok(match built.is_in(data.content) {
                true => Code::Built,
                false => Code::Other(code_hash(data.content)),
            }),
            _ => Err(Fault::ForeignCode {
                title: "program".to_owned(),
                address: self.program_id.to_string(),
                found: code_hash(&program.data),
                difference: format!(
                    "an account of {} with {} bytes, no program with its bytes at {}",
                    program.owner,
                    program.data.len(),
                    self.data_address,
                ),
            }),
        }
    }

    pub fn program_data(&self) -> Option<ProgramData<'_>> {
        self.data.as_ref().and_then(ProgramData::of)
    }

    /// The deployer's buffer for this build, opened by `deployer`.
    ///
    /// # Errors
    /// [`Fault::BufferElsewhere`]: he has handed it to another key.
    pub fn buffer(&self, deployer: &Address, elf: usize) -> Result<Option<&[u8]>, Fault> {
        let Some(buffer) = self.buffer.as_ref().and_then(Buffer::of) else {
            return Ok(None);
        };
        match buffer.authority == Some(*deployer) && buffer.content.len() == elf {
            true => Ok(Some(buffer.content)),
            false => Err(Fault::BufferElsewhere {
                buffer: self.buffer_address.to_string(),
                authority: or_nobody(buffer.authority),
            }),
        }
    }

    /// # Errors
    /// [`Fault::ForeignCode`] where the registry does not decode.
    pub fn registry(&self) -> Result<Option<Registry>, Fault> {
        let Some(account) = &self.registry else {
            return Ok(None);
        };
        if account.owner != self.program_id {
            return Ok(None); // lamports that somebody sent
        }
        let registry = self.of.decode(&account.owner, &account.data);
        registry.map(Some).map_err(|fault| Fault::ForeignCode {
            title: "registry".to_owned(),
            address: self.of.registry().to_string(),
            found: code_hash(&account.data),
            difference: fault.to_string(),
        })
    }
}

pub(super) fn or_nobody(key: Option<Address>) -> String {
    key.map_or_else(|| "nobody".to_owned(), |key| key.to_string())
}

impl SvmTarget {
    /// Whether what each of these makes stands.
    pub(super) fn standing_of(&self, works: &[Work]) -> Result<Vec<bool>, Fault> {
        let look = self.look()?;
        let code = look.code(&self.program)?;
        works
            .iter()
            .map(|work| self.stands_in(&look, &code, *work))
            .collect()
    }

    fn stands_in(&self, look: &Look, code: &Code, work: Work) -> Result<bool, Fault> {
        let elf = &self.program.elf;
        let is_built = *code == Code::Built;
        Ok(match work {
            Work::Reclaim(buffer) => self.cluster.account(&buffer)?.is_none(),
            Work::OpenBuffer | Work::Write { .. } if is_built => true,
            Work::OpenBuffer => look.buffer(&self.deployer()?, elf.len())?.is_some(),
            Work::Write { number } => {
                let buffer = look.buffer(&self.deployer()?, elf.len())?;
                let (at, chunk) = self.chunk(number);
                buffer.is_some_and(|content| content[at..].starts_with(chunk))
            }
            Work::Extend => missing_room(look, elf.len()).is_none(),
            Work::Program { .. } => is_built,
            Work::Initialize => self.registry_stands(look)?,
            Work::HandOver => {
                let authority = look.program_data().map(|data| data.authority);
                authority == Some(self.wanted_authority()?)
            }
        })
    }

    /// # Errors
    /// [`Fault::RegistryElsewhere`]: initialized for another cluster, for ever (R9).
    pub(super) fn registry_stands(&self, look: &Look) -> Result<bool, Fault> {
        match look.registry()? {
            None => Ok(false),
            Some(registry) if registry.chain == self.chain.to_string() => Ok(true),
            Some(registry) => Err(Fault::RegistryElsewhere {
                registry: self.registry.registry().to_string(),
                found: registry.chain,
                expected: self.chain.to_string(),
            }),
        }
    }

    /// Who is to be able to replace the program in the end.
    pub(super) fn wanted_authority(&self) -> Result<Option<Address>, Fault> {
        Ok(match self.choices.authority {
            UpgradeAuthority::Keep => Some(self.deployer()?),
            UpgradeAuthority::Key(key) => Some(key),
            UpgradeAuthority::None => None,
        })
    }

    pub(super) fn missing_room(&self) -> Result<Option<usize>, Fault> {
        Ok(missing_room(&self.look()?, self.program.elf.len()))
    }
}

pub(super) fn missing_room(look: &Look, elf: usize) -> Option<usize> {
    loader::missing_room(look.program_data()?.content.len(), elf)
}
