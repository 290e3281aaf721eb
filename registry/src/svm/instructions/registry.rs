use super::{discriminators as d, readonly, signer, signer_writable, writable};
use crate::svm::{Program, programs::SYSTEM};
use borsh::BorshSerialize;
use solana_address::Address;
use solana_instruction::Instruction;

impl Program {
    /// Stores the cluster's CAIP-2 id in the registry account, once (R9). `upgrade_authority`, who
    /// must be the program's, signs and pays.
    pub fn initialize(&self, upgrade_authority: Address, chain: &str) -> Instruction {
        let accounts = [
            signer(upgrade_authority),
            signer_writable(upgrade_authority),
            writable(self.registry()),
            readonly(self.program_data()),
            readonly(SYSTEM),
        ];
        self.emitting(d::INITIALIZE, &accounts, &chain)
    }

    /// Names the successor of the registry's authority; `None` withdraws the name. `authority`
    /// signs.
    pub fn propose_registry_authority(
        &self,
        authority: Address,
        successor: Option<Address>,
    ) -> Instruction {
        let successor = successor.unwrap_or_default();
        self.registry_change(d::PROPOSE_REGISTRY_AUTHORITY, authority, &successor)
    }

    /// Makes `successor`, who was proposed and signs, the registry's authority.
    pub fn accept_registry_authority(&self, successor: Address) -> Instruction {
        self.registry_change(d::ACCEPT_REGISTRY_AUTHORITY, successor, &())
    }

    /// Whether payments in the token of mint `token` count (R13). What was proven stays. `authority` signs.
    pub fn set_payment_token(
        &self,
        authority: Address,
        token: Address,
        listed: bool,
    ) -> Instruction {
        self.registry_change(d::SET_PAYMENT_TOKEN, authority, &(token, listed))
    }

    /// Whether proofs by `facilitator` count (R13). What was proven stays. `authority` signs.
    pub fn set_facilitator(
        &self,
        authority: Address,
        facilitator: Address,
        listed: bool,
    ) -> Instruction {
        self.registry_change(d::SET_FACILITATOR, authority, &(facilitator, listed))
    }

    fn registry_change(
        &self,
        discriminator: [u8; 8],
        authority: Address,
        arguments: &impl BorshSerialize,
    ) -> Instruction {
        let accounts = [signer(authority), writable(self.registry())];
        self.emitting(discriminator, &accounts, arguments)
    }
}
