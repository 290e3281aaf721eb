use super::revocation::check_agent;
use crate::caip::check_task_ref_shape;
use crate::error::Error;
use crate::tag::check_no_nul;
use crate::{Word, hash};

/// What a reviewer signs (X402 "Reviewer Signature").
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Review<'a> {
    /// The registry's CAIP-10 id, as given.
    pub agent_registry: &'a str,
    /// The agent's id, as given.
    pub agent_id: &'a str,
    /// The payment's task reference, as given.
    pub task_ref: &'a str,
    /// The interaction's data hash.
    pub data_hash: Word,
    /// The rating. Any int128: bounds are the registry's matter (R24).
    pub value: i128,
    /// Its decimals. Any uint8 (R24).
    pub value_decimals: u8,
    /// First tag, empty if there is none.
    pub tag1: &'a str,
    /// Second tag, empty if there is none.
    pub tag2: &'a str,
}

impl Review<'_> {
    /// The 32 bytes that the reviewer signs: keccak256 of
    ///
    /// | width | field |
    /// |---|---|
    /// | … | agent registry, UTF-8 |
    /// | 1 | 0 |
    /// | … | agent id, UTF-8 |
    /// | 1 | 0 |
    /// | … | task reference, UTF-8 |
    /// | 1 | 0 |
    /// | 32 | data hash |
    /// | 16 | value, two's complement, big-endian |
    /// | 1 | value decimals |
    /// | … | tag1, UTF-8 |
    /// | 1 | 0 |
    /// | … | tag2, UTF-8 |
    ///
    /// # Errors
    /// [`Error::MalformedTaskRef`] by the reference's shape; a NUL byte, which would blur the
    /// separators, is [`Error::MalformedAccountId`] in the registry, [`Error::MalformedFeedbackId`]
    /// in the agent id and [`Error::MalformedTag`] in a tag.
    pub fn message(&self) -> Result<Word, Error> {
        self.check()?;
        Ok(hash::keccak256v(&[
            self.agent_registry.as_bytes(),
            &[0],
            self.agent_id.as_bytes(),
            &[0],
            self.task_ref.as_bytes(),
            &[0],
            &self.data_hash,
            &self.value.to_be_bytes(),
            &[self.value_decimals],
            self.tag1.as_bytes(),
            &[0],
            self.tag2.as_bytes(),
        ]))
    }

    fn check(&self) -> Result<(), Error> {
        check_agent(self.agent_registry, self.agent_id)?;
        check_task_ref_shape(self.task_ref)?;
        let tag =
            |field, text| check_no_nul(text).map_err(|fault| Error::MalformedTag { field, fault });
        tag("tag1", self.tag1)?;
        tag("tag2", self.tag2)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;
    use crate::testing::word;

    fn review() -> Review<'static> {
        Review {
            agent_registry: "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e",
            agent_id: "42",
            task_ref: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:sig",
            data_hash: word("54ff40b9165bc013d79cc6a608270dfe7ab5815364ade2f7be770e86d4504f84"),
            value: 95,
            value_decimals: 0,
            tag1: "x402-resource-delivered",
            tag2: "proof-of-participation",
        }
    }

    #[test]
    fn x402_reviewer_message_equals_one_hashed_by_cast() {
        assert_eq!(
            review().message().unwrap(),
            word("a4bfc98508e368919e4cd40629da8138f9f791d58b84bfc9904887747888eda6")
        );
        let extreme = Review {
            value: i128::MIN,
            value_decimals: 255,
            tag1: "",
            tag2: "",
            ..review()
        };
        assert_eq!(
            extreme.message().unwrap(),
            word("66803e393453600fc12ade6ee99ac4b11bd06d27a0c89cb1bfa29c7afb25ffc1")
        );
    }

    #[test]
    fn x402_reviewer_message_refuses_nul_in_any_text() {
        let cases = [
            (
                Review {
                    agent_registry: "a\0",
                    ..review()
                },
                ErrorClass::MalformedAccountId,
            ),
            (
                Review {
                    agent_id: "4\x002",
                    ..review()
                },
                ErrorClass::MalformedFeedbackId,
            ),
            (
                Review {
                    task_ref: "a:b:\0",
                    ..review()
                },
                ErrorClass::MalformedTaskRef,
            ),
            (
                Review {
                    tag1: "\0",
                    ..review()
                },
                ErrorClass::MalformedTag,
            ),
            (
                Review {
                    tag2: "x\0y",
                    ..review()
                },
                ErrorClass::MalformedTag,
            ),
        ];
        for (review, class) in cases {
            assert_eq!(review.message().unwrap_err().class(), class);
        }
    }
}
