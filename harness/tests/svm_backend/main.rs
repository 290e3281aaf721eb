//! What no scenario can express of the Solana backend: programs that cannot be used, what no packet
//! or transaction holds, and a reset. Needs the program that `scripts/build` builds.
mod failures;
mod summaries;
mod world;
