//! R4: an agent is a Token-2022 mint of supply 1 that nobody can mint again, freeze or close,
//! that carries its own metadata, and whose every transfer runs our hook.
use crate::account_creation;
use anchor_lang::{
    prelude::*,
    solana_program::{
        instruction::{AccountMeta, Instruction},
        program::invoke,
    },
    system_program,
};
use anchor_spl::{
    associated_token,
    token_2022::{self, InitializeMint2, MintTo, SetAuthority, spl_token_2022},
    token_2022_extensions::{
        MetadataPointerInitialize, TokenMetadataInitialize, TokenMetadataUpdateField,
        TransferHookInitialize, metadata_pointer_initialize,
        spl_token_metadata_interface::state::Field, token_metadata_initialize,
        token_metadata_update_field, transfer_hook_initialize,
    },
};
use spl_token_2022::instruction::AuthorityType;

/// Every agent's token has the name and symbol of the EVM registry's collection.
pub const NAME: &str = "AgentIdentity";
pub const SYMBOL: &str = "AGENT";

/// Mint (82, padded to 165), account type (1), metadata pointer and transfer hook (4 + 64 each).
const SPACE_BEFORE_METADATA: usize = 165 + 1 + 2 * (4 + 64);

/// What Token-2022 appends for the metadata: type and length (4), update authority and mint
/// (64), three texts with their lengths (4 each), the number of further fields (4).
fn metadata_space(uri: &str) -> usize {
    4 + 64 + (4 + NAME.len()) + (4 + SYMBOL.len()) + (4 + uri.len()) + 4
}

/// The accounts of a mint whose URI changes.
pub struct UriChange<'a, 'info> {
    /// Pays for what a longer URI needs.
    pub payer: &'a AccountInfo<'info>,
    pub mint: &'a AccountInfo<'info>,
    /// The agent's PDA, the metadata's authority, and its seeds, bump included.
    pub agent: &'a AccountInfo<'info>,
    pub agent_seeds: &'a [&'a [u8]],
    pub token_program: &'a AccountInfo<'info>,
}

impl UriChange<'_, '_> {
    /// Token-2022 resizes the mint and leaves its rent to us. What a shorter URI sets free
    /// stays in the mint, whose address has no key that could withdraw it, and pays for a longer one later.
    pub fn write(&self, uri: String) -> Result<()> {
        let space = SPACE_BEFORE_METADATA + metadata_space(&uri);
        let lamports = Rent::get()?.minimum_balance(space);
        account_creation::top_up(self.payer, self.mint, lamports)?;
        let accounts = TokenMetadataUpdateField {
            program_id: self.token_program.clone(),
            metadata: self.mint.clone(),
            update_authority: self.agent.clone(),
        };
        let seeds = [self.agent_seeds];
        let context = CpiContext::new_with_signer(token_2022::ID, accounts, &seeds);
        token_metadata_update_field(context, Field::Uri, uri)
    }
}

/// The accounts of a mint in the making.
pub struct AgentMint<'a, 'info> {
    /// Pays for mint and token account.
    pub payer: &'a AccountInfo<'info>,
    /// Receives the token.
    pub owner: &'a AccountInfo<'info>,
    /// Vacant.
    pub mint: &'a AccountInfo<'info>,
    /// The seeds of the mint's address, bump included.
    pub mint_seeds: &'a [&'a [u8]],
    /// The owner's associated token account.
    pub token_account: &'a AccountInfo<'info>,
    /// The agent's PDA: mint authority until the end, metadata authority for ever.
    pub agent: &'a AccountInfo<'info>,
    /// The seeds of that PDA, bump included.
    pub agent_seeds: &'a [&'a [u8]],
    pub token_program: &'a AccountInfo<'info>,
    pub system_program: &'a AccountInfo<'info>,
}

