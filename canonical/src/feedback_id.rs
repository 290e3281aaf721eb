//! Feedback ids, `agentId:client:index` (BP "Feedback ID Format").
//!
//! Contracts count feedback from 1, BP's SDK from 0. Here the index is always the contract's, and
//! text is read and written with an explicit [`IndexBase`].

use crate::error::{Error, Excerpt, TextFault};
use core::fmt;

/// Which number the first feedback of a client has in a text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IndexBase {
    /// 0, as in BP's SDK.
    Zero,
    /// 1, as in every contract and program.
    One,
}

/// One feedback of one client about one agent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct FeedbackId<'a> {
    agent_id: &'a str,
    client: &'a str,
    index: u64,
}

impl<'a> FeedbackId<'a> {
    /// From its parts, with the contract's index.
    ///
    /// # Errors
    /// [`Error::MalformedFeedbackId`] where a part is empty or not printable ASCII, the client has a
    /// colon, or the index is 0.
    pub fn new(agent_id: &'a str, client: &'a str, index: u64) -> Result<Self, Error> {
        check_text(agent_id, |byte| byte.is_ascii_graphic())
            .map_err(|fault| malformed("agent id", agent_id, fault))?;
        check_text(client, |byte| byte.is_ascii_graphic() && byte != b':')
            .map_err(|fault| malformed("client", client, fault))?;
        if index == 0 {
            return Err(malformed("index", "0", BELOW_ONE));
        }
        Ok(Self {
            agent_id,
            client,
            index,
        })
    }

    /// From its text, read from the right, because an agent id may itself hold colons, as
    /// `84532:42` does. `base` is that of the index in the text.
    ///
    /// # Errors
    /// [`Error::MalformedFeedbackId`] with the part that broke the form.
    pub fn parse(text: &'a str, base: IndexBase) -> Result<Self, Error> {
        let missing = |field| malformed(field, text, TextFault::Missing);
        let (rest, index) = text.rsplit_once(':').ok_or(missing("index"))?;
        let (agent_id, client) = rest.rsplit_once(':').ok_or(missing("client"))?;
        Self::new(agent_id, client, parse_index(index, base)?)
    }

    /// The agent, as the source writes it.
    pub const fn agent_id(&self) -> &'a str {
        self.agent_id
    }

    /// The reviewer's address.
    pub const fn client(&self) -> &'a str {
        self.client
    }

    /// The contract's index, from 1.
    pub const fn index(&self) -> u64 {
        self.index
    }

    /// The id's text with the index counted from `base`.
    pub const fn text(&self, base: IndexBase) -> FeedbackIdText<'a> {
        FeedbackIdText { id: *self, base }
    }
}

/// A feedback id as text; shown with `Display`.
#[derive(Debug, Clone, Copy)]
pub struct FeedbackIdText<'a> {
    id: FeedbackId<'a>,
    base: IndexBase,
}

impl fmt::Display for FeedbackIdText<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let FeedbackId {
            agent_id,
            client,
            index,
        } = self.id;
        let index = match self.base {
            IndexBase::Zero => index - 1, // at least 1 by construction
            IndexBase::One => index,
        };
        write!(f, "{agent_id}:{client}:{index}")
    }
}

/// The contract's index of an index counted from `base`.
///
/// # Errors
/// [`Error::MalformedFeedbackId`] for 0 counted from 1, and for 2^64 − 1 counted from 0.
pub fn contract_index(index: u64, base: IndexBase) -> Result<u64, Error> {
    match base {
        IndexBase::One if index == 0 => Err(malformed("index", "0", BELOW_ONE)),
        IndexBase::One => Ok(index),
        IndexBase::Zero => {
            index
                .checked_add(1)
                .ok_or(malformed("index", "18446744073709551615", ABOVE_LAST))
        }
    }
}

const BELOW_ONE: TextFault = TextFault::Range {
    range: "at least 1, indices count from 1 here",
};
const ABOVE_LAST: TextFault = TextFault::Range {
    range: "at most 2^64 - 2, indices count from 0 here",
};

fn parse_index(text: &str, base: IndexBase) -> Result<u64, Error> {
    check_text(text, |byte| byte.is_ascii_digit())
        .map_err(|fault| malformed("index", text, fault))?;
    if text.len() > 1 && text.starts_with('0') {
        return Err(malformed("index", text, TextFault::LeadingZero));
    }
    let range = "a uint64";
    let index = text
        .parse()
        .map_err(|_| malformed("index", text, TextFault::Range { range }))?;
    contract_index(index, base)
}

