//! Where each field of each account and event lies. X84's fields keep X84's places (R12); ours
//! follow. Offsets behind a text or list are those while it is empty; its own is that of its u32 LE
//! length.

use agent_registry::account_data::Record;
use agent_registry::{
    AgentIdentity, AgentRegistered, AgentTransferred, AgentUriSet, AgentWalletSet, AuthSchemesSet,
    ClientIndex, FacilitatorListed, FeedbackAuthoritySet, FeedbackEntry, FeedbackGiven,
    FeedbackRevoked, MetadataEntry, MetadataSet, OpenClientIndex, OpenFeedback, OpenFeedbackGiven,
    OpenFeedbackRevoked, OpenResponseAppended, PaymentProven, PaymentTokenListed, Registry,
    RegistryAuthorityAccepted, RegistryAuthorityProposed, RegistryInitialized, ResponseAppended,
    SpentPayment, ValidationRequest, ValidationRequested, ValidationResponded, ValidationResponse,
};
use anchor_lang::{AnchorDeserialize, AnchorSerialize, Discriminator, prelude::Pubkey};
use std::ops::Range;

/// A value in which every byte differs from the blank one's; of texts and lists the first byte.
trait Marked {
    fn marked() -> Self;
}

macro_rules! marked {
    ($($type:ty = $value:expr;)+) => {
        $(impl Marked for $type {
            fn marked() -> Self {
                $value
            }
        })+
    };
}

marked! {
    Pubkey = Pubkey::from([0xFF; 32]);
    [u8; 32] = [0xFF; 32];
    [u8; 56] = [0xFF; 56];
    [u8; 64] = [0xFF; 64];
    bool = true;
    u8 = u8::MAX;
    u64 = u64::MAX;
    i64 = -1;
    i128 = -1;
    // One blank element: it shows in the lowest byte of the length and nowhere else.
    String = "\0".to_owned();
    Vec<u8> = vec![0];
    Vec<Pubkey> = vec![Pubkey::default()];
}

fn bytes<T: AnchorSerialize + Discriminator>(value: &T) -> Vec<u8> {
    let mut bytes = T::DISCRIMINATOR.to_vec();
    value.serialize(&mut bytes).unwrap();
    bytes
}

/// The value whose every byte is 0.
fn blank<T: AnchorDeserialize>() -> T {
    T::deserialize(&mut &[0; 1024][..]).unwrap()
}

/// Where `marked` differs from `blank`, in the bytes that both have.
fn difference(blank: &[u8], marked: &[u8]) -> Range<usize> {
    let differs = |at: &usize| blank[*at] != marked[*at];
    let first = (0..blank.len()).find(differs).expect("the mark shows");
    let end = (first..blank.len())
        .find(|at| !differs(at))
        .unwrap_or(blank.len());
    first..end
}

/// The size of a blank value with its discriminator, and every field's place in it: the compiler
/// asks for a field that is missing here.
macro_rules! layout {
    ($type:ident, $size:literal, $($field:ident $place:expr),+ $(,)?) => {{
        let $type { $($field: _),+ } = blank::<$type>();
        let plain = bytes(&blank::<$type>());
        assert_eq!(plain.len(), $size, stringify!($type));
        $(
            let mut value = blank::<$type>();
            value.$field = Marked::marked();
            let place = difference(&plain, &bytes(&value));
            assert_eq!(place, $place, "{}.{}", stringify!($type), stringify!($field));
        )+
    }};
}

#[test]
fn accounts_of_x84_keep_its_places() {
    // R12
    layout!(
        FeedbackEntry, 208,
        nft_mint 8..40, reviewer 40..72, score 72..73, tag1 73..105, tag2 105..137,
        auth_verified 137..138, has_payment_proof 138..139, payment_amount 139..147,
        payment_token 147..179, revoked 179..180, created_at 180..188, bump 188..189,
        // ours
        version 189..190, feedback_index 190..198, auth_scheme 198..199, response_count 199..207,
        by_stranger 207..208,
    );
    layout!(
        ValidationRequest, 147,
        nft_mint 8..40, validator 40..72, request_hash 72..104, tag 104..136,
        responded 136..137, created_at 137..145, bump 145..146,
        // ours
        version 146..147,
    );
    layout!(
        ValidationResponse, 195,
        nft_mint 8..40, validator 40..72, request_hash 72..104, score 104..105, tag 105..137,
        created_at 137..145, bump 145..146,
        // ours
        version 146..147, evidence_hash 147..179, last_update 179..187, response_count 187..195,
    );
}

#[test]
fn accounts_of_ours() {
    layout!(
        AgentIdentity, 283,
        nft_mint 8..40, owner 40..72, owner_version 72..80, feedback_authority 80..112,
        agent_wallet 112..144, auth_schemes 144..145, created_at 145..153, updated_at 153..161,
        verified_feedback_count 161..169, verified_score_sum 169..177,
        unverified_feedback_count 177..185, unverified_score_sum 185..193,
        validation_count 193..201, client_count 201..209, open_client_count 209..217,
        bump 217..218, version 218..219, wallet_set_at 219..227, reserved 227..283,
    );
    layout!(
        ClientIndex, 90,
        agent 8..40, client 40..72, last_index 72..80, ordinal 80..88, bump 88..89,
        version 89..90,
    );
    layout!(
        OpenClientIndex, 90,
        agent 8..40, client 40..72, last_index 72..80, ordinal 80..88, bump 88..89,
        version 89..90,
    );
    layout!(
        OpenFeedback, 124,
        nft_mint 8..40, client 40..72, feedback_index 72..80, value 80..96,
        value_decimals 96..97, revoked 97..98, created_at 98..106, response_count 106..114,
        bump 114..115, version 115..116, tag1 116..117, tag2 120..121,
    );
    layout!(
        MetadataEntry, 50,
        nft_mint 8..40, bump 40..41, version 41..42, key 42..43, value 46..47,
    );
    layout!(
        SpentPayment, 82,
        nft_mint 8..40, reviewer 40..72, feedback_index 72..80, bump 80..81,
        version 81..82,
    );
    layout!(
        Registry, 118,
        chain_hash 8..40, bump 40..41, version 41..42, authority 42..74,
        proposed_authority 74..106, chain 106..107, payment_tokens 110..111,
        facilitators 114..115,
    );
}

