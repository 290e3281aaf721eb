use super::*;

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
    pub fn validation_response(
        &self,
        request_hash: [u8; 32],
        score: u8,
        tag: [u8; 32],
        evidence_uri: String,
        evidence_hash: [u8; 32],
    ) -> Result<()> {
        let mut request = self.load_request(&request_hash)?;
        require!(request.validator == *self.validator.key, NotValidator);
        require!(score <= SCORE_MAX, ScoreOutOfRange); // R20
        require_portable(&evidence_uri, URI_MAX)?; // R17

        let now = Clock::get()?.unix_timestamp;
        let mut agent = self.agent.load()?;
        let account = &self.validation_response;
        let place =
            ValidationResponse::place_of(&request.nft_mint, &request.validator, &request_hash);
        match find::<ValidationResponse>(account, &place)? {
            Slot::Held(mut response) => {
                response.replace(score, tag, evidence_hash, now)?;
                store(account, &response)?;
            }
            Slot::Vacant(derived) => {
                agent.count_validation()?; // R20: once for each request
                self.agent.store(&agent)?;
                request.responded = true;
                store(&self.validation_request, &request)?;
                let mut response = ValidationResponse::pending(&request, now, derived.bump());
                response.replace(score, tag, evidence_hash, now)?;
                derived.create(&self.payer, account, &response)?;
            }
        }
        self.events.emit(&ValidationResponded {
            nft_mint: request.nft_mint,
            validator: request.validator,
            score,
            tag,
            evidence_uri,
            evidence_hash,
            request_hash,
            timestamp: now,
        })
    }

    /// The request with this hash, of whichever validator.
    fn load_request(&self, hash: &[u8; 32]) -> Result<ValidationRequest> {
        let mint = self.agent.mint();
        let Some(request) = load::<ValidationRequest>(&self.validation_request)? else {
            let place = ValidationRequest::place_of(mint, self.validator.key, hash);
            Derived::at(&self.validation_request, &place)?;
            return Err(refusal(ConcordError::RequestNotFound));
        };
        require!(request.is_in_place_of(mint, hash), AccountMismatch);
        // R20: the whole hash names the request
        require!(request.request_hash == *hash, RequestNotFound);
        Ok(request)
    }
}
