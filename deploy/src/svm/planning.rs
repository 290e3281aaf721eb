use super::{
    SvmTarget, loader, runtime_version,
    snapshot::{self, Code, Snapshot},
    step_kind::StepKind,
    unused_buffers::UnusedBuffers,
};
use crate::{Action, DeployError, Needs, Plan, RawAccount, RawInstruction, Step, UnsignedTx};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_chain::{
    Amount, ChainError, Coin,
    svm::{compute_budget, fee, unsigned},
};
use concord_registry::svm::accounts::{AccountType, Registry};
use solana_address::Address;
use solana_instruction::Instruction;

/// The name of each account in a plan.
pub(crate) const PROGRAM_TITLE: &str = "AgentRegistry";
pub(super) const BUFFER_TITLE: &str = "buffer";
pub(crate) const REGISTRY_TITLE: &str = "registry account";

impl SvmTarget {
    pub(super) async fn make_plan(&self) -> Result<(Plan, Code), DeployError> {
        let deployer = self.deployer()?;
        self.require_chain().await?;
        self.require_own_id()?;
        self.require_usable_authorities().await?;
        runtime_version::require(&self.cluster, self.program.sbpf).await?;
        let snapshot = self.snapshot().await?;
        let code = snapshot.usable_code(&self.program)?;
        self.require_authority(&snapshot, &code, deployer)?;
        self.require_registry_authority(&snapshot, deployer)?;

        let unused_buffers =
            UnusedBuffers::of(&self.cluster, &deployer, &self.buffer_in_use(&code)?).await?;
        let mut steps = Vec::new();
        if self.choices.reclaim {
            for (buffer, _) in unused_buffers.require_listed()? {
                steps.push(self.reclaim_step(*buffer).await?);
            }
        }
        steps.extend(self.program_steps(&snapshot, &code).await?);
        steps.push(self.registry_step(&snapshot).await?);
        steps.extend(self.proposal_step(&snapshot).await?);
        steps.extend(self.authority_step(&snapshot).await?);
        steps.extend(self.upgrade_by_other(&snapshot, &code).await?);

        let balance = Amount(self.cluster.balance(&deployer).await?.into());
        let mut plan = Plan::new(
            self.chain.clone(),
            deployer.to_string(),
            Coin::SOL,
            balance,
            steps,
        );
        plan.notes = self.notes(&snapshot, &unused_buffers)?;
        self.simulate_next(&plan).await?;
        Ok((plan, code))
    }

    /// # Errors
    /// [`DeployError::UpgradeNotAsked`], [`DeployError::NotUpgradeAuthority`]: what is left to do could not
    /// be done by the deployer.
    fn require_authority(
        &self,
        snapshot: &Snapshot,
        code: &Code,
        deployer: Address,
    ) -> Result<(), DeployError> {
        if let (Code::Other(found), false) = (code, self.choices.upgrade) {
            return Err(DeployError::UpgradeNotAsked {
                program: self.program.id.to_string(),
                found: found.clone(),
                built: self.program.code_hash(),
            });
        }
        let Some(data) = snapshot.program_data().filter(|_| *code != Code::Nothing) else {
            return Ok(());
        };
        let is_done = *code == Code::Built
            && data.authority == self.wanted_authority()?
            && self.registry_exists(snapshot)?;
        let is_by_other =
            self.upgrades_by_other(snapshot, code)? && self.registry_exists(snapshot)?;
        if is_done || is_by_other || data.authority == Some(deployer) {
            Ok(())
        } else {
            Err(DeployError::NotUpgradeAuthority {
                program: self.program.id.to_string(),
                found: snapshot::key_or_none(data.authority),
                deployer: deployer.to_string(),
            })
        }
    }

    /// The buffer that this deployment writes to; none if the program is deployed.
    fn buffer_in_use(&self, code: &Code) -> Result<Option<Address>, DeployError> {
        match code {
            Code::Built => Ok(None),
            _ => self.buffer_address().map(Some),
        }
    }

    pub(super) fn existing(&self, kind: StepKind, title: &str, address: &Address) -> Step {
        Step::existing(&kind.id(), &self.chain, title, address.to_string())
    }

    /// The step's cost is its fee, and `rent` beside it.
    pub(super) async fn sending(
        &self,
        step: Step,
        kind: StepKind,
        action: Action,
        rent: u64,
    ) -> Result<Step, DeployError> {
        let signatures = self.signatures(kind);
        let fee = fee(signatures, kind.units(), self.priority_fee.most);
        let needs = Needs::Compute {
            units: kind.units().into(),
            rent: Amount(rent.into()),
        };
        let cost = Amount(u128::from(fee) + u128::from(rent));
        let instructions = self.instructions(kind).await?;
        let unsigned = UnsignedTx::Instructions {
            instructions: instructions.iter().map(raw).collect(),
        };
        Ok(step.sending(action, needs, cost, unsigned))
    }

