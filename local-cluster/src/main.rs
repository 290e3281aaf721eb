//! `concord-local-cluster`: a Solana cluster in one process, until it is interrupted.
use clap::Parser;
use concord_local_cluster::{LocalCluster, Options, Server};
use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};
use solana_address::Address;
use solana_hash::Hash;
use std::{
    io::{self, Write},
    process::ExitCode,
    time::Duration,
};

const LAMPORTS_PER_SOL: u64 = 1_000_000_000;

/// A Solana cluster in one process, for rehearsing deployments. Nothing is kept when it ends.
#[derive(Debug, Parser)]
#[command(
    name = "concord-local-cluster",
    version,
    after_help = "Example:\n  concord-local-cluster --port 8899 --fund 4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB=100"
)]
struct Arguments {
    /// The port on 127.0.0.1; 0 takes any that is free
    #[arg(long, default_value_t = 0)]
    port: u16,
    /// What the cluster is known by, 32 bytes in base58 [default: one of its own]
    #[arg(long, value_name = "HASH")]
    genesis_hash: Option<Hash>,
    /// How long a slot takes, in milliseconds
    #[arg(long, default_value_t = 400, value_parser = clap::value_parser!(u64).range(1..))]
    slot_ms: u64,
    /// Whom to give how many SOL at the start; can be repeated
    #[arg(long, value_name = "ADDRESS=SOL", value_parser = funding)]
    fund: Vec<(Address, u64)>,
    /// A feature that the cluster has not activated, by its address; can be repeated
    #[arg(long, value_name = "ADDRESS")]
    without_feature: Vec<Address>,
}

fn funding(text: &str) -> Result<(Address, u64), String> {
    let (address, sol) = text.split_once('=').ok_or("not of the form ADDRESS=SOL")?;
    let address = address
        .parse()
        .map_err(|_| format!("{address:?} is not an address"))?;
    let sol: u64 = sol
        .parse()
        .map_err(|_| format!("{sol:?} is not a whole number of SOL"))?;
    let lamports = sol.checked_mul(LAMPORTS_PER_SOL);
    Ok((
        address,
        lamports.ok_or_else(|| format!("{sol} SOL is more than there can be"))?,
    ))
}

fn main() -> ExitCode {
    match run(Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(fault) => {
            eprintln!("error: {fault}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: Arguments) -> io::Result<()> {
    let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
    let mut options = Options {
        slot_duration: Duration::from_millis(arguments.slot_ms),
        funded: arguments.fund,
        inactive_features: arguments.without_feature,
        ..Options::default()
    };
    if let Some(hash) = arguments.genesis_hash {
        options.genesis_hash = hash;
    }
    let chain = options.chain_id();
    let server = Server::start(LocalCluster::new(options), arguments.port)?;
    println!("{}\n{chain}", server.url());
    io::stdout().flush()?;
    signals.forever().next();
    Ok(())
}
