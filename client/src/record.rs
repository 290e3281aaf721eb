use std::path::{Path, PathBuf};

use concord_chain::{
    ChainError, atomic_file,
    submission::{FileRecord, TxRecord},
};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::{ClientError, Operation, Sent, operation::malformed};

/// The form of records that this crate writes.
const VERSION: u32 = 1;
/// Bytes of an operation's id, which names files.
const ID_MAX: usize = 64;

/// An operation that is to happen once. Nothing in it is secret.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(crate) struct OperationRecord {
    pub version: u32,
    /// The identity registry, CAIP-10.
    pub registry: String,
    /// The account, CAIP-10.
    pub account: String,
    pub operation: Operation,
}

/// A record that no other process changes meanwhile.
pub(crate) struct Held {
    id: String,
    path: PathBuf,
    _lock: atomic_file::Lock,
}

impl OperationRecord {
    pub(crate) fn new(registry: String, account: String, operation: Operation) -> Self {
        Self {
            version: VERSION,
            registry,
            account,
            operation,
        }
    }
}

impl Held {
    /// Holds the record of an operation in a folder.
    pub(crate) fn open(folder: &Path, id: &str) -> Result<Self, ClientError> {
        let is_plain = |it: u8| it.is_ascii_alphanumeric() || it == b'-' || it == b'_';
        if id.is_empty() || id.len() > ID_MAX || !id.bytes().all(is_plain) {
            return Err(malformed("id", id, "1 to 64 letters, digits, - and _"));
        }
        let path = folder.join(format!("{id}.json"));
        let lock = atomic_file::lock(&path)?;
        Ok(Self {
            id: id.to_owned(),
            path,
            _lock: lock,
        })
    }

    pub(crate) fn load(&self) -> Result<Option<OperationRecord>, ClientError> {
        let record: Option<OperationRecord> = atomic_file::read_json(&self.path)?;
        if let Some(found) = &record {
            let (found, version) = (found.version.to_string(), VERSION.to_string());
            self.require("version", &found, &version)?;
        }
        Ok(record)
    }

    pub(crate) fn save(&self, record: &OperationRecord) -> Result<(), ChainError> {
        atomic_file::write_private_json(&self.path, record)
    }

    /// Every transaction that was signed for it.
    pub(crate) fn transactions(&self) -> Result<FileRecord, ChainError> {
        FileRecord::open(&self.path.with_extension("transactions.json"))
    }

    /// Requires that the record is for this registry and account.
    pub(crate) fn require_place(
        &self,
        found: &OperationRecord,
        registry: &str,
        account: &str,
    ) -> Result<(), ClientError> {
        self.require("registry", &found.registry, registry)?;
        self.require("account", &found.account, account)
    }

    /// Requires that what is on record is what is asked for.
    pub(crate) fn require_same(
        &self,
        found: &OperationRecord,
        asked: &OperationRecord,
    ) -> Result<(), ClientError> {
        self.require_place(found, &asked.registry, &asked.account)?;
        let (found, asked) = (&found.operation, &asked.operation);
        self.require("operation", found.name(), asked.name())?;
        if found == asked {
            return Ok(());
        }
        let json = |it: &Operation| serde_json::to_value(it).unwrap_or_default();
        let field = first_difference(&json(found), &json(asked));
        Err(ClientError::OtherOperation {
            id: self.id.clone(),
            field: field.unwrap_or_else(|| "member".to_owned()),
        })
    }

    fn require(&self, field: &'static str, found: &str, expected: &str) -> Result<(), ClientError> {
        if found == expected {
            Ok(())
        } else {
            Err(ClientError::OnRecord {
                id: self.id.clone(),
                field,
                found: found.to_owned(),
                expected: expected.to_owned(),
            })
        }
    }
}

/// The path of the first member that differs.
fn first_difference(found: &Value, asked: &Value) -> Option<String> {
    let (found, asked) = (found.as_object()?, asked.as_object()?);
    let mut members = found.iter();
    let (name, member) = members.find(|(name, it)| asked.get(*name) != Some(it))?;
    let within = asked.get(name).and_then(|it| first_difference(member, it));
    Some(match within {
        Some(path) => format!("{name}.{path}"),
        None => name.clone(),
    })
}

/// How far an operation got.
pub(crate) fn sent(record: &FileRecord, id: &str) -> Sent {
    if let Some(landing) = record.landing(id) {
        return Sent::Landed {
            transaction: landing.transaction.clone(),
        };
    }
    let signed = record.transactions(id);
    let transactions: Vec<String> = signed.iter().map(|it| it.transaction.clone()).collect();
    match signed {
        [] => Sent::Nothing,
        all if all.iter().all(|it| it.failure_cost.is_some()) => Sent::Failed { transactions },
        _ => Sent::Maybe { transactions },
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use concord_chain::{
        Amount,
        submission::{Landing, SignedTx},
    };

    fn signed(name: &str) -> SignedTx {
        SignedTx {
            transaction: name.to_owned(),
            raw: String::new(),
            valid_until: None,
            signed_at: None,
            sent: false,
            failure_cost: None,
        }
    }

    #[test]
    fn what_was_sent_is_read_from_the_record() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("a.json");
        let mut record = FileRecord::open(&path).expect("a record");
        assert_eq!(sent(&record, "a"), Sent::Nothing);
        record.signed(&[("a", signed("1"))]).expect("written");
        // signed is as good as sent: the process may have been killed after it sent
        let transactions = vec!["1".to_owned()];
        let maybe = Sent::Maybe {
            transactions: transactions.clone(),
        };
        assert_eq!(sent(&record, "a"), maybe);
        assert_eq!(sent(&record, "b"), Sent::Nothing);
        let failure = SignedTx {
            failure_cost: Some(Amount(7)),
            ..signed("1")
        };
        record.failed(&[("a", failure)]).expect("written");
        assert_eq!(sent(&record, "a"), Sent::Failed { transactions });
        record.signed(&[("a", signed("2"))]).expect("written");
        let transactions = vec!["1".to_owned(), "2".to_owned()];
        assert_eq!(sent(&record, "a"), Sent::Maybe { transactions });
        let landing = Landing {
            transaction: "2".to_owned(),
            block: 9,
            block_hash: None,
            cost: Amount(7),
            refund: Amount::default(),
        };
        record.landed(&[("a", landing)]).expect("written");
        let transaction = "2".to_owned();
        assert_eq!(sent(&record, "a"), Sent::Landed { transaction });
    }

    #[test]
    fn an_operation_is_held_by_one_caller() {
        let folder = tempfile::tempdir().expect("a folder");
        let held = Held::open(folder.path(), "order-17").expect("held");
        let second = Held::open(folder.path(), "order-17").err();
        let is_locked = matches!(second, Some(ClientError::Chain(ChainError::Locked(_))));
        assert!(is_locked);
        drop(held);
        assert!(Held::open(folder.path(), "order-17").is_ok());
    }
}
