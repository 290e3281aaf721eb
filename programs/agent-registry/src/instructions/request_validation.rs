use super::*;

#[derive(Accounts)]
pub struct RequestValidation<'info> {
    pub owner: Signer<'info>,
    /// Pays for the request.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: loaded in the handler
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: created in the handler
    #[account(mut @ account_mismatch())]
    pub validation_request: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
    pub events: EventAccounts<'info>,
}

impl RequestValidation<'_> {
    pub fn validation_request(
        &self,
        validator: Pubkey,
        request_hash: [u8; 32],
        tag: [u8; 32],
        request_uri: String,
    ) -> Result<()> {
        require!(validator != Pubkey::default(), ValidatorZero);
        let occupant = self.occupant(&validator, &request_hash)?;
        let is_same = |there: &ValidationRequest| there.request_hash == request_hash;
        require!(!occupant.as_ref().is_some_and(is_same), RequestExists);
        // R20: SPL delegates and the feedback authority have no say
        AgentIdentity::of_owner(&self.agent, self.nft_mint.key, self.owner.key)?;
        require!(occupant.is_none(), RequestPrefixCollision); // R20
        require_portable(&request_uri, URI_MAX)?; // R17

        let request = self.record(validator, request_hash, tag)?;
        self.events.emit(&ValidationRequested {
            nft_mint: request.nft_mint,
            validator,
            request_hash,
            tag,
            request_uri,
            timestamp: request.created_at,
        })
    }

    /// The request that lies where this one would: with the same hash, or with the same prefix.
    fn occupant(&self, validator: &Pubkey, hash: &[u8; 32]) -> Result<Option<ValidationRequest>> {
        let Some(there) = load::<ValidationRequest>(&self.validation_request)? else {
            return Ok(None);
        };
        require!(
            there.is_in_place_of(self.nft_mint.key, hash) && there.validator == *validator,
            AccountMismatch
        );
        Ok(Some(there))
    }

    fn record(
        &self,
        validator: Pubkey,
        request_hash: [u8; 32],
        tag: [u8; 32],
    ) -> Result<ValidationRequest> {
        let mint = self.nft_mint.key();
        let place = ValidationRequest::place_of(&mint, &validator, &request_hash);
        let derived = Derived::at(&self.validation_request, &place)?;
        let request = ValidationRequest {
            nft_mint: mint,
            validator,
            request_hash,
            tag,
            responded: false,
            created_at: Clock::get()?.unix_timestamp,
            bump: derived.bump(),
            version: VERSION,
        };
        derived.create(&self.payer, &self.validation_request, &request)?;
        Ok(request)
    }
}
