//! The instructions of each operation. Feedback has the client's next index (R12), which is read each time: they are
//! only made if every earlier transaction can no longer land.

use concord_canonical::{auth::SvmFeedbackAuth, caip, tag::Tag};
use concord_registry::svm::{
    Address, Instruction,
    accounts::{
        AccountType, AgentIdentity, ClientIndex, FeedbackEntry, OpenClientIndex, OpenFeedback,
    },
    ed25519,
    instructions::{
        AppendResponse, Consent, FeedbackAuthorization, GiveFeedback, GiveOpenFeedback,
        RequestValidation, RespondToValidation,
    },
};

use super::SvmRegistries;
use crate::{
    ClientError, Feedback, FeedbackAuth, Kind, Operation, Rating, Registration, Response,
    operation::{bytes_of, malformed},
};

impl SvmRegistries {
    /// The instructions of an operation of `account`, who signs and pays.
    ///
    /// # Errors
    /// [`ClientError`] if a field breaks its form, or the cluster does not answer.
    pub async fn instructions(
        &self,
        account: Address,
        operation: &Operation,
    ) -> Result<Vec<Instruction>, ClientError> {
        let program = &self.program;
        Ok(match operation {
            Operation::Register(it) => self.register(account, it)?,
            Operation::SetWallet(it) => {
                let (mint, wallet) = (mint(&it.agent)?, address("wallet", &it.wallet)?);
                vec![program.set_agent_wallet(account, mint, wallet, Consent::Signs)]
            }
            Operation::Give(it) => self.give(account, it).await?,
            Operation::Revoke(it) => {
                let mint = mint(&it.agent)?;
                vec![match it.kind {
                    Kind::Open => program.revoke_open_feedback(account, mint, it.index),
                    Kind::Authorized => program.revoke_feedback(account, mint, it.index),
                }]
            }
            Operation::Respond(it) => vec![self.respond(account, it)?],
            Operation::RequestValidation(it) => {
                let request = RequestValidation {
                    validator: address("validator", &it.validator)?,
                    request_hash: it.request,
                    tag: Tag::new(&it.tag)?.padded(), // R14
                    uri: &it.uri,
                };
                vec![program.request_validation(account, mint(&it.agent)?, &request)]
            }
            Operation::AnswerValidation(it) => {
                let response = RespondToValidation {
                    validator: account,
                    request_hash: it.request,
                    score: it.score,
                    tag: Tag::new(&it.tag)?.padded(), // R14
                    evidence_uri: &it.uri,
                    evidence_hash: it.hash,
                };
                vec![program.respond_to_validation(account, mint(&it.agent)?, &response)]
            }
        })
    }

    fn register(
        &self,
        owner: Address,
        registration: &Registration,
    ) -> Result<Vec<Instruction>, ClientError> {
        let nonce = registration.nonce;
        let nonce = nonce.ok_or_else(|| malformed("nonce", "none", "a number (R4)"))?;
        let metadata: Vec<(&str, &[u8])> = (registration.metadata.iter())
            .map(|(key, value)| (&**key, value.as_bytes()))
            .collect();
        let uri = &registration.uri;
        Ok((self.program).register_agent_with_metadata(owner, nonce, uri, &metadata))
    }

    fn respond(&self, account: Address, response: &Response) -> Result<Instruction, ClientError> {
        let mint = mint(&response.agent)?;
        let appended = AppendResponse {
            client: address("client", &response.client)?,
            index: response.index,
            uri: &response.uri,
            hash: response.hash,
        };
        Ok(match response.kind {
            Kind::Open => (self.program).append_open_response(account, mint, &appended),
            Kind::Authorized => self.program.append_response(account, mint, &appended),
        })
    }

