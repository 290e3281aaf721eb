//! `concord conform --live` and `--svm-rpc`, and the scenarios of `concord deploy verify` on Solana: a local cluster
//! with the real VM and loader, where the program was deployed by `concord deploy apply`. Needs
//! target/deploy/agent_registry.so.
mod deployed;
mod node;
mod playing;
mod refusals;
mod smoke;
mod two_ids;
