use crate::{
    ConcordError, MetadataSet,
    account_creation::{create_pda, top_up},
    account_data::store,
    error::{account_mismatch, require},
    event_emission,
    portable_text::require_portable,
    state::{AgentIdentity, MetadataEntry, VERSION},
};
use anchor_lang::{prelude::*, system_program};
use concord_canonical::{
    hash::sha256,
    limits::{METADATA_KEY_MAX, METADATA_VALUE_MAX, RESERVED_METADATA_KEY},
    pda::METADATA,
};

#[derive(Accounts)]
pub struct SetMetadata<'info> {
    pub owner: Signer<'info>,
    /// Pays for the entry.
    #[account(mut)]
    pub payer: Signer<'info>,
    /// CHECK: loaded in the handler
    #[account(mut @ account_mismatch())]
    pub agent: UncheckedAccount<'info>,
    /// CHECK: only its address is used
    pub nft_mint: UncheckedAccount<'info>,
    /// CHECK: loaded or created in the handler
    #[account(mut @ account_mismatch())]
    pub metadata_entry: UncheckedAccount<'info>,
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

impl SetMetadata<'_> {
    pub fn set_metadata(&self, key: String, value: Vec<u8>) -> Result<()> {
        let mint = self.nft_mint.key();
        let mut agent = AgentIdentity::of_owner(&self.agent, &mint, self.owner.key)?;
        // R2, R3: the wallet has its own instructions, byte for byte this key
        require!(key != RESERVED_METADATA_KEY, ConcordError::ReservedKey);
        require_portable(&key, METADATA_KEY_MAX)?; // R17
        require!(
            value.len() <= METADATA_VALUE_MAX, // R17
            ConcordError::LengthLimit
        );
        self.write(&key, &value)?;
        let now = Clock::get()?.unix_timestamp;
        agent.updated_at = now;
        agent.store(&self.agent)?;
        event_emission::emit(
            &self.event_authority,
            &MetadataSet {
                nft_mint: mint,
                owner: agent.owner,
                metadata_key: key,
                metadata_value: value,
                timestamp: now,
            },
        )
    }

    fn write(&self, key: &str, value: &[u8]) -> Result<()> {
        let (mint, account) = (self.nft_mint.key(), &self.metadata_entry);
        let (exists, bump) = MetadataEntry::locate(account, &mint, key)?;
        let entry = MetadataEntry {
            nft_mint: mint,
            bump,
            version: VERSION,
            key: key.to_owned(),
            value: value.to_owned(),
        };
        if exists {
            self.resize(entry.space())?;
        } else {
            let hash = sha256(key.as_bytes());
            let seeds: &[&[u8]] = &[METADATA, mint.as_ref(), &hash, &[bump]];
            create_pda(&self.payer, account, entry.space(), seeds)?;
        }
        store(account, &entry)
    }

    /// What a shorter value sets free stays in the account.
    fn resize(&self, space: usize) -> Result<()> {
        let lamports = Rent::get()?.minimum_balance(space);
        top_up(&self.payer, &self.metadata_entry, lamports)?;
        Ok(self.metadata_entry.resize(space)?)
    }
}
