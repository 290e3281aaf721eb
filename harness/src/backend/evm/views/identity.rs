//! The identity registry (R1 to R4).
use super::{
    book::{Book, VERSION},
    question::Questions,
};
use crate::{
    backend::views::{Draw, IDENTITY},
    model::{Actor, Agent, AgentState},
};
use alloy::primitives::{Bytes, FixedBytes, U256};
use concord_canonical::{ErrorClass, limits};
use concord_registry::evm::abi::IdentityRegistry as Identity;
use serde_json::{Value, json};

/// EIP-712: name, version, chain and contract are set.
const DOMAIN_FIELDS: u8 = 0x0f;
/// ERC-165, ERC-721, its metadata, ERC-4906; and the id that means none.
const INTERFACES: [([u8; 4], bool); 5] = [
    ([0x01, 0xff, 0xc9, 0xa7], true),
    ([0x80, 0xac, 0x58, 0xcd], true),
    ([0x5b, 0x5e, 0x13, 0x9f], true),
    ([0x49, 0x06, 0x49, 0x06], true),
    ([0xff, 0xff, 0xff, 0xff], false),
];

pub(super) fn ask(book: &Book<'_>, draw: &mut Draw, questions: &mut Questions) {
    ask_constants(book, questions);
    for actor in &book.actors {
        ask_holdings(book, actor, questions);
    }
    ask_operators(book, draw, questions);
    for (agent, state) in book.agents() {
        match state {
            Some(state) => ask_agent(book, &agent, state, draw, questions),
            None => ask_nobody(book, &agent, questions),
        }
    }
}

fn ask_constants(book: &Book<'_>, questions: &mut Questions) {
    let registry = (IDENTITY, book.registries.identity);
    let none = || json!({});
    let text = |text: &str| Ok(json!(text));
    questions.ask(
        registry,
        &Identity::getVersionCall {},
        none(),
        text(VERSION),
        |_, it| Ok(json!(it)),
    );
    questions.ask(
        registry,
        &Identity::nameCall {},
        none(),
        text("AgentIdentity"),
        |_, it| Ok(json!(it)),
    );
    questions.ask(
        registry,
        &Identity::symbolCall {},
        none(),
        text("AGENT"),
        |_, it| Ok(json!(it)),
    );
    for (id, is_known) in INTERFACES {
        let call = Identity::supportsInterfaceCall {
            interfaceId: FixedBytes(id),
        };
        let arguments = json!({ "interface": FixedBytes(id).to_string() });
        questions.ask(registry, &call, arguments, Ok(json!(is_known)), |_, it| {
            Ok(json!(it))
        });
    }
    let domain = json!({
        "fields": DOMAIN_FIELDS, "name": "ERC8004IdentityRegistry", "version": "1",
        "chain_id": book.chain_id.to_string(), "contract": book.registries.identity.to_string(),
        "salt": FixedBytes::<32>::ZERO.to_string(), "extensions": 0,
    });
    questions.ask(
        registry,
        &Identity::eip712DomainCall {},
        none(),
        Ok(domain),
        |_, it| {
            Ok(json!({
                "fields": it.fields.0[0], "name": it.name, "version": it.version,
                "chain_id": it.chainId.to_string(), "contract": it.verifyingContract.to_string(),
                "salt": it.salt.to_string(), "extensions": it.extensions.len(),
            }))
        },
    );
}

fn ask_holdings(book: &Book<'_>, actor: &Actor, questions: &mut Questions) {
    let held = book.state.agents.values().filter(|it| it.owner == *actor);
    let call = Identity::balanceOfCall {
        owner: book.address(actor),
    };
    let registry = (IDENTITY, book.registries.identity);
    let expected = Ok(json!(held.count().to_string()));
    questions.ask(
        registry,
        &call,
        json!({ "owner": actor }),
        expected,
        |_, it| Ok(json!(it.to_string())),
    );
}

/// Every pair that is on record, and as many that may not be.
fn ask_operators(book: &Book<'_>, draw: &mut Draw, questions: &mut Questions) {
    let operators = &book.records.operators;
    let mut pairs: Vec<_> = operators.iter().cloned().collect();
    for _ in 0..=operators.len() {
        let drawn = draw.pick(&book.actors).zip(draw.pick(&book.actors));
        pairs.extend(drawn);
    }
    let registry = (IDENTITY, book.registries.identity);
    for (owner, operator) in pairs {
        let call = Identity::isApprovedForAllCall {
            owner: book.address(&owner),
            operator: book.address(&operator),
        };
        let arguments = json!({ "owner": owner, "operator": operator });
        let expected = Ok(json!(operators.contains(&(owner, operator))));
        questions.ask(registry, &call, arguments, expected, |_, it| Ok(json!(it)));
    }
}

