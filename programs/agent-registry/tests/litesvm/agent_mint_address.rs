//! R4: an agent's mint is at a program-derived address. It had no earlier life, and has no key.

use crate::{
    calls_by_programs::relay,
    framework_errors::class_of,
    localnet::{
        Agent, Localnet, Sent, URI,
        accounts::Fields,
        instructions::{
            agent_identity, agent_mint, readonly, register_agent, signer, signer_and_payer,
            sponsored, system_program, writable,
        },
        program_id,
        refusal::*,
        settings::set_agent_uri,
        token_2022::{self, associated_token_program, balance, create_associated, token_account},
    },
};
use sha2::{Digest, Sha256};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction, error::InstructionError};
use solana_keypair::Keypair;
use solana_signer::Signer;

fn system(accounts: Vec<AccountMeta>, data: &[&[u8]]) -> Instruction {
    Instruction {
        program_id: system_program(),
        accounts,
        data: data.concat(),
    }
}

/// What makes an account of the system program another's: CreateAccount, Assign, Allocate.
fn creations(payer: &Address, at: &Address, owner: &Address) -> [Instruction; 3] {
    let space = 234u64.to_le_bytes();
    let create = system(
        vec![signer_and_payer(*payer), signer_and_payer(*at)],
        &[&[0; 4], &3_000_000u64.to_le_bytes(), &space, owner.as_ref()],
    );
    let assign = system(
        vec![signer_and_payer(*at)],
        &[&[1, 0, 0, 0], owner.as_ref()],
    );
    let allocate = system(vec![signer_and_payer(*at)], &[&[8, 0, 0, 0], &space]);
    [create, assign, allocate]
}

#[test]
fn only_lamports_can_be_put_there_first() {
    let mut net = Localnet::new();
    let (payer, thief) = (net.actor(), net.actor());
    let (who, mint) = (thief.pubkey(), agent_mint(&payer.pubkey(), 0));
    // whose signature it takes, which a program other than ours cannot give
    for owner in [token_2022::program(), program_id(), who] {
        for creation in creations(&who, &mint, &owner) {
            let through = relay(std::slice::from_ref(&creation));
            let mut through = through;
            through
                .accounts
                .iter_mut()
                .for_each(|meta| meta.is_signer &= meta.pubkey != mint);
            let sent = net.send(&[&thief], &[through]);
            assert_eq!(refusal(&sent), (0, InstructionError::PrivilegeEscalation));
            let mut unsigned = creation;
            let named = unsigned
                .accounts
                .iter_mut()
                .find(|meta| meta.pubkey == mint);
            named.unwrap().is_signer = false;
            if unsigned.accounts.iter().any(|meta| meta.is_signer) {
                let sent = net.send(&[&thief], &[unsigned]);
                assert_eq!(
                    refusal(&sent),
                    (0, InstructionError::MissingRequiredSignature)
                );
            }
        }
    }
    // Token-2022 initializes only what belongs to it
    let hook = [&[36, 0][..], &[0; 32], program_id().as_ref()].concat();
    let close = [&[25, 1][..], who.as_ref()].concat(); // MintCloseAuthority
    let initialize = [&[20, 0][..], who.as_ref(), &[0]].concat();
    for data in [hook, close, vec![32], initialize] {
        let instruction = token_2022::instruction(data, vec![writable(mint)]);
        class_of(&net.send(&[&thief], &[instruction]));
    }
    // nor are there token accounts of a mint that does not exist
    for owner in [&who, &payer.pubkey()] {
        let create = create_associated(&who, owner, &mint);
        class_of(&net.send(&[&thief], &[create]));
        assert!(!net.exists(&token_account(owner, &mint)));
    }
    assert!(!net.exists(&mint));
    let gift = system(
        vec![signer_and_payer(who), writable(mint)],
        &[&[2, 0, 0, 0], &5_000_000u64.to_le_bytes()],
    );
    net.send(&[&thief], &[gift]).unwrap();
    assert_eq!(net.account(&mint).owner, system_program());
    // which are the agent's
    let register = register_agent(&payer.pubkey(), 0, URI);
    net.send(&[&payer], &[register]).unwrap();
    assert_eq!(net.account(&mint).lamports, 5_000_000);
    assert_eq!(net.identity(&mint).owner, payer.pubkey());
}

