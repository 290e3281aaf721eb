//! The first checks of R52, which need the payload only: size, JSON, forms, widths and bounds, and the
//! interaction hash. All of them answer `INVALID_PAYLOAD`.

use concord_canonical::{
    Word,
    caip::{AccountId, TaskRef},
    hash::keccak256,
    json::{self, Value},
};
use concord_files::{
    Algorithm, Error, FeedbackFile, Found, InteractionData, X402Feedback, X402Profile,
    parse_feedback, parse_interaction, published_endpoint,
};

use crate::{Claim, Code, Content, Refusal, claim::payment_key};

/// Bytes of a submission.
pub const BODY_MAX: usize = 64 << 10;

/// The profile of submissions: X402 §3 belongs to the extension `8004-reputation` (R26).
const PROFILE: X402Profile = X402Profile::Reputation8004;
/// The members of the proof that the agent signed.
const SIGNED: [&str; 5] = [
    "taskRef",
    "dataHash",
    "agentSignerPublicKey",
    "agentSignature",
    "agentSignatureAlgorithm",
];
const REVIEWER: [&str; 3] = [
    "reviewerAddress",
    "reviewerSignature",
    "reviewerSignatureAlgorithm",
];

/// A well-formed submission, in two parts that do not meet again before the file is written (R53).
#[derive(Clone, Debug)]
pub struct Form {
    /// What decisions are made with.
    pub claim: Claim,
    /// What they must not depend on.
    pub content: Content,
}

impl Form {
    /// Reads a request's body.
    ///
    /// # Errors
    /// [`Code::InvalidPayload`], with the member that breaks its form.
    pub fn read(body: &[u8]) -> Result<Self, Refusal> {
        let text = text_of(body)?;
        let payload = json::parse(text)
            .map_err(|error| malformed("MalformedJson", format!("is not strict JSON: {error}")))?;
        let interaction = object(&payload, "interactionData")?;
        let review = object(&payload, "review")?;
        let interaction = parse_interaction(interaction.to_canonical().as_bytes());
        let interaction = interaction.map_err(|error| {
            let field = error.path().replacen('$', "interactionData", 1);
            Refusal::of_form(&error, field)
        })?;
        let data = interaction.into_view();
        let draft = draft(&payload, &data, review)?;
        require_payment_chain(&data, &draft)?;
        let digest = keccak256(payload.to_canonical().as_bytes());
        let form = Self::split(data, draft, digest)?;
        // R52: after the forms of the whole payload
        require_interaction_hash(&form.claim.interaction.view)?;
        Ok(form)
    }

    fn split(
        mut data: InteractionData,
        draft: X402Feedback,
        digest: Word,
    ) -> Result<Self, Refusal> {
        let unusable =
            |error: concord_canonical::Error| malformed(error.class().name(), error.to_string());
        let message = draft.review().message().map_err(unusable)?;
        let proof = draft.proof();
        let task_ref = TaskRef::parse(&proof.signed.task_ref).map_err(unusable)?;
        let reviewer = proof.reviewer_address.clone();
        data.extra.clear();
        let key = payment_key(&task_ref, &reviewer);
        let claim = Claim {
            interaction: Found {
                profile: PROFILE,
                view: data,
                mappings: Vec::new(),
            },
            reviewer,
            algorithm: proof.reviewer_signature_algorithm,
            signature: proof.reviewer_signature.0.clone(),
            message,
            key,
            digest,
        };
        let content = Content::new(draft);
        Ok(Self { claim, content })
    }
}

pub(crate) fn malformed(class: &str, message: impl Into<String>) -> Refusal {
    Refusal::new(Code::InvalidPayload, class, message)
}

pub(crate) fn text_of(body: &[u8]) -> Result<&str, Refusal> {
    if body.len() > BODY_MAX {
        let length = body.len();
        let message = format!("the body is {length} bytes, at most {BODY_MAX}");
        return Err(malformed("PayloadTooLarge", message));
    }
    str::from_utf8(body).map_err(|error| {
        let message = format!("the body is not UTF-8 at byte {}", error.valid_up_to());
        malformed("MalformedJson", message)
    })
}

/// A required text.
pub(crate) fn member(payload: &Value<'_>, key: &str) -> Result<String, Refusal> {
    let found = payload.get(key);
    let found =
        found.ok_or_else(|| malformed("FieldMissing", "is required and missing").of(key))?;
    let text = found.as_str().map(str::to_owned);
    text.ok_or_else(|| malformed("WrongType", "must be a string").of(key))
}

/// The bytes of a text in hexadecimal with `0x`.
pub(crate) fn bytes_of(text: &str, field: &str) -> Result<Vec<u8>, Refusal> {
    let digits = text.strip_prefix("0x");
    let bytes = digits.and_then(|it| hex::decode(it).ok());
    bytes.ok_or_else(|| {
        let message = "expected 0x and pairs of hexadecimal digits";
        malformed("MalformedField", message).of(field)
    })
}

/// The 32 bytes of a text in hexadecimal with `0x`.
pub(crate) fn word_of(text: &str, field: &str) -> Result<Word, Refusal> {
    Word::try_from(bytes_of(text, field)?).map_err(|found| {
        let message = format!("has {} bytes, expected 32", found.len());
        malformed("MalformedField", message).of(field)
    })
}

