//! What agents' owners and the registry's authority change.

use super::flow::{ACTORS, Flow};
use crate::localnet::{
    CHAIN, Localnet,
    instructions::initialize,
    registry::{accept_authority, propose_authority},
    settings::*,
};
use sha2::{Digest, Sha256};
use solana_address::Address;
use solana_keypair::Keypair;
use solana_signer::Signer;

pub fn flows() -> Vec<Flow> {
    let mut flows = of_owners();
    flows.extend(of_the_authority());
    flows
}

fn of_owners() -> Vec<Flow> {
    let mut net = Localnet::new();
    let mut flows = [
        Flow::new("set_agent_uri", "", 16_000),
        Flow::new("set_metadata", "new", 12_000),
        Flow::new("set_metadata", "again", 8_000),
        Flow::new("set_agent_wallet", "", 7_000),
        Flow::new("set_agent_wallet", "the owner's own key", 6_000),
        Flow::new("unset_agent_wallet", "", 6_000),
        Flow::new("set_feedback_authority", "none", 6_000),
        Flow::new("set_auth_schemes", "", 6_000),
        Flow::new("set_feedback_authority", "", 7_000),
    ];
    let key = [b'k'; 32];
    let hash = Sha256::digest(key);
    let wallet = Keypair::new_from_array([0x77; 32]);
    for _ in 0..ACTORS {
        let agent = net.agent();
        let (owner, me, mint) = (&agent.owner, agent.owner.pubkey(), agent.mint);
        let [uri, new, again, another, rest @ ..] = &mut flows;
        uri.run(
            &mut net,
            owner,
            set_agent_uri(&me, &mint, &[b'a'; 200]),
            &[],
        );
        let entry: &[&[u8]] = &[b"metadata", mint.as_ref(), &hash];
        let metadata = set_metadata(&me, &mint, &key, &[7; 256]);
        new.run(&mut net, owner, metadata.clone(), &[entry]);
        again.run(&mut net, owner, metadata, &[]);
        let set = set_agent_wallet(&me, &mint, &wallet.pubkey());
        let sent = net.send(&[owner, &wallet], &[set]).unwrap();
        another.add(sent.compute_units_consumed, 0);
        let calls = [
            set_agent_wallet(&me, &mint, &me),
            unset_agent_wallet(&me, &mint),
            set_feedback_authority(&me, &mint, &Address::default()),
            set_auth_schemes(&me, &mint, 3),
        ];
        for (flow, call) in rest.iter_mut().zip(calls) {
            flow.run(&mut net, owner, call, &[]);
        }
        let set = set_feedback_authority(&me, &mint, &wallet.pubkey());
        let sent = net.send(&[owner, &wallet], &[set]).unwrap();
        let [.., authority] = &mut flows;
        authority.add(sent.compute_units_consumed, 0);
    }
    flows.into()
}

fn of_the_authority() -> Vec<Flow> {
    let mut net = Localnet::uninitialized();
    let authority = net.upgrade_authority.insecure_clone();
    let me = authority.pubkey();
    let calls = [
        (Flow::new("initialize", "", 12_000), initialize(&me, CHAIN)),
        (
            Flow::new("propose_registry_authority", "", 8_000),
            propose_authority(&me, &me),
        ),
        (
            Flow::new("accept_registry_authority", "", 8_000),
            accept_authority(&me),
        ),
    ];
    let run = |(mut flow, call): (Flow, _)| {
        flow.run(&mut net, &authority, call, &[]);
        flow
    };
    calls.map(run).into()
}
