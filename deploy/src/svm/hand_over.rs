//! What goes to other keys: the upgrade authority, the registry's authority, and upgrades that another
//! key must send.
use super::{
    SvmTarget, UpgradeAuthority,
    planning::{BUFFER_TITLE, PROGRAM_TITLE, REGISTRY_TITLE},
    snapshot::{Code, Snapshot},
    step_kind::StepKind,
    unused_buffers::UnusedBuffers,
};
use crate::{Action, DeployError, Step, source_commit};
use concord_chain::Amount;
use solana_address::Address;

impl SvmTarget {
    /// Returns whether the program is to be replaced, and the chosen upgrade authority has it already
    /// and is another key than the deployer's.
    pub(super) fn upgrades_by_other(
        &self,
        snapshot: &Snapshot,
        code: &Code,
    ) -> Result<bool, DeployError> {
        let authority = snapshot.program_data().and_then(|data| data.authority);
        let is_handed_over = authority.is_some() && authority == self.choices.authority.successor();
        let is_other = authority != Some(self.deployer()?);
        Ok(matches!(code, Code::Other(_)) && is_handed_over && is_other)
    }

    /// # Errors
    /// [`DeployError::NotRegistryAuthority`]: only the registry's authority can propose another.
    pub(super) fn require_registry_authority(
        &self,
        snapshot: &Snapshot,
        deployer: Address,
    ) -> Result<(), DeployError> {
        let Some(registry) = snapshot.registry()? else {
            return Ok(()); // the deployer initializes it
        };
        let proposes = self.choices.registry_authority.is_some() && !self.is_proposed(snapshot)?;
        if proposes && registry.authority != deployer {
            Err(DeployError::NotRegistryAuthority {
                registry: self.registry.registry().to_string(),
                found: registry.authority.to_string(),
                key: deployer.to_string(),
            })
        } else {
            Ok(())
        }
    }

    pub(super) async fn buffer_authority_step(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Step, DeployError> {
        let kind = StepKind::HandOverBuffer;
        let step = self.existing(kind, BUFFER_TITLE, &self.buffer_address()?);
        if snapshot.buffer_authority() == self.choices.authority.successor() {
            Ok(step)
        } else {
            self.sending(step, kind, Action::Change, 0).await
        }
    }

    /// The upgrade itself, for the upgrade authority to send: nothing that the deployer pays for.
    pub(super) async fn upgrade_by_other(
        &self,
        snapshot: &Snapshot,
        code: &Code,
    ) -> Result<Option<Step>, DeployError> {
        if !self.upgrades_by_other(snapshot, code)? {
            return Ok(None);
        }
        let kind = StepKind::UpgradeByOther;
        let step = self.existing(kind, PROGRAM_TITLE, &self.program.id);
        let step = self.sending(step, kind, Action::OtherSigner, 0).await?;
        Ok(Some(Step {
            cost: Amount::default(),
            ..step
        }))
    }

    pub(super) async fn proposal_step(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Option<Step>, DeployError> {
        let is_chosen = self.choices.registry_authority.is_some();
        if !is_chosen || self.is_proposed(snapshot)? {
            return Ok(None);
        }
        let kind = StepKind::ProposeAuthority;
        let step = self.existing(kind, REGISTRY_TITLE, &self.registry.registry());
        let step = self.sending(step, kind, Action::Change, 0);
        step.await.map(Some)
    }

    pub(super) async fn authority_step(
        &self,
        snapshot: &Snapshot,
    ) -> Result<Option<Step>, DeployError> {
        let wanted = self.wanted_authority()?;
        let now = snapshot.program_data().map(|data| data.authority);
        if self.choices.authority == UpgradeAuthority::Keep || now == Some(wanted) {
            return Ok(None);
        }
        let step = self.existing(StepKind::HandOver, PROGRAM_TITLE, &self.program.id);
        let step = self.sending(step, StepKind::HandOver, Action::Change, 0);
        step.await.map(Some)
    }

    pub(super) fn notes(
        &self,
        snapshot: &Snapshot,
        unused_buffers: &UnusedBuffers,
    ) -> Result<Vec<String>, DeployError> {
        let program = &self.program;
        let mut notes = vec![
            format!(
                "program of {} bytes, SHA-256 {}, sBPF version {}, built by {}",
                program.elf.len(),
                program.code_hash(),
                program.sbpf,
                program.toolchain
            ),
            source_commit::note(match &program.commit {
                Some(commit) => Ok(commit),
                None => Err("the program was built outside of a clone"),
            }),
            match self.choices.authority {
                UpgradeAuthority::Keep => "the deployer stays its upgrade authority".to_owned(),
                UpgradeAuthority::Key(key) => format!("its upgrade authority will be {key}"),
                UpgradeAuthority::None => "the program can never be replaced".to_owned(),
            },
        ];
        notes.extend(self.registry_authority_note(snapshot)?);
        notes.extend(unused_buffers.note(self.choices.reclaim));
        Ok(notes)
    }

    /// Says who will keep the payment tokens and facilitators, if it is not the upgrade authority.
    fn registry_authority_note(&self, snapshot: &Snapshot) -> Result<Option<String>, DeployError> {
        if let Some(key) = self.choices.registry_authority {
            let registry = snapshot.registry()?;
            let is_accepted = registry.is_some_and(|registry| registry.authority == key);
            return Ok(Some(if is_accepted {
                format!("the registry's authority is {key}")
            } else {
                format!(
                    "the registry's authority will be {key} once it accepts: `concord registry accept`"
                )
            }));
        }
        let registry = snapshot.registry()?;
        let authority = registry.map_or(self.deployer()?, |registry| registry.authority);
        let is_left_behind = self.choices.authority != UpgradeAuthority::Keep
            && authority == self.deployer()?
            && self.wanted_authority()? != Some(authority);
        Ok(is_left_behind.then(|| {
            format!(
                "the registry's authority stays {authority}: --registry-authority proposes another"
            )
        }))
    }
}
