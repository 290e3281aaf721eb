use std::{fs, path::Path};

use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};

use super::{
    CliError, MONEY_UNKNOWN, VERIFIED,
    config::Market,
    error::code_of,
    options::{Pay, Place, Verify},
    output::{line, print},
};
use crate::{
    pay::{
        Asked, Buyer, EvidenceFolder, HttpLimits, Offered, PayError, PayFault, Payers, Purchase,
        Request,
    },
    quote::{Quote, Refusal, WalletState},
    verify::State,
};

pub(super) async fn pay(options: &Pay) -> Result<u8, CliError> {
    let headers = headers(&options.header)?;
    let market = Market::connect(&options.config.config).await?;
    let keys = options.keys.open()?;
    let json = options.config.json;
    let buyer = buyer(&market, keys.payers(), &options.place)?;
    let id = &options.place.id;
    if options.resume {
        let purchase = buyer.resume(id, &headers).await?;
        return report(&purchase, None, &options.place, json);
    }
    let offered = match buyer.quote(request(options, headers)?).await {
        Ok(Asked::Offered(offered)) => offered,
        Ok(Asked::Free(answer)) => {
            let status = answer.status.as_u16();
            let words = format!("no payment is asked for: the answer has status {status}");
            print(json, &json!({ "state": "free", "status": status }), &words)?;
            return Ok(VERIFIED);
        }
        Err(PayError {
            fault: PayFault::Refused(refusal),
            ..
        }) => return refused(&refusal, json),
        Err(error) => return Err(error.into()),
    };
    if options.quote {
        return quoted(&offered, json);
    }
    let outcome = offered.quote().erc8478_outcome();
    let purchase = buyer.pay(id, *offered).await?;
    report(&purchase, outcome, &options.place, json)
}

pub(super) async fn verify(options: &Verify) -> Result<u8, CliError> {
    let market = Market::connect(&options.config.config).await?;
    let id = &options.place.id;
    let folder = EvidenceFolder::open(&options.place.evidence)?;
    let found = folder.load(id)?;
    let found = found.ok_or_else(|| CliError::usage(PayFault::UnknownPurchase(id.clone())))?;
    if found.answer.is_none() {
        let words = format!("the purchase {id} has no answer: `concord x402 pay --resume` first");
        return Err(CliError::usage(words));
    }
    // with an answer on record nothing is sent, and no key is needed
    let buyer = buyer(&market, Payers::default(), &options.place)?;
    let purchase = buyer.resume(id, &HeaderMap::new()).await?;
    report(&purchase, None, &options.place, options.config.json)
}

fn buyer<'a>(market: &'a Market, payers: Payers<'a>, place: &Place) -> Result<Buyer<'a>, CliError> {
    let folder = EvidenceFolder::open(&place.evidence)?;
    let limits = HttpLimits::default();
    let terms = market.terms.clone();
    Ok(Buyer::new(payers, market.reads(), folder, terms, limits)?)
}

fn request(options: &Pay, headers: HeaderMap) -> Result<Request, CliError> {
    let method = Method::from_bytes(options.method.as_bytes());
    let method = method.map_err(|_| {
        CliError::usage(format!(
            "--method {:?} is not an HTTP method",
            options.method
        ))
    })?;
    let body = match &options.body {
        Some(path) => read(path)?,
        None => Vec::new(),
    };
    let url = options.url.as_deref().unwrap_or_default();
    Request::new(method, url, headers, body).map_err(CliError::usage)
}

fn read(path: &Path) -> Result<Vec<u8>, CliError> {
    fs::read(path).map_err(|error| CliError::usage(format!("{}: {error}", path.display())))
}

/// An error names the header, never its value.
fn headers(lines: &[String]) -> Result<HeaderMap, CliError> {
    let mut headers = HeaderMap::new();
    for (index, line) in lines.iter().enumerate() {
        let malformed = || {
            let words = format!("--header {}: expected 'name: value'", index + 1);
            CliError::usage(words)
        };
        let (name, value) = line.split_once(':').ok_or_else(malformed)?;
        let name = HeaderName::try_from(name.trim()).map_err(|_| malformed())?;
        let value = HeaderValue::try_from(value.trim()).map_err(|_| malformed())?;
        headers.append(name, value);
    }
    Ok(headers)
}

/// A refusal is a result: P1 to P10.
fn refused(refusal: &Refusal, as_json: bool) -> Result<u8, CliError> {
    let state = match refusal.class {
        Some(_) => State::Refuted,
        None => State::CannotCheck,
    };
    let class = refusal.class.map(|it| format!("{it:?}"));
    let result = json!({
        "state": state.name(),
        "step": format!("{:?}", refusal.step),
        "class": class,
        "detail": refusal.detail,
        "erc8478": refusal.erc8478_outcome(),
        "money": { "state": "not-sent" },
    });
    print(as_json, &result, &refusal.to_string())?;
    Ok(code_of(state))
}

fn quoted(offered: &Offered, as_json: bool) -> Result<u8, CliError> {
    let Quote {
        offer,
        registration,
        wallet,
        origin_unbound,
        ..
    } = offered.quote();
    let state = match wallet {
        WalletState::Verified => State::Verified,
        WalletState::Claimed => State::Claimed,
    };
    let result = json!({
        "state": state.name(),
        "agentRegistry": registration.agent_registry,
        "agentId": registration.agent_id.as_str(),
        "network": offer.network,
        "asset": offer.asset,
        "amount": offer.amount,
        "payTo": offer.pay_to,
        "originUnbound": origin_unbound,
        "erc8478": offered.quote().erc8478_outcome(),
        "money": { "state": "not-sent" },
    });
    let mut text = format!(
        "{}: agent {} of {} asks {} of {} on {}\n",
        state.name(),
        registration.agent_id,
        registration.agent_registry,
        offer.amount,
        offer.asset,
        offer.network
    );
    if let Some(why) = origin_unbound {
        text.push_str(&format!("the origin is not bound to the agent: {why}\n"));
    }
    print(as_json, &result, &text)?;
    Ok(code_of(state))
}

fn report(
    purchase: &Purchase,
    outcome: Option<&'static str>,
    place: &Place,
    as_json: bool,
) -> Result<u8, CliError> {
    let state = purchase.report.state();
    let (id, money) = (&purchase.id, &purchase.money);
    let body = place.evidence.join(format!("{id}.response"));
    let result = json!({
        "id": id,
        "state": state.name(),
        "status": purchase.response.status.as_u16(),
        "money": money,
        "erc8478": outcome,
        "steps": purchase.report.steps,
        "body": (!purchase.response.body.is_empty()).then(|| body.display().to_string()),
        "unrecorded": purchase.unrecorded.as_ref().map(ToString::to_string),
    });
    let status = purchase.response.status;
    let mut text = format!("{id}: {}, status {status}; {money}\n", state.name());
    for step in &purchase.report.steps {
        let class = step.class.map(|it| format!("{it:?} ")).unwrap_or_default();
        let detail = format!("{class}{}", step.detail);
        text.push_str(&line(&step.step.to_string(), step.state.name(), &detail));
    }
    print(as_json, &withheld(result), &text)?;
    match money.has_moved() {
        None => Ok(MONEY_UNKNOWN),
        Some(_) => Ok(code_of(state)),
    }
}

/// The evidence contains the signed bytes: anyone who has them can submit them.
fn withheld(mut result: Value) -> Value {
    if let Some(money) = result["money"].as_object_mut() {
        money.remove("payment");
    }
    result
}
