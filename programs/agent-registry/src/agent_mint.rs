//! R4: an agent is a Token-2022 mint of supply 1 that nobody can mint again, freeze or close,
//! that carries its own metadata, and whose every transfer runs our hook.
use crate::{RegisterAgent, account_creation, account_data::Derived};
use anchor_lang::{
    prelude::*,
    solana_program::{
        instruction::{AccountMeta, Instruction},
        program::invoke_signed,
    },
    system_program,
};
use anchor_spl::{
    associated_token,
    token_2022::{
        ID as TOKEN_2022,
        spl_token_2022::{
            extension::{metadata_pointer, transfer_hook},
            instruction::{AuthorityType, initialize_mint2, mint_to, set_authority},
        },
    },
    token_2022_extensions::spl_token_metadata_interface::{instruction as metadata, state::Field},
};

/// Every agent's token has the name and symbol of the EVM registry's collection.
pub const NAME: &str = "AgentIdentity";
pub const SYMBOL: &str = "AGENT";

/// Mint (82, padded to 165), account type (1), metadata pointer and transfer hook (4 + 64 each).
const SPACE_BEFORE_METADATA: usize = 165 + 1 + 2 * (4 + 64);

/// What an agent's mint needs to be rent-exempt. Token-2022 appends for the metadata: type and length (4), update authority
/// and mint (64), three texts with their lengths (4 each), the number of further fields (4).
fn rent(uri: &str) -> Result<u64> {
    let metadata = 4 + 64 + (4 + NAME.len()) + (4 + SYMBOL.len()) + (4 + uri.len()) + 4;
    Ok(Rent::get()?.minimum_balance(SPACE_BEFORE_METADATA + metadata))
}

/// Gives `mint` another URI. `agent` is the metadata's authority, for which `signer` signs.
///
/// Token-2022 resizes the mint and leaves its rent to us. What a shorter URI sets free stays in the mint, whose address has
/// no key that could withdraw it, and pays for a longer one later.
pub fn write_uri<'info>(
    payer: &AccountInfo<'info>,
    mint: &AccountInfo<'info>,
    agent: &AccountInfo<'info>,
    signer: &Derived,
    uri: String,
) -> Result<()> {
    account_creation::top_up(payer, mint, rent(&uri)?)?;
    let update = metadata::update_field(&TOKEN_2022, mint.key, agent.key, Field::Uri, uri);
    call(&update, [mint, agent], signer)
}

/// An agent's token in the making.
pub struct AgentMint<'a, 'info> {
    pub accounts: &'a RegisterAgent<'info>,
    pub mint: &'a Derived,
    /// Mint authority until the end, metadata authority for ever.
    pub agent: &'a Derived,
}

impl AgentMint<'_, '_> {
    /// Brings the agent's one token into being.
    pub fn create(&self, uri: &str) -> Result<()> {
        self.create_mint(uri)?;
        self.create_token_account()?;
        let RegisterAgent {
            nft_mint: mint,
            agent,
            token_account: holder,
            ..
        } = self.accounts;
        let mint_one = mint_to(&TOKEN_2022, mint.key, holder.key, agent.key, &[], 1)?;
        call(&mint_one, [mint, holder, agent], self.agent)?;
        let kind = AuthorityType::MintTokens;
        let give_up = set_authority(&TOKEN_2022, mint.key, None, kind, agent.key, &[])?;
        call(&give_up, [mint, agent], self.agent)
    }

    fn create_mint(&self, uri: &str) -> Result<()> {
        let (mint, agent) = (&self.accounts.nft_mint, &self.accounts.agent);
        account_creation::create(
            &self.accounts.payer,
            mint,
            SPACE_BEFORE_METADATA,
            rent(uri)?,
            &TOKEN_2022,
            &[&self.mint.signer()],
        )?;
        let (mint_key, authority) = (*mint.key, Some(*agent.key));
        for initialize in [
            metadata_pointer::instruction::initialize(
                &TOKEN_2022,
                &mint_key,
                authority,
                Some(mint_key),
            )?,
            transfer_hook::instruction::initialize(&TOKEN_2022, &mint_key, None, Some(crate::ID))?,
            initialize_mint2(&TOKEN_2022, &mint_key, agent.key, None, 0)?,
        ] {
            call(&initialize, [mint], self.agent)?;
        }
        let (name, symbol) = (NAME.into(), SYMBOL.into());
        let describe = metadata::initialize(
            &TOKEN_2022,
            mint.key,
            agent.key,
            mint.key,
            agent.key,
            name,
            symbol,
            uri.into(),
        );
        call(&describe, [mint, agent], self.agent)
    }

    /// By hand: SPL's function searches for the account's address a second time.
    fn create_token_account(&self) -> Result<()> {
        let RegisterAgent {
            payer,
            owner,
            nft_mint: mint,
            token_account: holder,
            system_program: system,
            token_program: token,
            ..
        } = self.accounts;
        let instruction = Instruction {
            program_id: associated_token::ID,
            accounts: vec![
                AccountMeta::new(*payer.key, true),
                AccountMeta::new(*holder.key, false),
                AccountMeta::new_readonly(*owner.key, false),
                AccountMeta::new_readonly(*mint.key, false),
                AccountMeta::new_readonly(system_program::ID, false),
                AccountMeta::new_readonly(TOKEN_2022, false),
            ],
            data: vec![0], // create
        };
        call(
            &instruction,
            [payer, holder, owner, mint, system, token],
            self.agent,
        )
    }
}

/// Calls a program for `signer`'s address.
fn call<const N: usize>(
    instruction: &Instruction,
    accounts: [&AccountInfo; N],
    signer: &Derived,
) -> Result<()> {
    let accounts = accounts.map(Clone::clone);
    Ok(invoke_signed(instruction, &accounts, &[&signer.signer()])?)
}
