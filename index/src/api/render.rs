//! Rows as JSON. Texts from chains are values of JSON and nothing else. Numbers that JavaScript
//! cannot hold are texts.
use super::{
    ApiError,
    names::{Directory, profile_name},
};
use crate::{
    binding::{Binding, Doubt},
    query::{AuthorizedSummary, Facts, FoundAgent, Gap, OpenSummary, Sums},
    state::Difference,
    store::Reorganizations,
    table::{
        Agent, Fetched, FileUse, Metadata, MetadataKey, Payment, Registration, Response,
        ResponseKey, Transaction, Validation, ValidationKey,
    },
};
use concord_canonical::value;
use concord_registry::event::{AccountId, AgentId, Profile};
use serde_json::{Map, Value, json};

pub(super) fn agent(
    name: &str,
    id: AgentId,
    row: &Agent,
    file: Option<&Fetched<Registration>>,
) -> Value {
    let text = |account: Option<AccountId>| account.map(|it| it.to_string());
    json!({
        "id": name,
        "agentId": id.to_string(),
        "owner": text(row.owner),
        "agentWallet": text(row.wallet),
        "agentURI": row.uri,
        "approved": text(row.approved),
        "feedbackAuthority": text(row.feedback_authority),
        "authSchemes": row.auth_schemes,
        "createdAt": row.created_at,
        "updatedAt": row.updated_at,
        "totalFeedback": row.feedback_count,
        "clients": { "open": row.open_clients, "authorized": row.authorized_clients },
        // R46
        "incomplete": row.is_incomplete(),
        "registrationFile": file.map(registration),
    })
}

/// ERC-8217: the binding that an agent declares, and why it is not proven.
pub(super) fn binding(of: &Binding) -> Value {
    let account = |address: [u8; 20]| AccountId::Evm(address).to_string();
    let token = of.read.and_then(|it| it.token);
    json!({
        "contract": of.contract.map(account),
        "proven": of.doubt.is_none(),
        "reason": of.doubt.map(Doubt::words),
        "standard": token.map(|it| it.standard.name()),
        "tokenContract": token.map(|it| account(it.contract)),
        "tokenId": token.map(|it| AgentId::Evm(it.id).to_string()),
        "block": of.read.map(|it| it.block),
    })
}

/// What a chain took back, as it was noted then. Hashes are as the chain writes them.
pub(crate) fn reorganizations(chain: &str, of: &Reorganizations) -> Value {
    let hash = |hash: &[u8; 32]| {
        if chain.starts_with("eip155:") {
            format!("0x{}", hex::encode(hash))
        } else {
            bs58::encode(hash).into_string()
        }
    };
    let newest = of.newest.iter().map(|it| {
        json!({
            "noticedAt": it.at,
            "fromBlock": it.from,
            "toBlock": it.to,
            "depth": it.depth(),
            "forkHash": hash(&it.fork_hash),
            "replacedHash": hash(&it.replaced_hash),
            "events": it.events,
        })
    });
    json!({ "count": of.count, "deepest": of.deepest, "newest": newest.collect::<Vec<_>>() })
}

pub(super) const fn state(of: FileUse) -> &'static str {
    match of {
        FileUse::Waiting => "waiting",
        FileUse::Unavailable => "unavailable",
        FileUse::Unreadable => "unreadable",
        FileUse::Read => "read",
    }
}

/// What the file says, and what of it is proven. Anyone with control of the URI could have written it.
fn registration((file, fetching): &Fetched<Registration>) -> Value {
    json!({
        "state": state(file.state),
        "reason": file.reason,
        "checkedAt": fetching.checked_at,
        "fetchedAt": fetching.fetched_at,
        "fetchError": fetching.error,
        "contentProven": file.is_proven,
        "listsThisAgent": file.claims,
        "name": file.name,
        "description": file.description,
        "image": file.image,
        "active": file.active,
        "x402Support": file.x402,
        "mcpEndpoint": file.mcp,
        "a2aEndpoint": file.a2a,
        "webEndpoint": file.web,
        "oasfEndpoint": file.oasf,
        "ens": file.ens,
        "did": file.did,
        "emailEndpoint": file.email,
        "mcpVersion": file.mcp_version,
        "a2aVersion": file.a2a_version,
        "oasfVersion": file.oasf_version,
        "agentWallet": file.agent_wallet,
        "supportedTrust": file.supported_trusts.entries(),
        "mcpTools": file.mcp_tools.entries(),
        "mcpPrompts": file.mcp_prompts.entries(),
        "mcpResources": file.mcp_resources.entries(),
        "a2aSkills": file.a2a_skills.entries(),
        "oasfSkills": file.oasf_skills.entries(),
        "oasfDomains": file.oasf_domains.entries(),
    })
}

