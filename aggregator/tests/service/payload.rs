//! Submissions as a client makes them.
use concord_canonical::{
    Word,
    interaction::{Profile, Review, interaction_hash},
    sign::{PreparedKey, PublicKey},
};
use serde_json::{Value, json};

/// A served and paid request, and what the customer says of it.
#[derive(Clone, Debug)]
pub struct Draft {
    pub registry: String,
    pub agent_id: String,
    pub task_ref: String,
    pub data_hash: Word,
    pub agent_key: PreparedKey,
    pub reviewer: String,
    pub reviewer_key: PreparedKey,
    pub value: i128,
    pub decimals: u8,
    pub tags: [String; 2],
    pub comment: String,
}

fn hex(bytes: &[u8]) -> String {
    format!("0x{}", hex::encode(bytes))
}

fn signature(key: &PreparedKey, digest: &Word) -> String {
    key.sign(digest, hex).unwrap()
}

pub fn algorithm(key: &PreparedKey) -> &'static str {
    match key.public_key() {
        PublicKey::Secp256k1(_) => "secp256k1",
        PublicKey::Ed25519(_) => "ed25519",
    }
}

pub fn public_key(key: &PreparedKey) -> String {
    match key.public_key() {
        PublicKey::Secp256k1(bytes) => hex(&bytes),
        PublicKey::Ed25519(bytes) => hex(&bytes),
    }
}

impl Draft {
    /// What the agent signs.
    pub fn interaction_hash(&self) -> Word {
        interaction_hash(Profile::default(), &self.task_ref, &self.data_hash).unwrap()
    }

    /// What the reviewer signs.
    pub fn message(&self) -> Word {
        let review = Review {
            agent_registry: &self.registry,
            agent_id: &self.agent_id,
            task_ref: &self.task_ref,
            data_hash: self.data_hash,
            value: self.value,
            value_decimals: self.decimals,
            tag1: &self.tags[0],
            tag2: &self.tags[1],
        };
        review.message().unwrap()
    }

    /// The body of X402 §3.
    pub fn json(&self) -> Value {
        let hash = self.interaction_hash();
        json!({
            "interactionData": {
                "agentRegistry": self.registry,
                "agentId": self.agent_id,
                "taskRef": self.task_ref,
                "dataHash": hex(&self.data_hash),
                "interactionHash": hex(&hash),
                "agentSignerPublicKey": public_key(&self.agent_key),
                "agentSignature": signature(&self.agent_key, &hash),
                "agentSignatureAlgorithm": algorithm(&self.agent_key),
            },
            "review": {
                "value": i64::try_from(self.value).unwrap(),
                "valueDecimals": self.decimals,
                "tag1": self.tags[0],
                "tag2": self.tags[1],
                "endpoint": "https://agent.example/weather?city=London",
                "comment": self.comment,
            },
            "reviewerAddress": self.reviewer,
            "reviewerSignature": signature(&self.reviewer_key, &self.message()),
            "reviewerSignatureAlgorithm": algorithm(&self.reviewer_key),
        })
    }
}
