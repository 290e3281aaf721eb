//! Measures a creation in an EVM of this program, for endpoints that do not simulate on a changed state.
use super::create2;
use alloy::primitives::{Address, Bytes, TxKind};
use revm::{
    Context, ExecuteEvm, MainBuilder, MainContext, MainnetEvm,
    context::{TxEnv, result::ExecutionResult},
    database::InMemoryDB,
    handler::MainnetContext,
    primitives::hardfork::SpecId,
    state::{AccountInfo, Bytecode},
};

/// The name of the EVM rules under which the gas was measured, and the rules.
const HARDFORK: (SpecId, &str) = (SpecId::PRAGUE, "Prague");
/// A whole block of Ethereum before its limit was raised.
const MOST_GAS: u64 = 30_000_000;

/// The result of a call of the proxy on a chain that has the proxy and nothing else.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Measured {
    /// The proxy's answer: the address of what it created.
    pub answer: Bytes,
    /// The lowest gas limit at which the transaction succeeds.
    pub gas: u64,
}

/// Returns the hardfork whose rules are applied.
pub(super) const fn hardfork() -> &'static str {
    HARDFORK.1
}

/// Calls the proxy with this input.
///
/// # Errors
/// Why it creates nothing, in words.
pub(super) fn creation(chain_id: u64, from: Address, input: &Bytes) -> Result<Measured, String> {
    let mut evm = evm(chain_id);
    let mut call = |gas| call(&mut evm, transaction(chain_id, from, input, gas));
    let (answer, used) = call(MOST_GAS)?;
    // A call passes on all but a 64th of its gas, so that the limit is above what is used.
    let (mut too_little, mut enough) = (used.saturating_sub(1), MOST_GAS);
    while enough - too_little > 1 {
        let gas = too_little.midpoint(enough);
        if call(gas).is_ok() {
            enough = gas
        } else {
            too_little = gas
        }
    }
    Ok(Measured {
        answer,
        gas: enough,
    })
}

fn evm(chain_id: u64) -> MainnetEvm<MainnetContext<InMemoryDB>> {
    let mut database = InMemoryDB::default();
    let proxy = Bytecode::new_raw(create2::PROXY_CODE);
    database.insert_account_info(create2::PROXY, AccountInfo::from_bytecode(proxy));
    Context::mainnet()
        .modify_cfg_chained(|cfg| {
            cfg.set_spec_and_mainnet_gas_params(HARDFORK.0);
            cfg.chain_id = chain_id;
            cfg.disable_nonce_check = true; // nothing is signed, so nothing can be replayed
        })
        .with_db(database)
        .build_mainnet()
}

/// Gas is free here, and counts all the same.
fn transaction(chain_id: u64, from: Address, input: &Bytes, gas: u64) -> TxEnv {
    TxEnv {
        caller: from,
        kind: TxKind::Call(create2::PROXY),
        data: input.clone(),
        gas_limit: gas,
        gas_price: 0,
        chain_id: Some(chain_id),
        ..TxEnv::default()
    }
}

/// Returns the answer and the gas used. Nothing is kept.
fn call(
    evm: &mut MainnetEvm<MainnetContext<InMemoryDB>>,
    transaction: TxEnv,
) -> Result<(Bytes, u64), String> {
    let done = evm
        .transact(transaction)
        .map_err(|error| error.to_string())?;
    let used = done.result.tx_gas_used();
    match done.result {
        ExecutionResult::Success { output, .. } => Ok((output.into_data(), used)),
        ExecutionResult::Revert { .. } => Err("the creation reverts".to_owned()),
        ExecutionResult::Halt { reason, .. } => Err(format!("the creation halts: {reason:?}")),
    }
}
