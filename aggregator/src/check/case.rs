use concord_canonical::sign::{PreparedKey, PublicKey};
use serde_json::{Value, json};

use super::{Answer, CaseResult, CheckError, described, payload::Draft};

/// HTTP status and X402's code.
pub(super) type Refused = (u16, &'static str);

const PAYLOAD: Refused = (400, "INVALID_PAYLOAD");
const REVIEWER: Refused = (422, "INVALID_REVIEWER_SIGNATURE");
const AGENT: Refused = (404, "UNKNOWN_AGENT");
const SIGNATURE: Refused = (422, "INVALID_AGENT_SIGNATURE");
pub(super) const DUPLICATE: Refused = (409, "DUPLICATE_TASK_REF");

/// A submission that must be refused.
pub(super) struct Case {
    name: &'static str,
    pub body: String,
    expected: Refused,
}

impl Case {
    pub fn new(name: &'static str, body: Value, expected: Refused) -> Self {
        Self {
            name,
            body: body.to_string(),
            expected,
        }
    }

    pub fn result(&self, answer: &Answer) -> CaseResult {
        let (status, code) = self.expected;
        let is_right = (answer.status, answer.text("code")) == self.expected
            && answer.text("status") == "error"
            && !answer.text("message").is_empty();
        CaseResult {
            name: self.name,
            failure: (!is_right)
                .then(|| format!("expected {status} {code}, {}", described(answer))),
        }
    }
}

fn with(good: &Value, pointer: &str, value: Value) -> Value {
    let mut changed = good.clone();
    if let Some(place) = changed.pointer_mut(pointer) {
        *place = value;
    }
    changed
}

fn without(good: &Value, parent: &str, key: &str) -> Value {
    let mut changed = good.clone();
    let object = changed.pointer_mut(parent).and_then(Value::as_object_mut);
    object.and_then(|it| it.remove(key));
    changed
}

/// A key of the same algorithm that nobody has.
fn stranger(key: &PreparedKey) -> Result<PreparedKey, CheckError> {
    Ok(match key.public_key() {
        PublicKey::Secp256k1(_) => PreparedKey::secp256k1(&[0x5a; 32])?,
        PublicKey::Ed25519(_) => PreparedKey::ed25519(&[0x5a; 32]),
    })
}

/// An id of the same form at the same registry, which is not an agent.
fn unknown_agent(registry: &str) -> String {
    if registry.starts_with("eip155:") {
        "115792089237316195423570985008687907853269984665640564039457584007913129639935".to_owned()
    } else {
        bs58::encode([0x5a; 32]).into_string()
    }
}

/// The same registry's chain, and an account on it that is not a registry.
fn unknown_registry(registry: &str) -> String {
    let chain = registry.rsplit_once(':').map_or("", |it| it.0);
    if chain.starts_with("eip155:") {
        format!("{chain}:0x{}", "5a".repeat(20))
    } else {
        format!("{chain}:{}", bs58::encode([0x5a; 32]).into_string())
    }
}

/// The payment's chain, and a transaction that it does not have.
fn unpaid(task_ref: &str) -> String {
    let chain = task_ref.rsplit_once(':').map_or("", |it| it.0);
    if chain.starts_with("eip155:") {
        format!("{chain}:0x{}", "5a".repeat(32))
    } else {
        format!("{chain}:{}", bs58::encode([0x5a; 64]).into_string())
    }
}

/// One case for each code but the duplicate's, and several for the payload's forms.
pub(super) fn refused_cases(good: &Draft) -> Result<Vec<Case>, CheckError> {
    let body = good.json()?;
    let mut cases = forms(&body);
    let changed = |change: &dyn Fn(&mut Draft)| {
        let mut draft = good.clone();
        change(&mut draft);
        draft.json()
    };
    let reviewer = stranger(&good.reviewer_key)?;
    let agent = stranger(&good.agent_key)?;
    let signed = [
        (
            "another-key-signed-the-review",
            changed(&|it| it.reviewer_key = reviewer.clone())?,
            REVIEWER,
        ),
        (
            "another-value-was-signed",
            with(&body, "/review/value", json!(94)),
            REVIEWER,
        ),
        (
            "the-registry-is-unknown",
            changed(&|it| it.registry = unknown_registry(&good.registry))?,
            AGENT,
        ),
        (
            "the-agent-is-unknown",
            changed(&|it| it.agent_id = unknown_agent(&good.registry))?,
            AGENT,
        ),
        (
            "another-key-signed-the-interaction",
            changed(&|it| it.agent_key = agent.clone())?,
            SIGNATURE,
        ),
        (
            "nobody-paid",
            changed(&|it| it.task_ref = unpaid(&good.task_ref))?,
            PAYLOAD,
        ),
    ];
    let signed = signed.into_iter();
    cases.extend(signed.map(|(name, body, expected)| Case::new(name, body, expected)));
    Ok(cases)
}

fn forms(good: &Value) -> Vec<Case> {
    let broken = Case {
        name: "not-json",
        body: "{".to_owned(),
        expected: PAYLOAD,
    };
    let twice = Case {
        name: "a-member-twice",
        body: good.to_string().replacen('{', r#"{"review":{},"#, 1),
        expected: PAYLOAD,
    };
    let hash = format!("0x{}", "5a".repeat(32));
    let cases = [
        ("no-review", without(good, "", "review")),
        ("no-interaction", without(good, "", "interactionData")),
        ("no-value", without(good, "/review", "value")),
        (
            "decimals-out-of-range",
            with(good, "/review/valueDecimals", json!(19)),
        ),
        (
            "another-interaction-hash",
            with(good, "/interactionData/interactionHash", json!(hash)),
        ),
        (
            "malformed-task-ref",
            with(good, "/interactionData/taskRef", json!("eip155:1")),
        ),
    ];
    let cases = cases.map(|(name, body)| Case::new(name, body, PAYLOAD));
    [broken, twice].into_iter().chain(cases).collect()
}
