//! The program's id comes from `CONCORD_PROGRAM_ID` when it is built: a build for another id runs
//! under that one and under no other.

use crate::localnet::{
    CHAIN, Localnet, URI, events,
    instructions::{agent_identity, agent_mint, initialize, register_agent},
    program_id,
    refusal::assert_refused,
    token_2022::token_account,
    upgradeable_loader,
};
use sha2::{Digest, Sha256};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;
use std::{
    fs,
    path::{Path, PathBuf},
    process::{Command, Output},
};

/// Anchor's: the program runs under another id than it was built for.
const DECLARED_PROGRAM_ID_MISMATCH: u32 = 4100;

const NONCE: u64 = 7;

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// A deployer's keypair.
fn deployment() -> Address {
    let seed = Sha256::digest(b"a deployment of somebody else's");
    Keypair::new_from_array(seed.into()).pubkey()
}

fn build(id: &str, out: &Path) -> Output {
    let mut command = Command::new(root().join("scripts/build-program"));
    if std::env::var_os("CONCORD_CACHE").is_none() {
        command.env("CONCORD_CACHE", root().join(".cache"));
    }
    command
        .env("CONCORD_PROGRAM_ID", id)
        .arg("--out")
        .arg(out)
        .output()
        .expect("scripts/build-program starts")
}

fn words(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A localnet with the program of `elf` under `id`, and its upgrade authority.
fn deployed(elf: &[u8], id: &Address) -> (Localnet, Keypair) {
    let mut net = Localnet::uninitialized();
    net.svm
        .add_program(*id, elf)
        .expect("the VM accepts the program");
    let authority = net.upgrade_authority.insecure_clone();
    let mut account: Account = net.account(&program_data_of(id));
    account.data[12] = 1;
    account.data[13..45].copy_from_slice(authority.pubkey().as_ref());
    net.svm.set_account(program_data_of(id), account).unwrap();
    (net, authority)
}

fn program_data_of(id: &Address) -> Address {
    Address::find_program_address(&[id.as_ref()], &upgradeable_loader()).0
}

/// Of the program under `id`: its addresses that the transactions name, the mint of `owner`'s agent
/// [`NONCE`] first and its identity second.
fn addresses(id: &Address, owner: &Address) -> [Address; 8] {
    let at = |seeds: &[&[u8]]| Address::find_program_address(seeds, id).0;
    let mint = at(&[b"mint", owner.as_ref(), &NONCE.to_le_bytes()]);
    [
        mint,
        at(&[b"agent", mint.as_ref()]),
        at(&[b"extra-account-metas", mint.as_ref()]),
        token_account(owner, &mint),
        at(&[b"registry"]),
        at(&[b"__event_authority"]),
        program_data_of(id),
        *id,
    ]
}

/// `instruction` for the program under `id`, where `owner` registers.
fn moved(mut instruction: Instruction, id: &Address, owner: &Address) -> Instruction {
    let (ours, its) = (addresses(&program_id(), owner), addresses(id, owner));
    instruction.program_id = *id;
    for meta in &mut instruction.accounts {
        if let Some(place) = ours.iter().position(|old| *old == meta.pubkey) {
            meta.pubkey = its[place];
        }
    }
    instruction
}

#[test]
fn a_build_for_another_id_runs_under_it_and_is_refused_under_the_default_one() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agent_registry_of_another_id.so");
    let _ = fs::remove_file(&out);
    let id = deployment();
    let built = build(&id.to_string(), &out);
    assert!(built.status.success(), "{}", words(&built));
    let elf = fs::read(&out).expect("the build is where --out says");

    let (mut net, authority) = deployed(&elf, &id);
    let owner = net.actor();
    let me = owner.pubkey();
    let initialize = initialize(&authority.pubkey(), CHAIN);
    let register = register_agent(&me, NONCE, URI);
    let at = |instruction: &Instruction| moved(instruction.clone(), &id, &me);
    net.send(&[&authority], &[at(&initialize)]).unwrap();
    let sent = net.send(&[&owner], &[at(&register)]).unwrap();
    assert_eq!(events(&sent).len(), 1);
    assert_eq!(net.account(&addresses(&id, &me)[1]).owner, id);
    assert!(!net.exists(&agent_identity(&agent_mint(&me, NONCE))));

    let (mut net, authority) = deployed(&elf, &program_id());
    let sent = net.send(&[&authority], std::slice::from_ref(&initialize));
    assert_refused(&sent, 0, DECLARED_PROGRAM_ID_MISMATCH);
    // which the default build is not
    net = Localnet::uninitialized();
    let authority = net.upgrade_authority.insecure_clone();
    net.send(&[&authority], &[initialize]).unwrap();
}

#[test]
fn a_malformed_id_is_one_clear_error_of_the_build() {
    let out = Path::new(env!("CARGO_TARGET_TMPDIR")).join("agent_registry_of_no_id.so");
    let too_long = format!("{}1", deployment());
    for id in [
        "",
        "0OIl",
        "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxb",
        &too_long,
    ] {
        let built = build(id, &out);
        let words = words(&built);
        let error = format!("CONCORD_PROGRAM_ID is {id:?}, not a public key of 32 bytes in base58");
        assert_eq!(built.status.code(), Some(3), "{words}");
        assert_eq!(words.matches(&error).count(), 1, "{words}");
        assert!(!out.exists());
    }
}

#[test]
fn anchors_own_configuration_names_the_development_id() {
    let text = fs::read_to_string(root().join("Anchor.toml")).unwrap();
    let line = format!("agent_registry = \"{}\"", program_id());
    assert!(text.lines().any(|candidate| candidate == line), "{text}");
}
