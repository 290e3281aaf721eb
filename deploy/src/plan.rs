use crate::{Action, DeployError, Step};
use concord_chain::{Amount, ChainId, Coin};
use serde::Serialize;

/// What a deployment would do, in this order, read from the chain at one moment.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Plan {
    pub chain: ChainId,
    /// Who pays and signs, as the chain writes addresses.
    pub deployer: String,
    pub balance: Amount,
    pub steps: Vec<Step>,
    /// The most that all steps together can cost.
    pub total: Amount,
    /// What a reader must know beside the table, one sentence each, such as the toolchain of a
    /// program.
    pub notes: Vec<String>,
    #[serde(skip)]
    pub coin: Coin,
}

impl Plan {
    /// A plan of these steps. Fills in each step's balance afterwards.
    pub fn new(
        chain: ChainId,
        deployer: String,
        coin: Coin,
        balance: Amount,
        mut steps: Vec<Step>,
    ) -> Self {
        let mut total = Amount::default();
        for step in &mut steps {
            total = total.saturating_add(step.cost);
            step.balance_after = balance.checked_sub(total);
        }
        Self {
            chain,
            deployer,
            balance,
            steps,
            total,
            notes: Vec::new(),
            coin,
        }
    }

    /// The steps that would send a transaction.
    pub fn sending(&self) -> impl Iterator<Item = &Step> {
        self.steps.iter().filter(|step| step.action.sends())
    }

    /// The steps in groups that may be pending together.
    pub fn groups(&self) -> impl Iterator<Item = &[Step]> {
        self.steps
            .chunk_by(|one, next| one.parallel && next.parallel)
    }

    /// As [`Self::groups`], up to the first step that another signer must send.
    pub fn groups_to_send(&self) -> impl Iterator<Item = &[Step]> {
        let is_ours = |group: &&[Step]| group.iter().all(|it| it.action != Action::OtherSigner);
        self.groups().take_while(is_ours)
    }

    /// The steps that wait for another signer.
    pub fn for_others(&self) -> impl Iterator<Item = &Step> {
        (self.steps.iter()).filter(|step| step.action == Action::OtherSigner)
    }

    /// Returns whether there is nothing to send.
    pub fn is_done(&self) -> bool {
        self.sending().next().is_none()
    }

    pub fn step(&self, id: &str) -> Option<&Step> {
        self.steps.iter().find(|step| step.id == id)
    }

    /// # Errors
    /// [`DeployError::BalanceTooLow`] if the deployer could not pay for every step.
    pub fn require_funds(&self) -> Result<(), DeployError> {
        if self.balance >= self.total {
            return Ok(());
        }
        Err(DeployError::BalanceTooLow {
            account: self.deployer.clone(),
            balance: self.coin.balance(self.balance).to_string(),
            needed: self.coin.cost(self.total).to_string(),
        })
    }
}
