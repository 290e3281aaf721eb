use super::{
    SvmTarget, UpgradeAuthority,
    choices::fee,
    left_over::LeftOver,
    loader,
    look::{self, Code, Look},
    runtime_version,
    transactions::{budget, unsigned},
    work::Work,
};
use crate::{Action, Amount, Coin, Fault, Needs, Plan, Step};
use concord_registry::svm::accounts::{AccountType, Registry};
use solana_address::Address;

/// How each account is called in a plan.
pub(super) const PROGRAM_TITLE: &str = "AgentRegistry";
const BUFFER_TITLE: &str = "buffer";
pub(super) const REGISTRY_TITLE: &str = "registry account";

impl SvmTarget {
    pub(super) fn make_plan(&self) -> Result<Plan, Fault> {
        let deployer = self.deployer()?;
        self.require_chain()?;
        self.require_own_id()?;
        runtime_version::require(&self.cluster, self.program.sbpf)?;
        let look = self.look()?;
        let code = look.code(&self.program)?;
        self.require_authority(&look, &code, deployer)?;

        let left_over = LeftOver::of(&self.cluster, &deployer, &self.buffer_in_use(&code)?)?;
        let mut steps = Vec::new();
        if self.choices.reclaim {
            let buffers = left_over.require_listed()?.iter();
            steps.extend(buffers.map(|(buffer, _)| self.reclaim_step(*buffer)));
        }
        steps.extend(self.program_steps(&look, &code)?);
        steps.push(self.registry_step(&look)?);
        steps.extend(self.authority_step(&look)?);

        let balance = Amount(self.cluster.balance(&deployer)?.into());
        let mut plan = Plan::new(
            self.chain.clone(),
            deployer.to_string(),
            Coin::SOL,
            balance,
            steps,
        );
        plan.notes = self.notes(&left_over);
        self.simulate_next(&plan)?;
        Ok(plan)
    }

    /// # Errors
    /// [`Fault::UpgradeNotAsked`], [`Fault::NotUpgradeAuthority`]: what is left to do could not
    /// be done by the deployer.
    fn require_authority(&self, look: &Look, code: &Code, deployer: Address) -> Result<(), Fault> {
        if let (Code::Other(found), false) = (code, self.choices.upgrade) {
            return Err(Fault::UpgradeNotAsked {
                program: self.program.id.to_string(),
                found: found.clone(),
                built: self.program.code_hash(),
            });
        }
        let Some(data) = look.program_data().filter(|_| *code != Code::Nothing) else {
            return Ok(());
        };
        let is_done = *code == Code::Built
            && data.authority == self.wanted_authority()?
            && self.registry_stands(look)?;
        match is_done || data.authority == Some(deployer) {
            true => Ok(()),
            false => Err(Fault::NotUpgradeAuthority {
                program: self.program.id.to_string(),
                found: look::or_nobody(data.authority),
                deployer: deployer.to_string(),
            }),
        }
    }

    /// The buffer that this deployment writes to; none where the program stands.
    fn buffer_in_use(&self, code: &Code) -> Result<Option<Address>, Fault> {
        match code {
            Code::Built => Ok(None),
            _ => self.buffer_address().map(Some),
        }
    }

    fn existing(&self, work: Work, title: &str, address: &Address) -> Step {
        Step::existing(&work.id(), &self.chain, title, address.to_string())
    }

    /// What the step costs: its fee, and `rent` beside it.
    fn sending(&self, step: Step, work: Work, action: Action, rent: u64) -> Step {
        let signatures = if work.needs_program_key() { 2 } else { 1 };
        let fee = fee(signatures, work.units(), self.priority_fee.most);
        let needs = Needs::Compute {
            units: work.units().into(),
            rent: Amount(rent.into()),
        };
        let cost = Amount(u128::from(fee) + u128::from(rent));
        step.sending(action, needs, cost)
    }

    fn reclaim_step(&self, buffer: Address) -> Step {
        let work = Work::Reclaim(buffer);
        let step = self.existing(work, BUFFER_TITLE, &buffer);
        self.sending(step, work, Action::Change, 0)
    }

