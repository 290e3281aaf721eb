//! The bounds that registries and off-chain writers share.

/// Highest score of authorized feedback and of a validation response; the lowest is 0 (R20, X84).
pub const SCORE_MAX: u8 = 100;
/// Bytes of a tag in UTF-8 (R14, R17).
pub const TAG_MAX: usize = 32;
/// Bytes of a service endpoint in UTF-8 (R17).
pub const ENDPOINT_MAX: usize = 200;
/// Bytes of an agent, feedback, response or validation URI in UTF-8 (R17).
pub const URI_MAX: usize = 200;
/// Bytes of a metadata key in UTF-8 (R17).
pub const METADATA_KEY_MAX: usize = 32;
/// Bytes of a metadata value (R17).
pub const METADATA_VALUE_MAX: usize = 256;
/// Largest number of decimals of an open feedback's value (R16).
pub const DECIMALS_MAX: u8 = 18;
/// Largest magnitude of an open feedback's value (R16).
pub const VALUE_MAX: i128 = 100_000_000_000_000_000_000_000_000_000_000_000_000;
/// Seconds that a wallet consent's deadline may lie ahead of the block's time (R3).
pub const WALLET_DEADLINE_MAX: u64 = 300;
/// The metadata key that only the wallet operations may write, compared byte by byte (R2, §3a).
pub const RESERVED_METADATA_KEY: &str = "agentWallet";
/// Longest request that the data hash's 4-byte length prefix can announce (X402 §1).
pub const REQUEST_MAX: u64 = u32::MAX as u64;
