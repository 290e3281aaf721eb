//! A registry on an EVM chain: everything leads to one block hash.
mod authorization;
mod owner;
mod uri;

use super::{
    given::{Given, Insiders, Place},
    home::Home,
    verdict::{Checked, Verdict},
};
use crate::{
    Family, KnownRegistry, Step,
    evidence::{Evidence, EvmView, Executed, Gap},
    layout::{self, StoredFeedback},
    subject::Named,
    trust::{AUTHORIZED, IDENTITY, OPEN},
};
use alloy_primitives::{Address, B256, KECCAK256_EMPTY as KECCAK_EMPTY, U256};
use concord_canonical::Word;
use concord_registry::{
    event::{AccountId, AgentId, Block, Event, Profile},
    evm::{PlacedLog, RegistryAddresses},
};
use concord_x402::verify::AgentRecord;
use std::sync::OnceLock;

/// Clients of which each needs a proof; a longer list can be asked for in parts.
const CLIENTS_MAX: usize = 10_000;

pub(super) struct EvmHome<'a> {
    evidence: &'a Evidence<'a>,
    view: EvmView<'a>,
    named: &'a Named,
    identity: Address,
    reputation: Address,
    client: Address,
    agent: U256,
    /// The block whose state is asked, once it was looked for.
    state: OnceLock<Result<B256, Gap>>,
}

impl<'a> EvmHome<'a> {
    pub(super) fn new(evidence: &'a Evidence<'a>, named: &'a Named) -> Self {
        let number = match named.agent {
            AgentId::Evm(id) => U256::from_be_bytes(id),
            AgentId::Svm(_) => U256::ZERO,
        };
        Self {
            evidence,
            view: evidence.home(&named.chain),
            named,
            identity: address(named.identity),
            reputation: address(named.reputation),
            client: address(named.client),
            agent: number,
            state: OnceLock::new(),
        }
    }

    fn transaction(&self) -> Result<Executed<'a>, Gap> {
        let name = &self.evidence.bundle.feedback.transaction;
        let hash: B256 = (name.parse())
            .map_err(|_| Gap::Broken(format!("{name} is not a transaction's hash")))?;
        self.view.transaction(hash)
    }

    /// The block whose state is asked.
    fn state_block(&self) -> Result<B256, Gap> {
        let find = || {
            let number = self.evidence.bundle.feedback.at_block;
            let block = self.view.block_at(number)?;
            self.view.header(block)?;
            self.view.require_newest(block, number)?;
            Ok(block)
        };
        self.state.get_or_init(find).clone()
    }

    /// R28
    fn known(&self, contract: &str, address: Address) -> Result<&'a KnownRegistry, Gap> {
        let known = self
            .evidence
            .trust
            .registry(&self.named.chain, contract, &address.to_string());
        known.ok_or(Gap::Needs(Step::Registry))
    }

    fn known_identity(&self) -> Result<Family, Gap> {
        self.known(IDENTITY, self.identity).map(|it| it.family)
    }

    /// R28: the registry that counts feedback about the agents of this identity registry.
    fn known_reputation(&self) -> Result<Family, Gap> {
        let known = self.known(contract_of(self.named.profile), self.reputation)?;
        if self.is_together() {
            Ok(known.family)
        } else {
            Err(Gap::Needs(Step::Registry))
        }
    }

    /// Whether both registries are of one deployment. In another one the same number names another agent.
    fn is_together(&self) -> bool {
        let (identity, reputation) = (self.identity.to_string(), self.reputation.to_string());
        let reputation = (contract_of(self.named.profile), reputation.as_str());
        let trust = self.evidence.trust;
        trust.are_together(&self.named.chain, (IDENTITY, &identity), reputation)
    }

    /// A word of the identity registry after a block. The step `registry` reads the account at the bundle's block;
    /// at any other block, a broken account is the reader's own fault.
    fn identity_slot(&self, block: B256, slot: U256) -> Result<U256, Gap> {
        let is_registrys = self.state_block() == Ok(block);
        let step = is_registrys.then_some(Step::Registry);
        self.view.slot(block, self.identity, slot, step)
    }

    /// The step that a broken owner or URI at this block refutes: the first one that reads them there.
    fn step_of_agent_at(&self, block: B256) -> Option<Step> {
        let of_feedback = self.transaction().is_ok_and(|it| it.block == block);
        match (of_feedback, self.state_block() == Ok(block)) {
            (true, _) => Some(Step::SelfFeedback),
            (false, true) => Some(Step::Registration),
            (false, false) => None,
        }
    }

    fn addresses(&self) -> RegistryAddresses {
        let (open, authorized) = match self.named.profile {
            Profile::Open => (Some(self.reputation), None),
            Profile::Authorized => (None, Some(self.reputation)),
        };
        RegistryAddresses {
            identity: self.identity,
            open_reputation: open,
            authorized_reputation: authorized,
            validation: None,
        }
    }

    /// R28: one registry is listed, and runs the code that the list states.
    fn check_code(&self, contract: &'static str, at: Address, block: B256) -> Checked {
        let Ok(known) = self.known(contract, at) else {
            return Ok(Verdict::refuted(format!(
                "{at} is not a {contract} that counts (R28); trust it to ask again"
            )));
        };
        let account = self.view.account(block, at)?;
        let found = account.code_hash.0;
        Ok(match known.code_hash {
            Some(expected) if expected != found => Verdict::refuted(format!(
                "the code of {at} hashes to 0x{}; the address book says 0x{}",
                hex::encode(found),
                hex::encode(expected)
            )),
            Some(_) => Verdict::verified(),
            None => Verdict::verified_since("it is listed; no code hash of it is known"),
        }
        .with(contract, at)
        .with("code hash", account.code_hash))
    }
}

