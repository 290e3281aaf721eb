//! The filters of `getProgramAccounts`.
use super::{
    encoding,
    params::{Config, list},
};
use crate::RpcError;
use serde_json::Value;
use solana_account::Account;

/// As many as nodes take.
const LIMIT: usize = 4;
/// The most bytes that nodes compare.
const COMPARED: usize = 128;

pub enum Filter {
    DataSize(u64),
    Memcmp { offset: usize, bytes: Vec<u8> },
}

impl Filter {
    pub fn read_all(config: Config<'_>) -> Result<Vec<Self>, RpcError> {
        let Some(filters) = config.get("filters") else {
            return Ok(Vec::new());
        };
        let filters = list(filters, "filters", LIMIT)?;
        filters.iter().map(Self::read).collect()
    }

    fn read(filter: &Value) -> Result<Self, RpcError> {
        let filter = Config::new(filter, "filters")?;
        if let Some(size) = filter.number("dataSize")? {
            return Ok(Self::DataSize(size));
        }
        let unknown = || RpcError::params("filters", "a filter is neither dataSize nor memcmp");
        let compared = filter.object("memcmp")?.ok_or_else(unknown)?;
        let missing = |field: &str| RpcError::params(field, "missing in memcmp");
        let offset = compared
            .number("offset")?
            .ok_or_else(|| missing("offset"))?;
        let text = compared.text("bytes")?.ok_or_else(|| missing("bytes"))?;
        let bytes = match compared.text("encoding")? {
            None | Some("base58" | "binary") => encoding::from_base58(text, "bytes")?,
            Some("base64") => encoding::from_base64(text, "bytes")?,
            Some(other) => {
                let reason = format!("{other:?} is not base58 or base64");
                return Err(RpcError::params("encoding", reason));
            }
        };
        if bytes.len() > COMPARED {
            let reason = format!("{} bytes, more than {COMPARED}", bytes.len());
            return Err(RpcError::params("bytes", reason));
        }
        Ok(Self::Memcmp {
            offset: usize::try_from(offset).unwrap_or(usize::MAX),
            bytes,
        })
    }

    pub fn accepts(&self, account: &Account) -> bool {
        match self {
            Self::DataSize(size) => account.data.len() as u64 == *size,
            Self::Memcmp { offset, bytes } => {
                let rest = account.data.get(*offset..);
                rest.is_some_and(|rest| rest.starts_with(bytes))
            }
        }
    }
}