#[test]
fn account_sizes() {
    let sizes = [
        AgentIdentity::SPACE,
        ClientIndex::SPACE,
        OpenClientIndex::SPACE,
        FeedbackEntry::SPACE,
        ValidationRequest::SPACE,
        ValidationResponse::SPACE,
        SpentPayment::SPACE,
    ];
    assert_eq!(sizes, [283, 90, 90, 208, 147, 195, 82]);
    // a chain id of 41 bytes, 8 tokens, 16 facilitators
    assert_eq!(Registry::SPACE, 118 + 41 + 8 * 32 + 16 * 32);
    let mut entry: OpenFeedback = blank();
    assert_eq!(entry.space(), 124);
    (entry.tag1, entry.tag2) = ("a".repeat(32), "b".repeat(31));
    assert_eq!(entry.space(), 124 + 32 + 31);
    let mut entry: MetadataEntry = blank();
    assert_eq!(entry.space(), 50);
    (entry.key, entry.value) = ("k".repeat(32), vec![0; 256]);
    assert_eq!(entry.space(), 50 + 32 + 256);
}

#[test]
fn events_of_feedback_and_payment() {
    layout!(
        FeedbackGiven, 263,
        // X84's
        nft_mint 8..40, reviewer 40..72, score 72..73, tag1 73..105, tag2 105..137,
        has_payment_proof 137..138, payment_amount 138..146, detail_uri 146..147,
        detail_hash 150..182, feedback_auth 182..246, timestamp 246..254,
        // ours
        feedback_index 254..262, auth_scheme 262..263,
    );
    layout!(
        FeedbackRevoked, 88,
        nft_mint 8..40, reviewer 40..72, feedback_index 72..80, timestamp 80..88,
    );
    layout!(
        ResponseAppended, 156,
        nft_mint 8..40, client 40..72, feedback_index 72..80, responder 80..112,
        response_uri 112..113, response_hash 116..148, timestamp 148..156,
    );
    layout!(
        PaymentProven, 304,
        nft_mint 8..40, reviewer 40..72, feedback_index 72..80, payee 80..112,
        payment_token 112..144, payment_amount 144..152, task_ref_hash 152..184,
        paid_at 184..192, expiry 192..200, facilitator 200..232, signature 232..296,
        timestamp 296..304,
    );
    layout!(
        OpenFeedbackGiven, 153,
        nft_mint 8..40, client 40..72, feedback_index 72..80, value 80..96,
        value_decimals 96..97, tag1 97..98, tag2 101..102, endpoint 105..106,
        feedback_uri 109..110, feedback_hash 113..145, timestamp 145..153,
    );
    layout!(
        OpenFeedbackRevoked, 88,
        nft_mint 8..40, client 40..72, feedback_index 72..80, timestamp 80..88,
    );
    layout!(
        OpenResponseAppended, 156,
        nft_mint 8..40, client 40..72, feedback_index 72..80, responder 80..112,
        response_uri 112..113, response_hash 116..148, timestamp 148..156,
    );
}

#[test]
fn events_of_agent_and_validation() {
    layout!(
        AgentRegistered, 84,
        nft_mint 8..40, owner 40..72, metadata_uri 72..73, timestamp 76..84,
    );
    layout!(
        AgentTransferred, 112,
        nft_mint 8..40, from 40..72, to 72..104, timestamp 104..112,
    );
    layout!(
        AgentUriSet, 84,
        nft_mint 8..40, owner 40..72, metadata_uri 72..73, timestamp 76..84,
    );
    layout!(
        MetadataSet, 88,
        nft_mint 8..40, owner 40..72, metadata_key 72..73, metadata_value 76..77,
        timestamp 80..88,
    );
    layout!(
        AgentWalletSet, 112,
        nft_mint 8..40, owner 40..72, agent_wallet 72..104, timestamp 104..112,
    );
    layout!(
        FeedbackAuthoritySet, 112,
        nft_mint 8..40, owner 40..72, feedback_authority 72..104, timestamp 104..112,
    );
    layout!(
        AuthSchemesSet, 81,
        nft_mint 8..40, owner 40..72, auth_schemes 72..73, timestamp 73..81,
    );
    layout!(
        ValidationRequested, 148,
        nft_mint 8..40, validator 40..72, request_hash 72..104, tag 104..136,
        request_uri 136..137, timestamp 140..148,
    );
    layout!(
        ValidationResponded, 181,
        nft_mint 8..40, validator 40..72, score 72..73, tag 73..105, evidence_uri 105..106,
        evidence_hash 109..141,
        // ours
        request_hash 141..173, timestamp 173..181,
    );
}

#[test]
fn events_of_the_registry() {
    layout!(RegistryInitialized, 52, authority 8..40, chain 40..41, timestamp 44..52);
    layout!(
        RegistryAuthorityProposed, 80,
        authority 8..40, proposed_authority 40..72, timestamp 72..80,
    );
    layout!(RegistryAuthorityAccepted, 80, from 8..40, to 40..72, timestamp 72..80);
    layout!(PaymentTokenListed, 49, token 8..40, listed 40..41, timestamp 41..49);
    layout!(FacilitatorListed, 49, facilitator 8..40, listed 40..41, timestamp 41..49);
}
