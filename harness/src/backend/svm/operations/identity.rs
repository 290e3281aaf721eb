use crate::{
    backend::{
        Observed, StepFault,
        svm::{Registry, ledger::Ledger},
    },
    model::{
        Actor, Agent, Burn, Consent, Register, SetAgentUri, SetAgentWallet, SetAuthSchemes,
        SetFeedbackAuthority, SetMetadata, Transfer, UnsetAgentWallet,
    },
};
use concord_registry::svm::{associated_token_account, instructions, programs::TOKEN_2022, token};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use solana_system_interface::instruction as system;
use spl_token_2022_interface::{
    extension::ExtensionType, instruction::TokenInstruction, state::Account as TokenState,
};

impl<L: Ledger> Registry<L> {
    /// All or nothing: the registration and each metadata entry in one transaction.
    pub(in crate::backend::svm) fn register(
        &mut self,
        register: &Register,
    ) -> Result<Observed, StepFault> {
        let Register {
            agent,
            by,
            uri,
            metadata,
        } = register;
        let (owner, nonce) = (self.world.keys.actor(by), self.world.keys.nonce(agent));
        let entries: Vec<_> = metadata
            .iter()
            .map(|entry| (&*entry.key, &*entry.value.0))
            .collect();
        let program = &self.world.program;
        let instructions = program.register_agent_with_metadata(owner, nonce, uri, &entries);
        let key = self.world.keys.actor_key(by);
        self.submit(Some(agent), &[&key], &instructions)
    }

    pub(in crate::backend::svm) fn set_agent_uri(
        &mut self,
        set: &SetAgentUri,
    ) -> Result<Observed, StepFault> {
        let SetAgentUri { agent, by, uri } = set;
        let (owner, mint) = (self.world.keys.actor(by), self.world.mint(agent));
        let set = self.world.program.set_agent_uri(owner, mint, uri);
        self.submit_alone(agent, by, set)
    }

    pub(in crate::backend::svm) fn set_metadata(
        &mut self,
        set: &SetMetadata,
    ) -> Result<Observed, StepFault> {
        let SetMetadata {
            agent,
            by,
            key,
            value,
        } = set;
        let (owner, mint) = (self.world.keys.actor(by), self.world.mint(agent));
        let set = self.world.program.set_metadata(owner, mint, key, &value.0);
        self.submit_alone(agent, by, set)
    }

    /// R3: the wallet's consent is its signature under this very transaction. One that was given
    /// for another agent, wallet or owner is none here.
    pub(in crate::backend::svm) fn set_agent_wallet(
        &mut self,
        set: &SetAgentWallet,
    ) -> Result<Observed, StepFault> {
        let SetAgentWallet { agent, by, .. } = set;
        let (wallet, consent) = (set.wallet.as_ref(), set.consent.as_ref());
        let (owner, mint) = (self.world.keys.actor(by), self.world.mint(agent));
        let address = wallet.map_or(Address::default(), |it| self.world.keys.actor(it));
        let consenting = match (wallet, consent) {
            (Some(wallet), Some(consent)) if self.fits(consent, agent, wallet)? => Some(wallet),
            _ => None,
        };
        let consent = match consenting {
            Some(_) => instructions::Consent::Signs,
            None => instructions::Consent::Missing,
        };
        let program = &self.world.program;
        let set = program.set_agent_wallet(owner, mint, address, consent);
        self.submit_with_consent(agent, by, consenting, set)
    }

    /// One instruction, which `by` signs, and whoever is named in it if they consent.
    fn submit_with_consent(
        &mut self,
        agent: &Agent,
        by: &Actor,
        consenting: Option<&Actor>,
        instruction: Instruction,
    ) -> Result<Observed, StepFault> {
        let other = consenting.filter(|named| *named != by);
        let signers: Vec<_> = [Some(by), other].into_iter().flatten().collect();
        let keys: Vec<_> = (signers.iter().map(|it| self.world.keys.actor_key(it))).collect();
        let keys: Vec<_> = keys.iter().collect();
        self.submit(Some(agent), &keys, &[instruction])
    }

    fn fits(&self, consent: &Consent, agent: &Agent, wallet: &Actor) -> Result<bool, StepFault> {
        let recorded = self.identity(&self.world.mint(agent))?;
        let owner = recorded.map(|identity| identity.owner);
        Ok(consent.agent == *agent
            && consent.wallet == *wallet
            && consent.signer == *wallet
            && owner == Some(self.world.keys.actor(&consent.owner)))
    }

    pub(in crate::backend::svm) fn unset_agent_wallet(
        &mut self,
        unset: &UnsetAgentWallet,
    ) -> Result<Observed, StepFault> {
        let UnsetAgentWallet { agent, by } = unset;
        let (owner, mint) = (self.world.keys.actor(by), self.world.mint(agent));
        let unset = self.world.program.unset_agent_wallet(owner, mint);
        self.submit_alone(agent, by, unset)
    }