fn check_text(text: &str, allows: impl Fn(u8) -> bool) -> Result<(), TextFault> {
    if text.is_empty() {
        return Err(TextFault::Empty);
    }
    match text.bytes().enumerate().find(|(_, byte)| !allows(*byte)) {
        Some((offset, byte)) => Err(TextFault::Character { byte, offset }),
        None => Ok(()),
    }
}

fn malformed(field: &'static str, value: &str, fault: TextFault) -> Error {
    Error::MalformedFeedbackId {
        field,
        value: Excerpt::new(value),
        fault,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;
    use proptest::prelude::*;
    use std::string::{String, ToString};

    #[test]
    fn r44_no_entry_has_the_index_before_the_first_or_after_the_last() {
        assert_eq!(contract_index(0, IndexBase::Zero), Ok(1));
        assert_eq!(contract_index(1, IndexBase::One), Ok(1));
        assert_eq!(contract_index(u64::MAX, IndexBase::One), Ok(u64::MAX));
        for (index, base) in [(0, IndexBase::One), (u64::MAX, IndexBase::Zero)] {
            let error = contract_index(index, base).unwrap_err();
            assert!(
                matches!(error, Error::MalformedFeedbackId { .. }),
                "{error}"
            );
        }
    }

    #[test]
    fn parses_bps_example_from_the_right() {
        // BP: "84532:42:0x742d...:0", index 0 there is 1 in the contract.
        let text = "84532:42:0x742d35Cc6634C0532925a3b844Bc454e4438f44e:0";
        let id = FeedbackId::parse(text, IndexBase::Zero).unwrap();
        assert_eq!(id.agent_id(), "84532:42");
        assert_eq!(id.client(), "0x742d35Cc6634C0532925a3b844Bc454e4438f44e");
        assert_eq!(id.index(), 1);
        assert_eq!(id.text(IndexBase::Zero).to_string(), text);
        assert!(id.text(IndexBase::One).to_string().ends_with("44e:1"));
    }

    #[test]
    fn refuses_ids_that_lack_a_part_or_count_from_the_wrong_base() {
        let cases = [
            ("", IndexBase::Zero),
            ("42", IndexBase::Zero),
            ("42:7", IndexBase::Zero),
            (":0xab:0", IndexBase::Zero),
            ("42::0", IndexBase::Zero),
            ("42:0xab:", IndexBase::Zero),
            ("42:0xab:-1", IndexBase::Zero),
            ("42:0xab:01", IndexBase::Zero),
            ("42:0xab:0x1", IndexBase::Zero),
            ("42:0x ab:1", IndexBase::One),
            ("42:0xab:0", IndexBase::One),
            ("42:0xab:18446744073709551615", IndexBase::Zero),
            ("42:0xab:18446744073709551616", IndexBase::One),
        ];
        for (text, base) in cases {
            let error = FeedbackId::parse(text, base).unwrap_err();
            assert_eq!(error.class(), ErrorClass::MalformedFeedbackId, "{text}");
        }
    }

    #[test]
    fn accepts_the_last_index_of_either_base() {
        let last = "42:0xab:18446744073709551615";
        assert_eq!(
            FeedbackId::parse(last, IndexBase::One).unwrap().index(),
            u64::MAX
        );
        let last = "42:0xab:18446744073709551614";
        assert_eq!(
            FeedbackId::parse(last, IndexBase::Zero).unwrap().index(),
            u64::MAX
        );
    }

    fn part(alphabet: &'static str) -> impl Strategy<Value = String> {
        proptest::string::string_regex(alphabet).unwrap()
    }

    proptest! {
        #[test]
        fn ids_round_trip_in_either_base(
            agent in part("[0-9A-Za-z:]{1,40}"),
            client in part("[0-9A-Za-zx]{1,44}"),
            index in 1u64..,
        ) {
            let id = FeedbackId::new(&agent, &client, index).unwrap();
            for base in [IndexBase::Zero, IndexBase::One] {
                let text = id.text(base).to_string();
                prop_assert_eq!(FeedbackId::parse(&text, base).unwrap(), id);
            }
        }
    }
}
