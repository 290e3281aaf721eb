use super::{VERSION, lowered, raised};
use crate::{
    ConcordError,
    account_data::{Placed, Record, require_held},
    error::require,
};
use anchor_lang::prelude::*;
use concord_canonical::pda::Account as Place;

/// X84's unbounded message counts for this agent (R10). Off by default.
pub const AUTH_SCHEME_X84: u8 = 1;
/// The bounded message of R9 counts for this agent. The default, alone.
pub const AUTH_SCHEME_BOUNDED: u8 = 2;

/// Bytes for the fields of later layouts.
const RESERVED: usize = 56;

/// The registry's record of one agent, `["agent", mint]`. The URI lives in the token's metadata.
#[account]
#[derive(InitSpace, Debug)]
pub struct AgentIdentity {
    pub nft_mint: Pubkey,
    /// The holder of the token. Written at registration and by the transfer hook only (R4).
    pub owner: Pubkey,
    /// 1 at registration, one more with every change of owner.
    pub owner_version: u64,
    /// The one key whose authorizations count (R7); all zero = the owner's.
    pub feedback_authority: Pubkey,
    /// All zero = none (R3).
    pub agent_wallet: Pubkey,
    /// The authorization schemes that count, as a sum of `AUTH_SCHEME_*` (R10).
    pub auth_schemes: u8,
    /// The cluster's clock, seconds.
    pub created_at: i64,
    pub updated_at: i64,
    /// Non-revoked entries with payment proof, and the sum of their scores.
    pub verified_feedback_count: u64,
    pub verified_score_sum: u64,
    /// Non-revoked entries without payment proof, and the sum of their scores.
    pub unverified_feedback_count: u64,
    pub unverified_score_sum: u64,
    pub validation_count: u64,
    /// Distinct clients that ever gave authorized feedback: the highest `ClientIndex::ordinal`.
    pub client_count: u64,
    /// Distinct clients that ever gave open feedback: the highest `OpenClientIndex::ordinal`.
    pub open_client_count: u64,
    pub bump: u8,
    pub version: u8,
    /// When `agent_wallet` was last written: at registration, in a transfer, or by the owner. Seconds (R13).
    pub wallet_set_at: i64,
    /// R12: zeros, until a later layout takes its fields from here, because the hook has no payer to lengthen the
    /// account. Zero must be their default.
    pub reserved: [u8; RESERVED],
}

impl Record for AgentIdentity {}

impl Placed for AgentIdentity {
    fn place(&self) -> Place<'_> {
        Self::place_of(&self.nft_mint)
    }
}

