//! Calls `concord-canonical` inside the Solana VM and returns what it computed, so that a test
//! can compare: the crate builds for SBF, hashes through the system calls, and its 128- and
//! 256-bit arithmetic comes out right there.
use anchor_lang::{
    prelude::borsh::{BorshDeserialize, BorshSerialize},
    solana_program::{
        account_info::AccountInfo, entrypoint::ProgramResult, program::set_return_data,
        program_error::ProgramError, pubkey::Pubkey,
    },
};
use concord_canonical::{
    auth::SvmFeedbackAuth,
    caip::ChainId,
    error::Error,
    hash,
    interaction::{self, Profile},
    summary::Accumulator,
    tag::Tag,
};
#[cfg(target_os = "solana")]
use sbf_rt as _;

/// The instruction data: what to compute. It is in no interface description, for which Anchor's own derive asks.
#[derive(BorshSerialize, BorshDeserialize)]
#[borsh(crate = "anchor_lang::prelude::borsh")]
pub enum Probe {
    Keccak256(Vec<u8>),
    Sha256(Vec<u8>),
    DataHash {
        request: Vec<u8>,
        response: Vec<u8>,
    },
    InteractionHash {
        task_ref: String,
        data_hash: [u8; 32],
    },
    HashedTag(String),
    ChainHash(String),
    /// Agent, client, chain, program, signer; index limit and expiry.
    FeedbackAuth {
        keys: [[u8; 32]; 5],
        index_limit: u64,
        expiry: u64,
    },
    /// Answered as count (u64 LE), value (i128 LE), decimals.
    OpenSummary(Vec<(i128, u8)>),
}

#[cfg(not(feature = "no-entrypoint"))]
anchor_lang::solana_program::entrypoint!(process);

pub fn process(_program: &Pubkey, _accounts: &[AccountInfo], data: &[u8]) -> ProgramResult {
    let probe = Probe::try_from_slice(data)?;
    let answer = answer(probe).map_err(|_| ProgramError::InvalidArgument)?;
    set_return_data(&answer);
    Ok(())
}

fn answer(probe: Probe) -> Result<Vec<u8>, Error> {
    let hash = match probe {
        Probe::Keccak256(data) => hash::keccak256(&data),
        Probe::Sha256(data) => hash::sha256(&data),
        Probe::DataHash { request, response } => interaction::data_hash(&request, &response)?,
        Probe::InteractionHash {
            task_ref,
            data_hash,
        } => interaction::interaction_hash(Profile::X4028004ReputationV1, &task_ref, &data_hash)?,
        Probe::HashedTag(tag) => Tag::new(&tag)?.hashed(),
        Probe::ChainHash(chain) => ChainId::parse(&chain)?.hash(),
        Probe::FeedbackAuth {
            keys,
            index_limit,
            expiry,
        } => {
            let [agent_mint, client, chain, program_id, signer] = keys;
            let auth = SvmFeedbackAuth {
                agent_mint,
                client,
                index_limit,
                expiry,
                chain,
                program_id,
                signer,
            };
            return Ok(auth.message().to_vec());
        }
        Probe::OpenSummary(values) => return summarized(&values),
    };
    Ok(hash.to_vec())
}

fn summarized(values: &[(i128, u8)]) -> Result<Vec<u8>, Error> {
    let mut accumulator = Accumulator::default();
    for (value, decimals) in values {
        accumulator.add(*value, *decimals)?;
    }
    let summary = accumulator.finish();
    let mut bytes = summary.count.to_le_bytes().to_vec();
    bytes.extend_from_slice(&summary.value.to_le_bytes());
    bytes.push(summary.decimals);
    Ok(bytes)
}
