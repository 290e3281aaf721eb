use super::{EvmTarget, create2, planning};
use crate::{DeployError, Needs, Step};
use alloy::{
    consensus::Transaction,
    primitives::{Address, Bytes, U256},
};
use concord_chain::{
    Amount, Coin,
    evm::{TRANSFER_GAS, TxCall, decode},
    submission::SignedTx,
};

impl EvmTarget {
    pub(super) async fn sign_step(&mut self, step: &Step) -> Result<SignedTx, DeployError> {
        let signer = self.signer()?;
        let call = match (&*step.id, self.contract(step)) {
            (planning::PROXY, _) => return Ok(presigned()),
            (_, Some(contract)) => {
                let simulation = self.simulate_creation(contract, signer.address()).await?;
                TxCall {
                    to: create2::PROXY,
                    value: U256::ZERO,
                    gas: simulation.gas.max(planned_gas(step)),
                    input: create2::call(contract.salt, &contract.creation_code),
                }
            }
            (planning::PROXY_FUNDS, _) => TxCall {
                to: create2::PROXY_SIGNER,
                value: create2::missing_funds(self.node.balance(create2::PROXY_SIGNER).await?),
                gas: TRANSFER_GAS,
                input: Bytes::new(),
            },
            (other, _) => unreachable!("a plan of this target has no step {other}"),
        };
        let fees = self.transactions.fees().await?;
        let most = self.transactions.fee_limit().wei().unwrap_or(fees.max);
        require_within_plan(step, &call, most)?;
        Ok(self.transactions.sign(signer, call, fees).await?)
    }

    pub(super) fn require_own_transaction(
        &self,
        step: &Step,
        transaction: &SignedTx,
    ) -> Result<(), DeployError> {
        let envelope = decode(transaction)?;
        let not_ours = |what: &str| Err(transaction.malformed(what).into());
        let (to, most, input) = match (&*step.id, self.contract(step)) {
            (planning::PROXY, _) if *envelope.tx_hash() == create2::PROXY_TRANSACTION_HASH => {
                return Ok(());
            }
            (planning::PROXY_FUNDS, _) => {
                let most = U256::from(create2::PROXY_COST);
                (create2::PROXY_SIGNER, most, Bytes::new())
            }
            (_, Some(contract)) => {
                let input = create2::call(contract.salt, &contract.creation_code);
                (create2::PROXY, U256::ZERO, input)
            }
            _ => return not_ours("is not what the step sends"),
        };
        let is_the_step_s = envelope.to() == Some(to)
            && *envelope.input() == input
            && envelope.value() <= most
            && envelope.chain_id() == Some(self.chain_id);
        if !is_the_step_s {
            return not_ours("is not what the step sends");
        }
        let signed = envelope.signature_hash();
        let signer = envelope.signature().recover_address_from_prehash(&signed);
        let deployer: Address = self.deployer()?;
        if signer.ok() == Some(deployer) {
            Ok(())
        } else {
            not_ours("is not signed by the deployer")
        }
    }
}

fn planned_gas(step: &Step) -> u64 {
    match step.needs {
        Some(Needs::Gas(gas)) => gas,
        _ => 0,
    }
}

/// No signature offers more than the plan that was confirmed, even if its fee is raised to `most`
/// wei per unit of gas.
fn require_within_plan(step: &Step, call: &TxCall, most: u128) -> Result<(), DeployError> {
    let value = Amount(call.value.saturating_to());
    let gas = Amount(most.saturating_mul(call.gas.into()));
    let needed = gas.saturating_add(value);
    if needed <= step.cost {
        Ok(())
    } else {
        Err(DeployError::CostAbovePlan {
            step: step.id.clone(),
            needed: Coin::ETH.cost(needed).to_string(),
            planned: Coin::ETH.cost(step.cost).to_string(),
        })
    }
}

fn presigned() -> SignedTx {
    SignedTx {
        transaction: create2::PROXY_TRANSACTION_HASH.to_string(),
        raw: create2::PROXY_TRANSACTION.to_string(),
        valid_until: None,
        signed_at: None,
        sent: false,
        failure_cost: None,
    }
}
