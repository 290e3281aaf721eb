use concord_chain::{
    ChainError, Signer, Svm,
    svm::{Cluster, PreparedTx, compute_budget, fee, unsigned},
};
use concord_registry::svm::{
    Address, Instruction, Program,
    accounts::{AccountType, OpenClientIndex, OpenFeedback},
    instructions::{GiveOpenFeedback, sponsored},
};
use concord_x402::{
    feedback::{FeedbackContent, Submission},
    verify::Unavailable,
};

use crate::{Claim, Code, Refusal, form::malformed};

/// Compute units of an open feedback; the largest takes about 25,000.
const UNITS: u32 = 100_000;
/// The sponsor's signature and the reviewer's.
const SIGNATURES: u64 = 2;

/// Who pays for what reviewers sign, at one program (R59).
pub struct Sponsor {
    /// CAIP-2.
    pub network: String,
    /// A node of that cluster.
    pub cluster: Cluster,
    /// The program.
    pub program: Program,
    /// Pays fee and rent.
    pub key: Box<dyn Signer<Svm>>,
    /// The most lamports in a day of UTC.
    pub lamports_per_day: u64,
    /// Microlamports for a compute unit.
    pub unit_price: u64,
}

/// A transaction for a reviewer to sign.
pub(super) struct Offer {
    pub index: u64,
    pub cost: u64,
    pub prepared: PreparedTx,
}

impl Sponsor {
    /// The identity registry, which on Solana also records the feedback, CAIP-10.
    pub(super) fn registry(&self) -> String {
        format!("{}:{}", self.network, self.program.id())
    }

    /// The reviewer, who can sign only for an account of this cluster.
    pub(super) fn client(&self, claim: &Claim) -> Result<Address, Refusal> {
        let refused = |message: String| {
            let refusal = malformed("ReviewerMismatch", message);
            refusal.of("reviewerAddress")
        };
        let client = self.account(claim.reviewer()).ok_or_else(|| {
            let (reviewer, network) = (claim.reviewer(), &self.network);
            refused(format!(
                "{reviewer} is not on {network} and cannot sign there (R59): use POST /feedback"
            ))
        })?;
        if client == self.key.address() {
            Err(refused(format!("{client} is the sponsor")))
        } else {
            Ok(client)
        }
    }

    /// An account of this cluster, from its CAIP-10 id.
    pub(super) fn account(&self, id: &str) -> Option<Address> {
        let address = id.strip_prefix(&self.network)?.strip_prefix(':')?;
        address.parse().ok()
    }

    /// Prepares the feedback at the client's next index (R12), if the registry would take it now.
    pub(super) async fn offer(
        &self,
        client: Address,
        submission: &Submission,
    ) -> Result<Offer, Refusal> {
        let mint: Address = submission.agent_id.parse().map_err(|_| {
            let message = format!("{} is not a mint", submission.agent_id);
            malformed("MalformedAddress", message).of("interactionData.agentId")
        })?;
        let last = self.last_index(&mint, &client).await?;
        let cost = self.cost(last.is_none()).await?;
        self.require_funds(cost).await?;
        let index = last.unwrap_or(0).saturating_add(1);
        let give = self.instruction(mint, client, index, submission)?;
        let instructions = [compute_budget(UNITS, self.unit_price), vec![give]].concat();
        self.require_taken(&instructions).await?;
        let recent = self.cluster.recent_blockhash().await.map_err(unavailable)?;
        let prepared = PreparedTx::new(&instructions, &self.key.address(), &recent);
        if !prepared.fits() {
            let message = "the review does not fit a transaction: use POST /feedback";
            return Err(malformed("TransactionTooLarge", message));
        }
        Ok(Offer {
            index,
            cost,
            prepared,
        })
    }

    async fn last_index(&self, mint: &Address, client: &Address) -> Result<Option<u64>, Refusal> {
        let place = self.program.open_client_index(mint, client);
        let account = self.cluster.account(&place).await.map_err(unavailable)?;
        let Some(account) = account else {
            return Ok(None);
        };
        let found: Result<Option<OpenClientIndex>, _> =
            self.program.find(&account.owner, &account.data);
        let found = found.map_err(|error| Unavailable(format!("{place}: {error}")))?;
        Ok(found.map(|it| it.last_index))
    }

    /// The most that it costs: the fee, and the rent of the largest entry.
    async fn cost(&self, is_new: bool) -> Result<u64, Refusal> {
        let mut spaces = vec![OpenFeedback::SPACE];
        if is_new {
            spaces.push(OpenClientIndex::SPACE);
        }
        let mut cost = fee(SIGNATURES, UNITS, self.unit_price);
        for space in spaces {
            let rent = self.cluster.rent(space).await.map_err(unavailable)?;
            cost = cost.saturating_add(rent);
        }
        Ok(cost)
    }

    /// An account that pays must stay exempt from rent.
    async fn require_funds(&self, cost: u64) -> Result<(), Refusal> {
        let address = self.key.address();
        let balance = self.cluster.balance(&address).await.map_err(unavailable)?;
        let own = self.cluster.rent(0).await.map_err(unavailable)?;
        let needed = cost.saturating_add(own);
        if balance >= needed {
            Ok(())
        } else {
            tracing::error!(%address, balance, needed, "the sponsor has too little");
            let message = format!("the sponsor {address} has {balance} lamports, needs {needed}");
            Err(Refusal::new(Code::Unavailable, "SponsorUnfunded", message))
        }
    }

    fn instruction(
        &self,
        mint: Address,
        client: Address,
        index: u64,
        submission: &Submission,
    ) -> Result<Instruction, Refusal> {
        let unusable = || Unavailable("the submission cannot be read again".to_owned());
        let FeedbackContent::Open {
            value,
            decimals,
            endpoint,
        } = &submission.content
        else {
            return Err(unusable().into());
        };
        let digits = submission.hash.strip_prefix("0x");
        let hash = digits.and_then(|it| hex::decode(it).ok()?.try_into().ok());
        let feedback = GiveOpenFeedback {
            index,
            value: value.parse().map_err(|_| unusable())?,
            decimals: *decimals,
            tag1: &submission.tag1,
            tag2: &submission.tag2,
            endpoint,
            uri: &submission.uri,
            hash: hash.ok_or_else(unusable)?,
        };
        let give = self.program.give_open_feedback(client, mint, &feedback);
        Ok(sponsored(give, self.key.address()).ok_or_else(unusable)?)
    }

    /// Simulates the transaction, so that no reviewer signs one that the registry refuses.
    async fn require_taken(&self, instructions: &[Instruction]) -> Result<(), Refusal> {
        let raw = unsigned(instructions, &self.key.address());
        let tried = self.cluster.simulate(&raw).await.map_err(unavailable)?;
        if tried.err.is_null() {
            return Ok(());
        }
        let logs = tried.logs.unwrap_or_default();
        let last = logs.last().cloned().unwrap_or_default();
        let message = format!("the registry refuses it: {} ({last})", tried.err);
        Err(Refusal::new(
            Code::RefusedByRegistry,
            "RefusedByRegistry",
            message,
        ))
    }

    /// Whether a transaction can still land.
    pub(super) async fn is_valid(&self, prepared: &PreparedTx) -> Result<bool, Refusal> {
        let height = self.cluster.final_block_height().await;
        Ok(height.map_err(unavailable)? <= prepared.valid_until)
    }
}

fn unavailable(error: ChainError) -> Refusal {
    Unavailable::from(error).into()
}
