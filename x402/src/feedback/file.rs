//! The feedback file of a review.

use concord_canonical::{
    limits::URI_MAX,
    sign::{PublicKey, address_of_public_key},
};
use concord_files::{
    Algorithm, Bytes, ChainReference, CommentField, Extra, FeedbackFile, FeedbackHead,
    ParticipationProof, PaymentField, ProfileFeedback, ProofField, ProofOfPayment, RatingValue,
    RawJson, RegistrationId, Timestamp, X402Feedback,
};

use super::{FeedbackError, Interaction, Review};
use crate::{
    grants::{FeedbackGrant, GrantMalformed},
    server::ResponseSigner,
};

/// Who rates whom, and when.
#[derive(Clone, Copy)]
pub(super) struct Draft<'a> {
    pub interaction: &'a Interaction,
    pub review: &'a Review,
    /// The agent at the registry that is rated on.
    pub agent: &'a RegistrationId,
    /// The account that submits, CAIP-10.
    pub client: &'a str,
    /// Unix seconds.
    pub created_at: u64,
}

impl Draft<'_> {
    /// X402's file with the reviewer's signature (R38).
    pub(super) async fn open(
        &self,
        reviewer: &dyn ResponseSigner,
    ) -> Result<FeedbackFile, FeedbackError> {
        let interaction = self.interaction;
        let algorithm = require_payer(interaction, &reviewer.public_key())?;
        let profile = interaction.profile;
        let proof = |signature: Vec<u8>| ParticipationProof {
            signed: interaction.data.signed.clone(),
            reviewer_address: interaction.reviewer(),
            reviewer_signature: Bytes(signature),
            reviewer_signature_algorithm: algorithm,
            extra: Extra::default(),
        };
        let comment = self.review.comment.clone();
        let mut file = X402Feedback {
            head: self.head()?,
            agent_id: self.agent.agent_id.clone(),
            value: RatingValue {
                value: self.review.value.value(),
                value_decimals: self.review.value.decimals(),
            },
            proof: ProofField::new(profile, proof(Vec::new())),
            comment: comment.map(|text| CommentField::new(profile, text)),
            extra: Extra::default(),
        };
        let message = file.review().message()?;
        let signature = reviewer.sign(&message).await?;
        file.proof = ProofField::new(profile, proof(signature));
        file.verify_review()?; // a KMS may sign with another key, or in another form (R23)
        Ok(FeedbackFile::X402(file))
    }

    /// PROFILE's file with the grant, the payment, and what the agent signed under the extension's key.
    pub(super) fn authorized(&self, grant: &FeedbackGrant) -> Result<FeedbackFile, FeedbackError> {
        self.require_own(grant)?;
        let interaction = self.interaction;
        let data = RawJson::parse(&interaction.data.to_canonical()?)?;
        let key = interaction.profile.extension_key().to_owned();
        Ok(FeedbackFile::Profile(ProfileFeedback {
            head: self.head()?,
            agent_id: self.agent.agent_id.clone(),
            feedback_auth: Some(Bytes(grant.authorization_bytes()?)),
            score: self.review.score()?,
            reasoning: self.review.comment.clone(),
            skill: None,
            context: None,
            task: None,
            capability: None,
            name: None,
            payment: Some(PaymentField::Profile(self.payment())),
            attachments: Vec::new(),
            extra: Extra::from([(key, data)]),
        }))
    }

    fn head(&self) -> Result<FeedbackHead, FeedbackError> {
        let [tag1, tag2] = self.tags();
        let created_at = Timestamp::from_unix_seconds(self.created_at);
        let endpoint = self.interaction.endpoint.clone(); // R39
        Ok(FeedbackHead {
            agent_registry: self.agent.agent_registry.clone(),
            client_address: self.client.to_owned(),
            created_at: created_at.ok_or_else(|| FeedbackError::Review {
                field: "time",
                found: self.created_at.to_string(),
                expected: "before the year 10000".to_owned(),
            })?,
            tag1: (!tag1.is_empty()).then_some(tag1),
            tag2: (!tag2.is_empty()).then_some(tag2),
            endpoint,
        })
    }

    /// R40.
    pub(super) fn tags(&self) -> [String; 2] {
        let default = self.interaction.profile.default_tags();
        let tags = self.review.tags.clone();
        tags.unwrap_or_else(|| default.map(str::to_owned))
    }

    fn payment(&self) -> ProofOfPayment {
        let interaction = self.interaction;
        let offer = &interaction.offer;
        let account = |address: &str| format!("{}:{address}", interaction.network);
        let task_ref = &interaction.data.signed.task_ref;
        let transaction = task_ref.strip_prefix(&account(""));
        let chain = interaction.network.clone();
        ProofOfPayment {
            from_address: interaction.reviewer(),
            to_address: account(&offer.pay_to),
            chain_id: match interaction.evm_number() {
                Some(number) => ChainReference::Number(number),
                None => ChainReference::Text(chain),
            },
            tx_hash: transaction.unwrap_or_default().to_owned(),
            amount: Some(offer.amount.clone()),
            currency: None,
            token_address: Some(account(&offer.asset)),
            protocol: Some("x402".to_owned()),
            timestamp: None,
            invoice_id: None,
            extra: Extra::default(),
        }
    }

    /// The grant must be for this agent, and for the account that submits.
    fn require_own(&self, grant: &FeedbackGrant) -> Result<(), GrantMalformed> {
        let agent = grant.registration()?;
        if !crate::account::is_same_agent(&agent, self.agent) {
            let expected = format!("{} {}", self.agent.agent_registry, self.agent.agent_id);
            return Err(GrantMalformed::new(".agentId", &grant.agent_id, expected));
        }
        let address = self.client.rsplit(':').next().unwrap_or_default();
        let network = self.client.trim_end_matches(address).trim_end_matches(':');
        if crate::account::is_same_address(network, address, &grant.client_address) {
            Ok(())
        } else {
            let found = &grant.client_address;
            Err(GrantMalformed::new(".clientAddress", found, self.client))
        }
    }
}

/// R38: the reviewer is the payer.
fn require_payer(interaction: &Interaction, key: &PublicKey) -> Result<Algorithm, FeedbackError> {
    let address = match key {
        PublicKey::Secp256k1(key) => format!("0x{}", hex::encode(address_of_public_key(key)?)),
        PublicKey::Ed25519(key) => bs58::encode(key).into_string(),
    };
    let account = format!("{}:{address}", interaction.network);
    if interaction.is_reviewer(&account) {
        Ok(Algorithm::of_key(key))
    } else {
        Err(FeedbackError::NotThePayer {
            found: address,
            payer: interaction.reviewer(),
        })
    }
}

/// R17: at most 200 bytes.
pub(super) fn require_uri(uri: &str) -> Result<(), FeedbackError> {
    let length = uri.len();
    if (1..=URI_MAX).contains(&length) {
        Ok(())
    } else {
        Err(FeedbackError::Review {
            field: "file URI",
            found: format!("{length} bytes"),
            expected: format!("1 to {URI_MAX} bytes (R17)"),
        })
    }
}