    async fn reclaim_step(&self, buffer: Address) -> Result<Step, DeployError> {
        let kind = StepKind::Reclaim(buffer);
        let step = self.existing(kind, BUFFER_TITLE, &buffer);
        self.sending(step, kind, Action::Change, 0).await
    }

    /// Buffer, writes, and the program itself; the program alone if it is deployed.
    async fn program_steps(
        &self,
        snapshot: &Snapshot,
        code: &Code,
    ) -> Result<Vec<Step>, DeployError> {
        let id = self.program.id;
        if *code == Code::Built {
            let kind = StepKind::Program { upgrades: false };
            return Ok(vec![self.existing(kind, PROGRAM_TITLE, &id)]);
        }
        let mut steps = self.buffer_steps(snapshot).await?;
        let elf = self.program.elf.len();
        let data_rent = self.cluster.rent(loader::program_data_bytes(elf)).await?;
        if let Some(missing) = snapshot::missing_room(snapshot, elf) {
            let room = snapshot.program_data().map_or(0, |data| data.content.len());
            let bytes = loader::program_data_bytes(room + missing);
            let rent = self
                .missing_rent(&loader::program_data_address(&id), bytes)
                .await?;
            let step = self.existing(StepKind::Extend, PROGRAM_TITLE, &id);
            let step = self.sending(step, StepKind::Extend, Action::Change, rent);
            steps.push(step.await?);
        }
        if self.upgrades_by_other(snapshot, code)? {
            steps.push(self.buffer_authority_step(snapshot).await?);
            return Ok(steps);
        }
        let upgrades = *code != Code::Nothing;
        let kind = StepKind::Program { upgrades };
        let step = self.existing(kind, PROGRAM_TITLE, &id);
        steps.push(if upgrades {
            self.sending(step, kind, Action::Change, 0).await?
        } else {
            // The loader empties the buffer first, and pays the data account out of it.
            let buffer_rent = self.cluster.rent(loader::buffer_bytes(elf)).await?;
            let rent = self.missing_rent(&id, loader::PROGRAM_BYTES).await?
                + data_rent.saturating_sub(buffer_rent);
            self.sending(step, kind, Action::Create, rent).await?
        });
        Ok(steps)
    }

    async fn buffer_steps(&self, snapshot: &Snapshot) -> Result<Vec<Step>, DeployError> {
        let address = self.buffer_address()?;
        let elf = self.program.elf.len();
        let content = snapshot.buffer(&self.buffer_owners()?, elf)?;
        let open = self.existing(StepKind::OpenBuffer, BUFFER_TITLE, &address);
        let mut steps = vec![match content {
            Some(_) => open,
            None => {
                let rent = self
                    .missing_rent(&address, loader::buffer_bytes(elf))
                    .await?;
                self.sending(open, StepKind::OpenBuffer, Action::Create, rent)
                    .await?
            }
        }];
        for number in 0..self.chunks() {
            let kind = StepKind::Write { number };
            let (at, chunk) = self.chunk(number);
            let step = self.existing(kind, BUFFER_TITLE, &address).parallel();
            let is_written = content.is_some_and(|content| content[at..].starts_with(chunk));
            steps.push(if is_written {
                step
            } else {
                self.sending(step, kind, Action::Change, 0).await?
            });
        }
        Ok(steps)
    }

    async fn registry_step(&self, snapshot: &Snapshot) -> Result<Step, DeployError> {
        let registry = self.registry.registry();
        let step = self.existing(StepKind::Initialize, REGISTRY_TITLE, &registry);
        if self.registry_exists(snapshot)? {
            return Ok(step);
        }
        let rent = self.missing_rent(&registry, Registry::SPACE).await?;
        self.sending(step, StepKind::Initialize, Action::Create, rent)
            .await
    }

    /// Lets the cluster simulate the first step, if it can be paid for.
    async fn simulate_next(&self, plan: &Plan) -> Result<(), DeployError> {
        let Some(step) = plan
            .sending()
            .next()
            .filter(|_| plan.require_funds().is_ok())
        else {
            return Ok(());
        };
        let kind = StepKind::of(step)?;
        let mut instructions = compute_budget(kind.units(), self.priority_fee.after(0));
        instructions.extend(self.instructions(kind).await?);
        let raw = unsigned(&instructions, &self.deployer()?);
        let simulation = self.cluster.simulate(&raw).await?;
        if simulation.err.is_null() {
            return Ok(());
        }
        let logs = simulation.logs.unwrap_or_default();
        let last = logs
            .last()
            .map(|log| format!(" ({log})"))
            .unwrap_or_default();
        Err(ChainError::SimulationFailed {
            title: step.id.clone(),
            reason: format!("{}{last}", simulation.err),
        }
        .into())
    }
}

pub(crate) fn raw(instruction: &Instruction) -> RawInstruction {
    let accounts = instruction.accounts.iter().map(|account| RawAccount {
        address: account.pubkey.to_string(),
        signer: account.is_signer,
        writable: account.is_writable,
    });
    RawInstruction {
        program: instruction.program_id.to_string(),
        accounts: accounts.collect(),
        data: BASE64.encode(&instruction.data),
    }
}
