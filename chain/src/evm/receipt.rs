use crate::Amount;
use alloy::{
    consensus::Eip658Value,
    primitives::{Address, B256, U256},
    rpc::types::Log,
    serde::quantity,
};
use concord_registry::{event::Block, evm::PlacedLog};
use serde::Deserialize;

/// A transaction's receipt: the members that are used here. It is of any type, because chains have their own (0x7e is a deposit on
/// OP-stack chains), and has what OP-stack chains (Base among them) add.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TxReceipt {
    /// The transaction's hash.
    pub transaction_hash: B256,
    /// The block's number.
    #[serde(default, with = "quantity::opt")]
    pub block_number: Option<u64>,
    /// The block's hash.
    #[serde(default)]
    pub block_hash: Option<B256>,
    /// The sender.
    pub from: Address,
    /// The receiver; `None` of a deployment.
    #[serde(default)]
    pub to: Option<Address>,
    /// The contract that was deployed.
    #[serde(default)]
    pub contract_address: Option<Address>,
    /// Units of gas that were paid for.
    #[serde(with = "quantity")]
    pub gas_used: u64,
    /// Wei per unit of gas.
    #[serde(default, with = "quantity::opt")]
    effective_gas_price: Option<u128>,
    /// What the chain below charged, in wei. It is not part of `gasUsed × effectiveGasPrice`.
    #[serde(default)]
    l1_fee: Option<U256>,
    #[serde(flatten)]
    status: Eip658Value,
    logs: Vec<Log>,
}

impl TxReceipt {
    /// Returns whether the transaction succeeded. A receipt from before EIP-658 does not say that, and counts as a success.
    #[must_use]
    pub const fn status(&self) -> bool {
        self.status.coerce_status()
    }

    /// Returns the logs.
    #[must_use]
    pub fn logs(&self) -> &[Log] {
        &self.logs
    }

    /// Returns the whole fee in wei: of this chain and of the one below.
    #[must_use]
    pub fn fee(&self) -> Amount {
        let gas = u128::from(self.gas_used);
        let price = self.effective_gas_price.unwrap_or_default();
        let below = self.l1_fee.unwrap_or_default();
        Amount(price.saturating_mul(gas))
            .saturating_add(Amount(u128::try_from(below).unwrap_or(u128::MAX)))
    }

    /// Returns the logs with their places, as the registries' events are decoded from them.
    #[must_use]
    pub fn placed_logs(&self) -> Vec<PlacedLog> {
        let block = Block {
            number: self.block_number.unwrap_or_default(),
            hash: None,
        };
        let placed = |log: &Log| PlacedLog {
            block,
            transaction: self.transaction_hash,
            index: log.log_index.unwrap_or_default(),
            log: log.inner.clone(),
        };
        self.logs.iter().map(placed).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::{Value, json};

    fn text() -> Value {
        json!({
            "type": "0x2",
            "status": "0x1",
            "transactionHash": format!("0x{}", "11".repeat(32)),
            "transactionIndex": "0x0",
            "blockHash": format!("0x{}", "22".repeat(32)),
            "blockNumber": "0x5",
            "from": format!("0x{}", "33".repeat(20)),
            "to": format!("0x{}", "44".repeat(20)),
            "contractAddress": null,
            "cumulativeGasUsed": "0x5208",
            "gasUsed": "0x5208",
            "effectiveGasPrice": "0xa",
            "logs": [],
            "logsBloom": format!("0x{}", "00".repeat(256)),
        })
    }

    fn receipt(l1_fee: Option<&str>) -> TxReceipt {
        let mut text = text();
        if let Some(fee) = l1_fee {
            text["l1Fee"] = json!(fee);
            text["l1GasUsed"] = json!("0x640");
        }
        serde_json::from_value(text).expect("a receipt")
    }

    #[test]
    fn the_fee_of_the_chain_below_counts() {
        assert_eq!(receipt(None).fee(), Amount(210_000));
        assert_eq!(receipt(Some("0x64")).fee(), Amount(210_100));
        assert_eq!(receipt(Some("0x64")).block_number, Some(5));
    }

    /// As Base answers it for the first transaction of each block, and as Arbitrum does for its own.
    #[test]
    fn a_receipt_is_of_any_type() {
        for own in ["0x7e", "0x6a"] {
            let mut text = text();
            text["type"] = json!(own);
            text["depositNonce"] = json!("0x1");
            text["effectiveGasPrice"] = json!("0x0");
            text["status"] = json!("0x0");
            let receipt: TxReceipt = serde_json::from_value(text).expect(own);
            assert!(!receipt.status());
            assert_eq!(receipt.fee(), Amount(0));
        }
    }

    #[test]
    fn a_receipt_that_does_not_say_what_became_of_it_is_none() {
        let mut silent = text();
        let status = silent.as_object_mut().expect("an object").remove("status");
        assert!(status.is_some());
        assert!(serde_json::from_value::<TxReceipt>(silent.clone()).is_err());
        silent["root"] = json!(format!("0x{}", "55".repeat(32)));
        let early: TxReceipt = serde_json::from_value(silent).expect("from before EIP-658");
        assert!(early.status());
    }
}
