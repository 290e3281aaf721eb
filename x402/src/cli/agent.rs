use concord_canonical::caip::AccountId;
use concord_files::{AgentId, RegistrationFile, RegistrationId};
use serde_json::json;

use super::{
    CliError,
    config::Market,
    error::code_of,
    options::Check,
    output::{line, print},
};
use crate::{
    account::{chain_of, claims, is_same_address, wallets_on},
    verify::{AgentRecord, FileError, RegistrationFiles, Registries, State},
};

/// One thing that was checked.
struct Row(&'static str, State, Option<&'static str>, String);

pub(super) async fn check(options: &Check) -> Result<u8, CliError> {
    let registry = AccountId::parse(&options.registry).map_err(CliError::usage)?;
    let agent_id = AgentId::parse(&registry, &options.agent_id).map_err(CliError::usage)?;
    let registration = RegistrationId {
        agent_registry: options.registry.clone(),
        agent_id,
    };
    let market = Market::connect(&options.config.config).await?;
    let rows = rows(&market, &registration).await;
    let worst = rows
        .iter()
        .map(|it| it.1)
        .max()
        .unwrap_or(State::CannotCheck);
    let checks = rows.iter().map(|Row(check, state, class, detail)| {
        json!({ "check": check, "state": state.name(), "class": class, "detail": detail })
    });
    let result = json!({
        "agentRegistry": options.registry,
        "agentId": options.agent_id,
        "state": worst.name(),
        "checks": checks.collect::<Vec<_>>(),
    });
    let mut text = String::new();
    for Row(check, state, class, detail) in &rows {
        let class = class.map(|it| format!("{it} ")).unwrap_or_default();
        text.push_str(&line(check, state.name(), &format!("{class}{detail}")));
    }
    print(options.config.json, &result, &text)?;
    Ok(code_of(worst))
}

/// The checks of P5 to P9 that need no offer.
async fn rows(market: &Market, agent: &RegistrationId) -> Vec<Row> {
    let known = market.terms.registries.has(&agent.agent_registry);
    let mut rows = vec![if known {
        Row(
            "registry",
            State::Verified,
            None,
            "is listed (R28)".to_owned(),
        )
    } else {
        let why = "is not listed (R28)".to_owned();
        Row("registry", State::Refuted, Some("RegistryUnknown"), why)
    }];
    let record = match market.chains.agent(agent, None).await {
        Ok(Some(record)) => record,
        Ok(None) => {
            let why = "there is no such agent".to_owned();
            rows.push(Row("agent", State::Refuted, Some("AgentNotFound"), why));
            return rows;
        }
        Err(error) => {
            rows.push(Row("agent", State::CannotCheck, None, error.0));
            return rows;
        }
    };
    rows.push(Row("agent", State::Verified, None, "exists".to_owned()));
    let file = match market.files.registration(&record.uri, false).await {
        Ok(file) => file,
        Err(error) => {
            let (state, class) = match error {
                FileError::Unavailable(_) => (State::CannotCheck, None),
                FileError::Mismatch(_) => (State::Refuted, Some("ContentMismatch")),
                FileError::Malformed(_) => (State::Refuted, Some("RegistrationMalformed")),
            };
            rows.push(Row("file", state, class, error.to_string()));
            return rows;
        }
    };
    rows.push(Row("file", State::Verified, None, "is readable".to_owned()));
    rows.push(if claims(&file, agent) {
        Row("listed", State::Verified, None, "by the file".to_owned())
    } else {
        let why = "the file does not list this registration".to_owned();
        Row(
            "listed",
            State::Refuted,
            Some("RegistrationNotClaimed"),
            why,
        )
    });
    rows.push(wallet(&record, &file, agent));
    rows.push(signers(&record, &file));
    rows
}

/// R27: only the wallet on chain counts, and the file may not contradict it.
fn wallet(record: &AgentRecord, file: &RegistrationFile, agent: &RegistrationId) -> Row {
    let refuted = |class, why: String| Row("wallet", State::Refuted, Some(class), why);
    let network = chain_of(agent).unwrap_or_default();
    let listed = match wallets_on(file, &network) {
        Ok(listed) => listed,
        Err(error) => return refuted("WalletConflict", error.to_string()),
    };
    let Some(wallet) = &record.wallet else {
        return refuted("WalletUndeclared", "no wallet is set on chain".to_owned());
    };
    let other = listed
        .iter()
        .find(|it| !is_same_address(&network, it.address(), wallet));
    match other {
        None => Row("wallet", State::Verified, None, wallet.clone()),
        Some(other) => refuted(
            "WalletConflict",
            format!("{wallet} on chain, {other} in the file"),
        ),
    }
}

/// R29.
fn signers(record: &AgentRecord, file: &RegistrationFile) -> Row {
    let (count, wallet) = (file.signers.len(), &record.wallet);
    match (count, wallet) {
        (0, None) => {
            let why = "the file lists no key, and there is no wallet (R29)".to_owned();
            Row("signers", State::Refuted, Some("SignerUnknown"), why)
        }
        (0, Some(_)) => Row(
            "signers",
            State::Verified,
            None,
            "the wallet signs".to_owned(),
        ),
        _ => Row("signers", State::Verified, None, format!("{count} listed")),
    }
}
