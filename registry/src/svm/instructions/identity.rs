use super::{discriminators as d, readonly, signer, signer_writable, writable};
use crate::svm::{
    Program, associated_token_account,
    programs::{ASSOCIATED_TOKEN, INSTRUCTIONS_SYSVAR, SYSTEM, TOKEN_2022},
};
use alloc::vec::Vec;
use borsh::BorshSerialize;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};

/// Whether a key that the owner names, as wallet (R3) or as feedback authority (R7), signs the transaction, which is
/// its consent.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Consent {
    /// It signs.
    Signs,
    /// It does not: the program refuses, unless another instruction of the transaction has it sign.
    Missing,
}

impl Consent {
    /// The account in an instruction that asks for its consent.
    const fn account(self, address: Address) -> AccountMeta {
        match self {
            Self::Signs => signer(address),
            Self::Missing => readonly(address),
        }
    }
}

impl Program {
    /// Mints a new agent to `owner` (R4). `owner` and `payer` sign; they may be one account. The agent's id is
    /// [`Self::agent_mint`] of `payer` and `nonce`. `uri`: at most 200 bytes (R17).
    pub fn register_agent(
        &self,
        owner: Address,
        payer: Address,
        nonce: u64,
        uri: &str,
    ) -> Instruction {
        let mint = self.agent_mint(&payer, nonce);
        let accounts = [
            signer(owner),
            signer_writable(payer),
            writable(mint),
            writable(self.agent(&mint)),
            writable(associated_token_account(&owner, &mint)),
            writable(self.extra_account_metas(&mint)),
            readonly(TOKEN_2022),
            readonly(ASSOCIATED_TOKEN),
            readonly(SYSTEM),
        ];
        self.emitting(d::REGISTER_AGENT, &accounts, &(nonce, uri))
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
        consent: Consent,
    ) -> Instruction {
        let accounts = [
            signer(owner),
            writable(self.agent(&mint)),
            readonly(mint),
            consent.account(wallet),
            readonly(INSTRUCTIONS_SYSVAR),
        ];
        self.emitting(d::SET_AGENT_WALLET, &accounts, &())
    }

    /// Leaves the agent without a wallet (R3). `owner` signs.
    pub fn unset_agent_wallet(&self, owner: Address, mint: Address) -> Instruction {
        self.owner_setting(d::UNSET_AGENT_WALLET, owner, mint, &())
    }

    /// Names the one key whose authorizations count (R7). `owner` signs; the authority signs for its consent, and
    /// is not writable. Without an authority, the owner's own key counts: nobody else has to consent.
    pub fn set_feedback_authority(
        &self,
        owner: Address,
        mint: Address,
        authority: Option<(Address, Consent)>,
    ) -> Instruction {
        let (authority, consent) = authority.unwrap_or((Address::default(), Consent::Missing));
        let accounts = [
            signer(owner),
            writable(self.agent(&mint)),
            readonly(mint),
            consent.account(authority),
            readonly(INSTRUCTIONS_SYSVAR),
        ];
        self.emitting(d::SET_FEEDBACK_AUTHORITY, &accounts, &())
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
    /// one transaction. `owner` signs and pays; the agent's id is [`Self::agent_mint`] of `owner` and `nonce`.
    pub fn register_agent_with_metadata(
        &self,
        owner: Address,
        nonce: u64,
        uri: &str,
        metadata: &[(&str, &[u8])],
    ) -> Vec<Instruction> {
        let mint = self.agent_mint(&owner, nonce);
        let entries = metadata
            .iter()
            .map(|(key, value)| self.set_metadata(owner, mint, key, value));
        core::iter::once(self.register_agent(owner, owner, nonce, uri))
            .chain(entries)
            .collect()
    }
}
