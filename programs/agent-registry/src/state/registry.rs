use super::VERSION;
use crate::{
    ConcordError,
    account_data::{Record, load},
    error::{refusal, require},
};
use anchor_lang::prelude::*;
use concord_canonical::{caip::ChainId, pda};

/// CAIP-2: a namespace of at most 8 characters, a colon, a reference of at most 32.
const CHAIN_ID_MAX: usize = 8 + 1 + 32;
/// R13: so many payment tokens count at a time.
pub const PAYMENT_TOKENS_MAX: usize = 8;
/// R13: so many facilitators count at a time.
pub const FACILITATORS_MAX: usize = 16;

/// The one registry account of this program, `["registry"]`.
#[account]
#[derive(InitSpace, Debug)]
pub struct Registry {
    /// keccak256 of `chain`: the chain word of every authorization (R9).
    pub chain_hash: [u8; 32],
    pub bump: u8,
    pub version: u8,
    /// Who keeps the lists below and can propose its successor: at first the program's upgrade
    /// authority, from then on independent of it.
    pub authority: Pubkey,
    /// Who becomes the authority by accepting; all zero = nobody.
    pub proposed_authority: Pubkey,
    /// The cluster's CAIP-2 id, such as `solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1`.
    #[max_len(CHAIN_ID_MAX)]
    pub chain: String,
    /// Mints of the tokens whose payments count (R13).
    #[max_len(PAYMENT_TOKENS_MAX)]
    pub payment_tokens: Vec<Pubkey>,
    /// Whose signatures prove payments (R13).
    #[max_len(FACILITATORS_MAX)]
    pub facilitators: Vec<Pubkey>,
}

impl Record for Registry {}

impl Registry {
    /// The address is a constant, so nothing searches it at run time.
    pub const ADDRESS_AND_BUMP: (Pubkey, u8) = {
        let (address, bump) =
            anchor_lang::derive_program_address(&[pda::REGISTRY], &crate::ID_CONST.to_bytes());
        (Pubkey::new_from_array(address), bump)
    };
    pub const ADDRESS: Pubkey = Self::ADDRESS_AND_BUMP.0;

    /// R9: a CAIP-2 id of the solana namespace, as text and hashed.
    pub fn initialized(chain: &str, authority: Pubkey) -> Result<Self> {
        let id = ChainId::parse(chain).map_err(|_| refusal(ConcordError::MalformedChainId))?;
        require!(id.namespace() == "solana", MalformedChainId);
        Ok(Self {
            chain_hash: id.hash(),
            bump: Self::ADDRESS_AND_BUMP.1,
            version: VERSION,
            authority,
            proposed_authority: Pubkey::default(),
            chain: chain.to_owned(),
            payment_tokens: vec![],
            facilitators: vec![],
        })
    }

    /// `account`'s address has been compared with [`Self::ADDRESS`]; `AccountMismatch` where
    /// nothing has been initialized there.
    pub fn of(account: &AccountInfo) -> Result<Self> {
        load(account)?.ok_or_else(|| refusal(ConcordError::AccountMismatch))
    }

    /// [`Self::of`], on behalf of `caller`, who must be the authority.
    pub fn of_authority(account: &AccountInfo, caller: &Pubkey) -> Result<Self> {
        let registry = Self::of(account)?;
        require!(registry.authority == *caller, NotAuthorized);
        Ok(registry)
    }

    /// The first step of a hand-over: it names a successor, and changes no right. The default
    /// key withdraws an earlier proposal.
    pub fn propose_authority(&mut self, successor: Pubkey) {
        self.proposed_authority = successor;
    }

    /// The second step: `caller`, who has signed, is the successor named. Returns who was the
    /// authority.
    pub fn accept_authority(&mut self, caller: Pubkey) -> Result<Pubkey> {
        require!(self.proposed_authority == caller, NotAuthorized);
        self.proposed_authority = Pubkey::default();
        Ok(std::mem::replace(&mut self.authority, caller))
    }

    /// R13: whether payments in `token` count. Returns whether this changed anything.
    pub fn set_payment_token(&mut self, token: Pubkey, listed: bool) -> Result<bool> {
        set_listed(&mut self.payment_tokens, token, listed, PAYMENT_TOKENS_MAX)
    }

    /// R13: whether proofs by `facilitator` count. Returns whether this changed anything.
    pub fn set_facilitator(&mut self, facilitator: Pubkey, listed: bool) -> Result<bool> {
        set_listed(
            &mut self.facilitators,
            facilitator,
            listed,
            FACILITATORS_MAX,
        )
    }

    /// Reads the chain word alone. `account`'s address has been compared with [`Self::ADDRESS`];
    /// `AccountMismatch` where nothing has been initialized there.
    pub fn chain_hash_of(account: &AccountInfo) -> Result<[u8; 32]> {
        require!(account.owner == &crate::ID, AccountMismatch);
        let data = account.try_borrow_data()?;
        let fields = data.get(Self::DISCRIMINATOR.len()..);
        let hash = fields.and_then(|fields| fields.first_chunk());
        hash.copied()
            .ok_or_else(|| refusal(ConcordError::AccountMismatch))
    }
}

/// Puts `key` on the list, which holds at most `max`, or takes it off; the others keep their order. Returns whether the
/// list changed.
fn set_listed(list: &mut Vec<Pubkey>, key: Pubkey, listed: bool, max: usize) -> Result<bool> {
    if list.contains(&key) == listed {
        return Ok(false);
    }
    if listed {
        require!(list.len() < max, ListTooLong);
        list.push(key);
    } else {
        list.retain(|it| *it != key);
    }
    Ok(true)
}
