//! The shortest way through a deployment: one agent, one authorized feedback, one summary.
use super::{SvmTarget, planning::PROGRAM_TITLE};
use crate::{Check, DeployError, Deployment, Smoke, SmokeStep};
use concord_canonical::{auth::SvmFeedbackAuth, caip};
use concord_chain::{
    ChainError, network,
    svm::{compute_budget, land, sign},
};
use concord_registry::svm::{
    accounts::{AccountType, AgentIdentity, ClientIndex, FeedbackEntry},
    ed25519,
    instructions::{FeedbackAuthorization, GiveFeedback},
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use solana_system_interface::instruction as system;
use std::time::Duration;

/// Registration, and the feedback with what the client pays for it.
pub(super) const TRANSACTIONS: usize = 2;
const SCORE: u8 = 87;
/// Seconds that the authorization is valid.
const GOOD_FOR: u64 = 3_600;
/// More than registering takes at any bump (docs/COMPUTE-UNITS.md).
const UNITS: u32 = 200_000;

impl SvmTarget {
    /// Registers an agent of the key, lets a client whose key is made for this and forgotten give
    /// one feedback, and reads the summary. Two transactions; the agent stays.
    ///
    /// # Errors
    /// Whatever keeps a transaction from landing within `give_up_after`.
    pub(super) async fn run_smoke(
        &self,
        recorded: &Deployment,
        give_up_after: Duration,
    ) -> Result<Smoke, DeployError> {
        self.require_on_record(recorded)?;
        let (mint, client) = (Keypair::new(), Keypair::new());
        let owner = self.deployer.key()?.pubkey();
        let register = self.registry.register_agent(owner, mint.pubkey(), "");
        let registered = self
            .land("register_agent", vec![register], &mint, give_up_after)
            .await?;
        let feedback = self.feedback(&mint.pubkey(), &client.pubkey()).await?;
        let given = self
            .land("give_feedback", feedback, &client, give_up_after)
            .await?;
        let of_address = |what, address: Address| self.step(what, address.to_string(), "address");
        Ok(Smoke {
            steps: vec![
                of_address("agent", mint.pubkey()),
                self.step("register_agent", registered, "tx"),
                of_address("client", client.pubkey()),
                self.step("give_feedback", given, "tx"),
            ],
            checks: vec![self.summary_check(&mint.pubkey()).await?],
        })
    }

    fn require_on_record(&self, recorded: &Deployment) -> Result<(), DeployError> {
        let record = recorded.contracts.get(PROGRAM_TITLE);
        match record.is_some_and(|record| record.address == self.program.id.to_string()) {
            true => Ok(()),
            false => Err(DeployError::NotOnRecord(self.chain.to_string())),
        }
    }

    /// The client's rent from the owner, the owner's permission for just one feedback (R8, R9),
    /// and the feedback.
    async fn feedback(
        &self,
        mint: &Address,
        client: &Address,
    ) -> Result<Vec<Instruction>, DeployError> {
        let owner = self.deployer.key()?;
        let now = u64::try_from(self.cluster.unix_time().await?).unwrap_or_default();
        let expiry = now.saturating_add(GOOD_FOR);
        let authorization = SvmFeedbackAuth {
            agent_mint: mint.to_bytes(),
            client: client.to_bytes(),
            index_limit: 1,
            expiry,
            chain: self.chain_word()?,
            program_id: self.program.id.to_bytes(),
            signer: owner.pubkey().to_bytes(),
        };
        let message = authorization.message();
        let signature = owner.sign_message(&message);
        let rent = self.cluster.rent(ClientIndex::SPACE).await?
            + self.cluster.rent(FeedbackEntry::SPACE).await?;
        let mut tag = [0; 32];
        tag[..5].copy_from_slice(b"smoke");
        let feedback = GiveFeedback {
            index: 1,
            score: SCORE,
            tag1: tag,
            tag2: [0; 32],
            uri: "",
            hash: [0; 32],
            authorization: FeedbackAuthorization::Bounded {
                index_limit: 1,
                expiry,
            },
        };
        Ok(vec![
            system::transfer(&owner.pubkey(), client, rent),
            ed25519::verify(&owner.pubkey().to_bytes(), signature.as_array(), &message)
                .expect("a message of 56 bytes"),
            self.registry.give_feedback(*client, *mint, &feedback),
        ])
    }

    fn chain_word(&self) -> Result<[u8; 32], DeployError> {
        let text = self.chain.to_string();
        let chain = caip::ChainId::parse(&text);
        let chain = chain.map_err(|error| ChainError::ChainId(error.to_string()))?;
        Ok(chain.hash())
    }

    async fn summary_check(&self, mint: &Address) -> Result<Check, DeployError> {
        let account = self.cluster.account(&self.registry.agent(mint)).await?;
        let agent = account.and_then(|it| {
            self.registry
                .decode::<AgentIdentity>(&it.owner, &it.data)
                .ok()
        });
        let found = agent.map_or_else(
            || "no agent".to_owned(),
            |agent| {
                let count = agent.unverified_feedback_count;
                format!("count {count}, sum {}", agent.unverified_score_sum)
            },
        );
        let expected = format!("count 1, sum {SCORE}");
        Ok(Check::new(
            PROGRAM_TITLE,
            "feedback of the agent",
            expected,
            found,
        ))
    }

    /// Sends it once and waits. The owner pays, and `other` signs too.
    async fn land(
        &self,
        what: &str,
        instructions: Vec<Instruction>,
        other: &Keypair,
        give_up_after: Duration,
    ) -> Result<String, DeployError> {
        let instructions = [compute_budget(UNITS, self.priority_fee.first), instructions].concat();
        let recent = self.cluster.recent_blockhash().await?;
        let signed = sign(&instructions, &[self.deployer.key()?, other], &recent).await?;
        let executed = land(&self.cluster, &signed, give_up_after).await?;
        match executed.meta.err.is_null() {
            true => Ok(signed.signature),
            false => Err(ChainError::TransactionFailed {
                job: what.to_owned(),
                reason: format!("{} failed: {}", signed.signature, executed.meta.err),
            }
            .into()),
        }
    }

    fn step(&self, what: &str, value: String, kind: &str) -> SmokeStep {
        SmokeStep {
            what: what.to_owned(),
            link: network::link(&self.chain, kind, &value),
            value,
        }
    }
}