    /// Buffer, writes, and the program itself; the program alone where it stands.
    fn program_steps(&self, look: &Look, code: &Code) -> Result<Vec<Step>, Fault> {
        let id = self.program.id;
        if *code == Code::Built {
            let work = Work::Program { upgrades: false };
            return Ok(vec![self.existing(work, PROGRAM_TITLE, &id)]);
        }
        let mut steps = self.buffer_steps(look)?;
        let elf = self.program.elf.len();
        let data_rent = self.cluster.rent(loader::program_data_bytes(elf))?;
        if let Some(missing) = look::missing_room(look, elf) {
            let room = look.program_data().map_or(0, |data| data.content.len());
            let bytes = loader::program_data_bytes(room + missing);
            let rent = self.missing_rent(&loader::program_data_address(&id), bytes)?;
            let step = self.existing(Work::Extend, PROGRAM_TITLE, &id);
            steps.push(self.sending(step, Work::Extend, Action::Change, rent));
        }
        let upgrades = *code != Code::Nothing;
        let work = Work::Program { upgrades };
        let step = self.existing(work, PROGRAM_TITLE, &id);
        steps.push(match upgrades {
            true => self.sending(step, work, Action::Change, 0),
            false => {
                // The loader empties the buffer first, and pays the data account out of it.
                let buffer_rent = self.cluster.rent(loader::buffer_bytes(elf))?;
                let rent = self.missing_rent(&id, loader::PROGRAM_BYTES)?
                    + data_rent.saturating_sub(buffer_rent);
                self.sending(step, work, Action::Create, rent)
            }
        });
        Ok(steps)
    }

    fn buffer_steps(&self, look: &Look) -> Result<Vec<Step>, Fault> {
        let address = self.buffer_address()?;
        let elf = self.program.elf.len();
        let content = look.buffer(&self.deployer()?, elf)?;
        let open = self.existing(Work::OpenBuffer, BUFFER_TITLE, &address);
        let mut steps = vec![match content {
            Some(_) => open,
            None => {
                let rent = self.missing_rent(&address, loader::buffer_bytes(elf))?;
                self.sending(open, Work::OpenBuffer, Action::Create, rent)
            }
        }];
        for number in 0..self.chunks() {
            let work = Work::Write { number };
            let (at, chunk) = self.chunk(number);
            let step = self.existing(work, BUFFER_TITLE, &address).parallel();
            let stands = content.is_some_and(|content| content[at..].starts_with(chunk));
            steps.push(match stands {
                true => step,
                false => self.sending(step, work, Action::Change, 0),
            });
        }
        Ok(steps)
    }

    fn registry_step(&self, look: &Look) -> Result<Step, Fault> {
        let registry = self.registry.registry();
        let step = self.existing(Work::Initialize, REGISTRY_TITLE, &registry);
        if self.registry_stands(look)? {
            return Ok(step);
        }
        let rent = self.missing_rent(&registry, Registry::SPACE)?;
        Ok(self.sending(step, Work::Initialize, Action::Create, rent))
    }

    fn authority_step(&self, look: &Look) -> Result<Option<Step>, Fault> {
        let wanted = self.wanted_authority()?;
        let standing = look.program_data().map(|data| data.authority);
        if self.choices.authority == UpgradeAuthority::Keep || standing == Some(wanted) {
            return Ok(None);
        }
        let step = self.existing(Work::HandOver, PROGRAM_TITLE, &self.program.id);
        Ok(Some(self.sending(step, Work::HandOver, Action::Change, 0)))
    }

    fn notes(&self, left_over: &LeftOver) -> Vec<String> {
        let program = &self.program;
        let mut notes = vec![
            format!(
                "program of {} bytes, SHA-256 {}, sBPF version {}, built by {}",
                program.elf.len(),
                program.code_hash(),
                program.sbpf,
                program.toolchain
            ),
            match self.choices.authority {
                UpgradeAuthority::Keep => "the deployer stays its upgrade authority".to_owned(),
                UpgradeAuthority::Key(key) => format!("its upgrade authority will be {key}"),
                UpgradeAuthority::None => {
                    "nobody will be able to replace the program, for ever".to_owned()
                }
            },
        ];
        notes.extend(left_over.note(self.choices.reclaim));
        notes
    }

    /// Lets the cluster try the first step without sending anything, where it can be paid for.
    fn simulate_next(&self, plan: &Plan) -> Result<(), Fault> {
        let Some(step) = plan
            .sending()
            .next()
            .filter(|_| plan.require_funds().is_ok())
        else {
            return Ok(());
        };
        let work = Work::of(step)?;
        let mut instructions = budget(work.units(), self.priority_fee.after(0));
        instructions.extend(self.instructions(work)?);
        let raw = unsigned(&instructions, &self.deployer()?);
        let simulation = self.cluster.simulate(&raw)?;
        if simulation.err.is_null() {
            return Ok(());
        }
        let logs = simulation.logs.unwrap_or_default();
        let last = logs
            .last()
            .map(|log| format!(" ({log})"))
            .unwrap_or_default();
        Err(Fault::SimulationFailed {
            title: step.id.clone(),
            reason: format!("{}{last}", simulation.err),
        })
    }
}
