use crate::ConcordError;
use anchor_lang::prelude::*;
use concord_canonical::{caip::ChainId, pda};

/// CAIP-2: a namespace of at most 8 characters, a colon, a reference of at most 32.
const CHAIN_ID_MAX: usize = 8 + 1 + 32;

/// The one registry account of this program, `["registry"]`.
#[account]
#[derive(InitSpace, Debug)]
pub struct Registry {
    /// keccak256 of `chain`: the chain word of every authorization (R9).
    pub chain_hash: [u8; 32],
    pub bump: u8,
    /// The cluster's CAIP-2 id, such as `solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1`.
    #[max_len(CHAIN_ID_MAX)]
    pub chain: String,
}

impl Registry {
    pub const SPACE: usize = Self::DISCRIMINATOR.len() + Self::INIT_SPACE;

    /// The address is a constant, so nothing searches it at run time.
    pub const ADDRESS_AND_BUMP: (Pubkey, u8) = {
        let (address, bump) =
            anchor_lang::derive_program_address(&[pda::REGISTRY], &crate::ID_CONST.to_bytes());
        (Pubkey::new_from_array(address), bump)
    };
    pub const ADDRESS: Pubkey = Self::ADDRESS_AND_BUMP.0;

    /// R9: a CAIP-2 id of the solana namespace, as text and hashed.
    pub fn of_chain(chain: &str) -> Result<Self> {
        let id = ChainId::parse(chain).map_err(|_| ConcordError::MalformedChainId)?;
        require!(id.namespace() == "solana", ConcordError::MalformedChainId);
        Ok(Self {
            chain_hash: id.hash(),
            bump: Self::ADDRESS_AND_BUMP.1,
            chain: chain.to_owned(),
        })
    }

    /// Reads the chain word alone. `account`'s address has been compared with [`Self::ADDRESS`];
    /// `AccountMismatch` where nothing has been initialized there.
    pub fn chain_hash_of(account: &AccountInfo) -> Result<[u8; 32]> {
        require!(account.owner == &crate::ID, ConcordError::AccountMismatch);
        let data = account.try_borrow_data()?;
        let fields = data.get(Self::DISCRIMINATOR.len()..);
        let hash = fields.and_then(|fields| fields.first_chunk());
        Ok(*hash.ok_or(ConcordError::AccountMismatch)?)
    }
}
