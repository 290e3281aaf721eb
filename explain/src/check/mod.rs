//! The steps, as pure functions over a bundle.
mod authorship;
mod evm;
mod file;
mod given;
mod home;
mod payment_proof;
mod purchase;
mod registration;
mod self_feedback;
mod settlement;
mod signatures;
mod svm;
mod verdict;

use crate::{
    Bundle, Finding, Need, NotApplicable, Report, State, Step, SubjectError, Trust,
    evidence::{Evidence, Gap},
    subject::Named,
};
use concord_registry::event::{AccountId, Profile};
use file::FeedbackFacts;
pub(crate) use given::{Given, Place};
use home::Home;
use purchase::Purchase;
use verdict::{Checked, Verdict, file_away, state_of};

/// A report, and what would complete it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Explained {
    /// What was found.
    pub report: Report,
    /// What the bundle lacked.
    pub needs: Vec<Need>,
}

/// Explains the feedback that a bundle names. Reads nothing but its arguments.
///
/// # Errors
/// The bundle does not name a feedback.
pub fn explain(bundle: &Bundle, trust: &Trust) -> Result<Explained, SubjectError> {
    explain_given(bundle, trust).map(|it| it.explained)
}

/// An explanation, and what the event and the state say.
pub(crate) struct ExplainedGiven {
    pub explained: Explained,
    pub given: Option<Given>,
    /// `None` if it is not known.
    pub is_revoked: Option<bool>,
}

pub(crate) fn explain_given(
    bundle: &Bundle,
    trust: &Trust,
) -> Result<ExplainedGiven, SubjectError> {
    let named = bundle.feedback.read()?;
    let evidence = Evidence::new(bundle, trust);
    let home = home(&evidence, &named);
    let given = home.given().ok();
    let is_revoked = given.as_ref().and_then(|it| home.is_revoked(it).ok());
    let mut findings: Vec<Finding> = Vec::new();
    let mut not_applicable: Vec<NotApplicable> = Vec::new();
    for (step, checked) in steps(&evidence, &named, &*home) {
        file_away(step, checked, &mut findings, &mut not_applicable);
    }
    drop(home);
    let report = Report {
        feedback: bundle.feedback.to_string(),
        rests_on: rests_on(bundle),
        findings,
        not_applicable,
    };
    Ok(ExplainedGiven {
        explained: Explained {
            report,
            needs: evidence.into_needs(),
        },
        given,
        is_revoked,
    })
}

fn home<'a>(evidence: &'a Evidence<'a>, named: &'a Named) -> Box<dyn Home + 'a> {
    if named.is_evm {
        Box::new(evm::EvmHome::new(evidence, named))
    } else {
        Box::new(svm::SvmHome::new(evidence, named))
    }
}

/// Something that is asked of a registry's state, and what it lacked.
pub(crate) struct Asked<T> {
    pub value: Result<T, Gap>,
    pub needs: Vec<Need>,
}

fn ask<T>(
    bundle: &Bundle,
    trust: &Trust,
    question: impl FnOnce(&dyn Home) -> Result<T, Gap>,
) -> Result<Asked<T>, SubjectError> {
    let named = bundle.feedback.read()?;
    let evidence = Evidence::new(bundle, trust);
    let value = question(&*home(&evidence, &named));
    Ok(Asked {
        value,
        needs: evidence.into_needs(),
    })
}

/// Everyone who ever gave feedback to the agent.
pub(crate) fn clients(
    bundle: &Bundle,
    trust: &Trust,
) -> Result<Asked<Vec<AccountId>>, SubjectError> {
    ask(bundle, trust, |home| home.clients())
}

/// The index of the client's newest feedback; 0 if there is none.
pub(crate) fn last_index(bundle: &Bundle, trust: &Trust) -> Result<Asked<u64>, SubjectError> {
    ask(bundle, trust, |home| home.last_index())
}

pub(crate) fn rests_on(bundle: &Bundle) -> Vec<String> {
    let evm = bundle.evm.iter();
    let evm = evm.map(|(chain, data)| format!("{chain}: block {}", data.anchor));
    let svm = bundle.svm.keys();
    evm.chain(svm.map(|chain| format!("{chain}: the word of the node that was asked")))
        .collect()
}

/// Every step, in the order of [`Step::ALL`].
fn steps(evidence: &Evidence<'_>, named: &Named, home: &dyn Home) -> Vec<(Step, Checked)> {
    let given = home.given();
    let event = || given.as_ref().map_err(|_| Gap::Needs(Step::Event));
    let facts = event().and_then(|given| FeedbackFacts::read(evidence, named, given));
    let file = || facts.as_ref().map_err(Clone::clone);
    let of_file = |check: fn(&FeedbackFacts) -> Checked| file().and_then(check);
    let data_hash =
        file().and_then(|it| signatures::data_hash(it, evidence.bundle.exchange.as_ref()));
    let reviewer_signature = of_file(signatures::reviewer);
    let registration = registration::check(evidence, named, home);
    let Purchase {
        signer,
        agent_signature,
        payment,
    } = purchase::check(evidence, home, file(), !is_refuted(&registration));
    let proofs = [&signer, &agent_signature, &reviewer_signature].map(state_of);
    let authorship = file().and_then(|it| authorship::check(it, proofs));
    let reviewer = facts.as_ref().ok().and_then(FeedbackFacts::reviewer);
    let self_feedback = event().and_then(|it| self_feedback::check(home, it, named, reviewer));
    let authorization = event().and_then(|it| authorization(home, it, named));
    vec![
        (
            Step::Event,
            given.as_ref().map(event_found).map_err(Clone::clone),
        ),
        (Step::Inclusion, home.inclusion()),
        (Step::Registry, home.registry()),
        (
            Step::NotRevoked,
            event().and_then(|it| home.not_revoked(it)),
        ),
        (Step::File, of_file(FeedbackFacts::is_there)),
        (Step::FileHash, of_file(FeedbackFacts::hash)),
        (Step::FileAgrees, of_file(FeedbackFacts::agrees)),
        (Step::Authorship, authorship),
        (Step::SelfFeedback, self_feedback),
        (Step::Authorization, authorization),
        (Step::Registration, registration),
        (Step::Signer, signer),
        (Step::AgentSignature, agent_signature),
        (Step::DataHash, data_hash),
        (Step::ReviewerSignature, reviewer_signature),
        (Step::Payment, payment),
        (
            Step::PaymentProof,
            file().and_then(|it| payment_proof::check(evidence, (home, named), it)),
        ),
        (Step::PaymentUse, of_file(signatures::payment_use)),
    ]
}

fn event_found(given: &Given) -> Verdict {
    let time = given
        .time
        .map_or_else(|| "unknown".to_owned(), |time| time.to_string());
    Verdict::verified()
        .with("block", given.number)
        .with("time", time)
}

/// R6, R9, R10; open feedback needs none.
fn authorization(home: &dyn Home, given: &Given, named: &Named) -> Checked {
    match named.profile {
        Profile::Authorized => home.authorization(given),
        Profile::Open => Ok(Verdict::not_applicable("anyone may give open feedback")),
    }
}

/// Whether a step stands in the way of those that rest on it.
fn is_refuted(checked: &Checked) -> bool {
    state_of(checked) == Some(State::Refuted)
}
