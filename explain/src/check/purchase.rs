//! R27 to R32: signer, agent's signature and payment of X402's proof, by the checks of a purchase (S9 to S11),
//! which read from the bundle.
use super::{
    file::FeedbackFacts,
    home::Home,
    settlement::{decimal, payment, with_trust},
    verdict::{Checked, Verdict},
};
use crate::{
    Step,
    evidence::{Evidence, Gap, ProvenBy},
};
use async_trait::async_trait;
use concord_canonical::{
    Word,
    caip::{AccountId, EIP155, TaskRef},
};
use concord_files::{
    Extra, Found, HexWord, InteractionData, RegistrationFile, RegistrationId, X402Feedback,
    parse_registration,
};
use concord_x402::verify::{
    AgentRecord, FileError, Payment, Payments, Reads, RegistrationFiles, Registries, State,
    StepResult, Transfer, Unavailable, is_same_address, verify_submission,
};
use std::{
    pin::pin,
    sync::{Mutex, PoisonError},
    task::{Context, Poll, Waker},
};

/// Transfers of one payer that a report lists.
const TRANSFERS_MAX: usize = 8;

/// Why the steps of a proof do not apply.
const NO_PROOF: &str = "the feedback has no proof of an interaction";

/// The result of each of the three steps.
pub(super) struct Purchase {
    pub signer: Checked,
    pub agent_signature: Checked,
    pub payment: Checked,
}

impl Purchase {
    fn of_each(checked: &Checked) -> Self {
        Self {
            signer: checked.clone(),
            agent_signature: checked.clone(),
            payment: checked.clone(),
        }
    }
}

/// [`Step::Signer`], [`Step::AgentSignature`], [`Step::Payment`]. `is_registered`: whether the registration
/// holds, of which they read the file again.
pub(super) fn check(
    evidence: &Evidence<'_>,
    home: &dyn Home,
    facts: Result<&FeedbackFacts, Gap>,
    is_registered: bool,
) -> Purchase {
    let file = match facts.and_then(FeedbackFacts::x402) {
        Ok(Some(file)) => file,
        Ok(None) => return Purchase::of_each(&Ok(Verdict::not_applicable(NO_PROOF))),
        Err(gap) => return Purchase::of_each(&Err(gap)),
    };
    match checked(evidence, home, file, is_registered) {
        Ok(purchase) => purchase,
        Err(error) => Purchase::of_each(&Ok(Verdict::refuted(error))),
    }
}

fn checked(
    evidence: &Evidence<'_>,
    home: &dyn Home,
    file: &X402Feedback,
    is_registered: bool,
) -> Result<Purchase, concord_canonical::Error> {
    let proof = file.proof();
    let data = interaction(file)?;
    let payer = AccountId::parse(&proof.reviewer_address)?;
    let task_ref = TaskRef::parse(&proof.signed.task_ref)?;
    if payer.chain_id() != task_ref.chain_id() {
        // R38: the reviewer is the payer
        let (on, paid) = (payer.chain_id(), task_ref.chain_id());
        let detail = format!("the reviewer is on {on}, and the payment on {paid}");
        let signed = signature_alone(file);
        return Ok(Purchase {
            signer: Err(Gap::Needs(Step::Payment)),
            agent_signature: Ok(signed),
            payment: Ok(Verdict::refuted(detail)),
        });
    }
    let reads = BundleReads::new(evidence, home);
    let Some([signer, signed, paid]) = reads.verify(&data, payer.address()) else {
        let waits = Verdict::cannot_check("the checks of a purchase wait for what no bundle has");
        return Ok(Purchase::of_each(&Ok(waits)));
    };
    let fault = reads.fault();
    let registration = (!is_registered).then_some(Step::Registration);
    // one broken piece of evidence refutes one step
    let (of_signer, of_payment) = if fault.as_ref().is_some_and(|it| it.in_payment) {
        (Some(Step::Payment), None)
    } else {
        (None, Some(Step::Signer))
    };
    Ok(Purchase {
        signer: verdict(&signer, fault.as_ref(), of_signer.or(registration)),
        agent_signature: verdict(&signed, None, None)
            .map(|it| it.with("algorithm", proof.signed.agent_signature_algorithm.name()))
            .map(|it| match reads.contract() {
                Some(contract) => it.with("judged by contract", contract),
                None => it,
            }),
        payment: verdict(&paid, fault.as_ref(), of_payment.or(registration))
            .map(|it| it.with("task reference", &proof.signed.task_ref))
            .map(|it| with_transfers(it, &reads.paid_by(&proof.signed.task_ref, payer.address())))
            .map(|it| with_trust(it, &task_ref)),
    })
}

