//! Every public function of the canonical crate is asked through the protocol, or this list says why not.
use super::*;
use std::{
    collections::{BTreeMap, BTreeSet},
    fs,
    path::Path,
};

/// A function of the protocol, and the public functions whose results it answers.
const ASKED: &[(&str, &str)] = &[
    ("keccak256", "hash::keccak256"),
    ("sha256", "hash::sha256"),
    ("request_bytes", "interaction::request_bytes"),
    (
        "jcs",
        "json::parse json::canonicalize json::file_hash json::Value::to_canonical",
    ),
    ("data_hash", "interaction::data_hash"),
    (
        "request_length_prefix",
        "interaction::request_length_prefix",
    ),
    (
        "interaction_hash",
        "interaction::interaction_hash interaction::Profile::from_name caip::check_task_ref_shape",
    ),
    ("reviewer_message", "interaction::Review::message"),
    ("revoke_message", "interaction::Revocation::message"),
    ("respond_message", "interaction::AgentResponse::message"),
    ("receipt", "receipt::Receipt::hash"),
    (
        "feedback_auth",
        "auth::EvmFeedbackAuth::eip712_digest auth::EvmFeedbackAuth::eip712_fs_digest auth::EvmFeedbackAuth::eip191_digest \
         auth::EvmFeedbackAuth::packed_hash auth::SvmFeedbackAuth::message auth::x84_message caip::ChainId::hash \
         caip::parse_evm_address caip::parse_solana_key",
    ),
    ("feedback_auth_blob", "auth::EvmFeedbackAuth::encode_blob"),
    ("feedback_auth_blob_decode", "auth::decode_blob"),
    ("feedback_auth_eoa_blob_decode", "auth::decode_eoa_blob"),
    ("eip712_domain", "auth::domain_separator"),
    (
        "agent_wallet_set",
        "wallet::AgentWalletSet::digest auth::eip712_digest",
    ),
    (
        "payment_proof",
        "payment::PaymentProof::message caip::DedupeKey::hash",
    ),
    (
        "validation_request_hash",
        "validation::ValidationRequest::evm validation::ValidationRequest::hash",
    ),
    ("tag", "tag::Tag::named tag::Tag::padded tag::Tag::hashed"),
    ("tag_decode", "tag::decode_padded"),
    ("standard_tag", "tag::standard_tag tag::Range::name"),
    (
        "standard_tag_value",
        "tag::StandardTag::check tag::Range::contains",
    ),
    ("stars_to_value", "tag::stars_to_value"),
    ("stars_of_value", "tag::stars_of_value"),
    ("weighted_score", "score::weighted score::Tally::average"),
    (
        "summary",
        "summary::Accumulator::add summary::Accumulator::finish summary::Query::matches value::Value::new",
    ),
    (
        "summary_part",
        "summary::Accumulator::sum summary::Accumulator::count summary::Accumulator::histogram",
    ),
    (
        "summary_merge",
        "summary::Accumulator::merge summary::Accumulator::from_parts summary::I256::to_be_bytes \
         summary::I256::from_be_bytes summary::I256::is_negative",
    ),
    ("verify", "sign::secp256k1_verify sign::ed25519_verify"),
    ("sign", "sign::secp256k1_sign sign::ed25519_sign"),
    ("recover_address", "sign::recover_address"),
    ("ethereum_v", "sign::to_ethereum_v sign::from_ethereum_v"),
    ("low_s", "sign::low_s"),
    ("public_key", "sign::PublicKey::from_hex"),
    (
        "public_key_of_secret",
        "sign::secp256k1_public_key sign::ed25519_public_key",
    ),
    ("address_of_public_key", "sign::address_of_public_key"),
    (
        "chain_id",
        "caip::ChainId::parse caip::ChainId::namespace caip::ChainId::reference",
    ),
    (
        "account_id",
        "caip::AccountId::parse caip::AccountId::chain_id caip::AccountId::address",
    ),
    (
        "task_ref",
        "caip::TaskRef::parse caip::TaskRef::chain_id caip::TaskRef::transaction caip::TaskRef::dedupe_key",
    ),
    ("pda", "pda::Account::find"),
    (
        "feedback_id",
        "feedback_id::FeedbackId::parse feedback_id::FeedbackId::agent_id feedback_id::FeedbackId::client \
         feedback_id::FeedbackId::index feedback_id::FeedbackId::text feedback_id::contract_index",
    ),
    (
        "integer_field",
        "json::Value::as_integer json::Number::to_integer",
    ),
    ("x402_tag", ""), // a table, not a function
];

