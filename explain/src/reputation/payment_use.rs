//! R32: one payment supports one feedback. A bundle of several shows which came first.
use super::Counted;
use crate::{
    Bundle, Need, Report, State, Step, Subject,
    check::{Given, Place},
    evidence::Evidence,
};
use concord_canonical::caip::{EIP155, TaskRef};
use std::{cmp::Ordering, collections::BTreeMap};

/// Where the event of a feedback is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Used {
    chain: String,
    transaction: String,
    /// The block's number, or the slot.
    number: u64,
    place: Place,
}

impl Used {
    /// `None`: only a file says where it is. A header proves block and place on EVM; of a cluster nothing does, and only what the
    /// reader's own node answered in this run orders anything (R36).
    pub(super) fn new(subject: &Subject, given: &Given, bundle: &Bundle) -> Option<Self> {
        let (chain, id) = (subject.chain(), subject.transaction.clone());
        let is_proven = chain.starts_with(EIP155);
        let transaction = Need::Transaction {
            chain: chain.clone(),
            id: id.clone(),
        };
        let place = place_of(&chain, &id);
        let is_known = |it| is_proven || bundle.read_here.contains(it);
        is_known(&transaction).then(|| Self {
            number: given.number,
            place: Place {
                transaction: given.place.transaction.filter(|_| is_known(&place)),
                event: given.place.event,
            },
            chain,
            transaction: id,
        })
    }

    /// The order of the chain: block, transaction, event. `None`: two transactions of one slot, of which one's place is not known.
    fn order(&self, other: &Self) -> Option<Ordering> {
        let by_number = self.number.cmp(&other.number);
        let by_event = self.place.event.cmp(&other.place.event);
        match (by_number, self.transaction == other.transaction) {
            (Ordering::Equal, true) => Some(by_event),
            (Ordering::Equal, false) => {
                let places = self.place.transaction.zip(other.place.transaction);
                places.map(|(own, other)| own.cmp(&other))
            }
            (differs, _) => Some(differs),
        }
    }

    /// Asks for what the order lacks.
    fn ask_for_place(&self, evidence: &Evidence<'_>) {
        if self.place.transaction.is_none() {
            evidence.missing(place_of(&self.chain, &self.transaction));
        }
    }
}

fn place_of(chain: &str, id: &str) -> Need {
    Need::Place {
        chain: chain.to_owned(),
        id: id.to_owned(),
    }
}

/// Refutes [`Step::PaymentUse`] of each feedback whose payment an earlier one of these uses. `used`: where they are, in the same order.
pub(super) fn refute_second_uses(
    feedbacks: &mut [Counted],
    used: &[Option<Used>],
    evidence: &Evidence<'_>,
) {
    let mut of_payment: BTreeMap<String, Vec<(usize, &Used)>> = BTreeMap::new();
    for (place, (counted, used)) in feedbacks.iter().zip(used).enumerate() {
        if let (Some(payment), Some(used)) = (payment_of(&counted.report), used) {
            of_payment.entry(payment).or_default().push((place, used));
        }
    }
    for all in of_payment.values() {
        let by_order =
            |a: &&(usize, &Used), b: &&(usize, &Used)| a.1.order(b.1).unwrap_or(Ordering::Equal);
        let Some((first, before)) = all.iter().min_by(by_order) else {
            continue;
        };
        let earlier = feedbacks[*first].feedback.clone();
        for (place, own) in all.iter().filter(|(it, _)| it != first) {
            match before.order(own) {
                Some(Ordering::Less) => refute(&mut feedbacks[*place], &earlier),
                Some(_) => {} // one feedback, listed twice: completeness says so
                None => [*before, *own]
                    .iter()
                    .for_each(|it| it.ask_for_place(evidence)),
            }
        }
    }
}

/// The payment's key, if the signatures and the file say that it is this feedback's: the signatures also hold in a copy of another's file.
fn payment_of(report: &Report) -> Option<String> {
    let signed = [
        Step::FileAgrees,
        Step::AgentSignature,
        Step::ReviewerSignature,
    ];
    let is_signed = signed
        .iter()
        .all(|it| report.state_of(*it) == Some(State::Verified));
    let evidence = &report.finding(Step::PaymentUse)?.evidence;
    let fact = |name| evidence.iter().find(|it| it.name == name);
    let task_ref = TaskRef::parse(&fact("task reference")?.value).ok()?;
    let payer = &fact("payer")?.value;
    is_signed.then(|| format!("{}:{}", task_ref.dedupe_key(), lower_if_evm(payer)))
}

fn lower_if_evm(account: &str) -> String {
    if account.starts_with("eip155:") {
        account.to_lowercase()
    } else {
        account.to_owned()
    }
}

fn refute(counted: &mut Counted, earlier: &str) {
    let findings = counted.report.findings.iter_mut();
    for finding in findings.filter(|it| it.step == Step::PaymentUse) {
        finding.state = State::Refuted;
        finding.detail = format!("{earlier} uses the same payment, and came before (R32)");
    }
    counted.state = counted.report.state();
}
