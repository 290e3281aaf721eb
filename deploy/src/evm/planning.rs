use super::{
    EvmTarget, code,
    contracts::{AUTHORIZED_REPUTATION, Choices, Contract},
    create2, measurement,
};
use crate::{Action, DeployError, Needs, Plan, Setting, Step, UnsignedTx, source_commit};
use alloy::{
    network::TransactionBuilder,
    primitives::{Address, Bytes, U256, keccak256},
    rpc::{
        json_rpc::ErrorPayload,
        types::{
            TransactionRequest,
            state::{AccountOverride, StateOverride},
        },
    },
};

use concord_chain::{
    Amount, ChainError, Coin,
    evm::{Fees, TRANSFER_GAS, gwei, layer_one_fee},
};

/// Pays the signer of the proxy's transaction.
pub(super) const PROXY_FUNDS: &str = "create2-proxy-funds";
/// The deterministic deployment proxy itself.
pub(super) const PROXY: &str = "create2-proxy";
const PROXY_TITLE: &str = "deterministic deployment proxy";

/// Beside its input, a transaction has at most so many bytes.
const ENVELOPE_BYTES: usize = 150;

impl EvmTarget {
    pub(super) async fn make_plan(&mut self) -> Result<Plan, DeployError> {
        self.require_draft_v1_alone()?;
        let deployer = self.deployer()?;
        self.require_chain().await?;
        let now = self.transactions.fees().await?;
        let limit = self.fee_limit.of_plan(now);
        self.transactions.set_fee_limit(limit);
        // Costs are what may be signed, not what is asked now.
        let most = limit.wei().unwrap_or(now.max);
        let fees = Fees { max: most, ..now };
        let mut steps = self.proxy_steps(fees).await?;
        let attached = self.attached().await?;
        if let Some(found) = &attached {
            found.require_sound()?;
            steps.push(self.identity_step(found));
        }
        let mut said = None;
        for contract in &self.contracts {
            let (step, refused) = self.contract_step(contract, deployer, fees).await?;
            steps.push(step);
            said = said.or(refused);
        }
        let balance = u128::try_from(self.node.balance(deployer).await?).unwrap_or(u128::MAX);
        let mut plan = Plan::new(
            self.chain.clone(),
            deployer.to_string(),
            Coin::ETH,
            Amount(balance),
            steps,
        );
        let commit = source_commit::of(&self.root);
        let commit = commit.as_deref().map_err(String::as_str);
        plan.notes.push(source_commit::note(commit));
        plan.notes.extend(attached.map(|found| found.note()));
        plan.notes.extend(self.switch_note());
        plan.notes.extend(said.map(|said| measured_note(&said)));
        if !plan.is_done() {
            plan.notes.push(format!(
                "a unit of gas: up to {} gwei are asked now, at most {} gwei are signed (--max-fee)",
                gwei(now.max),
                gwei(most)
            ));
        }
        Ok(plan)
    }

    /// Says so if the plan's registries are others than those that the address book has in use.
    fn switch_note(&self) -> Option<String> {
        let recorded = Choices::recorded(&self.recorded.as_ref()?.settings)?;
        let identity = |choices: &Choices| match choices.identity {
            Some(address) => format!(" over identity registry {address}"),
            None => String::new(),
        };
        (recorded != self.choices).then(|| {
            format!(
                "the address book has the set of salt {} (draft v1 authorizations: {}){} in use, this plan is for salt {} ({}){}, which takes its place in the book",
                recorded.salt,
                recorded.accepts_draft_v1,
                identity(&recorded),
                self.choices.salt,
                self.choices.accepts_draft_v1,
                identity(&self.choices)
            )
        })
    }

    /// R6: the first draft's form of an authorization does not name the reputation registry, so that
    /// one signature would count in both.
    fn require_draft_v1_alone(&self) -> Result<(), DeployError> {
        let authorized = (self.contracts.iter()).find(|it| it.name == AUTHORIZED_REPUTATION);
        let both = self.identity_address().zip(authorized);
        let Some((identity, authorized)) = both.filter(|_| self.choices.accepts_draft_v1) else {
            return Ok(());
        };
        let recorded = self.recorded.iter().flat_map(|book| book.everything());
        let is_same = |text: &str, address: Address| text.parse() == Ok(address);
        for (name, address, settings) in recorded {
            let on_ours = match settings.get("identityRegistry") {
                Some(Setting::Text(registry)) => is_same(registry, identity),
                _ => false,
            };
            if name == AUTHORIZED_REPUTATION && on_ours && !is_same(address, authorized.address) {
                return Err(DeployError::DraftV1BesideAnother {
                    other: address.to_owned(),
                    identity: identity.to_string(),
                });
            }
        }
        Ok(())
    }

