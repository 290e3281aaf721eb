use crate::Amount;
use alloy::{
    primitives::U256,
    rpc::types::{Log, TransactionReceipt},
};
use concord_registry::{event::Block, evm::PlacedLog};
use serde::Deserialize;
use std::ops::Deref;

/// A transaction's receipt, with what OP-stack chains (Base among them) add to it.
#[derive(Clone, Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TxReceipt {
    #[serde(flatten)]
    inner: TransactionReceipt,
    /// What the chain below charged, in wei. It is not part of `gasUsed × effectiveGasPrice`.
    #[serde(default)]
    l1_fee: Option<U256>,
}

impl TxReceipt {
    /// Returns the whole fee in wei: of this chain and of the one below.
    #[must_use]
    pub fn fee(&self) -> Amount {
        let gas = u128::from(self.inner.gas_used);
        let below = self.l1_fee.unwrap_or_default();
        Amount(self.inner.effective_gas_price.saturating_mul(gas))
            .saturating_add(Amount(u128::try_from(below).unwrap_or(u128::MAX)))
    }

    /// Returns the logs with their places, as the registries' events are decoded from them.
    #[must_use]
    pub fn placed_logs(&self) -> Vec<PlacedLog> {
        let block = Block {
            number: self.inner.block_number.unwrap_or_default(),
            hash: None,
        };
        let placed = |log: &Log| PlacedLog {
            block,
            transaction: self.inner.transaction_hash,
            index: log.log_index.unwrap_or_default(),
            log: log.inner.clone(),
        };
        self.inner.logs().iter().map(placed).collect()
    }

    /// The receipt that every chain has.
    #[must_use]
    pub fn into_inner(self) -> TransactionReceipt {
        self.inner
    }
}

impl Deref for TxReceipt {
    type Target = TransactionReceipt;

    fn deref(&self) -> &TransactionReceipt {
        &self.inner
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    fn receipt(l1_fee: Option<&str>) -> TxReceipt {
        let mut text = json!({
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
        });
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
}
