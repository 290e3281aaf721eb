//! A payment that a file of PROFILE or BP states, against the chain on which it should be.
use super::{
    file::FeedbackFacts,
    home::Home,
    settlement,
    verdict::{Checked, Verdict},
};
use crate::{
    State,
    evidence::{Evidence, Gap},
    subject::Named,
};
use alloy_primitives::Address;
use concord_canonical::{
    Word,
    caip::{EIP155, TaskRef, parse_solana_key},
};
use concord_files::{FeedbackFile, ProofOfPayment};
use concord_x402::verify::{Transfer, is_same_address};

/// [`crate::Step::PaymentProof`]. `registry`: that of the feedback, and who gave it.
pub(super) fn check(
    evidence: &Evidence<'_>,
    registry: (&dyn Home, &Named),
    facts: &FeedbackFacts,
) -> Checked {
    let file = facts.plain_file()?;
    let Some(proof) = file.and_then(proof_in) else {
        return Ok(Verdict::not_applicable("the file states no payment"));
    };
    let verdict = match on_chain(evidence, registry, proof) {
        // what cannot be read stays the file's claim
        Err(Gap::CannotCheck(reason)) => {
            Verdict::claimed(format!("only the file says so: {reason}"))
        }
        Err(gap) => return Err(gap),
        Ok(verdict) => verdict,
    };
    Ok(verdict.with("task reference", proof.task_ref()))
}

fn proof_in(file: &FeedbackFile) -> Option<&ProofOfPayment> {
    let payment = match file {
        FeedbackFile::Profile(file) => &file.payment,
        FeedbackFile::BestPractices(file) => &file.payment,
        FeedbackFile::Agent0(file) => &file.payment,
        FeedbackFile::X402(_) => return None, // its payment is the task reference
    };
    payment.as_ref().map(|it| it.proof())
}

fn on_chain(
    evidence: &Evidence<'_>,
    registry: (&dyn Home, &Named),
    proof: &ProofOfPayment,
) -> Checked {
    let task_ref = proof.task_ref();
    let task_ref = TaskRef::parse(&task_ref).map_err(Gap::cannot_check)?;
    let stated = match Stated::read(proof, task_ref.chain_id().namespace()) {
        Ok(stated) => stated,
        Err(detail) => return Ok(Verdict::refuted(detail)),
    };
    let paid = settlement::payment(evidence, &task_ref)?;
    if !paid.succeeded {
        return Ok(Verdict::refuted("the transaction failed"));
    }
    let Some(found) = stated.best_of(&paid.transfers) else {
        return Ok(stated.not_found());
    };
    let chain = task_ref.chain_id().to_string();
    let verdict = if stated.is_amount(found) {
        between(registry, &chain, found, paid.block)?
    } else {
        Verdict::claimed("another amount moved than the file states")
    };
    // anybody can make a token of their own
    let verdict = match (verdict.state(), &stated.token) {
        (Some(State::Verified), None) => Verdict::claimed("the file names no token"),
        _ => verdict,
    };
    let verdict = verdict
        .with("block", paid.block.unwrap_or_default())
        .with("token", &found.asset)
        .with("amount", settlement::decimal(found));
    Ok(settlement::with_trust(verdict, &task_ref))
}

/// R27: a transfer between others proves no purchase of this client from this agent.
fn between(
    (home, named): (&dyn Home, &Named),
    chain: &str,
    found: &Transfer,
    block: Option<u64>,
) -> Checked {
    let Transfer { from, to, .. } = found;
    if chain != named.chain {
        let own = &named.chain;
        return Ok(Verdict::claimed(format!(
            "the transfer is on {chain}; that {to} is the agent's there, {own} does not say (R27)"
        )));
    }
    if !is_same_address(chain, &named.client.to_string(), from) {
        let client = named.client;
        return Ok(Verdict::claimed(format!(
            "{from} paid, and {client} gave the feedback"
        )));
    }
    Ok(match home.wallet(block) {
        Err(Gap::CannotCheck(reason)) => Verdict::claimed(format!(
            "{to} was paid; whether that is the agent's wallet is not known: {reason}"
        )),
        Err(gap) => return Err(gap),
        Ok(Some(wallet)) if is_same_address(chain, &wallet, to) => Verdict::verified(),
        Ok(Some(wallet)) => {
            Verdict::claimed(format!("{to} was paid, and the agent's wallet is {wallet}"))
        }
        Ok(None) => Verdict::claimed(format!("{to} was paid, and the agent has no wallet")),
    })
}

/// What a file states of a payment, as transfers have it.
struct Stated {
    from: String,
    to: String,
    token: Option<String>,
    /// In the token's smallest unit.
    amount: Option<String>,
}

impl Stated {
    fn read(proof: &ProofOfPayment, namespace: &str) -> Result<Self, String> {
        let read = |name: &str, text: &str| {
            let found = address(namespace, text);
            let shown: String = text.chars().take(64).collect();
            found
                .ok_or_else(|| format!("{name} {shown:?} is not an address of the payment's chain"))
        };
        let token = proof.token_address.as_deref();
        Ok(Self {
            from: read("fromAddress", &proof.from_address)?,
            to: read("toAddress", &proof.to_address)?,
            token: token.map(|it| read("tokenAddress", it)).transpose()?,
            amount: proof.amount.clone(),
        })
    }

    /// Whether a transfer is the stated one. Anybody can make a token move nothing from a stranger's account.
    fn is(&self, it: &Transfer) -> bool {
        let is_token = self.token.as_ref().is_none_or(|token| it.asset == *token);
        it.from == self.from && it.to == self.to && is_token && it.amount != Word::default()
    }

    /// The stated transfer: of the stated amount, if there is one.
    fn best_of<'t>(&self, transfers: &'t [Transfer]) -> Option<&'t Transfer> {
        let own = || transfers.iter().filter(|it| self.is(it));
        own().find(|it| self.is_amount(it)).or_else(|| own().next())
    }

    fn is_amount(&self, it: &Transfer) -> bool {
        let stated = self.amount.as_ref();
        stated.is_none_or(|stated| *stated == settlement::decimal(it))
    }

    fn not_found(&self) -> Verdict {
        let Self { from, to, .. } = self;
        match &self.token {
            Some(token) => Verdict::refuted(format!("no {token} moved from {from} to {to}")),
            None => Verdict::cannot_check(format!(
                "no token moved from {from} to {to}; payments in the chain's coin are not checked"
            )),
        }
    }
}

/// An address alone, or a CAIP-10 id, as transfers have it.
fn address(namespace: &str, text: &str) -> Option<String> {
    let text = text.rsplit(':').next()?;
    match namespace {
        EIP155 => text.parse().ok().map(|it: Address| it.to_string()),
        _ => parse_solana_key("address", text)
            .ok()
            .map(|_| text.to_owned()),
    }
}