impl<'info> AgentMint<'_, 'info> {
    /// Brings the agent's one token into being.
    pub fn create(&self, uri: &str) -> Result<()> {
        self.create_mint(uri)?;
        self.write_metadata(uri)?;
        self.create_token_account()?;
        self.mint_the_token()?;
        self.give_up_minting()
    }

    fn create_mint(&self, uri: &str) -> Result<()> {
        let lamports = Rent::get()?.minimum_balance(SPACE_BEFORE_METADATA + metadata_space(uri));
        account_creation::create(
            self.payer,
            self.mint,
            SPACE_BEFORE_METADATA,
            lamports,
            &token_2022::ID,
            &[self.mint_seeds],
        )?;
        metadata_pointer_initialize(
            self.unsigned(MetadataPointerInitialize {
                token_program_id: self.token_program.clone(),
                mint: self.mint.clone(),
            }),
            Some(*self.agent.key),
            Some(*self.mint.key),
        )?;
        transfer_hook_initialize(
            self.unsigned(TransferHookInitialize {
                token_program_id: self.token_program.clone(),
                mint: self.mint.clone(),
            }),
            None,
            Some(crate::ID),
        )?;
        let mint = self.mint.clone();
        token_2022::initialize_mint2(
            self.unsigned(InitializeMint2 { mint }),
            0,
            self.agent.key,
            None,
        )
    }

    fn write_metadata(&self, uri: &str) -> Result<()> {
        let accounts = TokenMetadataInitialize {
            program_id: self.token_program.clone(),
            metadata: self.mint.clone(),
            update_authority: self.agent.clone(),
            mint_authority: self.agent.clone(),
            mint: self.mint.clone(),
        };
        self.signed(accounts, |context| {
            token_metadata_initialize(context, NAME.into(), SYMBOL.into(), uri.into())
        })
    }

    /// By hand: anchor-spl's helper searches for the account's address a second time.
    fn create_token_account(&self) -> Result<()> {
        let instruction = Instruction {
            program_id: associated_token::ID,
            accounts: vec![
                AccountMeta::new(*self.payer.key, true),
                AccountMeta::new(*self.token_account.key, false),
                AccountMeta::new_readonly(*self.owner.key, false),
                AccountMeta::new_readonly(*self.mint.key, false),
                AccountMeta::new_readonly(system_program::ID, false),
                AccountMeta::new_readonly(token_2022::ID, false),
            ],
            data: vec![0], // create
        };
        let accounts = [
            self.payer.clone(),
            self.owner.clone(),
            self.token_account.clone(),
            self.mint.clone(),
            self.system_program.clone(),
            self.token_program.clone(),
        ];
        Ok(invoke(&instruction, &accounts)?)
    }

    fn mint_the_token(&self) -> Result<()> {
        let accounts = MintTo {
            mint: self.mint.clone(),
            to: self.token_account.clone(),
            authority: self.agent.clone(),
        };
        self.signed(accounts, |context| token_2022::mint_to(context, 1))
    }

    fn give_up_minting(&self) -> Result<()> {
        let accounts = SetAuthority {
            current_authority: self.agent.clone(),
            account_or_mint: self.mint.clone(),
        };
        self.signed(accounts, |context| {
            token_2022::set_authority(context, AuthorityType::MintTokens, None)
        })
    }

    fn unsigned<'b, T: ToAccountMetas + ToAccountInfos<'info>>(
        &self,
        accounts: T,
    ) -> CpiContext<'b, 'b, 'b, 'info, T> {
        CpiContext::new(token_2022::ID, accounts)
    }

    fn signed<T: ToAccountMetas + ToAccountInfos<'info>>(
        &self,
        accounts: T,
        call: impl FnOnce(CpiContext<'_, '_, '_, 'info, T>) -> Result<()>,
    ) -> Result<()> {
        call(CpiContext::new_with_signer(
            token_2022::ID,
            accounts,
            &[self.agent_seeds],
        ))
    }
}
