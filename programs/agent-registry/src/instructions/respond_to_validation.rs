use super::*;

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
    pub agent: AgentAccounts<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub validation_request: UncheckedAccount<'info>,
    /// CHECK: loaded or created in the handler
    #[account(mut @ account_mismatch())]
    pub validation_response: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
    pub events: EventAccounts<'info>,
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
        let mut agent = self.agent.load()?;
        let (account, hash) = (&self.validation_response, &request.request_hash);
        let place = ValidationResponse::place_of(&request.nft_mint, &request.validator, hash);
        match find::<ValidationResponse>(account, &place)? {
            Slot::Held(mut response) => {
                response.replace(answer.score, answer.tag, answer.evidence_hash, now)?;
                store(account, &response)?;
            }
            Slot::Vacant(derived) => {
                let mut response = ValidationResponse::pending(&request, now, derived.bump());
                response.replace(answer.score, answer.tag, answer.evidence_hash, now)?;
                derived.create(&self.payer, account, &response)?;
                request.responded = true;
                store(&self.validation_request, &request)?;
                agent.count_validation()?; // R20: once for each request
                self.agent.store(&agent)?;
            }
        }
        self.report(answer, now)
    }

    /// The request with this hash, of whichever validator.
    fn load_request(&self, hash: &[u8; 32]) -> Result<ValidationRequest> {
        let mint = self.agent.mint();
        let Some(request) = load::<ValidationRequest>(&self.validation_request)? else {
            let place = ValidationRequest::place_of(mint, self.validator.key, hash);
            Derived::at(&self.validation_request, &place)?;
            return Err(refusal(ConcordError::RequestNotFound));
        };
        require!(
            request.is_in_place_of(mint, hash),
            ConcordError::AccountMismatch
        );
        // R20: the whole hash names the request
        require!(request.request_hash == *hash, ConcordError::RequestNotFound);
        Ok(request)
    }

    fn report(&self, answer: ValidationAnswer, now: i64) -> Result<()> {
        self.events.emit(&ValidationResponded {
            nft_mint: *self.agent.mint(),
            validator: self.validator.key(),
            score: answer.score,
            tag: answer.tag,
            evidence_uri: answer.evidence_uri,
            evidence_hash: answer.evidence_hash,
            request_hash: answer.request_hash,
            timestamp: now,
        })
    }
}
