//! R18: nobody reviews themselves.
use super::{
    given::Given,
    home::Home,
    verdict::{Checked, Verdict},
};
use crate::subject::Named;
use concord_canonical::caip::{AccountId as Caip10, SOLANA, parse_evm_address, parse_solana_key};
use concord_registry::{event::AccountId, svm::Address};

/// [`crate::Step::SelfFeedback`]. `reviewer`: whom the file's proof names, CAIP-10; they count (R38).
pub(super) fn check(
    home: &dyn Home,
    given: &Given,
    named: &Named,
    reviewer: Option<&str>,
) -> Checked {
    let insiders = home.insiders(given)?;
    let mut asked = vec![("client", named.client)];
    asked.extend(reviewer.and_then(read).map(|it| ("reviewer", it)));
    let were_strangers = |it: &AccountId| insiders.stranger == Some(*it);
    for (who, account) in asked.iter().filter(|(_, it)| !were_strangers(it)) {
        let Some((role, _)) = insiders.accounts.iter().find(|(_, it)| it == account) else {
            continue;
        };
        let detail = format!("the {who} {account} is the agent's {role}");
        return Ok(if insiders.are_of_that_time {
            Verdict::refuted(detail)
        } else {
            Verdict::cannot_check(format!("{detail} now; whether they were then is not known"))
        });
    }
    let shown = insiders
        .accounts
        .iter()
        .map(|(role, it)| format!("{role} {it}"));
    let shown = shown.collect::<Vec<_>>().join(", ");
    Ok(match insiders.are_of_that_time {
        true => Verdict::verified(),
        false if asked.iter().all(|(_, it)| were_strangers(it)) => {
            Verdict::verified_since("the entry says so; the accounts are those of now")
        }
        false => Verdict::verified_since(
            "the registry refuses it by itself; the accounts are those of now",
        ),
    }
    .with("the agent's accounts", shown))
}

fn read(caip10: &str) -> Option<AccountId> {
    let account = Caip10::parse(caip10).ok()?;
    let (field, address) = ("reviewerAddress", account.address());
    if account.chain_id().namespace() == SOLANA {
        Some(AccountId::Svm(Address::from(
            parse_solana_key(field, address).ok()?,
        )))
    } else {
        parse_evm_address(field, address).ok().map(AccountId::Evm)
    }
}
