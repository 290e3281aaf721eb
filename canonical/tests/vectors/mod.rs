//! Every vector file of `tests/vectors`, against the crate's own functions.
//!
//! The expected values come from other implementations (see `tests/vectors/generate`). Vectors flagged
//! `Request` are about the line protocol's arguments and are judged where that lives, in the harness.

mod arguments;
mod authorization;
mod derived_address;
mod functions;
mod scores;
mod signing;
mod tables;
mod vector_file;

use std::collections::BTreeMap;

use arguments::Arguments;
use vector_file::{Expected, Vector, VectorFile};

/// Least vectors (accepted, refused) that each file must hold, so that none passes by being empty.
const LEAST: &[(&str, usize, usize)] = &[
    ("account_id", 15, 22),
    ("address_of_public_key", 24, 6),
    ("agent_wallet_set", 9, 2),
    ("chain_id", 21, 26),
    ("data_hash", 8, 0),
    ("data_hash_of_zeros", 3, 0),
    ("eip712_domain", 7, 0),
    ("ethereum_v", 16, 10),
    ("feedback_auth", 60, 27),
    ("feedback_auth_blob", 8, 0),
    ("feedback_auth_blob_decode", 8, 12),
    ("feedback_auth_eoa_blob_decode", 1, 5),
    ("feedback_id", 8, 16),
    ("integer_field", 12, 12),
    ("interaction_hash", 10, 12),
    ("jcs", 88, 84),
    ("keccak256", 21, 2),
    ("low_s", 16, 2),
    ("payment_proof", 15, 6),
    ("pda", 38, 11),
    ("public_key", 38, 12),
    ("public_key_of_secret", 29, 5),
    ("receipt", 8, 3),
    ("recover_address", 32, 4),
    ("request_bytes", 6, 0),
    ("request_length_prefix", 8, 3),
    ("respond_message", 10, 9),
    ("reviewer_message", 12, 7),
    ("revoke_message", 8, 6),
    ("sha256", 21, 2),
    ("sign", 49, 15),
    ("standard_tag", 9, 4),
    ("standard_tag_value", 50, 30),
    ("stars_of_value", 12, 1),
    ("stars_to_value", 5, 4),
    ("summary", 65, 5),
    ("summary_merge", 71, 16),
    ("summary_part", 65, 5),
    ("tag", 42, 13),
    ("tag_decode", 21, 9),
    ("task_ref", 8, 17),
    ("validation_request_hash", 12, 7),
    ("verify", 113, 152),
    ("weighted_score", 28, 2),
    ("x402_tag", 4, 2),
];

#[test]
fn every_vector_holds() {
    let mut held = BTreeMap::new();
    for file in VectorFile::all() {
        let (mut accepted, mut refused, mut skipped) = (0, 0, 0);
        for vector in &file.vectors {
            match (check(vector), &vector.expected) {
                (Outcome::RequestLayer, _) => skipped += 1,
                (Outcome::Held, Expected::Ok(_)) => accepted += 1,
                (Outcome::Held, Expected::Error(_)) => refused += 1,
            }
        }
        println!(
            "{}: {accepted} accepted, {refused} refused, {skipped} of the request layer",
            file.name
        );
        assert_eq!(accepted, file.counts.ok, "{}", file.name);
        assert_eq!(refused + skipped, file.counts.error, "{}", file.name);
        held.insert(file.name.clone(), (accepted, refused + skipped));
    }
    for (name, least_accepted, least_refused) in LEAST {
        let (accepted, refused) = held
            .remove(*name)
            .unwrap_or_else(|| panic!("{name}: no file"));
        assert!(accepted >= *least_accepted, "{name}: {accepted} accepted");
        assert!(refused >= *least_refused, "{name}: {refused} refused");
    }
    assert!(held.is_empty(), "files without a least count: {held:?}");
}

enum Outcome {
    Held,
    RequestLayer,
}

fn check(vector: &Vector) -> Outcome {
    let id = &vector.id;
    let function = functions::named(&vector.function)
        .unwrap_or_else(|| panic!("{id}: unknown function {}", vector.function));
    if vector.flags.iter().any(|flag| flag == "Request") {
        assert!(matches!(vector.expected, Expected::Error(_)), "{id}");
        return Outcome::RequestLayer;
    }
    let arguments = Arguments::new(id, &vector.arguments, function.fields);
    match (&vector.expected, (function.call)(&arguments)) {
        (Expected::Ok(expected), Ok(found)) => assert_eq!(&found, expected, "{id}"),
        (Expected::Error(expected), Err(error)) => {
            assert_eq!(error.class().name(), expected, "{id}: {error}");
        }
        (Expected::Ok(_), Err(error)) => panic!("{id}: refused: {error}"),
        (Expected::Error(class), Ok(found)) => panic!("{id}: not {class} but {found}"),
    }
    Outcome::Held
}
