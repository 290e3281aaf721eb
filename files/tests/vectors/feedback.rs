use concord_files::{Dialect, FeedbackFile, parse_feedback};
use serde_json::{Value, json};

use crate::vectors::{
    mapping_texts,
    vector_file::{Answer, current, error, hex_of, schema},
};

pub(crate) fn answer(vector: &Value, text: &str) -> Answer {
    let parsed = parse_feedback(text.as_bytes()).map_err(error)?;
    assert_eq!(parsed.original(), text, "lossless");
    let view = parsed.view();
    let schema = schema(match view.dialect() {
        Dialect::Profile | Dialect::ProfileV1_1 => "feedback-profile",
        Dialect::BestPractices => "feedback-best-practices",
        Dialect::X402(_) => "feedback-x402",
        Dialect::Agent0 => "feedback-agent0",
        other => panic!("{other:?}: no schema"),
    });
    let written = view.to_canonical();
    if let Ok(text) = &written {
        let again = parse_feedback(text.as_bytes()).expect("what a writer emits is read");
        assert_eq!(again.view(), view, "a writer loses nothing that it read");
        // R37: these two spellings are kept, so they are bridged again
        let is_kept = |text: &String| {
            text.starts_with("proof-of-payment-key") || text.starts_with("chain-id")
        };
        assert!(
            mapping_texts(again.mappings()).iter().all(is_kept),
            "{text}"
        );
    }
    verify(vector, view);
    Ok(json!({
        "dialect": view.dialect().name(),
        "mappings": mapping_texts(parsed.mappings()),
        "hash": hex_of(&parsed.hash()),
        "current": current(written, &schema),
    }))
}

/// Files flagged `Signed` were signed with other software.
fn verify(vector: &Value, view: &FeedbackFile) {
    let FeedbackFile::X402(file) = view else {
        return;
    };
    let agent = file.proof().signed.verify(file.profile());
    let reviewer = file.verify_review();
    let flags = vector["flags"].as_array().expect("flags");
    let is_signed = flags.iter().any(|flag| flag == "Signed");
    assert_eq!(
        agent.is_ok() && reviewer.is_ok(),
        is_signed,
        "{}: {agent:?} {reviewer:?}",
        vector["id"]
    );
}
