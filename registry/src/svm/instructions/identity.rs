use super::{discriminators as d, readonly, signer, signer_writable, writable};
use crate::svm::{
    Program, associated_token_account,
    programs::{ASSOCIATED_TOKEN, INSTRUCTIONS_SYSVAR, SYSTEM, TOKEN_2022},
};
use alloc::vec::Vec;
use borsh::BorshSerialize;
use solana_address::Address;
use solana_instruction::Instruction;

/// Whether the new wallet signs the transaction, which is its consent (R3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum WalletConsent {
    /// It signs.
    Signs,
    /// It does not: the program refuses, unless another instruction of the transaction has it sign.
    Missing,
}

impl Program {
    /// Mints a new agent to `owner`, who signs and pays; the new key `mint` signs too (R4). `uri`:
    /// at most 200 bytes (R17).
    pub fn register_agent(&self, owner: Address, mint: Address, uri: &str) -> Instruction {
        let accounts = [
            signer(owner),
            signer_writable(owner),
            signer_writable(mint),
            writable(self.agent(&mint)),
            writable(associated_token_account(&owner, &mint)),
            writable(self.extra_account_metas(&mint)),
            readonly(TOKEN_2022),
            readonly(ASSOCIATED_TOKEN),
            readonly(SYSTEM),
        ];
        self.emitting(d::REGISTER_AGENT, &accounts, &uri)
    }

    /// Gives the agent's token another URI of at most 200 bytes (R17). `owner` signs, and pays for
    /// a longer one.
    pub fn set_agent_uri(&self, owner: Address, mint: Address, uri: &str) -> Instruction {
        let accounts = [
            signer(owner),
            signer_writable(owner),
            writable(self.agent(&mint)),
            writable(mint),
            readonly(TOKEN_2022),
            readonly(SYSTEM),
        ];
        self.emitting(d::SET_AGENT_URI, &accounts, &uri)
    }

    /// Sets the metadata value of `key`: at most 256 bytes under at most 32 (R17). `owner` signs
    /// and pays.
    pub fn set_metadata(
        &self,
        owner: Address,
        mint: Address,
        key: &str,
        value: &[u8],
    ) -> Instruction {
        let accounts = [
            signer(owner),
            signer_writable(owner),
            writable(self.agent(&mint)),
            readonly(mint),
            writable(self.metadata_entry(&mint, key)),
            readonly(SYSTEM),
        ];
        self.emitting(d::SET_METADATA, &accounts, &(key, value))
    }

    /// Sets where the agent is paid (R3). `owner` signs; the wallet signs for its consent, and is
    /// not writable.
    pub fn set_agent_wallet(
        &self,
        owner: Address,
        mint: Address,
        wallet: Address,
        consent: WalletConsent,
    ) -> Instruction {
        let new_wallet = match consent {
            WalletConsent::Signs => signer(wallet),
            WalletConsent::Missing => readonly(wallet),
        };
        let accounts = [
            signer(owner),
            writable(self.agent(&mint)),
            readonly(mint),
            new_wallet,
            readonly(INSTRUCTIONS_SYSVAR),
        ];
        self.emitting(d::SET_AGENT_WALLET, &accounts, &())
    }

    /// Leaves the agent without a wallet (R3). `owner` signs.
    pub fn unset_agent_wallet(&self, owner: Address, mint: Address) -> Instruction {
        self.owner_setting(d::UNSET_AGENT_WALLET, owner, mint, &())
    }

    /// Names the one key whose authorizations count; `None` for the owner's own (R7). `owner`
    /// signs.
    pub fn set_feedback_authority(
        &self,
        owner: Address,
        mint: Address,
        authority: Option<Address>,
    ) -> Instruction {
        let authority = authority.unwrap_or_default();
        self.owner_setting(d::SET_FEEDBACK_AUTHORITY, owner, mint, &authority)
    }

    /// Chooses the authorization schemes that count, as a sum of
    /// [`AUTH_SCHEME_X84`](crate::svm::accounts::AUTH_SCHEME_X84) and
    /// [`AUTH_SCHEME_BOUNDED`](crate::svm::accounts::AUTH_SCHEME_BOUNDED) (R10). `owner` signs.
    pub fn set_auth_schemes(&self, owner: Address, mint: Address, schemes: u8) -> Instruction {
        self.owner_setting(d::SET_AUTH_SCHEMES, owner, mint, &schemes)
    }

    fn owner_setting(
        &self,
        discriminator: [u8; 8],
        owner: Address,
        mint: Address,
        arguments: &impl BorshSerialize,
    ) -> Instruction {
        let accounts = [signer(owner), writable(self.agent(&mint)), readonly(mint)];
        self.emitting(discriminator, &accounts, arguments)
    }

    /// Registers an agent with metadata: the registration and one instruction for each entry, for
    /// one transaction.
    pub fn register_agent_with_metadata(
        &self,
        owner: Address,
        mint: Address,
        uri: &str,
        metadata: &[(&str, &[u8])],
    ) -> Vec<Instruction> {
        let entries = metadata
            .iter()
            .map(|(key, value)| self.set_metadata(owner, mint, key, value));
        core::iter::once(self.register_agent(owner, mint, uri))
            .chain(entries)
            .collect()
    }
}
