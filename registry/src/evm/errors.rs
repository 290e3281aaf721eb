use alloc::string::String;
use alloy_sol_types::{Revert, SolError};
use concord_canonical::{ErrorClass, error_class::class_of_selector};

/// Whose contracts they are: how they refuse, and what of their state can be asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Dialect {
    /// Custom errors (R25), and views of everything that is stored.
    Concord,
    /// The canonical ERC-8004 contracts 2.0.0: a text for most refusals; no view of a summary's
    /// sum, nor of whether a validation was answered.
    Canonical,
    /// Somebody else's contracts with the canonical ABI and without the flaws of the canonical ones:
    /// the same texts, or a text that is an error class's name, or Concord's custom errors.
    CanonicalAbi,
    /// Concord's contracts over an identity registry that may be the canonical one: both ways of
    /// refusing, and every view of Concord's.
    OverCanonicalIdentity,
}

/// Texts of the canonical contracts. Each means one thing in all three of them.
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
    /// Are the canonical contracts' views all that there is to ask?
    pub const fn has_canonical_abi(self) -> bool {
        matches!(self, Self::Canonical | Self::CanonicalAbi)
    }

    /// The class of revert data: the first four bytes choose it (R25), or a canonical text does.
    /// `None` for an error without a class.
    pub fn class_of(self, revert_data: &[u8]) -> Option<ErrorClass> {
        match (self, revert_data.first_chunk()) {
            (Self::Canonical | Self::OverCanonicalIdentity, Some(&Revert::SELECTOR)) => {
                class_of_text(revert_data)
            }
            (Self::CanonicalAbi, Some(&Revert::SELECTOR)) => {
                class_of_text(revert_data).or_else(|| class_named(revert_data))
            }
            (_, Some(selector)) => class_of_selector(*selector),
            (_, None) => None,
        }
    }
}

/// What a canonical contract means by its text.
fn class_of_text(revert_data: &[u8]) -> Option<ErrorClass> {
    let text = revert_text(revert_data)?;
    let mut table = CANONICAL_TEXTS.iter();
    table
        .find(|(known, _)| *known == text)
        .map(|(_, class)| *class)
}

/// The class whose name the text is, for rules of which the canonical contracts have no text.
fn class_named(revert_data: &[u8]) -> Option<ErrorClass> {
    ErrorClass::from_name(&revert_text(revert_data)?)
}

/// The text of an `Error(string)`; `None` for other revert data.
pub fn revert_text(revert_data: &[u8]) -> Option<String> {
    Revert::abi_decode_validate(revert_data)
        .ok()
        .map(|revert| revert.reason)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::{collections::BTreeSet, vec::Vec};
    use alloy_primitives::hex;

    const BOTH: [Dialect; 2] = [Dialect::Concord, Dialect::Canonical];

    fn error_text(text: &str) -> Vec<u8> {
        Revert::from(String::from(text)).abi_encode()
    }

    #[test]
    fn only_the_canonical_contracts_and_copies_of_their_abi_lack_our_views() {
        assert!(Dialect::Canonical.has_canonical_abi());
        assert!(Dialect::CanonicalAbi.has_canonical_abi());
        assert!(!Dialect::Concord.has_canonical_abi());
        assert!(!Dialect::OverCanonicalIdentity.has_canonical_abi());
    }

    #[test]
    fn revert_data_is_read_by_its_selector() {
        for dialect in BOTH {
            // cast sig 'AuthIndexLimit(uint64,uint64)', and two words
            let index_limit = [&hex!("42f26e01")[..], &[0; 64]].concat();
            let class = dialect.class_of(&index_limit);
            assert_eq!(class, Some(ErrorClass::AuthIndexLimit));
            // cast sig 'ERC721InsufficientApproval(address,uint256)'
            let class = dialect.class_of(&hex!("177e802f"));
            assert_eq!(class, Some(ErrorClass::TransferNotAllowed));
        }
    }

    #[test]
    fn r25_an_error_without_a_class_has_none() {
        // InvalidInitialization(), a bare revert, half a selector
        for data in [&hex!("f92ee8a9")[..], &[], &hex!("42f2")] {
            assert_eq!(BOTH.map(|dialect| dialect.class_of(data)), [None, None]);
        }
        // Error(string) without its string
        assert_eq!(Dialect::Canonical.class_of(&hex!("08c379a0")), None);
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
        let class = Dialect::Canonical.class_of(&reserved);
        assert_eq!(class, Some(ErrorClass::ReservedKey));
        // To ours, only a token's receiver answers with a text.
        let class = Dialect::Concord.class_of(&reserved);
        assert_eq!(class, Some(ErrorClass::ReceiverRefused));
    }

    #[test]
    fn an_unknown_text_has_no_class_in_the_canonical_dialect() {
        for text in ["", "Reserved key", "reserved key ", "paused"] {
            let class = Dialect::Canonical.class_of(&error_text(text));
            assert_eq!(class, None, "{text}");
        }
    }

    #[test]
    fn r25_a_class_is_named_by_itself_in_the_canonical_abi_of_others_only() {
        let used = error_text("WalletConsentUsed");
        let class = Dialect::CanonicalAbi.class_of(&used);
        assert_eq!(class, Some(ErrorClass::WalletConsentUsed));
        assert_eq!(Dialect::Canonical.class_of(&used), None);
        let reserved = Dialect::CanonicalAbi.class_of(&error_text("reserved key"));
        assert_eq!(reserved, Some(ErrorClass::ReservedKey));
        assert_eq!(Dialect::CanonicalAbi.class_of(&error_text("paused")), None);
        // cast sig 'ERC721InsufficientApproval(address,uint256)'
        let class = Dialect::CanonicalAbi.class_of(&hex!("177e802f"));
        assert_eq!(class, Some(ErrorClass::TransferNotAllowed));
    }

    #[test]
    fn the_table_names_each_text_once() {
        let texts: BTreeSet<_> = CANONICAL_TEXTS.iter().map(|(text, _)| text).collect();
        assert_eq!(texts.len(), CANONICAL_TEXTS.len());
    }
}
