//! A feedback file with X402's proof: signed by the agent over an interaction, and by the reviewer over the review.
use concord_canonical::{
    caip::AccountId,
    interaction::{data_hash, interaction_hash, request_bytes},
    sign::PreparedKey,
};
use concord_files::{
    AgentId, Algorithm, Bytes, Extra, FeedbackFile, FeedbackHead, HexWord, ParticipationProof,
    ProofField, RatingValue, SignedInteraction, Timestamp, X402Feedback, X402Profile,
};

const PROFILE: X402Profile = X402Profile::Reputation8004;
pub const TARGET: &str = "/quote?city=paris";
pub const RESPONSE: &[u8] = b"19 degrees";
pub const ENDPOINT: &str = "https://agent.example/quote";

/// Who rates whom, for which payment. Accounts and registries are CAIP-10.
pub struct Rated<'a> {
    pub registry: &'a str,
    pub agent_id: &'a str,
    pub client: &'a str,
    /// On the payment's chain (R38).
    pub payer: &'a str,
    pub task_ref: &'a str,
    pub agent: &'a PreparedKey,
    pub reviewer: &'a PreparedKey,
}

fn interaction(rated: &Rated<'_>) -> SignedInteraction {
    let request = request_bytes("GET", TARGET, b"").expect("a request");
    let exchanged = data_hash(request, RESPONSE).expect("a hash");
    let hash = interaction_hash(PROFILE.hash_profile(), rated.task_ref, &exchanged);
    let (key, hash) = (rated.agent.public_key(), hash.expect("a hash"));
    let signature = rated.agent.sign(&hash, <[u8]>::to_vec);
    SignedInteraction {
        task_ref: rated.task_ref.to_owned(),
        data_hash: HexWord(exchanged),
        agent_signature: Bytes(signature.expect("a signature")),
        agent_signature_algorithm: Algorithm::of_key(&key),
        agent_signer_public_key: key,
    }
}

/// The file of a rating of 87, tagged `starred` and `quote`.
pub fn file(rated: &Rated<'_>) -> String {
    let signed = interaction(rated);
    let proof = |signature| ParticipationProof {
        signed: signed.clone(),
        reviewer_address: rated.payer.to_owned(),
        reviewer_signature: Bytes(signature),
        reviewer_signature_algorithm: Algorithm::of_key(&rated.reviewer.public_key()),
        extra: Extra::default(),
    };
    let registry = AccountId::parse(rated.registry).expect("a registry");
    let mut file = X402Feedback {
        head: FeedbackHead {
            agent_registry: rated.registry.to_owned(),
            client_address: rated.client.to_owned(),
            created_at: Timestamp::from_unix_seconds(1_800_000_000).expect("a time"),
            tag1: Some("starred".to_owned()),
            tag2: Some("quote".to_owned()),
            endpoint: Some(ENDPOINT.to_owned()),
        },
        agent_id: AgentId::parse(&registry, rated.agent_id).expect("an id"),
        value: RatingValue {
            value: 87,
            value_decimals: 0,
        },
        proof: ProofField::new(PROFILE, proof(Vec::new())),
        comment: None,
        extra: Extra::default(),
    };
    let message = file.review().message().expect("a message");
    let signature = rated.reviewer.sign(&message, <[u8]>::to_vec);
    file.proof = ProofField::new(PROFILE, proof(signature.expect("a signature")));
    FeedbackFile::X402(file).to_canonical().expect("a file")
}
