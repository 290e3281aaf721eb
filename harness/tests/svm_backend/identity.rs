use crate::world::{World, text};
use concord_canonical::ErrorClass::{
    AgentNotFound, AuthSchemeUnknown, LengthLimit, NotAuthorized, ReservedKey, TransferNotAllowed,
    TransferRefused, WalletConsentMissing, WalletZero,
};
use concord_harness::model::Event;
use serde_json::json;

#[test]
fn registers_with_metadata_or_not_at_all() {
    let mut world = World::new();
    let register = |agent: &str, metadata: serde_json::Value| json!({"register": {"agent": agent, "by": "alice", "uri": "ipfs://bot", "metadata": metadata}});
    let done = world.accepts(register(
        "bot",
        json!([{"key": "name", "value": "0x00ff"}, {"key": "", "value": "0x"}, {"key": "name", "value": "0x02"}]),
    ));
    assert_eq!(done.events.len(), 4);
    let name = json!({"key": "name", "value": "0x01"});
    for (class, key) in [
        (ReservedKey, "agentWallet".to_owned()),
        (LengthLimit, text(33)),
        (LengthLimit, "nul\0".to_owned()),
    ] {
        let metadata = json!([name, {"key": key, "value": "0x"}]);
        world.refuses(class, register("other", metadata));
    }
    let long = json!({"register": {"agent": "other", "by": "alice", "uri": text(201)}});
    world.refuses(LengthLimit, long);
    world.accepts(json!({"register": {"agent": "other", "by": "bob", "uri": text(200)}}));
}

#[test]
fn sets_uri_and_metadata() {
    let mut world = World::with_agent();
    let uri = |agent: &str, by: &str, uri: String| json!({"set_agent_uri": {"agent": agent, "by": by, "uri": uri}});
    world.refuses(AgentNotFound, uri("nobody", "alice", text(201)));
    world.refuses(NotAuthorized, uri("bot", "bob", text(201)));
    world.refuses(LengthLimit, uri("bot", "alice", text(201)));
    world.accepts(uri("bot", "alice", text(200)));
    world.accepts(uri("bot", "alice", String::new()));
    let entry = |agent: &str, by: &str, key: &str, bytes: usize| {
        let value = format!("0x{}", "07".repeat(bytes));
        json!({"set_metadata": {"agent": agent, "by": by, "key": key, "value": value}})
    };
    world.refuses(AgentNotFound, entry("nobody", "alice", "agentWallet", 0));
    world.refuses(NotAuthorized, entry("bot", "bob", "agentWallet", 0));
    world.refuses(ReservedKey, entry("bot", "alice", "agentWallet", 257));
    world.refuses(LengthLimit, entry("bot", "alice", "key", 257));
    world.refuses(LengthLimit, entry("bot", "alice", &text(33), 0));
    world.accepts(entry("bot", "alice", &text(32), 256));
    world.accepts(entry("bot", "alice", &text(32), 1));
    world.accepts(entry("bot", "alice", "agentwallet", 0));
}

#[test]
fn sets_the_wallet_that_consents_to_just_this() {
    let mut world = World::with_agent();
    world.accepts(json!({"register": {"agent": "twin", "by": "alice", "uri": ""}}));
    let consent = |agent: &str, wallet: &str, owner: &str, signer: &str| json!({"agent": agent, "wallet": wallet, "owner": owner, "signer": signer, "deadline": 9});
    let set = |agent: &str, by: &str, wallet: &str, consent: serde_json::Value| json!({"set_agent_wallet": {"agent": agent, "by": by, "wallet": wallet, "consent": consent}});
    let fit = consent("bot", "carol", "alice", "carol");
    world.refuses(AgentNotFound, set("nobody", "alice", "carol", fit.clone()));
    world.refuses(NotAuthorized, set("bot", "bob", "carol", fit.clone()));
    world.refuses(
        WalletZero,
        json!({"set_agent_wallet": {"agent": "bot", "by": "alice", "wallet": null}}),
    );
    world.refuses(
        WalletConsentMissing,
        json!({"set_agent_wallet": {"agent": "bot", "by": "alice", "wallet": "carol"}}),
    );
    for unfit in [
        consent("twin", "carol", "alice", "carol"),
        consent("bot", "dave", "alice", "carol"),
        consent("bot", "carol", "bob", "carol"),
        consent("bot", "carol", "alice", "dave"),
    ] {
        world.refuses(WalletConsentMissing, set("bot", "alice", "carol", unfit));
    }
    world.accepts(set("bot", "alice", "carol", fit.clone()));
    world.accepts(set("bot", "alice", "carol", fit)); // no digest is used up on Solana
    let own = consent("bot", "alice", "alice", "alice");
    world.accepts(set("bot", "alice", "alice", own));
    let unset = |agent: &str, by: &str| json!({"unset_agent_wallet": {"agent": agent, "by": by}});
    world.refuses(AgentNotFound, unset("nobody", "alice"));
    world.refuses(NotAuthorized, unset("bot", "bob"));
    world.accepts(unset("bot", "alice"));
    world.accepts(unset("bot", "alice"));
}

