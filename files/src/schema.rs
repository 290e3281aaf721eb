//! JSON Schemas of the current forms, generated from the types. `CONCORD_BLESS=1 cargo test -p concord-files`
//! writes `files/schemas/` again.

use std::{env, fs, path::PathBuf};

use schemars::{JsonSchema, Schema, SchemaGenerator, generate::SchemaSettings, json_schema};

use crate::{
    Agent0Feedback, BestPracticesFeedback, InteractionData, ProfileFeedback, REGISTRATION_TYPE,
    RegistrationFile, ReputationInfo, X402Feedback,
};

pub(crate) fn hex_bytes(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^0x([0-9a-f]{2})+$" })
}

pub(crate) fn hex_word(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^0x[0-9a-f]{64}$" })
}

pub(crate) fn public_key_0x(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^0x(0[23])?[0-9a-f]{64}$" })
}

pub(crate) fn public_key(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^(0[23])?[0-9a-f]{64}$" })
}

pub(crate) fn account_id(_: &mut SchemaGenerator) -> Schema {
    let pattern = "^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:[-.%a-zA-Z0-9]{1,128}$";
    json_schema!({ "type": "string", "pattern": pattern })
}

pub(crate) fn task_ref(_: &mut SchemaGenerator) -> Schema {
    let pattern = "^[-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}:[-_.%a-zA-Z0-9]{1,128}$";
    json_schema!({ "type": "string", "pattern": pattern })
}

/// `null` means never, and is written.
pub(crate) fn expiry(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "type": ["integer", "null"], "format": "uint64", "minimum": 0 })
}

/// A number on EVM, a mint on Solana (R37).
pub(crate) fn agent_id_number(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            { "type": "integer", "minimum": 0, "maximum": 9_007_199_254_740_991_u64 },
            { "type": "string" }
        ]
    })
}

/// Text beyond 2^53 − 1 (R22).
pub(crate) fn int128(_: &mut SchemaGenerator) -> Schema {
    json_schema!({
        "anyOf": [
            {
                "type": "integer",
                "minimum": -9_007_199_254_740_991_i64,
                "maximum": 9_007_199_254_740_991_i64
            },
            { "type": "string", "pattern": "^-?[1-9][0-9]{15,38}$" }
        ]
    })
}

pub(crate) fn registration_type(_: &mut SchemaGenerator) -> Schema {
    json_schema!({ "const": REGISTRATION_TYPE })
}

fn text_of<T: JsonSchema>() -> String {
    let settings = SchemaSettings::draft2020_12().for_serialize();
    let schema = settings.into_generator().into_root_schema_for::<T>();
    let text = serde_json::to_string_pretty(&schema).expect("a schema is JSON");
    text + "\n"
}

fn schemas() -> [(&'static str, String); 7] {
    [
        ("feedback-profile", text_of::<ProfileFeedback>()),
        (
            "feedback-best-practices",
            text_of::<BestPracticesFeedback>(),
        ),
        ("feedback-x402", text_of::<X402Feedback>()),
        ("feedback-agent0", text_of::<Agent0Feedback>()),
        ("registration", text_of::<RegistrationFile>()),
        ("reputation-info", text_of::<ReputationInfo>()),
        ("interaction-data", text_of::<InteractionData>()),
    ]
}

#[test]
fn committed_schemas_are_those_of_the_types() {
    let folder = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("schemas");
    for (name, text) in schemas() {
        let path = folder.join(format!("{name}.json"));
        if env::var_os("CONCORD_BLESS").is_some() {
            fs::write(&path, &text).expect("files/schemas is writable");
        }
        let committed = fs::read_to_string(&path).expect("a committed schema");
        assert_eq!(
            committed, text,
            "{name}: run with CONCORD_BLESS=1 and read the difference"
        );
    }
    let count = fs::read_dir(folder).expect("files/schemas").count();
    assert_eq!(count, schemas().len(), "a schema of no type");
}
