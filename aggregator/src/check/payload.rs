use concord_canonical::{
    Error, Word,
    caip::TaskRef,
    interaction::{Profile, Review, interaction_hash},
    sign::{PreparedKey, PublicKey, address_of_public_key},
};
use serde_json::{Value, json};

/// A review as a client sends it, every part of which a case can change.
#[derive(Clone, Debug)]
pub(super) struct Draft {
    pub registry: String,
    pub agent_id: String,
    pub task_ref: String,
    pub agent_key: PreparedKey,
    pub reviewer: String,
    pub reviewer_key: PreparedKey,
    pub value: i64,
    pub decimals: u8,
    pub comment: &'static str,
}

/// What the agent is said to have delivered.
const DATA_HASH: Word = [0x62; 32];
const TAGS: [&str; 2] = ["x402-resource-delivered", "proof-of-participation"];

fn hex(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

fn algorithm(key: &PreparedKey) -> &'static str {
    match key.public_key() {
        PublicKey::Secp256k1(_) => "secp256k1",
        PublicKey::Ed25519(_) => "ed25519",
    }
}

fn public_key(key: &PreparedKey) -> String {
    match key.public_key() {
        PublicKey::Secp256k1(bytes) => hex(&bytes),
        PublicKey::Ed25519(bytes) => hex(&bytes),
    }
}

/// The account of a key on the chain of a payment, CAIP-10.
pub(super) fn account_of(key: &PreparedKey, task_ref: &str) -> Result<String, Error> {
    let chain = TaskRef::parse(task_ref)?.chain_id().to_string();
    let address = match key.public_key() {
        PublicKey::Secp256k1(bytes) => hex(&address_of_public_key(&bytes)?),
        PublicKey::Ed25519(bytes) => bs58::encode(bytes).into_string(),
    };
    Ok(format!("{chain}:{address}"))
}

impl Draft {
    /// The body of X402 §3, signed by agent and reviewer.
    pub fn json(&self) -> Result<Value, Error> {
        let interaction = interaction_hash(Profile::default(), &self.task_ref, &DATA_HASH)?;
        let review = Review {
            agent_registry: &self.registry,
            agent_id: &self.agent_id,
            task_ref: &self.task_ref,
            data_hash: DATA_HASH,
            value: i128::from(self.value),
            value_decimals: self.decimals,
            tag1: TAGS[0],
            tag2: TAGS[1],
        };
        Ok(json!({
            "interactionData": {
                "agentRegistry": self.registry,
                "agentId": self.agent_id,
                "taskRef": self.task_ref,
                "dataHash": hex(&DATA_HASH),
                "interactionHash": hex(&interaction),
                "agentSignerPublicKey": public_key(&self.agent_key),
                "agentSignature": self.agent_key.sign(&interaction, hex)?,
                "agentSignatureAlgorithm": algorithm(&self.agent_key),
            },
            "review": {
                "value": self.value,
                "valueDecimals": self.decimals,
                "tag1": TAGS[0],
                "tag2": TAGS[1],
                "comment": self.comment,
            },
            "reviewerAddress": self.reviewer,
            "reviewerSignature": self.reviewer_key.sign(&review.message()?, hex)?,
            "reviewerSignatureAlgorithm": algorithm(&self.reviewer_key),
        }))
    }
}
