//! Prints the program's interface description (IDL) as Anchor generates it from the sources.
//! Called by scripts/idl.
use agent_registry::state::*;
use anchor_lang::{Discriminator, IdlBuild};
use anchor_lang_idl::{
    build::IdlBuilder,
    types::{Idl, IdlAccount},
};
use std::{error::Error, path::Path};

/// The library alone, and this lock: the program's own tests have nothing to print.
const CARGO_ARGUMENTS: [&str; 2] = ["--lib", "--locked"];

fn main() -> Result<(), Box<dyn Error>> {
    let mut idl = IdlBuilder::new()
        .program_path(Path::new(env!("CARGO_MANIFEST_DIR")).to_owned())
        .cargo_args(CARGO_ARGUMENTS.map(String::from).to_vec())
        .build()?;
    describe_accounts(&mut idl);
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
