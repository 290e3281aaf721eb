use concord_canonical::{
    Error as CanonicalError,
    caip::{AccountId, parse_evm_address, parse_solana_key},
    interaction::Review,
    sign::{ed25519_verify, secp256k1_verify},
};
use serde::Serialize;

use super::FeedbackHead;
use crate::{
    AgentId, Algorithm, Extra, RatingValue,
    agent_id::{IdForm, as_text},
    bytes::Bytes,
    error::{Error, Rule},
    mapping::{MappingKind, Mappings},
    reader::{Fields, Node, account_id, signature_bytes, text},
    reputation::{SignedInteraction, X402Profile},
};

/// A feedback file of X402: open feedback with a proof that the service was delivered.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct X402Feedback {
    /// What every dialect states.
    #[serde(flatten)]
    pub head: FeedbackHead,
    /// The agent's id: text (R37).
    #[serde(serialize_with = "as_text")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub agent_id: AgentId,
    /// The rating.
    #[serde(flatten)]
    pub value: RatingValue,
    /// The proof, under its profile's key.
    #[serde(flatten)]
    pub proof: ProofField,
    /// The review in words, under its profile's key.
    #[serde(flatten)]
    pub comment: Option<CommentField>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

/// The proof under its profile's key (R26).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[allow(
    clippy::large_enum_variant,
    reason = "both variants hold the same type"
)]
pub enum ProofField {
    /// The default profile's.
    #[serde(rename = "proofOfParticipation")]
    Participation(ParticipationProof),
    /// The later name's.
    #[serde(rename = "proofOfInteraction")]
    Interaction(ParticipationProof),
}

/// The comment under its profile's key (R26).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "lowercase")]
pub enum CommentField {
    /// The default profile's.
    Comment(String),
    /// The later name's.
    Reasoning(String),
}

/// The agent's signature over what it delivered, and the reviewer's over the review.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ParticipationProof {
    /// What the agent signed.
    #[serde(flatten)]
    pub signed: SignedInteraction,
    /// The payer, who is the reviewer that counts, CAIP-10 (R38).
    #[cfg_attr(test, schemars(schema_with = "crate::schema::account_id"))]
    pub reviewer_address: String,
    /// The reviewer's signature.
    pub reviewer_signature: Bytes,
    /// Its algorithm, the one of the reviewer's chain (R23).
    pub reviewer_signature_algorithm: Algorithm,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

impl ProofField {
    /// A proof under the profile's key.
    #[must_use]
    pub fn new(profile: X402Profile, proof: ParticipationProof) -> Self {
        match profile {
            X402Profile::Reputation8004 => Self::Participation(proof),
            X402Profile::Reputation => Self::Interaction(proof),
        }
    }

    /// The profile of the key.
    #[must_use]
    pub fn profile(&self) -> X402Profile {
        match self {
            Self::Participation(_) => X402Profile::Reputation8004,
            Self::Interaction(_) => X402Profile::Reputation,
        }
    }

    /// The proof.
    #[must_use]
    pub fn proof(&self) -> &ParticipationProof {
        match self {
            Self::Participation(proof) | Self::Interaction(proof) => proof,
        }
    }
}

impl CommentField {
    /// A comment under the profile's key.
    #[must_use]
    pub fn new(profile: X402Profile, text: String) -> Self {
        match profile {
            X402Profile::Reputation8004 => Self::Comment(text),
            X402Profile::Reputation => Self::Reasoning(text),
        }
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &str {
        match self {
            Self::Comment(text) | Self::Reasoning(text) => text,
        }
    }
}

impl X402Feedback {
    pub(super) fn read(
        mut fields: Fields<'_>,
        profile: X402Profile,
        notes: &mut Mappings,
    ) -> Result<Self, Error> {
        let (registry, agent_id) = AgentId::read_pair(&mut fields, IdForm::Text, notes)?;
        let head = FeedbackHead::read(&mut fields, registry, notes)?;
        check_tags(&head, &fields)?;
        let value = RatingValue::read(&mut fields, notes)?;
        let proof = ParticipationProof::read(&fields.need(profile.proof_field())?, notes)?;
        // R26: the comment's key belongs to the profile; the other profile's key counts if it is alone
        let names = [profile.comment_field(), profile.other().comment_field()];
        let comment = fields.prefer(names, MappingKind::CommentKey, notes);
        let comment = comment.map(|node| text(&node)).transpose()?;
        Ok(Self {
            head,
            agent_id,
            value,
            proof: ProofField::new(profile, proof),
            comment: comment.map(|text| CommentField::new(profile, text)),
            extra: fields.rest(),
        })
    }