fn ask_agent(
    book: &Book<'_>,
    agent: &Agent,
    state: &AgentState,
    draw: &mut Draw,
    questions: &mut Questions,
) {
    let registry = (IDENTITY, book.registries.identity);
    let id = book.id(agent);
    let named = || json!({ "agent": agent });
    let owner = Ok(json!(state.owner));
    questions.ask(
        registry,
        &Identity::ownerOfCall { tokenId: id },
        named(),
        owner,
        |reader, it| Ok(reader.actor(it)),
    );
    let uri = Ok(json!(state.uri));
    questions.ask(
        registry,
        &Identity::tokenURICall { tokenId: id },
        named(),
        uri,
        |_, it| Ok(json!(it)),
    );
    let wallet = Ok(json!(state.wallet));
    let call = Identity::getAgentWalletCall { agentId: id };
    questions.ask(registry, &call, named(), wallet, |reader, it| {
        Ok(reader.actor(it))
    });
    let approved = Ok(json!(book.records.approved.get(agent)));
    let call = Identity::getApprovedCall { tokenId: id };
    questions.ask(registry, &call, named(), approved, |reader, it| {
        Ok(reader.actor(it))
    });
    ask_metadata(book, agent, state, questions);
    let mut askers = vec![state.owner.clone()];
    askers.extend(book.records.approved.get(agent).cloned());
    askers.extend(draw.list(&book.actors, 3));
    for asker in askers {
        ask_rights(book, agent, state, &asker, questions);
    }
}

/// Each key that was set, one that was not, and the wallet under its reserved key (R2).
fn ask_metadata(book: &Book<'_>, agent: &Agent, state: &AgentState, questions: &mut Questions) {
    let mut expected: Vec<(String, Bytes)> = state
        .metadata
        .iter()
        .map(|(key, value)| (key.clone(), Bytes::from(value.0.clone())))
        .collect();
    if !state.metadata.contains_key("never set") {
        expected.push(("never set".to_owned(), Bytes::new()));
    }
    if book.is_on_chain {
        let wallet = state.wallet.as_ref().map(|it| book.address(it));
        let wallet = wallet.map_or_else(Bytes::new, |it| Bytes::copy_from_slice(it.as_slice()));
        expected.push((limits::RESERVED_METADATA_KEY.to_owned(), wallet));
    }
    for (key, value) in expected {
        let arguments = json!({ "agent": agent, "key": key });
        let call = Identity::getMetadataCall {
            agentId: book.id(agent),
            metadataKey: key,
        };
        let registry = (IDENTITY, book.registries.identity);
        questions.ask(
            registry,
            &call,
            arguments,
            Ok(json!(value.to_string())),
            |_, it| Ok(json!(it.to_string())),
        );
    }
}

fn ask_rights(
    book: &Book<'_>,
    agent: &Agent,
    state: &AgentState,
    asker: &Actor,
    questions: &mut Questions,
) {
    let pair = (state.owner.clone(), asker.clone());
    let has_rights = *asker == state.owner
        || book.records.approved.get(agent) == Some(asker)
        || book.records.operators.contains(&pair);
    let call = Identity::isAuthorizedOrOwnerCall {
        spender: book.address(asker),
        agentId: book.id(agent),
    };
    let arguments = json!({ "agent": agent, "spender": asker });
    let registry = (IDENTITY, book.registries.identity);
    questions.ask(
        registry,
        &call,
        arguments,
        Ok(json!(has_rights)),
        |_, it| Ok(json!(it)),
    );
}

/// An agent that nobody registered: the ERC's refusals, and no wallet.
fn ask_nobody(book: &Book<'_>, agent: &Agent, questions: &mut Questions) {
    let registry = (IDENTITY, book.registries.identity);
    let id: U256 = book.id(agent);
    let named = || json!({ "agent": agent });
    let missing = || Err(ErrorClass::AgentNotFound);
    questions.ask(
        registry,
        &Identity::ownerOfCall { tokenId: id },
        named(),
        missing(),
        |reader, it| Ok(reader.actor(it)),
    );
    questions.ask(
        registry,
        &Identity::tokenURICall { tokenId: id },
        named(),
        missing(),
        |_, it| Ok(json!(it)),
    );
    let call = Identity::getApprovedCall { tokenId: id };
    questions.ask(registry, &call, named(), missing(), |reader, it| {
        Ok(reader.actor(it))
    });
    let call = Identity::getAgentWalletCall { agentId: id };
    questions.ask(registry, &call, named(), Ok(Value::Null), |reader, it| {
        Ok(reader.actor(it))
    });
}