const fn contract_of(profile: Profile) -> &'static str {
    match profile {
        Profile::Open => OPEN,
        Profile::Authorized => AUTHORIZED,
    }
}

fn address(account: AccountId) -> Address {
    match account {
        AccountId::Evm(bytes) => bytes.into(),
        AccountId::Svm(_) => Address::ZERO,
    }
}

impl Home for EvmHome<'_> {
    fn inclusion(&self) -> Checked {
        let chain = &self.named.chain;
        let trusted = self.evidence.trust.block(chain);
        self.view.require_trusted_anchor()?;
        let found = self.view.require_every_header()?;
        let verdict = match trusted {
            Some(_) => Verdict::verified(),
            None => Verdict::cannot_check(
                "no trusted block hash was given; everything rests on the bundle's",
            ),
        };
        Ok(verdict.with("headers", found))
    }

    fn given(&self) -> Result<Given, Gap> {
        let executed = self.transaction()?;
        if !executed.receipt.succeeded {
            return Err(Gap::broken("the transaction failed"));
        }
        let (event, place) = self.find_event(&executed)?;
        Ok(Given {
            event,
            place: Place {
                transaction: Some(executed.index),
                event: place,
            },
            block: Some(executed.block),
            number: executed.header.number,
            time: Some(executed.header.time),
        })
    }

    fn registry(&self) -> Checked {
        let block = self.state_block()?;
        let reputation =
            self.check_code(contract_of(self.named.profile), self.reputation, block)?;
        if reputation.state() != Some(crate::State::Verified) {
            return Ok(reputation);
        }
        let identity = self.check_code(IDENTITY, self.identity, block)?;
        if identity.state() == Some(crate::State::Verified) && !self.is_together() {
            let (identity, reputation) = (self.identity, self.reputation);
            return Ok(Verdict::refuted(format!(
                "{reputation} does not count feedback about agents of {identity}: they are of two deployments (R28)"
            )));
        }
        Ok(identity)
    }

    fn not_revoked(&self, given: &Given) -> Checked {
        let at = self.evidence.bundle.feedback.at_block;
        let (slot, stored) = self.stored(given)?;
        let verdict = match (agrees(stored, &given.event), stored.is_revoked()) {
            (false, _) => Verdict::refuted("the stored feedback is not the event's"),
            (true, true) => Verdict::refuted(format!("it is revoked at block {at}")),
            (true, false) => Verdict::verified(),
        };
        Ok(verdict
            .with("at block", at)
            .with("slot", format!("{slot:#066x}")))
    }

    fn is_revoked(&self, given: &Given) -> Result<bool, Gap> {
        self.stored(given).map(|(_, stored)| stored.is_revoked())
    }

    fn last_index(&self) -> Result<u64, Gap> {
        let (family, profile) = (self.known_reputation()?, self.named.profile);
        let slot = layout::last_index(family, profile, self.agent, self.client);
        let word = self.reputation_slot(slot)?;
        Ok(layout::last_index_in(family, profile, word))
    }

    fn clients(&self) -> Result<Vec<AccountId>, Gap> {
        let list = layout::clients(self.known_reputation()?, self.named.profile, self.agent);
        let length = usize::try_from(self.reputation_slot(list)?);
        let length = length.ok().filter(|it| *it <= CLIENTS_MAX).ok_or_else(|| {
            Gap::Broken(format!(
                "the agent has more than {CLIENTS_MAX} clients; list some"
            ))
        })?;
        // every slot is asked for before any is missed, so that a reader fetches them at once
        let words = (0..length).map(|place| self.reputation_slot(layout::element(list, place)));
        let words = words.collect::<Vec<_>>().into_iter();
        let account =
            |word: Result<U256, Gap>| word.map(|it| AccountId::from(Address::from_word(it.into())));
        words.map(account).collect()
    }

    fn insiders(&self, given: &Given) -> Result<Insiders, Gap> {
        let block = given
            .block
            .ok_or_else(|| Gap::cannot_check("the block is not known"))?;
        owner::insiders(self, block)
    }

    fn authorization(&self, given: &Given) -> Checked {
        authorization::check(self, given)
    }

    fn agent_uri(&self) -> Result<String, Gap> {
        uri::read(self, self.state_block()?, Step::Registration)
    }

    fn agent(&self, block: Option<u64>) -> Result<Option<AgentRecord>, Gap> {
        let (at, number) = self.block_of(block)?;
        let wallet = owner::wallet(self, at, Step::Signer)?;
        let is_contract = |wallet| {
            let code = self.view.account(at, wallet)?.code_hash;
            Ok::<_, Gap>(![KECCAK_EMPTY, B256::ZERO].contains(&code.b256()))
        };
        Ok(Some(AgentRecord {
            is_wallet_contract: wallet.map(is_contract).transpose()?.unwrap_or_default(),
            wallet: wallet.map(|it| it.to_string()),
            uri: uri::read(self, at, Step::Signer)?,
            block: number,
        }))
    }

    fn wallet(&self, block: Option<u64>) -> Result<Option<String>, Gap> {
        let (at, _) = self.block_of(block)?;
        let wallet = owner::wallet(self, at, Step::PaymentProof)?;
        Ok(wallet.map(|it| it.to_string()))
    }

    /// A state proof shows it.
    fn require_known_wallet(&self) -> Result<(), Gap> {
        Ok(())
    }

    fn accepts(
        &self,
        block: u64,
        wallet: &str,
        hash: &Word,
        signature: &[u8],
    ) -> Result<bool, Gap> {
        let (at, _) = self.block_of(Some(block))?;
        self.view.judgement(at, wallet, hash, signature)
    }
}