    async fn give(
        &self,
        client: Address,
        feedback: &Feedback,
    ) -> Result<Vec<Instruction>, ClientError> {
        let mint = mint(&feedback.agent)?;
        let next = |last: u64| last.saturating_add(1);
        match &feedback.rating {
            Rating::Open {
                value,
                decimals,
                endpoint,
            } => {
                let address = self.program.open_client_index(&mint, &client);
                let last: Option<OpenClientIndex> = self.read(&address).await?;
                let given = GiveOpenFeedback {
                    index: next(last.map_or(0, |it| it.last_index)),
                    value: (value.parse()).map_err(|_| malformed("value", value, "an int128"))?,
                    decimals: *decimals,
                    tag1: &feedback.tag1,
                    tag2: &feedback.tag2,
                    endpoint,
                    uri: &feedback.uri,
                    hash: feedback.hash,
                };
                Ok(vec![self.program.give_open_feedback(client, mint, &given)])
            }
            Rating::Authorized { score, auth } => {
                let address = self.program.client_index(&mint, &client);
                let last: Option<ClientIndex> = self.read(&address).await?;
                let given = GiveFeedback {
                    index: next(last.map_or(0, |it| it.last_index)),
                    score: *score,
                    tag1: Tag::new(&feedback.tag1)?.padded(), // R14
                    tag2: Tag::new(&feedback.tag2)?.padded(),
                    uri: &feedback.uri,
                    hash: feedback.hash,
                    authorization: FeedbackAuthorization::Bounded {
                        index_limit: auth.index_limit,
                        expiry: auth.expiry,
                    },
                };
                let verify = self.authorization(client, mint, auth).await?;
                let give = self.program.give_feedback(client, mint, &given);
                Ok(vec![verify, give]) // R11: directly before
            }
        }
    }

    /// The precompile's instruction for an authorization (R9), by the one key that counts (R7).
    async fn authorization(
        &self,
        client: Address,
        mint: Address,
        auth: &FeedbackAuth,
    ) -> Result<Instruction, ClientError> {
        let signer = self.authorization_signer(&mint).await?;
        let message = self.auth_message(mint, client, (auth.index_limit, auth.expiry), signer)?;
        let signature = bytes_of("authorization", &auth.authorization)?;
        let length = signature.len();
        let signature: [u8; 64] = (signature.try_into())
            .map_err(|_| malformed("authorization", &format!("{length} bytes"), "64 bytes (R9)"))?;
        let verify = ed25519::verify(signer.as_array(), &signature, &message);
        verify.map_err(|error| self.refused(error.to_string()))
    }

    /// R7: the one key whose authorizations count for an agent.
    pub(super) async fn authorization_signer(
        &self,
        mint: &Address,
    ) -> Result<Address, ClientError> {
        let agent: Option<AgentIdentity> = self.read(&self.program.agent(mint)).await?;
        let agent = agent.ok_or_else(|| self.no_agent(mint))?;
        Ok(agent.authorization_signer())
    }

    /// The message of R9. `bounds`: index limit and expiry.
    pub(super) fn auth_message(
        &self,
        mint: Address,
        client: Address,
        bounds: (u64, u64),
        signer: Address,
    ) -> Result<[u8; 56], ClientError> {
        let (index_limit, expiry) = bounds;
        Ok(SvmFeedbackAuth {
            agent_mint: mint.to_bytes(),
            client: client.to_bytes(),
            index_limit,
            expiry,
            chain: caip::ChainId::parse(&self.network)?.hash(),
            program_id: self.program.id().to_bytes(),
            signer: signer.to_bytes(),
        }
        .message())
    }

    /// The rent of the accounts that a feedback makes, in lamports. Tags that are shorter than they may be make it
    /// less.
    pub(super) async fn rent_max(
        &self,
        client: Address,
        feedback: &Feedback,
    ) -> Result<u64, ClientError> {
        let mint = mint(&feedback.agent)?;
        let (entry, index, index_size) = match feedback.rating.kind() {
            Kind::Open => {
                let index = self.program.open_client_index(&mint, &client);
                (OpenFeedback::SPACE, index, OpenClientIndex::SPACE)
            }
            Kind::Authorized => {
                let index = self.program.client_index(&mint, &client);
                (FeedbackEntry::SPACE, index, ClientIndex::SPACE)
            }
        };
        let entry = self.cluster.rent(entry).await?;
        match self.cluster.account(&index).await? {
            Some(_) => Ok(entry),
            None => Ok(entry.saturating_add(self.cluster.rent(index_size).await?)),
        }
    }
}

/// Reads an agent's mint.
pub(super) fn mint(text: &str) -> Result<Address, ClientError> {
    (text.parse()).map_err(|_| malformed("agent", text, "a mint in base58"))
}

/// Reads an address.
pub(super) fn address(field: &'static str, text: &str) -> Result<Address, ClientError> {
    (text.parse()).map_err(|_| malformed(field, text, "an address in base58"))
}
