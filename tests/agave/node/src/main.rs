//! Runs one Agave validator, as `solana-test-validator` does, for `tests/agave/run`.
//!
//! usage: agave-node FOLDER
//!
//! Writes payer.json and program.json into the folder: the keypairs of an account that has money, and of the program that
//! scripts/build makes by default. Prints the URL of its JSON-RPC as one line. Ends when stdin is closed.
use sha2::{Digest, Sha256};
use solana_keypair::{Keypair, write_keypair_file};
use solana_rpc::rpc::JsonRpcConfig;
use solana_test_validator::TestValidatorGenesis;
use std::{env, error::Error, io, path::Path};

fn main() -> Result<(), Box<dyn Error>> {
    let folder = env::args().nth(1).ok_or("usage: agave-node FOLDER")?;
    let folder = Path::new(&folder);
    let seed = Sha256::digest("concord localnet program");
    let program = Keypair::new_from_array(seed.into());
    write_keypair_file(&program, folder.join("program.json"))?;

    let mut genesis = TestValidatorGenesis::default();
    genesis.ledger_path(folder.join("ledger"));
    genesis.rpc_config(JsonRpcConfig {
        enable_rpc_transaction_history: true, // without it getSignatureStatuses refuses
        enable_extended_tx_metadata_storage: true,
        ..JsonRpcConfig::default_for_test()
    });
    let (validator, payer) = genesis.start();
    write_keypair_file(&payer, folder.join("payer.json"))?;
    println!("{}", validator.rpc_url());
    io::copy(&mut io::stdin(), &mut io::sink())?;
    Ok(())
}
