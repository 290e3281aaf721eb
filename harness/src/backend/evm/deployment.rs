//! The addresses of the registries, and their deployment.
use super::{
    Keyring, artifact,
    ledger::{Answer, Ledger, try_view},
};
use crate::{
    backend::{SetupError, StepFault},
    model::{Actor, Operation},
};
use alloy::primitives::{Address, Bytes};
use concord_registry::evm::{
    RegistryAddresses, abi::AuthorizedReputationRegistry as Authorized, calls,
};
use std::path::Path;

/// The creation bytecode of the four contracts.
#[derive(Clone)]
pub(super) struct Artifacts {
    identity: Bytes,
    open_reputation: Bytes,
    authorized_reputation: Bytes,
    validation: Bytes,
}

/// The registry that the operation is for; `None` if there is none, or on no EVM chain.
pub(super) fn registry_of(
    registries: &RegistryAddresses,
    operation: &Operation,
) -> Option<Address> {
    match operation {
        Operation::Register(_)
        | Operation::SetAgentUri(_)
        | Operation::SetMetadata(_)
        | Operation::SetAgentWallet(_)
        | Operation::UnsetAgentWallet(_)
        | Operation::Transfer(_)
        | Operation::Approve(_)
        | Operation::SetOperator(_) => Some(registries.identity),
        Operation::GiveFeedback(_)
        | Operation::RevokeFeedback(_)
        | Operation::AppendResponse(_)
        | Operation::Summary(_) => registries.authorized_reputation,
        Operation::GiveOpenFeedback(_)
        | Operation::RevokeOpenFeedback(_)
        | Operation::AppendOpenResponse(_)
        | Operation::OpenSummary(_) => registries.open_reputation,
        Operation::ValidationRequest(_) | Operation::ValidationResponse(_) => registries.validation,
        Operation::Burn(_)
        | Operation::SetFeedbackAuthority(_)
        | Operation::SetAuthSchemes(_)
        | Operation::ListPaymentToken(_)
        | Operation::ListFacilitator(_)
        | Operation::ProposeRegistryAuthority(_)
        | Operation::AcceptRegistryAuthority(_)
        | Operation::AttachPaymentProof(_) => None,
    }
}

impl Artifacts {
    /// Reads them in forge's output folder.
    pub fn read(folder: &Path) -> Result<Self, SetupError> {
        let code = |contract| artifact::creation_code(folder, contract);
        Ok(Self {
            identity: code("IdentityRegistry")?,
            open_reputation: code("ReputationRegistry")?,
            authorized_reputation: code("AuthorizedReputationRegistry")?,
            validation: code("ValidationRegistry")?,
        })
    }

    /// Puts all four on the chain, the last three bound to the first.
    pub fn deploy(&self, ledger: &mut impl Ledger) -> Answer<RegistryAddresses> {
        ledger.fund(&[Keyring::Public.key(&deployer()).address()])?;
        let identity = create(ledger, &self.identity, &[])?;
        let bound = calls::bound_registry_arguments(identity);
        // R6: scenarios send the first draft's form, and it has to count.
        let authorized = calls::authorized_reputation_arguments(identity, true);
        let mut create = |code, arguments: &[u8]| create(ledger, code, arguments).map(Some);
        Ok(RegistryAddresses {
            identity,
            open_reputation: create(&self.open_reputation, &bound)?,
            authorized_reputation: create(&self.authorized_reputation, &authorized)?,
            validation: create(&self.validation, &bound)?,
        })
    }
}

/// R6: whether the authorized registry takes the first draft's form. One that does not say so is asked again by a
/// scenario's views, which report it.
pub(super) fn accepts_draft_v1(
    ledger: &mut impl Ledger,
    registries: &RegistryAddresses,
) -> Answer<bool> {
    let Some(registry) = registries.authorized_reputation else {
        return Ok(true);
    };
    match try_view(ledger, registry, &Authorized::acceptsDraftV1Call {}) {
        Ok(answer) => Ok(answer.unwrap_or(true)),
        Err(StepFault::UnexplainedState(_)) => Ok(true),
        Err(fault) => Err(fault),
    }
}

fn deployer() -> Actor {
    Actor::from("deployer")
}

fn create(ledger: &mut impl Ledger, code: &Bytes, arguments: &[u8]) -> Answer<Address> {
    let input = [code, arguments].concat().into();
    let receipt = ledger.send(&Keyring::Public.key(&deployer()), None, input)?;
    receipt
        .created
        .filter(|_| receipt.refusal.is_none())
        .ok_or_else(|| StepFault::Unreachable("a constructor reverted".to_owned()))
}