/// Why the others cannot or need not be asked.
const NOT_ASKED: &[(&str, &str)] = &[
    (
        "the words that a hash of the list above is made of",
        "auth::EvmFeedbackAuth::words auth::EvmFeedbackAuth::words_hash auth::SvmFeedbackAuth::words \
         payment::PaymentProof::words validation::ValidationRequest::words wallet::AgentWalletSet::struct_hash \
         pda::Account::seeds pda::Seeds::parts pda::find_address",
    ),
    (
        "the same result as another one, for memory or time: the crate's tests hold them equal",
        "auth::EvmFeedbackAuth::blob hash::keccak256v hash::sha256v hash::Keccak256Stream::update \
         hash::Keccak256Stream::finish interaction::DataHasher::new interaction::DataHasher::request \
         interaction::DataHasher::response interaction::DataHasher::finish sign::PreparedKey::secp256k1 \
         sign::PreparedKey::ed25519 sign::PreparedKey::public_key sign::PreparedKey::sign summary::summarize \
         tag::Tag::new json::is_canonical sign::PublicKey::from_bytes",
    ),
    (
        "a part of a value that was given, or a constructor",
        "caip::ChainId::from_parts feedback_id::FeedbackId::new interaction::Profile::name tag::Tag::as_str \
         tag::Tag::is_empty value::Value::value value::Value::decimals",
    ),
    (
        "reading of JSON, for callers in Rust",
        "json::i128_from_decimal json::Number::literal json::Number::to_f64 json::Value::as_str json::Value::as_bool \
         json::Value::as_number json::Value::as_array json::Value::as_object json::Value::is_null json::Value::get \
         json::Value::as_i128 json::Object::get json::Object::iter json::Object::len json::Object::is_empty",
    ),
    (
        "arithmetic and words, whose results are in the hashes and summaries above",
        "summary::I256::product summary::I256::checked_add summary::I256::divide summary::I256::to_i128 word::from_u64 \
         word::from_u128 word::from_address word::to_u64 word::to_address word::parse_decimal",
    ),
    (
        "error classes: the contracts' ABI and the program's interface description are the other implementation",
        "error::Error::class error::Excerpt::new error::Excerpt::as_str error_class::ErrorClass::info \
         error_class::ErrorClass::name error_class::ErrorClass::from_name error_class::class_of_selector \
         error_class::class_of_anchor_code error_class::class_of_framework_error error_class::class_of_runtime_error",
    ),
];

/// Modules that callers do not see: what they have is under the module above them.
const PRIVATE: [&str; 16] = [
    "account_id",
    "chain_id",
    "task_ref",
    "text",
    "review",
    "revocation",
    "agent_response",
    "integer",
    "number",
    "ed25519",
    "prepared",
    "secp256k1",
    "i256",
    "standard",
    "public_key",
    "value",
];

#[test]
fn every_public_function_is_asked_or_has_a_reason() {
    let public = public_functions();
    assert!(public.len() >= 150, "{} were found", public.len());
    let mut listed = BTreeMap::new();
    for (why, names) in ASKED.iter().chain(NOT_ASKED) {
        for name in names.split_whitespace() {
            let twice = listed.insert(name.to_owned(), *why);
            assert_eq!(twice, None, "{name} is listed twice");
        }
    }
    let listed: BTreeSet<_> = listed.into_keys().collect();
    let missing: Vec<_> = public.difference(&listed).collect();
    assert!(
        missing.is_empty(),
        "neither asked nor explained: {missing:?}"
    );
    let gone: Vec<_> = listed.difference(&public).collect();
    assert!(gone.is_empty(), "not in the crate: {gone:?}");
    let asked: BTreeSet<_> = ASKED.iter().map(|(name, _)| *name).collect();
    assert_eq!(asked, oracle::names().collect());
}

#[test]
fn the_documentation_lists_every_function() {
    let place = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/VECTORS.md");
    let text = fs::read_to_string(place).expect("docs/VECTORS.md");
    let (_, table) = text.split_once("## Functions\n").expect("the table");
    let rows = table.lines().filter_map(|row| row.strip_prefix("| `"));
    let names = rows.filter_map(|row| row.split(" | ").next());
    let names = names.flat_map(|cell| cell.split(", ").map(|it| it.trim_matches('`')));
    assert_eq!(names.collect::<BTreeSet<_>>(), oracle::names().collect());
}

/// `module::function` and `module::Type::function`, read from the sources, which rustfmt has laid out.
fn public_functions() -> BTreeSet<String> {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../src");
    let mut found = BTreeSet::new();
    read_folder(&source, "", &mut found);
    found
}

fn read_folder(folder: &Path, module: &str, found: &mut BTreeSet<String>) {
    for entry in fs::read_dir(folder).expect("the crate's sources") {
        let path = entry.expect("an entry").path();
        let name = path.file_stem().and_then(|it| it.to_str()).expect("a name");
        if ["tests", "testing"].contains(&name) {
            continue;
        }
        let inner = match name {
            "mod" | "lib" => module.to_owned(),
            private if PRIVATE.contains(&private) && !module.is_empty() => module.to_owned(),
            name => format!("{module}{name}::"),
        };
        if path.is_dir() {
            read_folder(&path, &inner, found)
        } else {
            read_file(&path, &inner, found)
        }
    }
}

fn read_file(path: &Path, module: &str, found: &mut BTreeSet<String>) {
    let text = fs::read_to_string(path).expect("a source file");
    let mut owner = String::new();
    for line in text.lines().take_while(|line| *line != "#[cfg(test)]") {
        if let Some(rest) = line.strip_prefix("impl") {
            let subject = rest.split_once("> ").filter(|_| rest.starts_with('<'));
            let subject = subject.map_or(rest, |(_, subject)| subject).trim_start();
            owner = format!("{}::", word(subject));
        }
        let (owner, line) = match line.strip_prefix("    ") {
            Some(line) => (owner.as_str(), line),
            None => ("", line),
        };
        let function = line
            .strip_prefix("pub fn ")
            .or(line.strip_prefix("pub const fn "));
        if let Some(function) = function {
            found.insert(format!("{module}{owner}{}", word(function)));
        }
    }
}

/// The identifier that a text begins with.
fn word(text: &str) -> &str {
    let end = text.find(|c: char| !c.is_alphanumeric() && c != '_');
    &text[..end.unwrap_or(text.len())]
}