    async fn proxy_steps(&self, fees: Fees) -> Result<Vec<Step>, DeployError> {
        let proxy = Step::existing(PROXY, &self.chain, PROXY_TITLE, create2::PROXY.to_string());
        if self.proxy_exists().await? {
            return Ok(vec![proxy]);
        }
        // The proxy's transaction has the first nonce of its signer, who has no key for another one.
        let nonce = self.node.mined_nonce(create2::PROXY_SIGNER).await?;
        if nonce > 0 {
            self.require_created_proxy(nonce).await?;
            return Ok(vec![proxy]);
        }
        let base_fee = self.node.base_fee().await?;
        if base_fee > create2::PROXY_GAS_PRICE {
            return Err(DeployError::ProxyUnderpriced {
                offered: gwei(create2::PROXY_GAS_PRICE),
                base_fee: gwei(base_fee),
            });
        }
        // Its fee comes out of the funds, not from the deployer.
        let needs = Needs::Gas(create2::PROXY_GAS);
        let proxy = proxy.sending(
            Action::Create,
            needs,
            Amount::default(),
            UnsignedTx::Presigned {
                raw: create2::PROXY_TRANSACTION.to_string(),
            },
        );
        Ok(vec![self.proxy_funds_step(fees).await?, proxy])
    }

    /// The proxy's signer has sent its only transaction. A node that lags behind has none of the proxy's code yet.
    async fn require_created_proxy(&self, nonce: u64) -> Result<(), DeployError> {
        let (proxy, signer) = (create2::PROXY, create2::PROXY_SIGNER);
        let ask = || async {
            let exists = self.proxy_exists().await?;
            let missing = || format!("{proxy} has no code");
            Ok::<_, DeployError>(exists.then_some(()).ok_or_else(missing))
        };
        let waited = (self.node.endpoint())
            .until_caught_up("eth_getCode", ask)
            .await;
        if waited.is_ok() || self.proxy_exists().await? {
            Ok(())
        } else {
            Err(DeployError::ProxySpent {
                proxy: proxy.to_string(),
                signer: signer.to_string(),
                nonce,
            })
        }
    }

    async fn proxy_funds_step(&self, fees: Fees) -> Result<Step, DeployError> {
        let signer = create2::PROXY_SIGNER;
        let title = "funds for the proxy's signer";
        let step = Step::existing(PROXY_FUNDS, &self.chain, title, signer.to_string());
        let missing = create2::missing_funds(self.node.balance(signer).await?);
        if missing.is_zero() {
            return Ok(step);
        }
        let value = Amount(missing.saturating_to());
        let cost = fees
            .cost(TRANSFER_GAS)
            .saturating_add(value)
            .saturating_add(layer_one_fee(&self.node, ENVELOPE_BYTES).await?);
        let call = UnsignedTx::Call {
            to: signer.to_string(),
            value,
            data: "0x".to_owned(),
        };
        Ok(step.sending(Action::Change, Needs::Gas(TRANSFER_GAS), cost, call))
    }

    /// The step, and what the endpoint answered if it could not simulate it.
    async fn contract_step(
        &self,
        contract: &Contract,
        deployer: Address,
        fees: Fees,
    ) -> Result<(Step, Option<String>), DeployError> {
        let address = contract.address.to_string();
        let step = Step::existing(contract.id, &self.chain, contract.name, address);
        if self.contract_exists(contract).await? {
            return Ok((step, None));
        }
        let Simulation { gas, said } = self.simulate_creation(contract, deployer).await?;
        let gas = gas.saturating_add(gas / 10);
        let bytes = contract.creation_code.len() + ENVELOPE_BYTES;
        let cost = fees
            .cost(gas)
            .saturating_add(layer_one_fee(&self.node, bytes).await?);
        let call = UnsignedTx::Call {
            to: create2::PROXY.to_string(),
            value: Amount::default(),
            data: create2::call(contract.salt, &contract.creation_code).to_string(),
        };
        let step = step.sending(Action::Create, Needs::Gas(gas), cost, call);
        Ok((step, said))
    }

