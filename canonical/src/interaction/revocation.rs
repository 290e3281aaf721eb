use crate::caip::check_task_ref_shape;
use crate::error::{Error, Excerpt};
use crate::tag::check_no_nul;
use crate::{Word, hash};

/// First 17 bytes of a revocation's preimage (R58).
pub const REVOKE_PREFIX: &[u8; 17] = b"ERC8004/REVOKE/v1";

/// What a reviewer signs to withdraw feedback that an aggregator published (R58).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Revocation<'a> {
    /// The registry's CAIP-10 id, as in the review.
    pub agent_registry: &'a str,
    /// The agent's id, as in the review.
    pub agent_id: &'a str,
    /// The payment's task reference, as in the review.
    pub task_ref: &'a str,
    /// The reviewer's address, as given.
    pub reviewer_address: &'a str,
    /// The hash of the feedback file.
    pub feedback_hash: Word,
}

impl Revocation<'_> {
    /// The 32 bytes that the reviewer signs, as they sign reviews: keccak256 of
    ///
    /// | width | field |
    /// |---|---|
    /// | 17 | `"ERC8004/REVOKE/v1"`, ASCII |
    /// | 1 | 0 |
    /// | … | agent registry, UTF-8 |
    /// | 1 | 0 |
    /// | … | agent id, UTF-8 |
    /// | 1 | 0 |
    /// | … | task reference, UTF-8 |
    /// | 1 | 0 |
    /// | … | reviewer's address, UTF-8 |
    /// | 1 | 0 |
    /// | 32 | feedback hash |
    ///
    /// # Errors
    /// [`Error::MalformedTaskRef`] by the reference's shape; a NUL byte, which would blur the
    /// separators, is [`Error::MalformedAccountId`] in the registry, [`Error::MalformedFeedbackId`]
    /// in the agent id and [`Error::MalformedAddress`] in the reviewer's address.
    pub fn message(&self) -> Result<Word, Error> {
        self.check()?;
        Ok(hash::keccak256v(&[
            REVOKE_PREFIX,
            &[0],
            self.agent_registry.as_bytes(),
            &[0],
            self.agent_id.as_bytes(),
            &[0],
            self.task_ref.as_bytes(),
            &[0],
            self.reviewer_address.as_bytes(),
            &[0],
            &self.feedback_hash,
        ]))
    }

    fn check(&self) -> Result<(), Error> {
        check_agent(self.agent_registry, self.agent_id)?;
        check_task_ref_shape(self.task_ref)?;
        check_reviewer(self.reviewer_address)
    }
}

/// The reviewer's address, as revocations and responses name it: without NUL.
pub(super) fn check_reviewer(address: &str) -> Result<(), Error> {
    check_no_nul(address).map_err(|fault| Error::MalformedAddress {
        field: "reviewer_address",
        value: Excerpt::new(address),
        fault,
    })
}

/// The agent's two texts, as reviews, revocations and responses name them: without NUL.
pub(super) fn check_agent(agent_registry: &str, agent_id: &str) -> Result<(), Error> {
    check_no_nul(agent_registry).map_err(|fault| Error::MalformedAccountId {
        field: "agent_registry",
        value: Excerpt::new(agent_registry),
        fault,
    })?;
    check_no_nul(agent_id).map_err(|fault| Error::MalformedFeedbackId {
        field: "agent_id",
        value: Excerpt::new(agent_id),
        fault,
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;
    use crate::testing::word;

    fn revocation() -> Revocation<'static> {
        Revocation {
            agent_registry: "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e",
            agent_id: "42",
            task_ref: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:sig",
            reviewer_address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            feedback_hash: [0x33; 32],
        }
    }

    #[test]
    fn r58_revoke_message_equals_one_hashed_by_cast() {
        assert_eq!(
            revocation().message().unwrap(),
            word("c858ffacdc33e899b6e0ed0443440b456f9975ce8fedee9661f6967971fd0807")
        );
    }

    #[test]
    fn r58_revoke_message_refuses_nul_in_any_text() {
        let cases = [
            (
                Revocation {
                    agent_registry: "a\0",
                    ..revocation()
                },
                ErrorClass::MalformedAccountId,
            ),
            (
                Revocation {
                    agent_id: "4\x002",
                    ..revocation()
                },
                ErrorClass::MalformedFeedbackId,
            ),
            (
                Revocation {
                    task_ref: "eip155:1:\0",
                    ..revocation()
                },
                ErrorClass::MalformedTaskRef,
            ),
            (
                Revocation {
                    reviewer_address: "\0",
                    ..revocation()
                },
                ErrorClass::MalformedAddress,
            ),
        ];
        for (revocation, class) in cases {
            assert_eq!(revocation.message().unwrap_err().class(), class);
        }
    }
}
