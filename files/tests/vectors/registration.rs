use concord_files::parse_registration;
use serde_json::json;

use crate::vectors::{
    mapping_texts,
    vector_file::{Answer, current, error, hex_of, schema},
};

pub(crate) fn answer(text: &str) -> Answer {
    let parsed = parse_registration(text.as_bytes()).map_err(error)?;
    assert_eq!(parsed.original(), text, "lossless");
    let view = parsed.view();
    let written = view.to_canonical();
    if let Ok(text) = &written {
        let again = parse_registration(text.as_bytes()).expect("what a writer emits is read");
        assert_eq!(again.view(), view, "a writer loses nothing that it read");
        assert_eq!(again.mappings(), [], "the current form needs no mapping");
    }
    let wallets = view.agent_wallets().expect("CAIP-10 ids");
    Ok(json!({
        "mappings": mapping_texts(parsed.mappings()),
        "wallets": wallets.iter().map(ToString::to_string).collect::<Vec<_>>(),
        "hash": hex_of(&parsed.hash()),
        "current": current(written, &schema("registration")),
    }))
}
