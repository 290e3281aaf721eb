//! Gives a registry that outlives the scenarios its authority and its lists back.
use super::{Registry, ledger::Ledger};
use crate::backend::StepFault;
use concord_registry::svm::accounts;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;

/// So many changes fit one transaction.
const CHANGES_MAX: usize = 8;

impl<L: Ledger> Registry<L> {
    /// After a scenario that proposed an authority or wrote the lists. Does nothing if every
    /// scenario begins on a fresh chain.
    pub(super) fn undo_governance(&mut self) -> Result<(), StepFault> {
        let Some(found) = self.found.clone() else {
            return Ok(());
        };
        let now = self.registry_account()?;
        if (now.authority, now.proposed_authority) != (found.authority, found.proposed_authority) {
            self.give_authority_back(&now, &found)?;
        }
        let program = self.world.program;
        let authority = found.authority;
        let tokens = changes(
            (&now.payment_tokens, &found.payment_tokens),
            |it, listed| program.set_payment_token(authority, it, listed),
        );
        let facilitators = changes((&now.facilitators, &found.facilitators), |it, listed| {
            program.set_facilitator(authority, it, listed)
        });
        for some in [tokens, facilitators].concat().chunks(CHANGES_MAX) {
            self.change(&self.key_of(&authority)?, some)?;
        }
        Ok(())
    }

    pub(super) fn registry_account(&self) -> Result<accounts::Registry, StepFault> {
        let program = &self.world.program;
        self.ledger
            .load(program, &program.registry())?
            .ok_or_else(|| StepFault::UnexplainedState("the registry is gone".to_owned()))
    }

    fn give_authority_back(
        &mut self,
        now: &accounts::Registry,
        found: &accounts::Registry,
    ) -> Result<(), StepFault> {
        let program = self.world.program;
        if now.authority != found.authority {
            let successor = Some(found.authority);
            let propose = program.propose_registry_authority(now.authority, successor);
            self.change(&self.key_of(&now.authority)?, &[propose])?;
            let accept = program.accept_registry_authority(found.authority);
            self.change(&self.key_of(&found.authority)?, &[accept])?;
        }
        let proposed = found.proposed_authority;
        let proposed = (proposed != Address::default()).then_some(proposed);
        let propose = program.propose_registry_authority(found.authority, proposed);
        self.change(&self.key_of(&found.authority)?, &[propose])
    }

    fn key_of(&self, address: &Address) -> Result<Keypair, StepFault> {
        let label = self.world.agents.actor(*address);
        let key = self.world.keys.actor_key(&label);
        if solana_signer::Signer::pubkey(&key) == *address {
            Ok(key)
        } else {
            Err(StepFault::UnexplainedState(format!(
                "the registry's authority is {address}, which is not an actor"
            )))
        }
    }

    fn change(&mut self, by: &Keypair, changes: &[Instruction]) -> Result<(), StepFault> {
        match self.ledger.send(&[by], changes)?.ran {
            Ok(_) => Ok(()),
            Err(failed) => Err(StepFault::Unreachable(format!(
                "the registry cannot be put back as it was: {:?}",
                failed.fault
            ))),
        }
    }
}

/// What makes a list what it was. Its order does not matter.
fn changes(
    (now, found): (&[Address], &[Address]),
    set: impl Fn(Address, bool) -> Instruction,
) -> Vec<Instruction> {
    let surplus = now.iter().filter(|it| !found.contains(it));
    let missing = found.iter().filter(|it| !now.contains(it));
    let remove = surplus.map(|it| set(*it, false));
    remove.chain(missing.map(|it| set(*it, true))).collect()
}
