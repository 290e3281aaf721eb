//! The program's id, chosen here and nowhere else: `CONCORD_PROGRAM_ID` at build time, so that who
//! deploys brings the public key of their own keypair.
use std::env;

const VARIABLE: &str = "CONCORD_PROGRAM_ID";

/// For local builds and tests: the Ed25519 public key of the seed
/// sha256("concord localnet program"). Its secret is therefore public; never deploy under it.
const DEVELOPMENT: &str = "4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB";

fn main() {
    println!("cargo::rerun-if-env-changed={VARIABLE}");
    println!("cargo::rerun-if-changed=build.rs");
    let given = env::var_os(VARIABLE).unwrap_or_else(|| DEVELOPMENT.into());
    let id = given.to_string_lossy();
    let mut key = [0; 32];
    match bs58::decode(id.as_bytes()).onto(&mut key) {
        Ok(32) => println!("cargo::rustc-env={VARIABLE}={id}"),
        _ => println!("cargo::error={VARIABLE} is {id:?}, not a public key of 32 bytes in base58"),
    }
}
