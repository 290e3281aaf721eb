//! A Solana cluster in one process, for rehearsing deployments: the VM of `litesvm` with the real
//! upgradeable loader, precompiles and token programs, behind Solana's JSON-RPC.
//!
//! Slots pass with wall time. Transactions are carried out when they are sent, confirmed one block
//! later and finalized 32 blocks later. There is one node, no vote and no WebSocket.
//!
//! ```no_run
//! use concord_local_cluster::{LocalCluster, Options, Server};
//! let server = Server::start(LocalCluster::new(Options::default()), 0)?;
//! println!("{}", server.url());
//! # Ok::<(), std::io::Error>(())
//! ```
mod blocks;
mod cluster;
mod error;
mod http;
mod ledger;
mod options;
mod programs;
mod record;
mod rpc;
mod server;

pub use cluster::LocalCluster;
pub use error::RpcError;
pub use options::Options;
pub use server::Server;