/// What the payer moved: a token that nobody knows is worth nothing, and only the reader knows which they know.
fn with_transfers(verdict: Verdict, transfers: &[Transfer]) -> Verdict {
    let shown = transfers.iter().take(TRANSFERS_MAX);
    let verdict = shown.fold(verdict, |verdict, it| {
        let (amount, Transfer { asset, to, .. }) = (decimal(it), it);
        verdict.with("paid", format!("{amount} of {asset} to {to}"))
    });
    match transfers.len().checked_sub(TRANSFERS_MAX) {
        None | Some(0) => verdict,
        Some(more) => verdict.with("paid", format!("{more} more")),
    }
}

/// The proof as the checks of a purchase read it.
fn interaction(file: &X402Feedback) -> Result<Found<InteractionData>, concord_canonical::Error> {
    let signed = file.proof().signed.clone();
    let profile = file.profile();
    Ok(Found {
        profile,
        view: InteractionData {
            agent: RegistrationId {
                agent_registry: file.head.agent_registry.clone(),
                agent_id: file.agent_id.clone(),
            },
            interaction_hash: HexWord(signed.interaction_hash(profile)?),
            signed,
            extra: Extra::default(),
        },
        mappings: Vec::new(),
    })
}

fn signature_alone(file: &X402Feedback) -> Verdict {
    match file.proof().signed.verify(file.profile()) {
        Ok(()) => Verdict::verified(),
        Err(error) => Verdict::refuted(error),
    }
}

/// `other`: the step that says what is wrong, if this one only rests on it.
fn verdict(result: &StepResult, fault: Option<&Faulty>, other: Option<Step>) -> Checked {
    let detail = &result.detail;
    match (result.state, other) {
        (State::Verified, _) => Ok(Verdict::verified_since(detail)),
        (State::Claimed, _) => Ok(Verdict::claimed(detail)),
        (State::Refuted, Some(step @ Step::Registration)) => Err(Gap::Needs(step)),
        (State::Refuted, _) => Ok(Verdict::refuted(detail)),
        (State::CannotCheck, _) => match (fault, other) {
            (Some(fault), Some(step)) if fault.is(detail) => Err(match &fault.gap {
                Gap::Broken(_) => Gap::Needs(step),
                gap => gap.clone(),
            }),
            (Some(fault), None) if fault.is(detail) => Err(fault.gap.clone()),
            _ => Ok(Verdict::cannot_check(detail)),
        },
    }
}

/// Evidence that does not prove what it should, or rests on such evidence.
#[derive(Clone, Debug)]
struct Faulty {
    gap: Gap,
    /// Whether it is the payment's, and not the agent's.
    in_payment: bool,
}

impl Faulty {
    fn is(&self, detail: &str) -> bool {
        words(&self.gap) == detail
    }
}

fn words(gap: &Gap) -> String {
    match gap {
        Gap::CannotCheck(reason) | Gap::Broken(reason) => reason.clone(),
        Gap::Needs(step) => format!("needs {step}"),
    }
}

/// Agents, files and payments of a bundle.
struct BundleReads<'a> {
    evidence: &'a Evidence<'a>,
    home: &'a dyn Home,
    /// The first one.
    fault: Mutex<Option<Faulty>>,
    /// The contract that verifies the agent's signature, if there is one.
    contract: Mutex<Option<String>>,
}

impl<'a> BundleReads<'a> {
    fn new(evidence: &'a Evidence<'a>, home: &'a dyn Home) -> Self {
        Self {
            evidence,
            home,
            fault: Mutex::new(None),
            contract: Mutex::default(),
        }
    }

