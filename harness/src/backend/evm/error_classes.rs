//! What the refusals of contracts that others wrote mean: their own list.
use alloy::{
    primitives::{hex, keccak256},
    sol_types::{Revert, SolError},
};
use concord_canonical::{ErrorClass, json};
use concord_registry::evm::revert_text;
use std::collections::{BTreeMap, btree_map::Entry};

/// The name of a refusal without data, and the beginning of a selector.
const BARE: &str = "0x";
/// Of a selector in hex.
const DIGITS: usize = 8;

/// An error class for each of a registry's own refusals.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ErrorClasses {
    by_text: BTreeMap<String, ErrorClass>,
    by_selector: BTreeMap<[u8; 4], ErrorClass>,
    bare: Option<ErrorClass>,
}

impl ErrorClasses {
    /// Reads a JSON object from refusals to error classes. A refusal is a revert text, a custom
    /// error as `NotOwner(address)`, its selector as `0x` and eight digits, or `0x` for a revert
    /// without data.
    ///
    /// # Errors
    /// A sentence that names the member, or the key that is there twice (R22).
    pub fn read(text: &str) -> Result<Self, String> {
        let list = json::parse(text).map_err(|fault| fault.to_string())?;
        let members = list
            .as_object()
            .ok_or("is not a JSON object that maps refusals to error classes")?;
        let mut classes = Self::default();
        for (refusal, class) in members.iter() {
            let added = class
                .as_str()
                .ok_or_else(|| "an error class is a text".to_owned())
                .and_then(class_named)
                .and_then(|class| classes.add(refusal, class));
            added.map_err(|fault| format!("`{refusal}`: {fault}"))?;
        }
        Ok(classes)
    }

    fn add(&mut self, refusal: &str, class: ErrorClass) -> Result<(), String> {
        if refusal == BARE {
            self.bare = Some(class);
            return Ok(());
        }
        let selector = match refusal.strip_prefix(BARE) {
            Some(digits) => selector_of(digits)?,
            None => {
                // A signature could be a text, too; both mean the same then.
                self.by_text.insert(refusal.to_owned(), class);
                let [a, b, c, d, ..] = keccak256(refusal).0;
                [a, b, c, d]
            }
        };
        if selector == Revert::SELECTOR {
            return Err("every text is an `Error(string)`: list the texts".to_owned());
        }
        match self.by_selector.entry(selector) {
            Entry::Occupied(known) if *known.get() != class => Err(format!(
                "is {} here, and {} under another name of this error: leave one",
                class.name(),
                known.get().name()
            )),
            entry => {
                entry.or_insert(class);
                Ok(())
            }
        }
    }

    /// The class of revert data; `None` if the list does not have it.
    pub(super) fn class_of(&self, revert_data: &[u8]) -> Option<ErrorClass> {
        let Some(selector) = revert_data.first_chunk() else {
            return self.bare.filter(|_| revert_data.is_empty());
        };
        let by_text = revert_text(revert_data).and_then(|text| self.by_text.get(&text));
        by_text.or_else(|| self.by_selector.get(selector)).copied()
    }
}

fn class_named(name: &str) -> Result<ErrorClass, String> {
    ErrorClass::from_name(name).ok_or_else(|| {
        format!("`{name}` is not an error class: canonical/src/error_class.rs lists them")
    })
}

