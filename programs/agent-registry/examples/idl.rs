//! Prints the program's interface description (IDL) as Anchor generates it from the sources.
//! Called by scripts/idl.
use agent_registry::state::*;
use anchor_lang::{Discriminator, IdlBuild};
use anchor_lang_idl::{
    build::IdlBuilder,
    types::{
        Idl, IdlAccount, IdlInstruction, IdlInstructionAccountItem, IdlPda, IdlSeed,
        IdlSeedAccount, IdlSeedArg, IdlSeedConst,
    },
};
use anchor_spl::associated_token;
use concord_canonical::pda;
use std::{error::Error, mem::take, path::Path};

/// The library alone, and this lock: the program's own tests have nothing to print.
const CARGO_ARGUMENTS: [&str; 2] = ["--lib", "--locked"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut idl = IdlBuilder::new()
        .program_path(Path::new(env!("CARGO_MANIFEST_DIR")).to_owned())
        .cargo_args(CARGO_ARGUMENTS.map(String::from).to_vec())
        .build()?;
    describe_accounts(&mut idl);
    for instruction in &mut idl.instructions {
        instruction.accounts = without_groups(take(&mut instruction.accounts));
        describe_addresses(instruction);
    }
    println!("{}", serde_json::to_string_pretty(&idl)?);
    Ok(())
}

/// Anchor finds account types in the instructions' accounts. Ours are loaded by the handlers, after
/// the checks of arguments (R25), so it finds none.
fn describe_accounts(idl: &mut Idl) {
    describe::<AgentIdentity>(idl);
    describe::<ClientIndex>(idl);
    describe::<FeedbackEntry>(idl);
    describe::<MetadataEntry>(idl);
    describe::<OpenClientIndex>(idl);
    describe::<OpenFeedback>(idl);
    describe::<Registry>(idl);
    describe::<SpentPayment>(idl);
    describe::<ValidationRequest>(idl);
    describe::<ValidationResponse>(idl);
    idl.types.sort_by(|a, b| a.name.cmp(&b.name));
}

fn describe<T: IdlBuild + Discriminator>(idl: &mut Idl) {
    let mut described = T::create_type().expect("#[account] describes the type");
    if let Some((_, name)) = described.name.rsplit_once("::") {
        described.name = name.to_owned();
    }
    idl.accounts.push(IdlAccount {
        name: described.name.clone(),
        discriminator: T::DISCRIMINATOR.to_vec(),
    });
    idl.types.push(described);
}

/// The accounts that several instructions share are groups in the sources. To clients each account is one of the
/// instruction's own.
fn without_groups(items: Vec<IdlInstructionAccountItem>) -> Vec<IdlInstructionAccountItem> {
    let flat = items.into_iter().flat_map(|item| match item {
        IdlInstructionAccountItem::Composite(group) => without_groups(group.accounts),
        single => vec![single],
    });
    flat.collect()
}

/// One seed of an address.
enum Seed {
    Text(&'static [u8]),
    /// An account or an argument of the instruction, whichever has this name.
    Named(&'static str),
}
use Seed::{Named, Text};

/// The seeds (§3b) of the account with this name. Anchor finds none in the sources, because the
/// handlers derive addresses after the checks of arguments (R25). Metadata entries and validations
/// have no description: their seeds are a hash of an argument, and the first 8 bytes of one.
fn seeds(account: &str, mint: &'static str, is_registration: bool) -> Option<Vec<Seed>> {
    // who reviewed: an account of this name, or the argument of a response
    let (reviewer, client, index) = (Named("reviewer"), Named("client"), Named("feedback_index"));
    let mint = Named(mint);
    Some(match account {
        "registry" => vec![Text(pda::REGISTRY)],
        "event_authority" => vec![Text(b"__event_authority")],
        "nft_mint" if is_registration => vec![Text(pda::MINT), Named("payer"), Named("nonce")],
        "agent" => vec![Text(pda::AGENT), mint],
        "extra_account_metas" => vec![Text(b"extra-account-metas"), mint],
        "token_account" => vec![Named("owner"), Named("token_program"), mint],
        "client_index" => vec![Text(pda::CLIENT), mint, reviewer],
        "feedback_entry" => vec![Text(pda::FEEDBACK), mint, reviewer, index],
        "open_client_index" => vec![Text(pda::OPEN_CLIENT), mint, client],
        "open_feedback" => vec![Text(pda::OPEN_FEEDBACK), mint, client, index],
        "spent_payment" => vec![
            Text(pda::SPENT),
            Named("payment.task_ref_hash"),
            Named("payment.payer"),
        ],
        _ => return None,
    })
}

/// Gives each account that can be derived its seeds, and R3's new wallet its signature.
fn describe_addresses(instruction: &mut IdlInstruction) {
    let names: Vec<String> = instruction.accounts.iter().filter_map(name).collect();
    let has = |wanted: &str| names.iter().any(|name| name == wanted);
    let is_registration = instruction.args.iter().any(|it| it.name == "nonce");
    let mint = if has("nft_mint") { "nft_mint" } else { "mint" };
    let place = |path: &str| {
        // a response names the client as an argument, in either profile
        let path = if path == "reviewer" && !has(path) {
            "client"
        } else {
            path
        };
        let path = path.to_owned();
        if has(&path) {
            IdlSeed::Account(IdlSeedAccount {
                path,
                account: None,
            })
        } else {
            IdlSeed::Arg(IdlSeedArg { path })
        }
    };
    for item in &mut instruction.accounts {
        let IdlInstructionAccountItem::Single(account) = item else {
            continue;
        };
        // R3: the handler asks for it, to tell a missing consent from a missing signature. Not of R7's new authority: the
        // default key, which resets it, cannot sign. A caller adds the authority as a signer that the description does not ask for.
        account.signer |= account.name == "new_wallet";
        let Some(seeds) = seeds(&account.name, mint, is_registration) else {
            continue;
        };
        let seeds = seeds.into_iter().map(|seed| match seed {
            Text(text) => constant(text),
            Named(path) => place(path),
        });
        let is_token_account = account.name == "token_account";
        account.address = None; // the seeds give it, whatever id the program runs under
        account.pda = Some(IdlPda {
            seeds: seeds.collect(),
            program: is_token_account.then(|| constant(associated_token::ID.as_ref())),
        });
    }
}

fn name(item: &IdlInstructionAccountItem) -> Option<String> {
    match item {
        IdlInstructionAccountItem::Single(account) => Some(account.name.clone()),
        IdlInstructionAccountItem::Composite(_) => None,
    }
}

fn constant(value: &[u8]) -> IdlSeed {
    let value = value.to_vec();
    IdlSeed::Const(IdlSeedConst { value })
}