/// CreateAccountWithSeed derives an address by the same hash: sha256(base, seed, owner). The bytes that our address is
/// the hash of can be cut into a base, a seed and an owner.
#[test]
fn no_base_and_seed_derive_the_address() {
    let mut net = Localnet::new();
    let (payer, thief) = (net.actor(), net.actor());
    let who = payer.pubkey();
    let seeds: &[&[u8]] = &[b"mint", who.as_ref(), &[0; 8]];
    let (mint, bump) = Address::find_program_address(seeds, &program_id());
    assert_eq!(mint, agent_mint(&who, 0));
    let hashed = [
        &seeds.concat()[..],
        &[bump],
        program_id().as_ref(),
        b"ProgramDerivedAddress",
    ]
    .concat();
    assert_eq!(Sha256::digest(&hashed)[..], mint.to_bytes());
    let (base, rest) = hashed.split_at(32);
    let (seed, owner) = rest.split_at(rest.len() - 32);
    let base = Address::from(<[u8; 32]>::try_from(base).unwrap());
    let create = system(
        vec![
            signer_and_payer(thief.pubkey()),
            writable(mint),
            signer(base),
        ],
        &[
            &[3, 0, 0, 0],
            base.as_ref(),
            &(seed.len() as u64).to_le_bytes(),
            seed,
            &3_000_000u64.to_le_bytes(),
            &234u64.to_le_bytes(),
            owner,
        ],
    );
    // as if the base had signed
    net.svm = net.svm.clone().with_sigverify(false);
    net.svm.expire_blockhash();
    let message = solana_message::Message::new(&[create], Some(&thief.pubkey()));
    let mut transaction = solana_transaction::Transaction::new_unsigned(message);
    transaction.message.recent_blockhash = net.svm.latest_blockhash();
    let sent: Sent = net.svm.send_transaction(transaction).map_err(Box::new);
    class_of(&sent);
    assert!(!net.exists(&mint));
}

/// R4: the account that receives the token is created by the registration itself, not taken over: one that is there
/// could have a delegate, extensions, or, without ImmutableOwner, another owner tomorrow. None can be there, because the
/// mint is new; so this one is written by hand.
#[test]
fn refuses_a_token_account_that_is_there_already() {
    let mut net = Localnet::new();
    let owner = net.actor();
    let mint = agent_mint(&owner.pubkey(), 0);
    let at = token_account(&owner.pubkey(), &mint);
    let mut prepared = token_2022::in_transfer(&mint, &owner.pubkey(), token_2022::program());
    prepared.data[64] = 0; // empty
    prepared.data[174] = 0; // not in a transfer
    net.svm.set_account(at, prepared).unwrap();
    let register = register_agent(&owner.pubkey(), 0, URI);
    let sent = net.send(&[&owner], std::slice::from_ref(&register));
    assert_eq!(refusal(&sent), (0, InstructionError::IllegalOwner));
    assert!(!net.exists(&mint));
    net.svm.set_account(at, Account::default()).unwrap();
    net.send(&[&owner], &[register]).unwrap();
    assert_eq!(balance(&net, &at), 1);
}

/// Whoever might claim an agent's mint: owner, former owner, payer, a stranger; and, through a program, the mint itself
/// and the identity.
fn claimants(net: &mut Localnet) -> (Agent, Vec<Keypair>) {
    let agent = net.agent();
    let stranger = net.actor();
    let owner = agent.owner.insecure_clone();
    (agent, vec![owner, stranger])
}

