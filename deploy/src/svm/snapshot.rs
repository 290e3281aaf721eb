//! The accounts of a deployment, read together.
use super::{SvmTarget, UpgradeAuthority, loader, step_kind::StepKind};
use crate::DeployError;
use concord_chain::svm::{Account, Buffer, BuiltProgram, ProgramData, code_hash, program_data_of};
use concord_registry::svm::{self, accounts::Registry};
use solana_address::Address;

/// The accounts of a deployment, read together.
pub(super) struct Snapshot {
    registry_program: svm::Program,
    program_id: Address,
    data_address: Address,
    buffer_address: Address,
    program: Option<Account>,
    data: Option<Account>,
    buffer: Option<Account>,
    registry: Option<Account>,
}

/// What is at the program's address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Code {
    Nothing,
    /// The local build.
    Built,
    /// Another program, with this hash.
    Other(String),
    /// No program, and not nothing either: a program that was closed, or an account of something else.
    Foreign {
        /// The hash of its bytes.
        found: String,
        difference: String,
    },
}

impl SvmTarget {
    pub(super) async fn snapshot(&self) -> Result<Snapshot, DeployError> {
        let program_id = self.program.id;
        let data_address = loader::program_data_address(&program_id);
        // Without a deployer there is no buffer: the system program's account is none.
        let buffer_address = self.buffer_address().unwrap_or_default();
        let registry = self.registry.registry();
        let accounts = [program_id, data_address, buffer_address, registry];
        let found = self.cluster.accounts(&accounts).await?;
        let [program, data, buffer, registry] = found.try_into().unwrap_or([const { None }; 4]); // as many as were asked for
        Ok(Snapshot {
            registry_program: self.registry,
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

impl Snapshot {
    /// What is at the program's address.
    pub fn code(&self, built: &BuiltProgram) -> Code {
        let Some(program) = &self.program else {
            return Code::Nothing;
        };
        let is_empty = program.data.is_empty() && program.owner == Address::default();
        if is_empty {
            return Code::Nothing; // lamports that somebody sent
        }
        match self.program_data() {
            Some(data) if program_data_of(program) == Some(self.data_address) => {
                if built.is_in(data.content) {
                    Code::Built
                } else {
                    Code::Other(code_hash(data.content))
                }
            }
            _ => Code::Foreign {
                found: code_hash(&program.data),
                difference: format!(
                    "an account of {} with {} bytes, no program with its bytes at {}",
                    program.owner,
                    program.data.len(),
                    self.data_address,
                ),
            },
        }
    }

    /// As [`Self::code`], for one who is to deploy there.
    ///
    /// # Errors
    /// [`DeployError::ForeignCode`] if the address is taken by something else.
    pub fn usable_code(&self, built: &BuiltProgram) -> Result<Code, DeployError> {
        match self.code(built) {
            Code::Foreign { found, difference } => Err(DeployError::ForeignCode {
                title: "program".to_owned(),
                address: self.program_id.to_string(),
                found,
                difference,
            }),
            usable => Ok(usable),
        }
    }

    pub fn program_data(&self) -> Option<ProgramData<'_>> {
        self.data.as_ref().and_then(ProgramData::read)
    }

    /// The buffer for this build, opened by the deployer. Its authority is one of `owners`.
    ///
    /// # Errors
    /// [`DeployError::BufferElsewhere`]: it was handed to another key.
    pub fn buffer(&self, owners: &[Address], elf: usize) -> Result<Option<&[u8]>, DeployError> {
        let Some(buffer) = self.buffer.as_ref().and_then(Buffer::read) else {
            return Ok(None);
        };
        let is_ours = buffer.authority.is_some_and(|it| owners.contains(&it));
        if is_ours && buffer.content.len() == elf {
            Ok(Some(buffer.content))
        } else {
            Err(DeployError::BufferElsewhere {
                buffer: self.buffer_address.to_string(),
                authority: key_or_none(buffer.authority),
            })
        }
    }

    pub fn buffer_authority(&self) -> Option<Address> {
        self.buffer.as_ref().and_then(Buffer::read)?.authority
    }

    /// The registry account; in words, why it does not decode.
    pub fn found_registry(&self) -> Result<Option<Registry>, String> {
        let Some(account) = &self.registry else {
            return Ok(None);
        };
        if account.owner != self.program_id {
            return Ok(None); // lamports that somebody sent
        }
        let registry = self.registry_program.decode(&account.owner, &account.data);
        registry.map(Some).map_err(|error| error.to_string())
    }

    /// As [`Self::found_registry`], for one who is to deploy there.
    ///
    /// # Errors
    /// [`DeployError::ForeignCode`] if the registry does not decode.
    pub fn registry(&self) -> Result<Option<Registry>, DeployError> {
        self.found_registry().map_err(|difference| {
            let data = self.registry.as_ref().map(|it| &it.data[..]);
            DeployError::ForeignCode {
                title: "registry".to_owned(),
                address: self.registry_program.registry().to_string(),
                found: code_hash(data.unwrap_or_default()),
                difference,
            }
        })
    }
}

pub(super) fn key_or_none(key: Option<Address>) -> String {
    key.map_or_else(|| "none".to_owned(), |key| key.to_string())
}

impl SvmTarget {
    /// Returns whether the effect of each is on the chain.
    pub(super) async fn are_done(&self, kinds: &[StepKind]) -> Result<Vec<bool>, DeployError> {
        let snapshot = self.snapshot().await?;
        let code = snapshot.usable_code(&self.program)?;
        let mut done = Vec::with_capacity(kinds.len());
        for kind in kinds {
            done.push(self.is_done(&snapshot, &code, *kind).await?);
        }
        Ok(done)
    }

    async fn is_done(
        &self,
        snapshot: &Snapshot,
        code: &Code,
        kind: StepKind,
    ) -> Result<bool, DeployError> {
        let elf = &self.program.elf;
        let is_built = *code == Code::Built;
        Ok(match kind {
            StepKind::Reclaim(buffer) => self.cluster.account(&buffer).await?.is_none(),
            StepKind::OpenBuffer | StepKind::Write { .. } | StepKind::HandOverBuffer
                if is_built =>
            {
                true
            }
            StepKind::OpenBuffer => {
                let owners = self.buffer_owners()?;
                snapshot.buffer(&owners, elf.len())?.is_some()
            }
            StepKind::HandOverBuffer => {
                snapshot.buffer_authority() == self.choices.authority.successor()
            }
            StepKind::Write { number } => {
                let buffer = snapshot.buffer(&self.buffer_owners()?, elf.len())?;
                let (at, chunk) = self.chunk(number);
                buffer.is_some_and(|content| content[at..].starts_with(chunk))
            }
            StepKind::Extend => missing_room(snapshot, elf.len()).is_none(),
            StepKind::Program { .. } | StepKind::UpgradeByOther => is_built,
            StepKind::Initialize => self.registry_exists(snapshot)?,
            StepKind::ProposeAuthority => self.is_proposed(snapshot)?,
            StepKind::HandOver => {
                let authority = snapshot.program_data().map(|data| data.authority);
                authority == Some(self.wanted_authority()?)
            }
        })
    }

    /// # Errors
    /// [`DeployError::RegistryElsewhere`]: initialized for another cluster, for ever (R9).
    pub(super) fn registry_exists(&self, snapshot: &Snapshot) -> Result<bool, DeployError> {
        match snapshot.registry()? {
            None => Ok(false),
            Some(registry) if registry.chain == self.chain.to_string() => Ok(true),
            Some(registry) => Err(DeployError::RegistryElsewhere {
                registry: self.registry.registry().to_string(),
                found: registry.chain,
                expected: self.chain.to_string(),
            }),
        }
    }

    /// Returns whether the chosen key is the registry's authority, or may become it by accepting.
    pub(super) fn is_proposed(&self, snapshot: &Snapshot) -> Result<bool, DeployError> {
        let registry = snapshot.registry()?;
        let (Some(registry), Some(chosen)) = (registry, self.choices.registry_authority) else {
            return Ok(false);
        };
        Ok(chosen == registry.authority || chosen == registry.proposed_authority)
    }

    /// Who the buffer may belong to: the deployer, and whoever it is handed to.
    pub(super) fn buffer_owners(&self) -> Result<Vec<Address>, DeployError> {
        let successor = self.choices.authority.successor();
        Ok([self.deployer()?].into_iter().chain(successor).collect())
    }

    /// Who will be able to replace the program in the end.
    pub(super) fn wanted_authority(&self) -> Result<Option<Address>, DeployError> {
        Ok(match self.choices.authority {
            UpgradeAuthority::Keep => Some(self.deployer()?),
            UpgradeAuthority::Key(key) => Some(key),
            UpgradeAuthority::None => None,
        })
    }

    pub(super) async fn missing_room(&self) -> Result<Option<usize>, DeployError> {
        Ok(missing_room(
            &self.snapshot().await?,
            self.program.elf.len(),
        ))
    }
}

pub(super) fn missing_room(snapshot: &Snapshot, elf: usize) -> Option<usize> {
    loader::missing_room(snapshot.program_data()?.content.len(), elf)
}