fn selector_of(digits: &str) -> Result<[u8; 4], String> {
    let mut selector = [0; 4];
    let decoded = hex::decode_to_slice(digits, &mut selector);
    // The decoder takes another `0x` before the digits.
    if digits.len() == DIGITS && decoded.is_ok() {
        Ok(selector)
    } else {
        Err("is not `0x` and the eight digits of a selector".to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Selectors by `cast sig 'NotOwner(address)'` and `cast sig 'Panic(uint256)'`.
    const NOT_OWNER: [u8; 4] = hex!("245aecd3");
    const PANIC: [u8; 4] = hex!("4e487b71");

    #[test]
    fn a_refusal_is_a_text_a_custom_error_a_selector_or_nothing() {
        let classes = ErrorClasses::read(
            r#"{
                "Registry: not yours": "NotAuthorized",
                "NotOwner(address)": "SelfFeedback",
                "0x4e487b71": "ValueOutOfRange",
                "0x": "AgentNotFound"
            }"#,
        )
        .unwrap();
        let text = Revert::from("Registry: not yours".to_owned()).abi_encode();
        let other = Revert::from("Registry: Not yours".to_owned()).abi_encode();
        let custom = [&NOT_OWNER[..], &[0; 32]].concat();
        for (data, class) in [
            (&text[..], Some(ErrorClass::NotAuthorized)),
            (&other, None),
            (&custom, Some(ErrorClass::SelfFeedback)),
            (&PANIC, Some(ErrorClass::ValueOutOfRange)),
            (&[], Some(ErrorClass::AgentNotFound)),
            (&[0], None),
            (&[1, 2, 3, 4], None),
        ] {
            assert_eq!(classes.class_of(data), class, "{data:?}");
        }
        assert_eq!(ErrorClasses::default().class_of(&[]), None);
    }

    #[test]
    fn a_text_counts_before_everything_else() {
        // As a text, this is also the signature of another error.
        let classes = ErrorClasses::read(r#"{"Panic(uint256)": "NotAuthorized"}"#).unwrap();
        let text = Revert::from("Panic(uint256)".to_owned()).abi_encode();
        for data in [&text[..], &PANIC] {
            assert_eq!(classes.class_of(data), Some(ErrorClass::NotAuthorized));
        }
    }

    #[test]
    fn two_names_of_one_error_may_agree() {
        for list in [
            r#"{"0x4e487b71": "NotValidator", "Panic(uint256)": "NotValidator"}"#,
            r#"{"0x4e487b71": "NotValidator", "0x4E487B71": "NotValidator"}"#,
        ] {
            let classes = ErrorClasses::read(list).unwrap();
            assert_eq!(classes.class_of(&PANIC), Some(ErrorClass::NotValidator));
        }
    }

    #[test]
    fn refuses_a_list_with_faults() {
        const SELECTOR: &str = "is not `0x` and the eight digits of a selector";
        let own_texts = |name: &str| format!("`{name}`: every text is an `Error(string)`");
        for (text, words) in [
            ("[]", "is not a JSON object".to_owned()),
            ("{", "JSON".to_owned()),
            (
                r#"{"paused": 7}"#,
                "`paused`: an error class is a text".to_owned(),
            ),
            (
                r#"{"paused": "Paused"}"#,
                "`paused`: `Paused` is not an error class: canonical/src/error_class.rs".to_owned(),
            ),
            // R22
            (
                r#"{"paused": "NotAuthorized", "paused": "AgentNotFound"}"#,
                "paused".to_owned(),
            ),
            (
                r#"{"0x4e487b71": "NotAuthorized", "Panic(uint256)": "AgentNotFound"}"#,
                "`Panic(uint256)`: is AgentNotFound here, and NotAuthorized under another name"
                    .to_owned(),
            ),
            (
                r#"{"0xABCDEF12": "NotAuthorized", "0xabcdef12": "AgentNotFound"}"#,
                "`0xabcdef12`: is AgentNotFound here, and NotAuthorized under".to_owned(),
            ),
            (
                r#"{"0x4e48": "BadRequest"}"#,
                format!("`0x4e48`: {SELECTOR}"),
            ),
            (
                r#"{"0x0x4e487b71": "NotAuthorized"}"#,
                format!("`0x0x4e487b71`: {SELECTOR}"),
            ),
            (
                r#"{"0x4e487bzz": "NotAuthorized"}"#,
                format!("`0x4e487bzz`: {SELECTOR}"),
            ),
            (
                r#"{"Error(string)": "NotAuthorized"}"#,
                own_texts("Error(string)"),
            ),
            (
                r#"{"0x08c379a0": "NotAuthorized"}"#,
                own_texts("0x08c379a0"),
            ),
        ] {
            let fault = ErrorClasses::read(text).unwrap_err();
            assert!(fault.contains(&words), "{fault}");
        }
    }
}