impl EvmHome<'_> {
    /// A block by its number, or the bundle's.
    fn block_of(&self, number: Option<u64>) -> Result<(B256, u64), Gap> {
        let found = match number {
            Some(number) => (self.view.block_at(number)?, number),
            None => (self.state_block()?, self.evidence.bundle.feedback.at_block),
        };
        self.view.header(found.0)?;
        Ok(found)
    }

    /// A word of the reputation registry at the bundle's block.
    fn reputation_slot(&self, slot: U256) -> Result<U256, Gap> {
        let block = self.state_block()?;
        self.view
            .slot(block, self.reputation, slot, Some(Step::Registry))
    }

    /// The feedback's first slot, and where it is.
    fn stored(&self, given: &Given) -> Result<(U256, StoredFeedback), Gap> {
        let at = self.evidence.bundle.feedback.at_block;
        self.state_block()?;
        if at < given.number {
            return Err(Gap::Broken(format!(
                "block {at} is before the feedback's, {}",
                given.number
            )));
        }
        let family = self.known_reputation()?;
        let (profile, index) = (self.named.profile, self.named.index);
        let slot = layout::feedback(family, profile, self.agent, self.client, index);
        let word = self.reputation_slot(slot)?;
        Ok((slot, StoredFeedback::of(word)))
    }

    /// The event, and its place among those of the transaction.
    fn find_event(&self, executed: &Executed<'_>) -> Result<(Event, usize), Gap> {
        let name = &self.evidence.bundle.feedback.transaction;
        let transaction = name.parse().unwrap_or_default();
        let placed = |(index, log)| PlacedLog {
            block: Block {
                number: executed.header.number,
                hash: Some(executed.block.0),
            },
            transaction,
            index,
            log,
        };
        let logs = executed.receipt.logs.iter().cloned();
        let logs: Vec<_> = (0..).zip(logs).map(placed).collect();
        let decoded = self.addresses().events(&self.named.chain, &logs);
        let events = decoded.events.into_iter().map(|it| it.event);
        let mut placed = events.enumerate().map(|(place, event)| (event, place));
        let found = placed.find(|(event, _)| Given::is_of(event, self.named));
        found.ok_or_else(|| Gap::broken("no event of the transaction gives this feedback"))
    }
}

/// Whether the stored feedback is the event's. A slot that was never written is none.
fn agrees(stored: StoredFeedback, event: &Event) -> bool {
    match event {
        Event::OpenFeedback {
            value, decimals, ..
        } => (stored.value(), stored.byte_16()) == (*value, *decimals),
        Event::AuthorizedFeedback { score, .. } => stored.byte_16() == *score,
        _ => false,
    }
}
