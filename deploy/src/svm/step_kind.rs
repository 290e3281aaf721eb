//! The steps of a Solana deployment, by id.
use super::{SvmTarget, loader};
use crate::{Action, DeployError, Step};
use solana_address::Address;
use solana_instruction::Instruction;

/// Bytes of the program that one transaction writes: with two signatures' room to spare for the
/// compute budget it stays within 1,232.
pub(super) const CHUNK: usize = 960;

/// Compute units for an instruction that changes the registry account: 7,742 were measured, and full
/// lists take more.
pub(crate) const REGISTRY_CHANGE_UNITS: u32 = 20_000;

const BUFFER: &str = "buffer";
const WRITE: &str = "buffer-write-";
const ROOM: &str = "program-room";
const PROGRAM: &str = "program";
const REGISTRY: &str = "registry";
const AUTHORITY: &str = "upgrade-authority";
const BUFFER_AUTHORITY: &str = "buffer-authority";
const REGISTRY_AUTHORITY: &str = "registry-authority";
const RECLAIM: &str = "reclaim-";

/// What the transaction of a step does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum StepKind {
    /// Closes a buffer of an earlier run, for its lamports.
    Reclaim(Address),
    OpenBuffer,
    /// The `number`th chunk, from 0.
    Write {
        number: usize,
    },
    Extend,
    /// Deploys it, or replaces the program that is there.
    Program {
        upgrades: bool,
    },
    /// Hands the buffer to the upgrade authority, which is not the deployer.
    HandOverBuffer,
    /// Replaces the program by that buffer. The upgrade authority sends it.
    UpgradeByOther,
    Initialize,
    /// Proposes the registry's next authority, which must accept.
    ProposeAuthority,
    HandOver,
}

impl StepKind {
    pub fn id(self) -> String {
        match self {
            Self::Reclaim(buffer) => format!("{RECLAIM}{buffer}"),
            Self::OpenBuffer => BUFFER.to_owned(),
            Self::Write { number } => format!("{WRITE}{:04}", number + 1),
            Self::Extend => ROOM.to_owned(),
            Self::Program { .. } | Self::UpgradeByOther => PROGRAM.to_owned(),
            Self::HandOverBuffer => BUFFER_AUTHORITY.to_owned(),
            Self::Initialize => REGISTRY.to_owned(),
            Self::ProposeAuthority => REGISTRY_AUTHORITY.to_owned(),
            Self::HandOver => AUTHORITY.to_owned(),
        }
    }

    /// # Errors
    /// [`DeployError::RunDiffers`]: a step of another kind of deployment.
    pub fn of(step: &Step) -> Result<Self, DeployError> {
        let unknown = || DeployError::RunDiffers {
            what: "step".to_owned(),
            recorded: step.id.clone(),
            now: "none of that name".to_owned(),
        };
        if let Some(number) = step.id.strip_prefix(WRITE) {
            let number: usize = number.parse().map_err(|_| unknown())?;
            let number = number.checked_sub(1).ok_or_else(unknown)?;
            return Ok(Self::Write { number });
        }
        if let Some(buffer) = step.id.strip_prefix(RECLAIM) {
            return Ok(Self::Reclaim(buffer.parse().map_err(|_| unknown())?));
        }
        match &*step.id {
            BUFFER => Ok(Self::OpenBuffer),
            ROOM => Ok(Self::Extend),
            BUFFER_AUTHORITY => Ok(Self::HandOverBuffer),
            PROGRAM if step.action == Action::OtherSigner => Ok(Self::UpgradeByOther),
            PROGRAM => Ok(Self::Program {
                upgrades: step.action == Action::Change,
            }),
            REGISTRY => Ok(Self::Initialize),
            REGISTRY_AUTHORITY => Ok(Self::ProposeAuthority),
            AUTHORITY => Ok(Self::HandOver),
            _ => Err(unknown()),
        }
    }

