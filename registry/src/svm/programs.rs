//! Addresses of Solana's own programs and of the sysvar that the program reads.
use solana_address::Address;

/// The system program. All zero: also the program's value for "none".
pub const SYSTEM: Address = Address::from_str_const("11111111111111111111111111111111");
/// Token-2022, which holds the agents' tokens (R4).
pub const TOKEN_2022: Address =
    Address::from_str_const("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
/// SPL Token, in which agents can be paid.
pub const SPL_TOKEN: Address =
    Address::from_str_const("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
/// The associated-token program.
pub const ASSOCIATED_TOKEN: Address =
    Address::from_str_const("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
/// The Ed25519 precompile (R11).
pub const ED25519: Address = Address::from_str_const("Ed25519SigVerify111111111111111111111111111");
/// The secp256k1 precompile.
pub const SECP256K1: Address =
    Address::from_str_const("KeccakSecp256k11111111111111111111111111111");
/// The secp256r1 precompile.
pub const SECP256R1: Address =
    Address::from_str_const("Secp256r1SigVerify1111111111111111111111111");
/// The compute-budget program.
pub const COMPUTE_BUDGET: Address =
    Address::from_str_const("ComputeBudget111111111111111111111111111111");
/// The upgradeable loader.
pub const LOADER_V3: Address =
    Address::from_str_const("BPFLoaderUpgradeab1e11111111111111111111111");
/// The sysvar in which the program reads the precompile's instruction (R11).
pub const INSTRUCTIONS_SYSVAR: Address =
    Address::from_str_const("Sysvar1nstructions1111111111111111111111111");