impl AgentIdentity {
    /// R1: the mint is the agent's id.
    pub fn place_of(mint: &Pubkey) -> Place<'static> {
        let mint = mint.to_bytes();
        Place::Agent { mint }
    }

    pub fn registered(nft_mint: Pubkey, owner: Pubkey, now: i64, bump: u8) -> Self {
        Self {
            nft_mint,
            owner,
            owner_version: 1,
            feedback_authority: Pubkey::default(),
            agent_wallet: owner, // R3
            auth_schemes: AUTH_SCHEME_BOUNDED,
            created_at: now,
            updated_at: now,
            verified_feedback_count: 0,
            verified_score_sum: 0,
            unverified_feedback_count: 0,
            unverified_score_sum: 0,
            validation_count: 0,
            client_count: 0,
            open_client_count: 0,
            bump,
            version: VERSION,
            wallet_set_at: now,
            reserved: [0; RESERVED],
        }
    }

    /// The agent of `mint`. Errors: `AgentNotFound`, `AccountMismatch`.
    pub fn of(account: &AccountInfo, mint: &Pubkey) -> Result<Self> {
        require_held(account, &Self::place_of(mint), ConcordError::AgentNotFound)
    }

    /// [`Self::of`], on behalf of `caller`, who must be the owner: delegates of the token have
    /// no rights (R4). Errors: `AgentNotFound`, `AccountMismatch`, `NotAuthorized`.
    pub fn of_owner(account: &AccountInfo, mint: &Pubkey, caller: &Pubkey) -> Result<Self> {
        let agent = Self::of(account, mint)?;
        require!(agent.owner == *caller, NotAuthorized);
        Ok(agent)
    }

    /// R3: the new wallet, which has consented; the default key for none.
    pub fn set_wallet(&mut self, wallet: Pubkey, now: i64) {
        self.agent_wallet = wallet;
        self.wallet_set_at = now;
        self.updated_at = now;
    }

    /// R7: the one key whose authorizations count from now on; the default key for the owner's.
    pub fn set_feedback_authority(&mut self, authority: Pubkey, now: i64) {
        self.feedback_authority = authority;
        self.updated_at = now;
    }

    /// R10: which schemes count from now on, as a sum of `AUTH_SCHEME_*`; at least one.
    pub fn set_auth_schemes(&mut self, schemes: u8, now: i64) -> Result<()> {
        const KNOWN: u8 = AUTH_SCHEME_X84 | AUTH_SCHEME_BOUNDED;
        require!(schemes != 0 && schemes & !KNOWN == 0, AuthSchemeUnknown);
        self.auth_schemes = schemes;
        self.updated_at = now;
        Ok(())
    }

    /// Whether the owner lets `scheme`, one of `AUTH_SCHEME_*`, authorize feedback (R10).
    pub fn accepts(&self, scheme: u8) -> bool {
        self.auth_schemes & scheme != 0
    }

    /// R4: the new owner starts without the old one's wallet, authority and schemes.
    pub fn transfer_to(&mut self, owner: Pubkey, now: i64) -> Result<()> {
        self.owner = owner;
        self.owner_version = raised(self.owner_version, 1)?;
        self.feedback_authority = Pubkey::default();
        self.set_wallet(Pubkey::default(), now);
        self.auth_schemes = AUTH_SCHEME_BOUNDED;
        Ok(())
    }

    /// R7: exactly one key signs authorizations.
    pub fn authorization_signer(&self) -> &Pubkey {
        if self.feedback_authority == Pubkey::default() {
            &self.owner
        } else {
            &self.feedback_authority
        }
    }

    /// R18: who cannot review the agent.
    pub fn is_operated_by(&self, key: &Pubkey) -> bool {
        *key == self.owner || *key == self.feedback_authority
    }

    /// R13: whose payments to the agent can prove something.
    pub fn is_stranger(&self, key: &Pubkey) -> bool {
        !self.is_operated_by(key) && *key != self.agent_wallet
    }

    /// Counts a new entry. None has payment proof when it is given (R13).
    pub fn count_feedback(&mut self, score: u8) -> Result<()> {
        self.unverified_feedback_count = raised(self.unverified_feedback_count, 1)?;
        self.unverified_score_sum = raised(self.unverified_score_sum, score.into())?;
        Ok(())
    }

    /// R13: an entry that has got its payment proof moves to the verified counters.
    pub fn verify_feedback(&mut self, score: u8) -> Result<()> {
        self.discount_feedback(score, false)?;
        self.verified_feedback_count = raised(self.verified_feedback_count, 1)?;
        self.verified_score_sum = raised(self.verified_score_sum, score.into())?;
        Ok(())
    }

    /// Takes a revoked entry out of the counters that its own flag names (X84).
    pub fn discount_feedback(&mut self, score: u8, has_payment_proof: bool) -> Result<()> {
        let (count, sum) = if has_payment_proof {
            (
                &mut self.verified_feedback_count,
                &mut self.verified_score_sum,
            )
        } else {
            (
                &mut self.unverified_feedback_count,
                &mut self.unverified_score_sum,
            )
        };
        *count = lowered(*count, 1)?;
        *sum = lowered(*sum, score.into())?;
        Ok(())
    }

    /// R20: counts a validation when its validator responds for the first time.
    pub fn count_validation(&mut self) -> Result<()> {
        self.validation_count = raised(self.validation_count, 1)?;
        Ok(())
    }
}
