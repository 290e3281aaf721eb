//! Whose contracts they are: how they refuse, and what of their state can be asked.
use crate::backend::StepFault;
use alloy::{
    primitives::Bytes,
    sol_types::{Revert, SolError},
};
use concord_canonical::{ErrorClass, error_class::class_of_selector};

/// The contracts' family.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Custom errors (R25), and views of everything that is stored.
    Concord,
    /// The canonical ERC-8004 contracts 2.0.0: a text for most refusals; no view of a summary's
    /// sum, nor of whether a validation was answered.
    Canonical,
}

/// Texts of the canonical contracts that mean one thing wherever they stand.
const CANONICAL_TEXTS: &[(&str, ErrorClass)] = &[
    ("reserved key", ErrorClass::ReservedKey),
    ("Not authorized", ErrorClass::NotAuthorized),
    ("bad wallet", ErrorClass::WalletZero),
    ("expired", ErrorClass::DeadlinePassed),
    ("deadline too far", ErrorClass::DeadlineTooFar),
    ("invalid wallet sig", ErrorClass::WalletConsentMissing),
    ("too many decimals", ErrorClass::DecimalsOutOfRange),
    ("value too large", ErrorClass::ValueOutOfRange),
    ("Self-feedback not allowed", ErrorClass::SelfFeedback),
    ("index must be > 0", ErrorClass::FeedbackNotFound),
    ("index out of bounds", ErrorClass::FeedbackNotFound),
    ("Already revoked", ErrorClass::AlreadyRevoked),
    ("Empty URI", ErrorClass::EmptyUri),
    ("clientAddresses required", ErrorClass::EmptyClients),
    ("bad validator", ErrorClass::ValidatorZero),
    ("exists", ErrorClass::RequestExists),
    ("unknown", ErrorClass::RequestNotFound),
    ("not validator", ErrorClass::NotValidator),
    ("resp>100", ErrorClass::ScoreOutOfRange),
];

impl Dialect {
    /// The class of revert data: the first four bytes choose it (R25), or a canonical text does.
    pub(super) fn class_of(self, revert_data: &Bytes) -> Result<ErrorClass, StepFault> {
        let selector = revert_data.first_chunk();
        let class = match (self, selector) {
            (Self::Canonical, Some(&Revert::SELECTOR)) => class_of_text(revert_data),
            (_, Some(selector)) => class_of_selector(*selector),
            (_, None) => None,
        };
        class.ok_or_else(|| StepFault::UnmappedError(native_words(revert_data)))
    }
}

/// What a canonical contract means by its text.
fn class_of_text(revert_data: &Bytes) -> Option<ErrorClass> {
    let text = text_of(revert_data)?;
    let mut table = CANONICAL_TEXTS.iter();
    table
        .find(|(known, _)| *known == text)
        .map(|(_, class)| *class)
}

/// What a refusal said, for people.
pub(super) fn native_words(revert_data: &Bytes) -> String {
    if revert_data.is_empty() {
        return "revert without data".to_owned();
    }
    match text_of(revert_data) {
        Some(text) => format!("revert `{text}`"),
        None => format!("revert {revert_data}"),
    }
}

/// Of an `Error(string)`.
fn text_of(revert_data: &Bytes) -> Option<String> {
    Revert::abi_decode_validate(revert_data)
        .ok()
        .map(|revert| revert.reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy::primitives::hex;

    fn class(dialect: Dialect, data: &[u8]) -> Result<ErrorClass, StepFault> {
        dialect.class_of(&Bytes::copy_from_slice(data))
    }

    fn error_text(text: &str) -> Vec<u8> {
        Revert::from(text.to_owned()).abi_encode()
    }

    #[test]
    fn revert_data_is_read_by_its_selector() {
        for dialect in [Dialect::Concord, Dialect::Canonical] {
            // cast sig 'AuthIndexLimit(uint64,uint64)', and two words
            let index_limit = [&hex!("42f26e01")[..], &[0; 64]].concat();
            let class_of = |data| class(dialect, data).unwrap();
            assert_eq!(class_of(&index_limit), ErrorClass::AuthIndexLimit);
            // cast sig 'ERC721InsufficientApproval(address,uint256)'
            let stranger = hex!("177e802f");
            assert_eq!(class_of(&stranger), ErrorClass::TransferNotAllowed);
        }
    }

    #[test]
    fn an_error_without_a_class_is_a_fault() {
        // R25; InvalidInitialization(), a bare revert, half a selector
        for data in [&hex!("f92ee8a9")[..], &[], &hex!("42f2")] {
            for dialect in [Dialect::Concord, Dialect::Canonical] {
                let class = class(dialect, data);
                assert!(matches!(class, Err(StepFault::UnmappedError(_))));
            }
        }
        // Error(string) without its string
        let class = class(Dialect::Canonical, &hex!("08c379a0"));
        assert!(matches!(class, Err(StepFault::UnmappedError(_))));
    }

    #[test]
    fn a_canonical_text_has_its_class_in_the_canonical_dialect_only() {
        // The call `register` with metadata `agentWallet`, as the canonical contract answers it
        let reserved = hex!(
            "08c379a0"
            "0000000000000000000000000000000000000000000000000000000000000020"
            "000000000000000000000000000000000000000000000000000000000000000c"
            "7265736572766564206b65790000000000000000000000000000000000000000"
        );
        let canonical = class(Dialect::Canonical, &reserved).unwrap();
        assert_eq!(canonical, ErrorClass::ReservedKey);
        // To ours, only a token's receiver answers with a text.
        let ours = class(Dialect::Concord, &reserved).unwrap();
        assert_eq!(ours, ErrorClass::ReceiverRefused);
    }

    #[test]
    fn an_unknown_text_is_a_fault_in_the_canonical_dialect() {
        for text in ["", "Reserved key", "reserved key ", "paused"] {
            let class = class(Dialect::Canonical, &error_text(text));
            assert!(matches!(class, Err(StepFault::UnmappedError(_))), "{text}");
        }
    }

    #[test]
    fn the_table_names_each_text_once() {
        let texts: std::collections::BTreeSet<_> =
            CANONICAL_TEXTS.iter().map(|(text, _)| text).collect();
        assert_eq!(texts.len(), CANONICAL_TEXTS.len());
    }
}
