//! Who is named by an agent's owner, as wallet (R3) or as feedback authority (R7), has consented.

use crate::{
    calls_by_programs::{relay, stranger_wallet},
    localnet::{
        Localnet,
        instructions::{readonly, signer_and_payer},
        refusal::*,
        settings::{set_agent_wallet, set_feedback_authority, unset_agent_wallet},
    },
};
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use solana_signer::Signer;

/// An instruction that names a key, in place 3 of its accounts.
struct Naming {
    set: fn(&Address, &Address, &Address) -> Instruction,
    unset: fn(&Address, &Address) -> Instruction,
    refusal: u32,
    named: fn(&Localnet, &Address) -> Address,
}

const NAMINGS: [Naming; 2] = [
    Naming {
        set: set_agent_wallet,
        unset: unset_agent_wallet,
        refusal: WALLET_CONSENT_MISSING,
        named: |net, mint| net.identity(mint).agent_wallet,
    },
    Naming {
        set: set_feedback_authority,
        unset: |owner, mint| set_feedback_authority(owner, mint, &Address::default()),
        refusal: AUTHORITY_CONSENT_MISSING,
        named: |net, mint| net.identity(mint).feedback_authority,
    },
];

#[test]
fn the_owner_may_name_themselves_though_they_pay_the_fee() {
    for it in NAMINGS {
        let mut net = Localnet::new();
        let agent = net.agent();
        let owner = agent.owner.pubkey();
        let unset = (it.unset)(&owner, &agent.mint);
        let set = (it.set)(&owner, &agent.mint, &owner);
        let mut writable = set.clone();
        writable.accounts[3] = signer_and_payer(owner);
        let through = relay(std::slice::from_ref(&set));
        for set in [set, writable, through] {
            net.send(&[&agent.owner], &[unset.clone(), set]).unwrap();
            assert_eq!((it.named)(&net, &agent.mint), owner);
        }
    }
}

#[test]
fn refuses_who_has_not_signed() {
    for it in NAMINGS {
        let mut net = Localnet::new();
        let (agent, named) = (net.agent(), net.key());
        let before = net.identity(&agent.mint);
        let mut instruction = (it.set)(&agent.owner.pubkey(), &agent.mint, &named.pubkey());
        instruction.accounts[3] = readonly(named.pubkey());
        let sent = net.send(&[&agent.owner], &[instruction]);
        assert_refused(&sent, 0, it.refusal);
        assert_eq!(net.identity(&agent.mint), before);
    }
}

#[test]
fn refuses_who_signed_as_fee_payer_only() {
    for it in NAMINGS {
        let mut net = Localnet::new();
        let (agent, relayer) = (net.agent(), net.actor());
        let before = net.identity(&agent.mint);
        let instruction = (it.set)(&agent.owner.pubkey(), &agent.mint, &relayer.pubkey());
        let sent = net.send(&[&relayer, &agent.owner], &[instruction]);
        assert_refused(&sent, 0, it.refusal);
        assert_eq!(net.identity(&agent.mint), before);
    }
}

#[test]
fn refuses_who_is_writable() {
    for it in NAMINGS {
        let mut net = Localnet::new();
        let (agent, named) = (net.agent(), net.key());
        let mut instruction = (it.set)(&agent.owner.pubkey(), &agent.mint, &named.pubkey());
        instruction.accounts[3] = signer_and_payer(named.pubkey());
        let sent = net.send(&[&agent.owner, &named], &[instruction]);
        assert_refused(&sent, 0, it.refusal);
    }
}

#[test]
fn a_relayer_may_pay_for_the_owner_and_who_is_named() {
    for it in NAMINGS {
        let mut net = Localnet::new();
        let (agent, named, relayer) = (net.agent(), net.key(), net.actor());
        let set = (it.set)(&agent.owner.pubkey(), &agent.mint, &named.pubkey());
        net.send(&[&relayer, &agent.owner, &named], &[set]).unwrap();
        assert_eq!((it.named)(&net, &agent.mint), named.pubkey());
    }
}

#[test]
fn a_program_may_pass_the_signatures_on() {
    for it in NAMINGS {
        let mut net = Localnet::new();
        let (agent, named) = (net.agent(), net.key());
        let set = (it.set)(&agent.owner.pubkey(), &agent.mint, &named.pubkey());
        net.send(&[&agent.owner, &named], &[relay(&[set])]).unwrap();
        assert_eq!((it.named)(&net, &agent.mint), named.pubkey());
    }
}

#[test]
fn a_program_may_consent_for_an_address_of_its_own() {
    for it in NAMINGS {
        let mut net = Localnet::new();
        let agent = net.agent();
        let (owner, named) = (agent.owner.pubkey(), stranger_wallet());
        let once = relay(&[(it.set)(&owner, &agent.mint, &named)]);
        for through in [once.clone(), relay(&[once])] {
            let unset = (it.unset)(&owner, &agent.mint);
            net.send(&[&agent.owner], &[unset, through]).unwrap();
            assert_eq!((it.named)(&net, &agent.mint), named);
        }
    }
}

#[test]
fn refuses_a_fee_payer_whom_a_program_passes_on_as_not_writable() {
    for it in NAMINGS {
        let mut net = Localnet::new();
        let (agent, relayer) = (net.agent(), net.actor());
        let owner = agent.owner.pubkey();
        let before = (it.named)(&net, &agent.mint);
        let set = (it.set)(&owner, &agent.mint, &relayer.pubkey());
        assert!(!set.accounts[3].is_writable);
        let once = relay(&[set]);
        for through in [once.clone(), relay(&[once])] {
            // Behind another instruction too, which does not name the key at all.
            let other = crate::localnet::settings::set_auth_schemes(&owner, &agent.mint, 2);
            for (place, instructions) in [(0, vec![through.clone()]), (1, vec![other, through])] {
                let sent = net.send(&[&relayer, &agent.owner], &instructions);
                assert_refused(&sent, place, it.refusal);
                assert_eq!((it.named)(&net, &agent.mint), before);
            }
        }
    }
}

#[test]
fn refuses_who_is_writable_for_the_program_that_passes_them_on() {
    for it in NAMINGS {
        let mut net = Localnet::new();
        let (agent, named) = (net.agent(), net.key());
        let owner = agent.owner.pubkey();
        for (named, signers) in [
            (named.pubkey(), vec![&agent.owner, &named]),
            (stranger_wallet(), vec![&agent.owner]),
        ] {
            let mut through = relay(&[(it.set)(&owner, &agent.mint, &named)]);
            let its = |meta: &&mut AccountMeta| meta.pubkey == named;
            through.accounts.iter_mut().find(its).unwrap().is_writable = true;
            let sent = net.send(&signers, &[through]);
            assert_refused(&sent, 0, it.refusal);
        }
    }
}