/// An algorithm by its name.
pub(crate) fn algorithm_of(name: &str, field: &str) -> Result<Algorithm, Refusal> {
    let mut all = Algorithm::ALL.into_iter();
    all.find(|it| it.name() == name).ok_or_else(|| {
        let found: String = name.chars().take(32).collect();
        let message = format!("found {found:?}, expected secp256k1 or ed25519");
        malformed("MalformedField", message).of(field)
    })
}

fn object<'v>(payload: &'v Value<'v>, key: &str) -> Result<&'v Value<'v>, Refusal> {
    let found = payload.get(key);
    let found =
        found.ok_or_else(|| malformed("FieldMissing", "is required and missing").of(key))?;
    match found.as_object() {
        Some(_) => Ok(found),
        None => Err(malformed("WrongType", "must be an object").of(key)),
    }
}

fn require_interaction_hash(data: &InteractionData) -> Result<(), Refusal> {
    let field = "interactionData.interactionHash";
    let computed = data.signed.interaction_hash(PROFILE);
    let computed = computed.map_err(|error| malformed("MalformedTaskRef", error.to_string()))?;
    if computed == data.interaction_hash.0 {
        Ok(())
    } else {
        let (found, expected) = (hex::encode(data.interaction_hash.0), hex::encode(computed));
        let message = format!("found 0x{found}, expected 0x{expected}");
        Err(malformed("InteractionHashMismatch", message).of(field))
    }
}

/// R38: the reviewer is the payer, so both are on the payment chain.
fn require_payment_chain(data: &InteractionData, draft: &X402Feedback) -> Result<(), Refusal> {
    let reviewer = &draft.proof().reviewer_address;
    let account = AccountId::parse(reviewer).ok();
    let payment = TaskRef::parse(&data.signed.task_ref).ok();
    match (account, payment) {
        (Some(account), Some(payment)) if account.chain_id() == payment.chain_id() => Ok(()),
        _ => {
            let chain = payment.map(|it| it.chain_id().to_string());
            let chain = chain.unwrap_or_default();
            let message = format!("{reviewer} is not on the payment chain {chain} (R38)");
            Err(malformed("ReviewerMismatch", message).of("reviewerAddress"))
        }
    }
}

/// The feedback file with placeholders for client and time: its reader and its writer check every form.
fn draft(
    payload: &Value<'_>,
    data: &InteractionData,
    review: &Value<'_>,
) -> Result<X402Feedback, Refusal> {
    let refused = |error: Error| {
        let field = payload_field(error.path());
        Refusal::of_form(&error, field)
    };
    let text = draft_text(payload, data, review);
    let file = parse_feedback(text.as_bytes())
        .map_err(refused)?
        .into_view();
    file.to_canonical().map_err(refused)?; // R17, R39
    match file {
        FeedbackFile::X402(file) => Ok(file),
        _ => Err(malformed("MalformedField", "is not an X402 review").of("review")),
    }
}

fn draft_text(payload: &Value<'_>, data: &InteractionData, review: &Value<'_>) -> String {
    let of_payload = |key: &'static str| payload.get(key).map(|it| (key, literal(it)));
    let of_interaction = |key| Some((key, literal(payload.get("interactionData")?.get(key)?)));
    let proof = SIGNED.into_iter().filter_map(of_interaction);
    let proof: Vec<_> = proof
        .chain(REVIEWER.into_iter().filter_map(of_payload))
        .collect();
    let mut members = vec![
        ("agentRegistry", text(&data.agent.agent_registry)),
        ("agentId", text(data.agent.agent_id.as_str())),
        ("createdAt", text("1970-01-01T00:00:00Z")),
        (PROFILE.proof_field(), joined(&proof)),
    ];
    let client = payload.get(REVIEWER[0]).map(literal);
    members.extend(client.map(|it| ("clientAddress", it)));
    for key in ["value", "valueDecimals", "comment"] {
        members.extend(review.get(key).map(|it| (key, literal(it))));
    }
    for key in ["tag1", "tag2"] {
        let tag = review.get(key).filter(|it| it.as_str() != Some(""));
        members.extend(tag.map(|it| (key, literal(it))));
    }
    let endpoint = review.get("endpoint").map(|it| match it.as_str() {
        Some(url) => text(&published_endpoint(url)), // R39
        None => literal(it),
    });
    members.extend(endpoint.map(|it| ("endpoint", it)));
    joined(&members)
}

fn joined(members: &[(&str, String)]) -> String {
    let members = members
        .iter()
        .map(|(key, value)| format!("\"{key}\":{value}"));
    format!("{{{}}}", members.collect::<Vec<_>>().join(","))
}

fn text(text: &str) -> String {
    serde_json::Value::from(text).to_string()
}

/// A number keeps what was written: RFC 8785 would map neighbours to the same bytes (R22).
fn literal(value: &Value<'_>) -> String {
    match value.as_number() {
        Some(number) => number.literal().to_owned(),
        None => value.to_canonical(),
    }
}

/// The member of the payload that a path of the file was taken from.
fn payload_field(path: &str) -> String {
    let path = path.trim_start_matches("$.");
    let path = path.trim_start_matches(PROFILE.proof_field());
    let path = path.trim_start_matches('.');
    let parent = match path {
        "clientAddress" => return REVIEWER[0].to_owned(),
        "agentRegistry" | "agentId" => "interactionData.",
        _ if SIGNED.contains(&path) => "interactionData.",
        _ if REVIEWER.contains(&path) => "",
        _ => "review.",
    };
    format!("{parent}{path}")
}
