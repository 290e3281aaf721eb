//! Solana clusters over JSON-RPC.
mod built_program;
mod cluster;
mod cosigning;
mod history;
mod instruction_chain;
mod landing;
mod loader;
mod transactions;

pub use built_program::{BuiltProgram, code_hash, deployed_code_hash};
pub use cluster::{
    Account, Cluster, Commitment, ExecutedTx, InnerInstruction, InnerInstructions, RecentBlockhash,
    Refusal, ReturnData, SignatureStatus, Simulation, TxMeta, is_public,
};
pub use cosigning::{CosigningError, PreparedTx};
pub use history::{
    FinalBlock, KeptBlock, LoadedAddresses, SignatureEntry, TokenAmount, TokenBalance,
};
pub use instruction_chain::{InstructionChain, InstructionJob};
pub use landing::{land, send, settle, wait};
pub use loader::{Buffer, ProgramData, program_data_of};
pub use transactions::{
    PriorityFee, Signed, Transactions, compute_budget, decode, fee, sign, unsigned,
};
