use crate::{
    ConcordError, ValidationResponded,
    account_creation::create_pda,
    account_data::{absent, load, store},
    error::{account_mismatch, refusal, require},
    event_emission,
    portable_text::require_portable,
    state::{AgentIdentity, ValidationRequest, ValidationResponse},
};
use anchor_lang::{prelude::*, system_program};
use concord_canonical::{
    limits::{SCORE_MAX, URI_MAX},
    pda::{REQUEST_PREFIX, VAL_RESPONSE},
};

/// The arguments of `validation_response`.
pub struct ValidationAnswer {
    pub request_hash: [u8; 32],
    pub score: u8,
    pub tag: [u8; 32],
    pub evidence_uri: String,
    pub evidence_hash: [u8; 32],
}

#[derive(Accounts)]
pub struct RespondToValidation<'info> {
    pub validator: Signer<'info>,
    /// Pays for the response, the first time.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub validation_request: UncheckedAccount<'info>,
    /// CHECK: loaded or created in the handler
    #[account(mut @ account_mismatch())]
    pub validation_response: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    #[account(address = system_program::ID @ account_mismatch())]
    pub system_program: UncheckedAccount<'info>,
    /// CHECK: signs events
    #[account(address = crate::EVENT_AUTHORITY_AND_BUMP.0 @ account_mismatch())]
    pub event_authority: UncheckedAccount<'info>,
    /// CHECK: the callee of the event self-CPI
    #[account(address = crate::ID @ account_mismatch())]
    pub program: UncheckedAccount<'info>,
}

impl RespondToValidation<'_> {
    pub fn validation_response(&self, answer: ValidationAnswer) -> Result<()> {
        let mut request = self.load_request(&answer.request_hash)?;
        require!(
            request.validator == *self.validator.key,
            ConcordError::NotValidator
        );
        require!(answer.score <= SCORE_MAX, ConcordError::ScoreOutOfRange); // R20
        require_portable(&answer.evidence_uri, URI_MAX)?; // R17

        let now = Clock::get()?.unix_timestamp;
        let mut agent = self.load_agent()?;
        let mut response = if request.responded {
            self.load_response(&request)?
        } else {
            agent.count_validation()?; // R20: once for each request
            agent.store(&self.agent)?;
            request.responded = true;
            store(&self.validation_request, &request)?;
            self.create_response(&request, now)?
        };
        response.replace(answer.score, answer.tag, answer.evidence_hash, now)?;
        store(&self.validation_response, &response)?;
        self.report(answer, now)
    }

    /// The request with this hash, of whichever validator.
    fn load_request(&self, hash: &[u8; 32]) -> Result<ValidationRequest> {
        let mint = self.nft_mint.key;
        let Some(request) = load::<ValidationRequest>(&self.validation_request)? else {
            let (derived, _) = ValidationRequest::find(mint, self.validator.key, hash);
            return Err(absent(
                &self.validation_request,
                derived,
                ConcordError::RequestNotFound,
            ));
        };
        require!(
            request.is_in_place_of(mint, hash),
            ConcordError::AccountMismatch
        );
        // R20: the whole hash names the request
        require!(request.request_hash == *hash, ConcordError::RequestNotFound);
        Ok(request)
    }

    fn load_agent(&self) -> Result<AgentIdentity> {
        AgentIdentity::load(&self.agent)?
            .filter(|agent| agent.nft_mint == *self.nft_mint.key)
            .ok_or_else(|| refusal(ConcordError::AccountMismatch))
    }

    fn load_response(&self, request: &ValidationRequest) -> Result<ValidationResponse> {
        load::<ValidationResponse>(&self.validation_response)?
            .filter(|response| response.answers(request))
            .ok_or_else(|| refusal(ConcordError::AccountMismatch))
    }

    fn create_response(&self, request: &ValidationRequest, now: i64) -> Result<ValidationResponse> {
        let (mint, validator, hash) =
            (&request.nft_mint, &request.validator, &request.request_hash);
        let (address, bump) = ValidationResponse::find(mint, validator, hash);
        require!(
            *self.validation_response.key == address,
            ConcordError::AccountMismatch
        );
        create_pda(
            &self.payer,
            &self.validation_response,
            ValidationResponse::SPACE,
            &[
                VAL_RESPONSE,
                mint.as_ref(),
                validator.as_ref(),
                &hash[..REQUEST_PREFIX],
                &[bump],
            ],
        )?;
        Ok(ValidationResponse::pending(request, now, bump))
    }

    fn report(&self, answer: ValidationAnswer, now: i64) -> Result<()> {
        event_emission::emit(
            &self.event_authority,
            &ValidationResponded {
                nft_mint: self.nft_mint.key(),
                validator: self.validator.key(),
                score: answer.score,
                tag: answer.tag,
                evidence_uri: answer.evidence_uri,
                evidence_hash: answer.evidence_hash,
                request_hash: answer.request_hash,
                timestamp: now,
            },
        )
    }
}
