use std::{fs, path::Path};

use base64::{Engine as _, engine::general_purpose::STANDARD};
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use serde_json::{Value, json};

use super::{
    CANNOT_CHECK, CliError, MONEY_UNKNOWN, VERIFIED,
    config::Market,
    error::code_of,
    options::{Pay, Place, Verify},
    output::{line, print, print_with},
};
use crate::{
    pay::{
        Asked, Buyer, EvidenceFolder, HttpLimits, Money, Offered, PayError, PayFault, Payers,
        Purchase, Request,
    },
    quote::{Quote, Refusal, WalletState},
    verify::State,
};

pub(super) async fn pay(options: &Pay) -> Result<u8, CliError> {
    let (id, json) = (&options.place.id, options.config.json);
    let folder = EvidenceFolder::open(&options.place.evidence)?;
    let recorded = folder.money(id);
    let or_paid = |error| since_begun(error, recorded.as_ref());
    let headers = headers(&options.header).map_err(or_paid)?;
    let market = Market::connect(&options.config.config).await;
    let market = market.map_err(or_paid)?;
    let keys = options.keys.open().map_err(or_paid)?;
    let buyer = buyer(&market, keys.payers(), folder).map_err(or_paid)?;
    if options.resume {
        let purchase = buyer.resume(id, &headers).await?;
        return report(&purchase, None, &options.place, json);
    }
    buyer.require_new(id).await?;
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
    let id = &options.place.id;
    let folder = EvidenceFolder::open(&options.place.evidence)?;
    let recorded = folder.money(id);
    let or_paid = |error| since_begun(error, recorded.as_ref());
    let found = folder.load(id).map_err(|fault| or_paid(fault.into()))?;
    let found = found.ok_or_else(|| CliError::usage(PayFault::UnknownPurchase(id.clone())))?;
    if found.answer.is_none() {
        let words = format!("the purchase {id} has no answer: `concord x402 pay --resume` first");
        return Err(or_paid(CliError::usage(words)));
    }
    let market = Market::connect(&options.config.config).await;
    let market = market.map_err(or_paid)?;
    // with an answer on record nothing is sent, and no key is needed
    let buyer = buyer(&market, Payers::default(), folder).map_err(or_paid)?;
    let purchase = buyer.resume(id, &HeaderMap::new()).await?;
    report(&purchase, None, &options.place, options.config.json)
}

/// An error before the payment chain could be asked: an earlier command with the same id may have paid.
fn since_begun(error: CliError, recorded: Option<&Money>) -> CliError {
    match recorded {
        Some(money) => error.with_money(money),
        None => error,
    }
}

fn buyer<'a>(
    market: &'a Market,
    payers: Payers<'a>,
    folder: EvidenceFolder,
) -> Result<Buyer<'a>, CliError> {
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
    let (id, money, body) = (&purchase.id, &purchase.money, &purchase.response.body);
    let status = purchase.response.status;
    let unrecorded = purchase.unrecorded.as_ref().map(ToString::to_string);
    let is_on_disk = unrecorded.is_none();
    let place = place.evidence.join(format!("{id}.response"));
    let result = json!({
        "id": id,
        "state": state.name(),
        "status": status.as_u16(),
        "money": money,
        "erc8478": outcome,
        "steps": purchase.report.steps,
        "body": (is_on_disk && !body.is_empty()).then(|| place.display().to_string()),
        "bodyBase64": (!is_on_disk).then(|| STANDARD.encode(body)),
        "unrecorded": unrecorded,
    });
    let mut text = format!("{id}: {}, status {status}; {money}\n", state.name());
    for step in &purchase.report.steps {
        let class = step.class.map(|it| format!("{it:?} ")).unwrap_or_default();
        let detail = format!("{class}{}", step.detail);
        text.push_str(&line(&step.step.to_string(), step.state.name(), &detail));
    }
    let mut after: &[u8] = &[];
    if let Some(fault) = &unrecorded {
        let length = body.len();
        text.push_str(&format!(
            "not on disk: {fault}; the body's {length} bytes follow\n"
        ));
        after = body; // there is no other copy of what was paid for
    }
    print_with(as_json, &withheld(result), &text, after).map_err(|error| {
        let words = format!("the purchase {id} has an answer, which is not shown: {error}");
        CliError::new(CANNOT_CHECK, words).with_money(money)
    })?;
    let code = match money.has_moved() {
        None => MONEY_UNKNOWN,
        Some(_) => code_of(state),
    };
    Ok(if is_on_disk {
        code
    } else {
        code.max(CANNOT_CHECK)
    })
}

/// The evidence contains the signed bytes: anyone who has them can submit them.
fn withheld(mut result: Value) -> Value {
    if let Some(money) = result["money"].as_object_mut() {
        money.remove("payment");
    }
    result
}
