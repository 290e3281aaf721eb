use serde::Deserialize;
use serde_json::{Map, Value, json};

/// A vector file's name, and its text.
pub type Embedded = (&'static str, &'static str);

macro_rules! embedded {
    ($($name:literal)*) => {
        &[$(($name, include_str!(concat!("../../../tests/vectors/", $name, ".json"))),)*]
    };
}

/// The files of `tests/vectors` for the functions of the oracle's protocol, in the order of reports.
pub const FILES: &[Embedded] = embedded![
    "keccak256" "sha256" "request_bytes" "jcs" "jcs_numbers" "jcs_midpoints" "data_hash"
    "interaction_hash" "reviewer_message" "feedback_auth" "feedback_auth_blob"
    "feedback_auth_blob_decode" "payment_proof" "revoke_message" "respond_message" "receipt"
    "validation_request_hash" "agent_wallet_set" "tag" "tag_decode" "summary" "verify" "sign"
    "chain_id" "account_id" "task_ref" "pda" "public_key" "feedback_id" "weighted_score"
    "stars_to_value" "stars_of_value" "standard_tag" "standard_tag_value" "x402_tag" "summary_part"
    "summary_merge" "request_length_prefix" "integer_field" "feedback_auth_eoa_blob_decode"
    "eip712_domain" "recover_address" "ethereum_v" "low_s" "public_key_of_secret"
    "address_of_public_key"
];

/// The JSON Schema of these files.
pub const SCHEMA: &str = include_str!("../../../tests/vectors/schema.json");

/// The vectors of one file.
#[derive(Debug)]
pub struct VectorFile {
    pub name: &'static str,
    /// The function that they are about. Tables of numbers are about `jcs`.
    pub function: String,
    pub vectors: Vec<Vector>,
}

/// One request, and its answer.
#[derive(Debug)]
pub struct Vector {
    pub id: String,
    /// Why it exists, in words.
    pub comment: String,
    pub flags: Vec<String>,
    /// The request as the protocol has it, with `id` and `fn`.
    pub request: Map<String, Value>,
    pub expected: Expected,
}

/// What has to be answered.
#[derive(Debug)]
pub enum Expected {
    Ok(Value),
    /// A result that has this member; the others are not checked.
    Member {
        name: &'static str,
        value: Value,
    },
    /// The error class.
    Error(String),
}

#[derive(Deserialize)]
struct Document {
    #[serde(rename = "fn")]
    table: Option<String>,
    #[serde(default)]
    vectors: Vec<Map<String, Value>>,
    #[serde(default)]
    rows: Vec<String>,
}

impl Vector {
    /// Is it about the request's own form? A library cannot be wrong about that.
    pub fn is_about_requests(&self) -> bool {
        self.flags.iter().any(|flag| flag == "Request")
    }

    /// `secret_key`, if the request has one that is text.
    pub fn secret(&self) -> Option<&str> {
        self.request.get("secret_key").and_then(Value::as_str)
    }

    fn of(mut fields: Map<String, Value>) -> Self {
        let comment = text(fields.remove("comment"));
        let flags = fields.remove("flags").and_then(|it| match it {
            Value::Array(flags) => Some(flags.into_iter().map(|it| text(Some(it))).collect()),
            _ => None,
        });
        let expected = match (fields.remove("ok"), fields.remove("error")) {
            (Some(ok), _) => Expected::Ok(ok),
            (None, class) => Expected::Error(text(class)),
        };
        Self {
            id: text(fields.get("id").cloned()),
            comment,
            flags: flags.unwrap_or_default(),
            request: fields,
            expected,
        }
    }

    /// A row of `jcs_numbers` (bits of a double) or `jcs_midpoints` (a literal), and V8's text.
    fn of_row(table: &str, row: &str) -> Self {
        let (given, written) = row.split_once(',').unwrap_or((row, ""));
        let literal = match table {
            "jcs_numbers" => {
                let bits = u64::from_str_radix(given, 16).unwrap_or_default();
                format!("{:.16e}", f64::from_bits(bits))
            }
            _ => given.to_owned(),
        };
        let id = format!("{table}/{given}");
        let request = json!({"id": id, "fn": "jcs", "text": literal});
        let Value::Object(request) = request else {
            unreachable!("it was written as an object")
        };
        Self {
            id,
            comment: "the number that V8 reads, as V8 writes it".to_owned(),
            flags: vec!["Number".to_owned()],
            request,
            expected: Expected::Member {
                name: "canonical",
                value: written.into(),
            },
        }
    }
}

fn text(value: Option<Value>) -> String {
    match value {
        Some(Value::String(text)) => text,
        _ => String::new(),
    }
}

/// Every vector of [`FILES`].
///
/// # Panics
/// An embedded file is not a vector file, which a test rules out.
pub fn all() -> Vec<VectorFile> {
    FILES.iter().map(|(name, text)| read(name, text)).collect()
}

fn read(name: &'static str, text: &str) -> VectorFile {
    let document: Document = serde_json::from_str(text).expect("a vector file");
    let function = match document.table {
        Some(_) => "jcs".to_owned(),
        None => name.to_owned(),
    };
    let rows = document.rows.iter().map(|row| Vector::of_row(name, row));
    let vectors = document.vectors.into_iter().map(Vector::of);
    VectorFile {
        name,
        function,
        vectors: vectors.chain(rows).collect(),
    }
}
