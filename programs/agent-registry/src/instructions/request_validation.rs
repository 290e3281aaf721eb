use crate::{
    ConcordError, ValidationRequested,
    account_creation::create_pda,
    account_data::{load, store},
    error::{account_mismatch, require},
    event_emission,
    portable_text::require_portable,
    state::{AgentIdentity, VERSION, ValidationRequest},
};
use anchor_lang::{prelude::*, system_program};
use concord_canonical::{
    limits::URI_MAX,
    pda::{REQUEST_PREFIX, VAL_REQUEST},
};

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

impl RequestValidation<'_> {
    pub fn validation_request(
        &self,
        validator: Pubkey,
        request_hash: [u8; 32],
        tag: [u8; 32],
        request_uri: String,
    ) -> Result<()> {
        require!(validator != Pubkey::default(), ConcordError::ValidatorZero);
        let occupant = self.occupant(&validator, &request_hash)?;
        let is_same = |there: &ValidationRequest| there.request_hash == request_hash;
        require!(
            !occupant.as_ref().is_some_and(is_same),
            ConcordError::RequestExists
        );
        // R20: SPL delegates and the feedback authority have no say
        AgentIdentity::of_owner(&self.agent, self.nft_mint.key, self.owner.key)?;
        require!(occupant.is_none(), ConcordError::RequestPrefixCollision); // R20
        require_portable(&request_uri, URI_MAX)?; // R17

        let request = self.record(validator, request_hash, tag)?;
        event_emission::emit(
            &self.event_authority,
            &ValidationRequested {
                nft_mint: request.nft_mint,
                validator,
                request_hash,
                tag,
                request_uri,
                timestamp: request.created_at,
            },
        )
    }

    /// The request that lies where this one would: with the same hash, or with the same prefix.
    fn occupant(&self, validator: &Pubkey, hash: &[u8; 32]) -> Result<Option<ValidationRequest>> {
        let Some(there) = load::<ValidationRequest>(&self.validation_request)? else {
            return Ok(None);
        };
        require!(
            there.is_in_place_of(self.nft_mint.key, hash) && there.validator == *validator,
            ConcordError::AccountMismatch
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
        let (address, bump) = ValidationRequest::find(&mint, &validator, &request_hash);
        require!(
            *self.validation_request.key == address,
            ConcordError::AccountMismatch
        );
        create_pda(
            &self.payer,
            &self.validation_request,
            ValidationRequest::SPACE,
            &[
                VAL_REQUEST,
                mint.as_ref(),
                validator.as_ref(),
                &request_hash[..REQUEST_PREFIX],
                &[bump],
            ],
        )?;
        let request = ValidationRequest {
            nft_mint: mint,
            validator,
            request_hash,
            tag,
            responded: false,
            created_at: Clock::get()?.unix_timestamp,
            bump,
            version: VERSION,
        };
        store(&self.validation_request, &request)?;
        Ok(request)
    }
}
