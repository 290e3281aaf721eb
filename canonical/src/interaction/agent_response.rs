use super::revocation::{check_agent, check_reviewer};
use crate::caip::check_task_ref_shape;
use crate::error::Error;
use crate::tag::check_no_nul;
use crate::{Word, hash};

/// First 18 bytes of the preimage of a response (R58).
pub const RESPOND_PREFIX: &[u8; 18] = b"ERC8004/RESPOND/v1";

/// What an agent signs to respond, through an aggregator, to feedback that the aggregator published (R58).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AgentResponse<'a> {
    /// The registry's CAIP-10 id, as in the review.
    pub agent_registry: &'a str,
    /// The agent's id, as in the review.
    pub agent_id: &'a str,
    /// The payment's task reference, as in the review.
    pub task_ref: &'a str,
    /// The reviewer's address, as in the review.
    pub reviewer_address: &'a str,
    /// Where the response file is.
    pub response_uri: &'a str,
    /// The hash of the feedback file.
    pub feedback_hash: Word,
    /// The hash of the response file.
    pub response_hash: Word,
}

impl AgentResponse<'_> {
    /// The 32 bytes that the agent signs, as it signs interactions: keccak256 of
    ///
    /// | width | field |
    /// |---|---|
    /// | 18 | `"ERC8004/RESPOND/v1"`, ASCII |
    /// | 1 | 0 |
    /// | … | agent registry, UTF-8 |
    /// | 1 | 0 |
    /// | … | agent id, UTF-8 |
    /// | 1 | 0 |
    /// | … | task reference, UTF-8 |
    /// | 1 | 0 |
    /// | … | reviewer's address, UTF-8 |
    /// | 1 | 0 |
    /// | … | response URI, UTF-8 |
    /// | 1 | 0 |
    /// | 32 | feedback hash |
    /// | 32 | response hash |
    ///
    /// # Errors
    /// [`Error::MalformedTaskRef`] by the reference's shape; a NUL byte, which would blur the
    /// separators, is [`Error::MalformedAccountId`] in the registry, [`Error::MalformedFeedbackId`]
    /// in the agent id, [`Error::MalformedAddress`] in the reviewer's address and
    /// [`Error::LengthLimit`] in the URI. The URI's length is the registry's matter (R17).
    pub fn message(&self) -> Result<Word, Error> {
        self.check()?;
        Ok(hash::keccak256v(&[
            RESPOND_PREFIX,
            &[0],
            self.agent_registry.as_bytes(),
            &[0],
            self.agent_id.as_bytes(),
            &[0],
            self.task_ref.as_bytes(),
            &[0],
            self.reviewer_address.as_bytes(),
            &[0],
            self.response_uri.as_bytes(),
            &[0],
            &self.feedback_hash,
            &self.response_hash,
        ]))
    }

    fn check(&self) -> Result<(), Error> {
        check_agent(self.agent_registry, self.agent_id)?;
        check_task_ref_shape(self.task_ref)?;
        check_reviewer(self.reviewer_address)?;
        check_no_nul(self.response_uri).map_err(|fault| Error::LengthLimit {
            field: "response_uri",
            fault,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ErrorClass;
    use crate::testing::word;

    fn response() -> AgentResponse<'static> {
        AgentResponse {
            agent_registry: "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e",
            agent_id: "42",
            task_ref: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:sig",
            reviewer_address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
            response_uri: "https://agent.example/response.json",
            feedback_hash: [0x33; 32],
            response_hash: [0x44; 32],
        }
    }

    #[test]
    fn r58_respond_message_equals_one_hashed_by_noble() {
        assert_eq!(
            response().message().unwrap(),
            word("062e43a2604e03d22b1d31223426c069e3be4b3af470c47ba8c578dbc6e27ca0")
        );
    }

    #[test]
    fn r58_respond_message_refuses_nul_in_any_text() {
        let cases = [
            (
                AgentResponse {
                    agent_registry: "a\0",
                    ..response()
                },
                ErrorClass::MalformedAccountId,
            ),
            (
                AgentResponse {
                    agent_id: "4\x002",
                    ..response()
                },
                ErrorClass::MalformedFeedbackId,
            ),
            (
                AgentResponse {
                    task_ref: "eip155:1:\0",
                    ..response()
                },
                ErrorClass::MalformedTaskRef,
            ),
            (
                AgentResponse {
                    reviewer_address: "\0",
                    ..response()
                },
                ErrorClass::MalformedAddress,
            ),
            (
                AgentResponse {
                    response_uri: "https://agent.example/\0",
                    ..response()
                },
                ErrorClass::LengthLimit,
            ),
        ];
        for (response, class) in cases {
            assert_eq!(response.message().unwrap_err().class(), class);
        }
    }
}
