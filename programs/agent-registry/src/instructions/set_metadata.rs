use super::*;
use crate::account_creation::top_up;

#[derive(Accounts)]
pub struct SetMetadata<'info> {
    pub owner: Signer<'info>,
    /// Pays for the entry.
    #[account(mut)]
    pub payer: Signer<'info>,
    pub agent: AgentAccounts<'info>,
    /// CHECK: loaded or created in the handler
    #[account(mut @ account_mismatch())]
    pub metadata_entry: UncheckedAccount<'info>,
    pub system_program: Program<'info, System>,
    pub events: EventAccounts<'info>,
}

impl SetMetadata<'_> {
    pub fn set_metadata(&self, key: String, value: Vec<u8>) -> Result<()> {
        let mut agent = self.agent.load_for(&self.owner)?;
        // R2, R3: the wallet has its own instructions, byte for byte this key
        require!(key != RESERVED_METADATA_KEY, ReservedKey);
        require_portable(&key, METADATA_KEY_MAX)?; // R17
        require!(value.len() <= METADATA_VALUE_MAX, LengthLimit); // R17
        self.write(key.clone(), value.clone())?;
        let now = Clock::get()?.unix_timestamp;
        agent.updated_at = now;
        self.agent.store(&agent)?;
        self.events.emit(&MetadataSet {
            nft_mint: agent.nft_mint,
            owner: agent.owner,
            metadata_key: key,
            metadata_value: value,
            timestamp: now,
        })
    }

    fn write(&self, key: String, value: Vec<u8>) -> Result<()> {
        let (nft_mint, account) = (*self.agent.mint(), &self.metadata_entry);
        match find::<MetadataEntry>(account, &MetadataEntry::place_of(&nft_mint, &key))? {
            Slot::Held(mut entry) => {
                entry.version = VERSION; // R12: it is written whole
                entry.value = value;
                self.resize(entry.space())?;
                store(account, &entry)
            }
            Slot::Vacant(derived) => {
                let entry = MetadataEntry {
                    nft_mint,
                    bump: derived.bump(),
                    version: VERSION,
                    key,
                    value,
                };
                derived.create(&self.payer, account, &entry)
            }
        }
    }

    /// What a shorter value sets free stays in the account.
    fn resize(&self, space: usize) -> Result<()> {
        let lamports = Rent::get()?.minimum_balance(space);
        top_up(&self.payer, &self.metadata_entry, lamports)?;
        Ok(self.metadata_entry.resize(space)?)
    }
}
