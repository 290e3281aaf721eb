use concord_files::{
    info_from_extensions, interaction_from_extensions, parse_info, parse_interaction,
};
use serde_json::{Value, json};

use crate::vectors::{
    mapping_texts,
    vector_file::{Answer, current, error, schema},
};

/// What both extension objects have in common.
fn found(key: &str, mappings: &[concord_files::Mapping], current: &Value) -> Value {
    json!({ "profile": key, "mappings": mapping_texts(mappings), "current": current["hash"] })
}

pub(crate) fn info(text: &str) -> Answer {
    let infos = info_from_extensions(text.as_bytes()).map_err(error)?;
    let schema = schema("reputation-info");
    let answers = infos.into_iter().map(|info| {
        let text = info.view.to_canonical().expect("what was read is written");
        assert_eq!(
            parse_info(text.as_bytes()).expect("an info").view(),
            &info.view
        );
        found(
            info.profile.extension_key(),
            &info.mappings,
            &current(Ok(text), &schema),
        )
    });
    Ok(answers.collect())
}

pub(crate) fn interaction(text: &str) -> Answer {
    let all = interaction_from_extensions(text.as_bytes()).map_err(error)?;
    let schema = schema("interaction-data");
    let answers = all.into_iter().map(|data| {
        let text = data.view.to_canonical().expect("what was read is written");
        assert_eq!(
            parse_interaction(text.as_bytes()).expect("data").view(),
            &data.view
        );
        assert_eq!(data.view.to_canonical_of_checked().as_ref(), Ok(&text));
        let mut answer = found(
            data.profile.extension_key(),
            &data.mappings,
            &current(Ok(text), &schema),
        );
        let signed = &data.view.signed;
        let recomputed = signed
            .interaction_hash(data.profile)
            .expect("a task reference");
        answer["hash_holds"] = json!(recomputed == data.view.interaction_hash.0);
        answer["signature_holds"] = json!(signed.verify(data.profile).is_ok());
        answer
    });
    Ok(answers.collect())
}