#[test]
fn chooses_authority_and_schemes() {
    let mut world = World::with_agent();
    let authority = |agent: &str, by: &str, authority: Option<&str>| json!({"set_feedback_authority": {"agent": agent, "by": by, "authority": authority}});
    world.refuses(AgentNotFound, authority("nobody", "alice", None));
    world.refuses(NotAuthorized, authority("bot", "bob", Some("bob")));
    world.accepts(authority("bot", "alice", Some("bob")));
    world.accepts(authority("bot", "alice", None));
    let schemes = |agent: &str, by: &str, schemes: u8| json!({"set_auth_schemes": {"agent": agent, "by": by, "schemes": schemes}});
    world.refuses(AgentNotFound, schemes("nobody", "alice", 0));
    world.refuses(NotAuthorized, schemes("bot", "bob", 0));
    for unknown in [0, 4, 5, 255] {
        world.refuses(AuthSchemeUnknown, schemes("bot", "alice", unknown));
    }
    for known in 1..=3 {
        let done = world.accepts(schemes("bot", "alice", known));
        assert_eq!(done.events, []); // a native extra
    }
}

#[test]
fn transfers_the_token_and_with_it_the_agent() {
    let mut world = World::with_agent();
    let transfer =
        |agent: &str, by: &str, to: &str| json!({"transfer": {"agent": agent, "by": by, "to": to}});
    let into_mutable = |agent: &str, by: &str, to: &str| json!({"transfer": {"agent": agent, "by": by, "to": to, "into_mutable_account": true}});
    world.refuses(AgentNotFound, transfer("nobody", "alice", "bob"));
    world.refuses(AgentNotFound, into_mutable("nobody", "alice", "bob"));
    world.refuses(TransferNotAllowed, transfer("bot", "bob", "bob"));
    world.refuses(TransferNotAllowed, into_mutable("bot", "bob", "bob"));
    world.refuses(TransferRefused, into_mutable("bot", "alice", "bob"));
    world.refuses(TransferRefused, into_mutable("bot", "alice", "alice"));
    let kept = world.accepts(transfer("bot", "alice", "alice"));
    assert_eq!(kept.events, []);
    let sold = world.accepts(transfer("bot", "alice", "bob"));
    assert!(matches!(
        sold.events[..],
        [Event::AgentWalletSet { wallet: None, .. }]
    ));
    world.refuses(TransferNotAllowed, transfer("bot", "alice", "alice"));
    world.accepts(transfer("bot", "bob", "alice"));
}

#[test]
fn burns_the_token_and_keeps_the_last_owner_on_record() {
    let mut world = World::with_agent();
    let burn = |agent: &str, by: &str| json!({"burn": {"agent": agent, "by": by}});
    world.refuses(AgentNotFound, burn("nobody", "alice"));
    world.refuses(TransferNotAllowed, burn("bot", "bob"));
    world.accepts(burn("bot", "alice"));
    world.refuses(TransferNotAllowed, burn("bot", "alice"));
    for (by, to) in [("alice", "bob"), ("alice", "alice"), ("bob", "bob")] {
        let transfer = json!({"transfer": {"agent": "bot", "by": by, "to": to}});
        world.refuses(TransferNotAllowed, transfer);
    }
    world.accepts(json!({"set_agent_uri": {"agent": "bot", "by": "alice", "uri": "gone"}}));
}
