//! The steps, as pure functions over a bundle.
mod authorship;
mod evm;
mod file;
mod given;
mod home;
mod payment_proof;
mod registration;
mod self_feedback;
mod signatures;
mod svm;
mod verdict;

use crate::{
    Bundle, Finding, Need, NotApplicable, Report, State, Step, SubjectError, Trust,
    evidence::{Evidence, Gap},
    subject::Named,
};
use concord_registry::event::Profile;
use file::FeedbackFacts;
use given::Given;
use home::Home;
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
    let named = bundle.feedback.read()?;
    let evidence = Evidence::new(bundle, trust);
    let results = match named.is_evm {
        true => steps(&evidence, &named, &evm::EvmHome::new(&evidence, &named)),
        false => steps(&evidence, &named, &svm::SvmHome::new(&evidence, &named)),
    };
    let mut findings: Vec<Finding> = Vec::new();
    let mut not_applicable: Vec<NotApplicable> = Vec::new();
    for (step, checked) in results {
        file_away(step, checked, &mut findings, &mut not_applicable);
    }
    let report = Report {
        feedback: bundle.feedback.to_string(),
        rests_on: rests_on(bundle),
        findings,
        not_applicable,
    };
    Ok(Explained {
        report,
        needs: evidence.into_needs(),
    })
}

fn rests_on(bundle: &Bundle) -> Vec<String> {
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
    let signatures = [
        of_file(signatures::agent),
        file().and_then(|it| signatures::data_hash(it, evidence.bundle.exchange.as_ref())),
        of_file(signatures::reviewer),
    ];
    let signer = of_file(signatures::signer);
    let proofs = [&signer, &signatures[0], &signatures[2]].map(state_of);
    let authorship = file().and_then(|it| authorship::check(it, proofs));
    let reviewer = facts.as_ref().ok().and_then(FeedbackFacts::reviewer);
    let self_feedback = event().and_then(|it| self_feedback::check(home, it, named, reviewer));
    let authorization = event().and_then(|it| authorization(home, it, named));
    let [agent_signature, data_hash, reviewer_signature] = signatures;
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
        (
            Step::Registration,
            registration::check(evidence, named, home),
        ),
        (Step::Signer, signer),
        (Step::AgentSignature, agent_signature),
        (Step::DataHash, data_hash),
        (Step::ReviewerSignature, reviewer_signature),
        (Step::Payment, of_file(signatures::payment)),
        (
            Step::PaymentProof,
            file().and_then(|it| payment_proof::check(evidence, it)),
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