    /// Lets the chain simulate it, as if the proxy existed already. Not every endpoint can: then it is
    /// measured here.
    pub(super) async fn simulate_creation(
        &self,
        contract: &Contract,
        deployer: Address,
    ) -> Result<Simulation, DeployError> {
        let failed = |reason: String| {
            DeployError::from(ChainError::SimulationFailed {
                title: contract.name.to_owned(),
                reason,
            })
        };
        let input = create2::call(contract.salt, &contract.creation_code);
        let has_proxy = self.proxy_exists().await?;
        let (simulation, answer) = match self.ask_creation(deployer, &input, has_proxy).await? {
            Ok((answer, gas)) => (Simulation { gas, said: None }, answer),
            Err(no) if has_proxy || no.is_revert => return Err(failed(no.said)),
            Err(no) => {
                let measured = measurement::creation(self.chain_id, deployer, &input);
                let measured = measured.map_err(failed)?;
                let simulation = Simulation {
                    gas: measured.gas,
                    said: Some(no.said),
                };
                (simulation, measured.answer)
            }
        };
        if answer[..] == contract.address[..] {
            Ok(simulation)
        } else {
            Err(failed(format!(
                "the proxy would create it at {answer}, not at {}",
                contract.address
            )))
        }
    }

    /// Returns the proxy's answer and the gas.
    async fn ask_creation(
        &self,
        deployer: Address,
        input: &Bytes,
        has_proxy: bool,
    ) -> Result<Result<(Bytes, u64), Refused>, DeployError> {
        let request = TransactionRequest::default()
            .with_from(deployer)
            .with_to(create2::PROXY)
            .with_input(input.clone());
        let overrides = if has_proxy {
            StateOverride::default()
        } else {
            with_code(create2::PROXY, create2::PROXY_CODE)
        };
        let answer = match self.node.call(&request, &overrides).await? {
            Ok(answer) if answer.is_empty() && !has_proxy => {
                return Ok(Err(Refused {
                    said: "eth_call: 0x, as if it were given no state override".to_owned(),
                    is_revert: false,
                }));
            }
            Ok(answer) => answer,
            Err(no) => return Ok(Err(Refused::of("eth_call", &no))),
        };
        let gas = self.node.estimate(&request, &overrides).await?;
        Ok(gas
            .map(|gas| (answer, gas))
            .map_err(|no| Refused::of("eth_estimateGas", &no)))
    }

    /// # Errors
    /// [`DeployError::ForeignCode`].
    pub(super) async fn contract_exists(&self, contract: &Contract) -> Result<bool, DeployError> {
        let found = self.node.code(contract.address).await?;
        if found.is_empty() {
            return Ok(false);
        }
        match code::difference(contract, self.chain_id, &found) {
            None => Ok(true),
            Some(difference) => Err(foreign(contract.name, contract.address, &found, difference)),
        }
    }

    pub(super) async fn proxy_exists(&self) -> Result<bool, DeployError> {
        let found = self.node.code(create2::PROXY).await?;
        if found.is_empty() || found == create2::PROXY_CODE {
            return Ok(!found.is_empty());
        }
        let difference = "the proxy's is another".to_owned();
        Err(foreign(PROXY_TITLE, create2::PROXY, &found, difference))
    }

    pub(super) async fn proxy_is_paid_for(&self) -> Result<bool, DeployError> {
        Ok(self.proxy_exists().await?
            || self.node.balance(create2::PROXY_SIGNER).await? >= U256::from(create2::PROXY_COST))
    }
}

/// What a creation takes.
pub(super) struct Simulation {
    pub gas: u64,
    /// What the endpoint answered, if it could not simulate it.
    said: Option<String>,
}

/// Why the endpoint does not simulate a creation.
struct Refused {
    said: String,
    is_revert: bool,
}

impl Refused {
    fn of(method: &str, no: &ErrorPayload) -> Self {
        Self {
            said: format!("{method}: {}", no.message),
            is_revert: no.as_revert_data().is_some() || no.message.contains("revert"),
        }
    }
}

fn with_code(address: Address, code: Bytes) -> StateOverride {
    let account = AccountOverride::default().with_code(code);
    StateOverride::from_iter([(address, account)])
}

fn measured_note(said: &str) -> String {
    format!(
        "gas is measured in this program, by the rules of {}: the endpoint does not simulate a call on a chain with the proxy ({said})",
        measurement::hardfork()
    )
}

fn foreign(title: &str, address: Address, found: &[u8], difference: String) -> DeployError {
    DeployError::ForeignCode {
        title: title.to_owned(),
        address: address.to_string(),
        found: keccak256(found).to_string(),
        difference,
    }
}
