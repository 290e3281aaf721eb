//! What the refusals of somebody else's contracts mean, in their own list.
use alloy::primitives::{hex, keccak256};
use concord_canonical::ErrorClass;
use concord_registry::evm::revert_text;
use std::collections::BTreeMap;

/// The name of a refusal without data.
const BARE: &str = "0x";

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
    /// A sentence that names the member.
    pub fn read(text: &str) -> Result<Self, String> {
        let members = serde_json::from_str::<BTreeMap<String, String>>(text);
        let mut classes = Self::default();
        for (refusal, name) in members.map_err(|fault| fault.to_string())? {
            let class = ErrorClass::from_name(&name).ok_or_else(|| {
                format!("`{refusal}`: `{name}` is not an error class (docs/SPECIFICATION.md, R25)")
            })?;
            classes.add(refusal, class)?;
        }
        Ok(classes)
    }

    fn add(&mut self, refusal: String, class: ErrorClass) -> Result<(), String> {
        if refusal == BARE {
            self.bare = Some(class);
            return Ok(());
        }
        if let Some(digits) = refusal.strip_prefix(BARE) {
            let mut selector = [0; 4];
            hex::decode_to_slice(digits, &mut selector).map_err(|_| {
                format!("`{refusal}` is not `0x` and the eight digits of a selector")
            })?;
            self.by_selector.insert(selector, class);
            return Ok(());
        }
        // A signature could be a text, too; both mean the same then.
        let [a, b, c, d, ..] = keccak256(&refusal).0;
        self.by_selector.insert([a, b, c, d], class);
        self.by_text.insert(refusal, class);
        Ok(())
    }

    /// The class of revert data; `None` if the list does not have it.
    pub(super) fn class_of(&self, revert_data: &[u8]) -> Option<ErrorClass> {
        let Some(selector) = revert_data.first_chunk() else {
            return self.bare.filter(|_| revert_data.is_empty());
        };
        let by_selector = self.by_selector.get(selector);
        let by_text = || self.by_text.get(&revert_text(revert_data)?);
        by_selector.or_else(by_text).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloy::sol_types::{Revert, SolError};

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
    fn a_list_that_says_nothing_sure_is_refused() {
        for (text, words) in [
            ("[]", "invalid type: sequence"),
            (r#"{"paused": 7}"#, "invalid type: integer `7`"),
            (
                r#"{"paused": "Paused"}"#,
                "`paused`: `Paused` is not an error class",
            ),
            (
                r#"{"0x4e48": "BadRequest"}"#,
                "`0x4e48` is not `0x` and the eight digits of a selector",
            ),
        ] {
            let fault = ErrorClasses::read(text).unwrap_err();
            assert!(fault.contains(words), "{fault}");
        }
    }
}