    fn contract(&self) -> Option<String> {
        let contract = self.contract.lock();
        contract.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn fault(&self) -> Option<Faulty> {
        let fault = self.fault.lock();
        fault.unwrap_or_else(PoisonError::into_inner).clone()
    }

    fn unavailable(&self, gap: Gap, in_payment: bool) -> Unavailable {
        let words = words(&gap);
        if !matches!(gap, Gap::CannotCheck(_)) {
            let mut fault = self.fault.lock().unwrap_or_else(PoisonError::into_inner);
            fault.get_or_insert(Faulty { gap, in_payment });
        }
        Unavailable(words)
    }

    fn verify(&self, data: &Found<InteractionData>, payer: &str) -> Option<[StepResult; 3]> {
        let reads = Reads {
            registries: self,
            files: self,
            payments: self,
        };
        let payment = self.read_payment(&data.view.signed.task_ref);
        at_once(verify_submission(data, payer, payment, reads))
    }

    fn is_subject(&self, registration: &RegistrationId) -> bool {
        let subject = &self.evidence.bundle.feedback;
        let stated = &registration.agent_registry;
        let is_same = if subject.agent_registry.starts_with(EIP155) {
            stated.eq_ignore_ascii_case(&subject.agent_registry)
        } else {
            *stated == subject.agent_registry
        };
        is_same && registration.agent_id.as_str() == subject.agent_id
    }

    fn read_payment(&self, task_ref: &str) -> Result<Option<Payment>, Unavailable> {
        let found = TaskRef::parse(task_ref).map_err(Gap::cannot_check);
        let found = found.and_then(|it| {
            let found = payment(self.evidence, &it)?;
            if it.chain_id().to_string() == self.evidence.bundle.feedback.chain() {
                self.home.require_known_wallet()?; // R36
            }
            Ok(found)
        });
        found.map(Some).map_err(|gap| self.unavailable(gap, true))
    }

    /// The payer's transfers, other than of nothing.
    fn paid_by(&self, task_ref: &str, payer: &str) -> Vec<Transfer> {
        let task_ref = TaskRef::parse(task_ref).ok();
        let found = task_ref.and_then(|it| Some((payment(self.evidence, &it).ok()?, it)));
        let Some((payment, task_ref)) = found else {
            return Vec::new();
        };
        let chain = task_ref.chain_id().to_string();
        let is_own = |it: &Transfer| {
            is_same_address(&chain, &it.from, payer) && it.amount != Word::default()
        };
        payment.transfers.into_iter().filter(is_own).collect()
    }

    fn read_file(&self, uri: &str) -> Result<RegistrationFile, FileError> {
        let content = self.evidence.registration(uri);
        let content = content.map_err(|gap| {
            let gap = match gap {
                Gap::Broken(_) => Gap::Needs(Step::Registration),
                gap => gap,
            };
            FileError::Unavailable(self.unavailable(gap, false).0)
        })?;
        // R36: whoever made the bundle would name the agent's signers
        if let ProvenBy::Bundle(host) = &content.proven_by {
            let words = format!(
                "only the bundle says that {host} delivers {uri}; explain the feedback again with --rpc"
            );
            return Err(FileError::Unavailable(words));
        }
        let parsed = parse_registration(&content.bytes);
        let parsed = parsed.map_err(|error| FileError::Malformed(error.to_string()))?;
        Ok(parsed.view().clone())
    }
}

/// The result of a future that does not wait.
fn at_once<T>(future: impl Future<Output = T>) -> Option<T> {
    let mut future = pin!(future);
    let mut context = Context::from_waker(Waker::noop());
    match future.as_mut().poll(&mut context) {
        Poll::Ready(value) => Some(value),
        Poll::Pending => None,
    }
}

#[async_trait]
impl Registries for BundleReads<'_> {
    async fn agent(
        &self,
        registration: &RegistrationId,
        block: Option<u64>,
    ) -> Result<Option<AgentRecord>, Unavailable> {
        if !self.is_subject(registration) {
            let words = "the file is about another agent; see file-agrees".to_owned();
            return Err(Unavailable(words));
        }
        let found = self.home.agent(block);
        found.map_err(|gap| self.unavailable(gap, false))
    }

    /// ERC-1271: a state proof does not contain the answer of a contract. Only a reader with a node knows it.
    async fn is_signed_by_contract(
        &self,
        _: &RegistrationId,
        block: u64,
        wallet: &str,
        hash: &Word,
        signature: &[u8],
    ) -> Result<bool, Unavailable> {
        let mut contract = self.contract.lock().unwrap_or_else(PoisonError::into_inner);
        *contract = Some(wallet.to_owned());
        let accepts = self.home.accepts(block, wallet, hash, signature);
        accepts.map_err(|gap| self.unavailable(gap, false))
    }
}

#[async_trait]
impl RegistrationFiles for BundleReads<'_> {
    async fn registration(&self, uri: &str, _: bool) -> Result<RegistrationFile, FileError> {
        self.read_file(uri)
    }
}

#[async_trait]
impl Payments for BundleReads<'_> {
    async fn payment(&self, task_ref: &str) -> Result<Option<Payment>, Unavailable> {
        self.read_payment(task_ref)
    }
}
