use super::{SvmTarget, loader, step_kind::StepKind};
use crate::{Action, DeployError, Step};
use concord_chain::{
    Amount, Coin, Signer, Svm,
    submission::SignedTx,
    svm::{compute_budget, decode, fee},
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::Message;
use std::collections::BTreeSet;

impl SvmTarget {
    pub(super) async fn sign_step(
        &mut self,
        step: &Step,
        expired: usize,
    ) -> Result<SignedTx, DeployError> {
        let kind = StepKind::of(step)?;
        let price = self.priority_fee.after(expired);
        let instructions = self.instructions(kind).await?;
        let fee = fee(self.signatures(kind), kind.units(), price);
        require_within_plan(step, fee, &instructions)?;
        let instructions = [compute_budget(kind.units(), price), instructions].concat();
        let mut signers: Vec<&dyn Signer<Svm>> = vec![self.deployer.signer()?];
        if kind.needs_program_key() {
            signers.push(program_key(&self.program_key, &self.program.id)?);
        }
        if let (StepKind::HandOver, Some(successor)) = (kind, &self.successor) {
            signers.push(successor);
        }
        Ok(self.transactions.sign(&instructions, &signers).await?)
    }

    /// How many keys sign the step's transaction.
    pub(super) fn signatures(&self, kind: StepKind) -> u64 {
        let is_checked = kind == StepKind::HandOver && self.successor.is_some();
        if is_checked || kind.needs_program_key() {
            2
        } else {
            1
        }
    }

    /// Rent and fees may have changed, so not every byte is compared: who pays, and all accounts and
    /// programs that the step names.
    pub(super) async fn require_own_transaction(
        &self,
        step: &Step,
        transaction: &SignedTx,
    ) -> Result<(), DeployError> {
        if step.action == Action::Exists {
            return Ok(()); // it is not sent, and does not say how it came about
        }
        let decoded = decode(transaction)?;
        let kind = StepKind::of(step)?;
        let deployer = self.deployer()?;
        let budget = compute_budget(kind.units(), 0);
        let instructions = [budget, self.instructions(kind).await?].concat();
        let planned = Message::new(&instructions, Some(&deployer));
        let names = |message: &Message| -> BTreeSet<Address> {
            message.account_keys.iter().copied().collect()
        };
        if decoded.message.account_keys.first() == Some(&deployer)
            && names(&decoded.message) == names(&planned)
        {
            Ok(())
        } else {
            let what = "is not what the step sends, or not from the deployer";
            Err(transaction.malformed(what).into())
        }
    }
}

/// DEP-64: no signature offers more than the plan that was confirmed, whatever rent the node asks for
/// now. Lamports cannot leave a program's account.
fn require_within_plan(
    step: &Step,
    fee: u64,
    instructions: &[Instruction],
) -> Result<(), DeployError> {
    let transferred = Amount(loader::transferred(instructions));
    let needed = Amount(fee.into()).saturating_add(transferred);
    if needed <= step.cost {
        Ok(())
    } else {
        Err(DeployError::CostAbovePlan {
            step: step.id.clone(),
            needed: Coin::SOL.cost(needed).to_string(),
            planned: Coin::SOL.cost(step.cost).to_string(),
        })
    }
}

/// The key behind the program's address.
///
/// # Errors
/// [`DeployError::ProgramKeypairMissing`].
pub(super) fn program_key<'a>(
    key: &'a Option<Keypair>,
    program: &Address,
) -> Result<&'a Keypair, DeployError> {
    key.as_ref()
        .ok_or_else(|| DeployError::ProgramKeypairMissing(program.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::svm::{loader, step_kind::CHUNK};
    use concord_chain::{
        Blocking,
        svm::{RecentBlockhash, sign},
    };
    use solana_hash::Hash;
    use solana_signer::Signer;

    #[test]
    fn the_largest_write_fits_a_packet() {
        /// Solana's documentation of transactions: what one packet carries, signatures and all.
        const PACKET: usize = 1_232;
        let deployer = Keypair::new_from_array([1; 32]);
        let payer = deployer.pubkey();
        let recent = RecentBlockhash {
            hash: Hash::default(),
            valid_until: 0,
        };
        let bytes_of_chunk = |length| {
            let write = loader::write(
                &payer,
                &Address::new_from_array([2; 32]),
                1,
                &vec![0; length],
            );
            let instructions = [compute_budget(3_000, u64::MAX), vec![write]].concat();
            let blocking = Blocking::new().unwrap();
            let signed = blocking.wait(sign(&instructions, &[&deployer], &recent));
            signed.unwrap().bytes.len()
        };
        let bytes = bytes_of_chunk(CHUNK);
        assert!(bytes <= PACKET, "{bytes}");
        assert!(PACKET - bytes < 64, "{bytes}: room for more");
    }
}