    /// The profile, by the proof's key (R26).
    #[must_use]
    pub fn profile(&self) -> X402Profile {
        self.proof.profile()
    }

    /// The proof.
    #[must_use]
    pub fn proof(&self) -> &ParticipationProof {
        self.proof.proof()
    }

    /// What the reviewer signs.
    #[must_use]
    pub fn review(&self) -> Review<'_> {
        let signed = &self.proof().signed;
        Review {
            agent_registry: &self.head.agent_registry,
            agent_id: self.agent_id.as_str(),
            task_ref: &signed.task_ref,
            data_hash: signed.data_hash.0,
            value: self.value.value,
            value_decimals: self.value.value_decimals,
            tag1: self.head.tag1.as_deref().unwrap_or_default(),
            tag2: self.head.tag2.as_deref().unwrap_or_default(),
        }
    }

    /// Verifies the reviewer's signature over the review, by the key of their address (R23). With the
    /// agent's ([`SignedInteraction::verify`]) it makes the feedback `signed` and not only claimed.
    ///
    /// # Errors
    /// A malformed signature or address, or a signature that does not hold.
    pub fn verify_review(&self) -> Result<(), CanonicalError> {
        let message = self.review().message()?;
        let proof = self.proof();
        let reviewer = AccountId::parse(&proof.reviewer_address)?;
        let field = "reviewerAddress";
        match proof.reviewer_signature_algorithm {
            Algorithm::Secp256k1 => {
                let address = parse_evm_address(field, reviewer.address())?;
                secp256k1_verify(&address, &message, &proof.reviewer_signature.0)
            }
            Algorithm::Ed25519 => {
                let key = parse_solana_key(field, reviewer.address())?;
                ed25519_verify(&key, &message, &proof.reviewer_signature.0)
            }
        }
    }
}

/// X402: tags have no NUL, which would blur the reviewer message.
fn check_tags(head: &FeedbackHead, fields: &Fields<'_>) -> Result<(), Error> {
    for (key, tag) in [("tag1", &head.tag1), ("tag2", &head.tag2)] {
        let tag = tag.as_deref().unwrap_or_default();
        if let Some(offset) = tag.bytes().position(|byte| byte == 0) {
            let fault = concord_canonical::error::TextFault::Character { byte: 0, offset };
            let rule = Rule::Form(CanonicalError::MalformedTag {
                field: "the tag",
                fault,
            });
            return Err(Error::new(fields.path_of(key), rule).found(tag));
        }
    }
    Ok(())
}

impl ParticipationProof {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        let signed = SignedInteraction::read(&mut fields, notes)?;
        let reviewer_address = account_id(&fields.need("reviewerAddress")?)?;
        let algorithm = fields.need("reviewerSignatureAlgorithm")?;
        let reviewer_signature_algorithm = Algorithm::read(&algorithm)?;
        check_algorithm(&algorithm, reviewer_signature_algorithm, &reviewer_address)?;
        let signature = fields.need("reviewerSignature")?;
        Ok(Self {
            signed,
            reviewer_address,
            reviewer_signature: signature_bytes(&signature, reviewer_signature_algorithm)?,
            reviewer_signature_algorithm,
            extra: fields.rest(),
        })
    }
}

/// R23: eip155 addresses sign with secp256k1, Solana's with Ed25519.
fn check_algorithm(node: &Node<'_>, stated: Algorithm, reviewer: &str) -> Result<(), Error> {
    let namespace = reviewer.split(':').next().unwrap_or_default();
    let allowed = "the algorithm of the reviewer's chain: secp256k1 for eip155, ed25519 for solana";
    if Algorithm::of_namespace(namespace) == Some(stated) {
        Ok(())
    } else {
        Err(node.broken(Rule::Name { allowed }))
    }
}