/// `instruction` of Token-2022 with each claimant in turn as the authority, in place 2 of its accounts.
#[track_caller]
fn assert_refused_to_everyone(
    net: &mut Localnet,
    agent: &Agent,
    data: &[u8],
    claimants: &[Keypair],
) {
    let mint = agent.mint;
    let before = net.account(&mint);
    let mut instruction = token_2022::instruction(data.to_vec(), vec![writable(mint)]);
    for claimant in claimants {
        let who = claimant.pubkey();
        instruction.accounts.truncate(1);
        instruction.accounts.extend([writable(who), signer(who)]);
        class_of(&net.send(&[claimant], std::slice::from_ref(&instruction)));
        for address in [mint, agent_identity(&mint)] {
            instruction.accounts[2] = readonly(address);
            class_of(&net.send(&[claimant], std::slice::from_ref(&instruction)));
            instruction.accounts[2] = signer(address);
            let mut through = relay(std::slice::from_ref(&instruction));
            let its = |meta: &&mut AccountMeta| meta.pubkey == address;
            through
                .accounts
                .iter_mut()
                .filter(its)
                .for_each(|meta| meta.is_signer = false);
            let sent = net.send(&[claimant], &[through]);
            assert_eq!(refusal(&sent), (0, InstructionError::PrivilegeEscalation));
        }
        assert_eq!(net.account(&mint), before);
    }
}

#[test]
fn what_a_shorter_uri_leaves_in_the_mint_cannot_be_withdrawn() {
    let mut net = Localnet::new();
    let (agent, claimants) = claimants(&mut net);
    let shorter = set_agent_uri(&agent.owner.pubkey(), &agent.mint, b"");
    net.send(&[&agent.owner], &[shorter]).unwrap();
    let mint = net.account(&agent.mint);
    let rent = net.svm.minimum_balance_for_rent_exemption(mint.data.len());
    assert!(mint.lamports > rent);
    assert_refused_to_everyone(&mut net, &agent, &[38], &claimants); // WithdrawExcessLamports
}

#[test]
fn the_mint_cannot_be_closed_even_if_its_token_is_burned() {
    let mut net = Localnet::new();
    let (agent, claimants) = claimants(&mut net);
    assert_refused_to_everyone(&mut net, &agent, &[9], &claimants); // CloseAccount
    let held = token_account(&agent.owner.pubkey(), &agent.mint);
    let data = [&[8][..], &1u64.to_le_bytes()].concat(); // Burn
    let accounts = vec![
        writable(held),
        writable(agent.mint),
        signer(agent.owner.pubkey()),
    ];
    net.send(&[&agent.owner], &[token_2022::instruction(data, accounts)])
        .unwrap();
    assert_refused_to_everyone(&mut net, &agent, &[9], &claimants);
    // nor does the nonce become free
    let again = register_agent(&agent.owner.pubkey(), nonce_of(&agent), URI);
    assert_refused(&net.send(&[&agent.owner], &[again]), 0, ALREADY_INITIALIZED);
}

fn nonce_of(agent: &Agent) -> u64 {
    let is_its = |nonce: &u64| agent_mint(&agent.owner.pubkey(), *nonce) == agent.mint;
    (0..1000).find(is_its).unwrap()
}