pub(super) fn found_agent(
    directory: &Directory,
    found: &FoundAgent,
    file: Option<&Fetched<Registration>>,
) -> Value {
    let name = directory.name(found.deployment, found.agent);
    let mut rendered = agent(&name, found.agent, &found.row, file);
    if let Some(sums) = &found.sums {
        rendered["feedback"] = json!({
            "count": sums.all.count(),
            "average": open_summary(&sums.open()),
        });
    }
    rendered
}

/// Feedback of one client that was not seen.
pub(super) fn gap(gap: &Gap) -> Value {
    json!({
        "profile": profile_name(gap.client.profile),
        "clientAddress": gap.client.client.to_string(),
        "first": gap.first,
        "last": gap.last,
    })
}

/// R45: where the state differs from the events. The state's is what the index answers.
pub(crate) fn difference(of: &Difference) -> Value {
    json!({
        "field": of.field.name(),
        "clientAddress": of.field.client().map(|it| it.to_string()),
        "events": of.events,
        "state": of.state,
        "block": of.block,
    })
}

/// Text if it is text, and hex in any case.
pub(super) fn metadata((_, row): &(MetadataKey, Metadata)) -> Value {
    json!({
        "key": row.key,
        "value": hexadecimal(&row.value),
        "text": std::str::from_utf8(&row.value).ok(),
        "updatedAt": row.updated_at,
    })
}

pub(super) fn hexadecimal(bytes: &[u8]) -> String {
    alloy::hex::encode_prefixed(bytes)
}

/// An EVM hash is hex, a Solana signature base58.
pub(super) fn transaction(transaction: &Transaction) -> String {
    match transaction.0.len() {
        32 => hexadecimal(&transaction.0),
        _ => bs58::encode(&transaction.0).into_string(),
    }
}

pub(super) fn decimal(value: i128, decimals: u8) -> Option<String> {
    value::Value::new(value, decimals)
        .ok()
        .map(|it| it.to_string())
}

pub(super) fn response((key, row): &(ResponseKey, Response)) -> Value {
    json!({
        "number": key.number,
        "responder": row.responder.to_string(),
        "responseURI": row.uri,
        "responseHash": hexadecimal(&row.hash),
        "createdAt": row.at,
        "transaction": transaction(&row.transaction),
    })
}

pub(super) fn payment(row: &Payment) -> Value {
    json!({
        "payee": row.payee.to_string(),
        "token": row.token.to_string(),
        "amount": row.amount.to_string(),
        "taskRefHash": hexadecimal(&row.task_ref_hash),
        "paidAt": row.paid_at,
        "expiry": row.expiry,
        "facilitator": row.facilitator.to_string(),
        "signature": hexadecimal(&row.signature),
        "provenAt": row.at,
    })
}

pub(super) fn validation(name: &str, key: &ValidationKey, row: &Validation) -> Value {
    json!({
        "agent": name,
        "requestHash": hexadecimal(&key.request),
        "validatorAddress": key.validator.to_string(),
        "requestURI": row.uri,
        "requestTag": row.tag.as_ref().map(|it| hexadecimal(it)),
        "requestedAt": row.requested_at,
        "updatedAt": row.updated_at,
        "responses": row.responses,
        "answer": row.answer.as_ref().map(|it| json!({
            "response": it.score,
            "responseURI": it.uri,
            "responseHash": hexadecimal(&it.hash),
            "tag": it.tag,
        })),
    })
}

pub(super) fn open_summary(summary: &OpenSummary) -> Value {
    let (value, decimals) = (summary.summary.value, summary.summary.decimals);
    json!({
        "count": summary.summary.count,
        "summaryValue": value.to_string(),
        "summaryValueDecimals": decimals,
        "decimal": decimal(value, decimals),
    })
}

fn authorized_summary(summary: &AuthorizedSummary) -> Value {
    let total = summary.total();
    json!({
        "count": total.count,
        "averageScore": total.average(),
        "verified": { "count": summary.verified.count, "averageScore": summary.verified.average() },
        "unverified": {
            "count": summary.unverified.count,
            "averageScore": summary.unverified.average(),
        },
    })
}

/// R47: what `getSummary` answers.
pub(super) fn summary(profile: Profile, sums: &Sums) -> Result<Value, ApiError> {
    Ok(match profile {
        Profile::Open => open_summary(&sums.open()),
        Profile::Authorized => authorized_summary(&sums.authorized()?),
    })
}

/// R48: facts, and no score of ours.
pub(super) fn facts(facts: &Facts) -> Value {
    let paid: Map<String, Value> = (facts.paid.iter())
        .map(|(token, amount)| (token.to_string(), json!(amount.to_string())))
        .collect();
    let share = match facts.feedback {
        0 => None,
        count => Some(facts.most_active as f64 / count as f64),
    };
    json!({
        "feedback": facts.feedback,
        "reviewers": facts.reviewers,
        "mostActive": { "feedback": facts.most_active, "share": share },
        "proven": { "payers": facts.payers, "paid": paid },
        "firstAt": facts.first_at,
        "lastAt": facts.last_at,
    })
}