    /// Compute units to ask for: what the loader and the system program take is fixed (2,370 and
    /// 150 for an instruction), and the program's own have been measured (docs/COMPUTE-UNITS.md).
    pub const fn units(self) -> u32 {
        match self {
            Self::Write { .. } | Self::Reclaim(_) | Self::HandOverBuffer | Self::HandOver => 3_000,
            Self::OpenBuffer | Self::Extend | Self::Program { .. } | Self::UpgradeByOther => 5_000,
            Self::ProposeAuthority => REGISTRY_CHANGE_UNITS,
            Self::Initialize => 30_000,
        }
    }

    /// Whether the program's own key signs beside the deployer.
    pub const fn needs_program_key(self) -> bool {
        matches!(self, Self::Program { upgrades: false })
    }
}

impl SvmTarget {
    /// What the step's transaction asks for, beside its compute budget.
    pub(super) async fn instructions(
        &self,
        kind: StepKind,
    ) -> Result<Vec<Instruction>, DeployError> {
        let deployer = self.deployer()?;
        let (id, buffer) = (&self.program.id, &self.buffer_address()?);
        let elf = &self.program.elf;
        Ok(match kind {
            StepKind::Reclaim(other) => vec![loader::close(&deployer, &other)],
            StepKind::OpenBuffer => {
                let bytes = loader::buffer_bytes(elf.len());
                let rent = self.missing_rent(buffer, bytes).await?;
                loader::open_buffer(&deployer, &self.program.sha256, bytes, rent)
            }
            StepKind::Write { number } => {
                let (at, chunk) = self.chunk(number);
                vec![loader::write(&deployer, buffer, at, chunk)]
            }
            StepKind::Extend => {
                let missing = self.missing_room().await?.unwrap_or_default();
                vec![loader::extend(&deployer, id, missing)]
            }
            StepKind::Program { upgrades: true } => {
                vec![loader::upgrade(&deployer, id, buffer, &deployer)]
            }
            StepKind::HandOverBuffer => {
                let to = self.successor_or_none();
                vec![loader::hand_over_buffer(&deployer, buffer, &to)]
            }
            StepKind::UpgradeByOther => {
                let authority = self.successor_or_none();
                vec![loader::upgrade(&deployer, id, buffer, &authority)]
            }
            StepKind::Program { upgrades: false } => {
                let rent = self.missing_rent(id, loader::PROGRAM_BYTES).await?;
                loader::deploy(&deployer, id, buffer, elf.len(), rent)
            }
            StepKind::Initialize => {
                let chain = self.chain.to_string();
                vec![self.registry.initialize(deployer, &chain)]
            }
            StepKind::ProposeAuthority => {
                let to = self.choices.registry_authority;
                vec![self.registry.propose_registry_authority(deployer, to)]
            }
            StepKind::HandOver => {
                let to = self.choices.authority.successor();
                vec![match (to, &self.successor) {
                    (Some(to), Some(_)) => loader::hand_over_checked(&deployer, id, &to),
                    (to, _) => loader::hand_over(&deployer, id, to.as_ref()),
                }]
            }
        })
    }

    /// The key that the program is or will be handed to. Only steps of plans that have one ask.
    fn successor_or_none(&self) -> Address {
        self.choices.authority.successor().unwrap_or_default()
    }

    /// Where the chunk begins, and its bytes.
    pub(super) fn chunk(&self, number: usize) -> (usize, &[u8]) {
        let at = number.saturating_mul(CHUNK);
        let rest = self.program.elf.get(at..).unwrap_or_default();
        (at, &rest[..rest.len().min(CHUNK)])
    }

    pub(super) fn chunks(&self) -> usize {
        self.program.elf.len().div_ceil(CHUNK)
    }

    /// Lamports that an account of so many bytes still needs.
    pub(super) async fn missing_rent(
        &self,
        address: &Address,
        bytes: usize,
    ) -> Result<u64, DeployError> {
        let rent = self.cluster.rent(bytes).await?;
        Ok(rent.saturating_sub(self.cluster.balance(address).await?))
    }
}
