//! The aggregator over HTTP: Circle's FiatTokenV2_2 and our registries on anvil, the program on a local
//! cluster, payments that were made, and clients that trust nothing it says.
mod attacks;
mod audit;
mod backup;
#[allow(dead_code)] // written for x402's tests
#[path = "../../../x402/tests/settled/chain.rs"]
mod chain;
mod changes;
mod check;
#[allow(dead_code)] // the same
#[path = "../../../x402/tests/settled/cluster.rs"]
mod cluster;
mod command;
mod config_schema;
mod crowd;
mod decoy;
mod deposit;
mod end_to_end;
#[path = "../../../x402/tests/settled/errand.rs"]
mod errand;
mod full_tier;
#[allow(dead_code)]
#[path = "../../../x402/tests/settled/gate.rs"]
mod gate;
mod generous;
#[path = "../../../x402/tests/settled/hooked_registry.rs"]
mod hooked_registry;
mod instances;
mod kept_payload;
mod killed;
mod lanes;
mod neutral;
mod order;
mod order_of_two;
mod outage;
mod overtaken;
mod paused;
mod payload;
mod payment_proofs;
mod payment_proofs_wallets;
mod pinning;
mod policy;
mod purchase;
mod respond;
mod restarts;
mod revenues;
mod revenues_on_evm;
mod revoke;
mod schema;
#[path = "../../../index/tests/worlds/server.rs"]
mod server;
#[allow(dead_code)]
#[path = "../../../x402/tests/settled/shop.rs"]
mod shop;
mod shut_out;
mod solana;
mod solana_payments;
mod sponsored;
mod sponsored_killed;
mod sponsors;
mod stopping;
mod world;