/// What can be set up before a mint is initialized cannot be added to it later: everyone's attempt to initialize each
/// extension, and the mint itself, again.
#[test]
fn the_mint_gets_no_extension_that_it_was_not_made_with() {
    let mut net = Localnet::new();
    let (agent, _) = claimants(&mut net);
    let (mint, thief) = (agent.mint, net.actor());
    let who = thief.pubkey();
    let key = who.to_bytes();
    let attempts: [&[&[u8]]; 14] = [
        &[&[20, 0], &key, &[0]],                    // InitializeMint2
        &[&[25, 1], &key],                          // MintCloseAuthority
        &[&[26, 0, 1], &key, &[1], &key, &[0; 10]], // TransferFeeConfig
        &[&[27, 0], &key, &[1], &[0; 32]],          // ConfidentialTransferMint
        &[&[28, 0, 2]],                             // DefaultAccountState: frozen
        &[&[32]],                                   // NonTransferableMint
        &[&[33, 0], &key, &[0; 2]],                 // InterestBearingConfig
        &[&[35], &key],                             // PermanentDelegate
        &[&[36, 0], &key, &key],                    // TransferHook
        &[&[39, 0], &key, &key],                    // MetadataPointer
        &[&[40, 0], &key, &key],                    // GroupPointer
        &[&[41, 0], &key, &key],                    // GroupMemberPointer
        &[&[43, 0], &key, &1f64.to_le_bytes()],     // ScaledUiAmount
        &[&[44, 0], &key],                          // Pausable
    ];
    let before = net.account(&mint);
    for data in attempts {
        for accounts in [
            vec![writable(mint)],
            vec![writable(mint), signer(who)],
            vec![writable(mint), readonly(mint), signer(who)],
        ] {
            let instruction = token_2022::instruction(data.concat(), accounts);
            class_of(&net.send(&[&thief], &[instruction]));
        }
    }
    assert_eq!(net.account(&mint), before);
}

#[test]
fn a_sponsor_of_uris_pays_the_difference_once() {
    let mut net = Localnet::new();
    let (agent, sponsor) = (net.agent(), net.actor());
    let owner = agent.owner.pubkey();
    let relayer = net.actor();
    let set = |uri: &[u8]| sponsored(set_agent_uri(&owner, &agent.mint, uri), &sponsor.pubkey());
    let lamports = |net: &Localnet| net.account(&sponsor.pubkey()).lamports;
    let before = net.account(&agent.mint);
    for round in 0..3 {
        let held = lamports(&net);
        for uri in [&[b'a'; 200][..], b""] {
            net.send(&[&relayer, &agent.owner, &sponsor], &[set(uri)])
                .unwrap();
        }
        let longest = before.data.len() + 200 - URI.len();
        let paid = net.svm.minimum_balance_for_rent_exemption(longest) - before.lamports;
        let expected = if round == 0 { paid } else { 0 };
        assert_eq!(held - lamports(&net), expected, "round {round}");
    }
}

/// The associated token program is asked to create, not to take what is there: data byte 0.
#[test]
fn the_token_account_is_new_and_the_owners() {
    let mut net = Localnet::new();
    let owner = net.actor();
    let register = register_agent(&owner.pubkey(), 5, URI);
    let sent = net.send(&[&owner], &[register]).unwrap();
    let mint = agent_mint(&owner.pubkey(), 5);
    let account = net.account(&token_account(&owner.pubkey(), &mint));
    // base, account type, ImmutableOwner, TransferHookAccount
    assert_eq!(account.data.len(), 165 + 1 + 4 + 5);
    let mut base = Fields::of(&[&[0; 8], &account.data[..]].concat(), [0; 8]);
    assert_eq!(
        (base.key(), base.key(), base.u64()),
        (mint, owner.pubkey(), 1)
    );
    assert_eq!(account.data[72..108], [0; 36]); // no delegate
    assert_eq!(account.data[109..165], [0; 56]); // neither native, nor a delegated amount, nor a close authority
    assert_eq!(account.data[165..], [2, 7, 0, 0, 0, 15, 0, 1, 0, 0]);
    let message = solana_message::Message::new(
        &[register_agent(&owner.pubkey(), 5, URI)],
        Some(&owner.pubkey()),
    );
    let program = |index: u8| message.account_keys.get(usize::from(index)).copied();
    let mut calls = sent.inner_instructions.iter().flatten();
    let create = calls
        .find(|it| program(it.instruction.program_id_index) == Some(associated_token_program()));
    assert_eq!(create.unwrap().instruction.data, [0]);
}
