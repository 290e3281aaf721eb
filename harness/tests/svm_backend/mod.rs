//! What no scenario can express of the Solana backend: programs that cannot be used, what no packet
//! or transaction holds, a reset, and accounts that are not what they seem. Needs the program that `scripts/build` builds.
mod failures;
mod impostors;
mod summaries;
mod world;
