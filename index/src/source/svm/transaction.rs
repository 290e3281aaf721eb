//! A transaction, from JSON-RPC to what the registry's decoder reads.
use super::SvmSource;
use crate::SourceError;
use concord_registry::{
    event::Block,
    svm::{
        Address,
        events::{Call, TopLevel, Transaction},
    },
};
use serde::Deserialize;
use serde_json::{Value, json};

#[derive(Deserialize)]
struct Found {
    slot: u64,
    transaction: Sent,
    meta: Meta,
}

#[derive(Deserialize)]
struct Sent {
    message: Message,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Message {
    account_keys: Vec<String>,
    instructions: Vec<Instruction>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Instruction {
    program_id_index: u8,
    accounts: Vec<u8>,
    /// Base58.
    data: String,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Meta {
    /// JSON's `null`: it succeeded.
    err: Value,
    log_messages: Option<Vec<String>>,
    inner_instructions: Option<Vec<Inner>>,
    #[serde(default)]
    loaded_addresses: Loaded,
}

#[derive(Deserialize)]
struct Inner {
    index: usize,
    instructions: Vec<Instruction>,
}

#[derive(Default, Deserialize)]
struct Loaded {
    writable: Vec<String>,
    readonly: Vec<String>,
}

impl SvmSource {
    /// A transaction that was listed at this slot.
    pub(super) async fn transaction(
        &self,
        slot: u64,
        signature: &str,
    ) -> Result<Transaction, SourceError> {
        let params = json!([signature, {
            "encoding": "json",
            "commitment": self.commitment(),
            "maxSupportedTransactionVersion": 0,
        }]);
        let answer = self.ask::<Option<Found>>("getTransaction", params).await?;
        let unlike = |what: &str| self.inconsistent(slot, format!("{signature} {what}"));
        let found = match answer {
            Ok(Some(found)) => found,
            Ok(None) => return Err(unlike("is listed and not there")),
            Err(no) => return Err(unlike(&no.message)),
        };
        if found.meta.inner_instructions.is_none() {
            // the registry's events are in them
            return Err(unlike(
                "comes without inner instructions: the node does not record them",
            ));
        }
        if found.slot != slot || !found.meta.err.is_null() {
            return Err(unlike("is not what was listed"));
        }
        read(signature, found).ok_or_else(|| unlike("cannot be read"))
    }
}

/// `None` if the parts contradict each other.
fn read(signature: &str, found: Found) -> Option<Transaction> {
    let loaded = &found.meta.loaded_addresses;
    let keys = found.transaction.message.account_keys.iter();
    let keys = keys.chain(&loaded.writable).chain(&loaded.readonly);
    let keys: Vec<Address> = keys.map(|key| key.parse().ok()).collect::<Option<_>>()?;
    let mut instructions: Vec<TopLevel> = (found.transaction.message.instructions.iter())
        .map(|it| {
            Some(TopLevel {
                program: *keys.get(usize::from(it.program_id_index))?,
                calls: Vec::new(),
            })
        })
        .collect::<Option<_>>()?;
    for inner in found.meta.inner_instructions.unwrap_or_default() {
        let calls = &mut instructions.get_mut(inner.index)?.calls;
        for call in inner.instructions {
            let data = bs58::decode(&call.data).into_vec().ok()?;
            calls.push(Call::resolve(
                &keys,
                call.program_id_index,
                &call.accounts,
                data,
            )?);
        }
    }
    Some(Transaction {
        signature: bs58::decode(signature).into_vec().ok()?.try_into().ok()?,
        block: Block {
            number: found.slot,
            hash: None,
        },
        instructions,
        logs: found.meta.log_messages.unwrap_or_default(),
    })
}