    pub(in crate::backend::svm) fn set_feedback_authority(
        &mut self,
        set: &SetFeedbackAuthority,
    ) -> Result<Observed, StepFault> {
        let SetFeedbackAuthority {
            agent,
            by,
            authority,
            consents,
        } = set;
        let (owner, mint) = (self.world.keys.actor(by), self.world.mint(agent));
        let consenting = authority.as_ref().filter(|_| *consents);
        let consent = match consenting {
            Some(_) => instructions::Consent::Signs,
            None => instructions::Consent::Missing,
        };
        let named = authority.as_ref().map(|it| self.world.keys.actor(it));
        let named = named.map(|it| (it, consent));
        let program = &self.world.program;
        let set = program.set_feedback_authority(owner, mint, named);
        self.submit_with_consent(agent, by, consenting, set)
    }

    pub(in crate::backend::svm) fn set_auth_schemes(
        &mut self,
        set: &SetAuthSchemes,
    ) -> Result<Observed, StepFault> {
        let SetAuthSchemes { agent, by, schemes } = set;
        let (owner, mint) = (self.world.keys.actor(by), self.world.mint(agent));
        let set = self.world.program.set_auth_schemes(owner, mint, *schemes);
        self.submit_alone(agent, by, set)
    }

    /// Sends the token from whoever is on record as its owner, signed by `by`.
    pub(in crate::backend::svm) fn transfer(
        &mut self,
        transfer: &Transfer,
    ) -> Result<Observed, StepFault> {
        let Transfer { agent, by, to, .. } = transfer;
        if transfer.into_mutable_account {
            return self.transfer_into_mutable_account(agent, by, to);
        }
        let (authority, receiver) = (self.world.keys.actor(by), self.world.keys.actor(to));
        let mint = self.world.mint(agent);
        let from = self.holder(&mint, authority)?;
        let account = associated_token_account(&receiver, &mint);
        let open = token::create_associated_account(authority, receiver, mint);
        let program = &self.world.program;
        let transfer = program.transfer_agent(authority, from, account, mint);
        let key = self.world.keys.actor_key(by);
        self.submit(Some(agent), &[&key], &[open, transfer])
    }

    /// As [`Self::transfer`], into a new token account whose owner could be changed (R4).
    fn transfer_into_mutable_account(
        &mut self,
        agent: &Agent,
        by: &Actor,
        to: &Actor,
    ) -> Result<Observed, StepFault> {
        let (authority, receiver) = (self.world.keys.actor(by), self.world.keys.actor(to));
        let mint = self.world.mint(agent);
        let from = self.holder(&mint, authority)?;
        let number = self.world.next_spare_account();
        let account_key = self.world.keys.spare_account_key(number);
        let account = solana_signer::Signer::pubkey(&account_key);
        let lamports = self.ledger.rent(mutable_account_bytes())?;
        let [create, initialize] =
            create_mutable_account(authority, account, receiver, mint, lamports);
        let program = &self.world.program;
        let transfer = program.transfer_agent(authority, from, account, mint);
        let signers = [&self.world.keys.actor_key(by), &account_key];
        self.submit(Some(agent), &signers, &[create, initialize, transfer])
    }

    /// Token-2022's own burn: the program is not asked.
    pub(in crate::backend::svm) fn burn(&mut self, burn: &Burn) -> Result<Observed, StepFault> {
        let Burn { agent, by } = burn;
        let (authority, mint) = (self.world.keys.actor(by), self.world.mint(agent));
        let burn = token::burn(authority, self.holder(&mint, authority)?, mint);
        let observed = self.submit_alone(agent, by, burn)?;
        if observed.outcome.verdict == crate::model::Verdict::Ok {
            self.world.burned.insert(mint);
        }
        Ok(observed)
    }

    /// R4: the account on record; the account that asks if there is none on record.
    fn holder(&self, mint: &Address, caller: Address) -> Result<Address, StepFault> {
        let identity = self.identity(mint)?;
        Ok(identity.map_or(caller, |identity| identity.owner))
    }
}

/// Bytes of a token account with the one extension that the mint's transfer hook asks for.
fn mutable_account_bytes() -> usize {
    let hooked = [ExtensionType::TransferHookAccount];
    // two lengths that are known, and their sum: its overflow is the only error
    ExtensionType::try_calculate_account_len::<TokenState>(&hooked).unwrap_or_default()
}

/// Creates a token account of `owner` at `account`, a new key's address. It is not an associated one and has no ImmutableOwner, so
/// the program refuses to let an agent in (R4).
fn create_mutable_account(
    payer: Address,
    account: Address,
    owner: Address,
    mint: Address,
    lamports: u64,
) -> [Instruction; 2] {
    let space = mutable_account_bytes() as u64;
    let initialize = Instruction {
        program_id: TOKEN_2022,
        accounts: vec![
            AccountMeta::new(account, false),
            AccountMeta::new_readonly(mint, false),
        ],
        data: TokenInstruction::InitializeAccount3 { owner }.pack(),
    };
    [
        system::create_account(&payer, &account, lamports, space, &TOKEN_2022),
        initialize,
    ]
}
