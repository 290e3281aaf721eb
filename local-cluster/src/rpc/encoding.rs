//! Bytes and accounts as JSON has them.
use super::params::Config;
use crate::RpcError;
use base64::{Engine, engine::general_purpose::STANDARD};
use serde_json::{Value, json};
use solana_account::Account;

/// Nodes write no more than this in base58.
const BASE58_LIMIT: usize = 128;

pub fn to_base64(bytes: &[u8]) -> String {
    STANDARD.encode(bytes)
}

pub fn from_base64(text: &str, field: &str) -> Result<Vec<u8>, RpcError> {
    let read = STANDARD.decode(text);
    read.map_err(|fault| RpcError::params(field, format!("not base64: {fault}")))
}

pub fn from_base58(text: &str, field: &str) -> Result<Vec<u8>, RpcError> {
    let read = bs58::decode(text).into_vec();
    read.map_err(|fault| RpcError::params(field, format!("not base58: {fault}")))
}

/// How account data is written.
#[derive(Clone, Copy)]
enum DataEncoding {
    /// A bare string in base58: what nodes write where nothing is asked for.
    Bare,
    Base58,
    Base64,
}

/// What of an account is asked for.
pub struct AccountView {
    encoding: DataEncoding,
    offset: usize,
    length: usize,
}

impl AccountView {
    pub fn read(config: Config<'_>) -> Result<Self, RpcError> {
        let slice = config.object("dataSlice")?;
        let bound = |field| -> Result<usize, RpcError> {
            let bound = slice.map(|slice| slice.number(field)).transpose()?;
            let missing = || RpcError::params(field, "missing in dataSlice");
            match bound {
                None => Ok(usize::MAX),
                Some(bound) => {
                    Ok(usize::try_from(bound.ok_or_else(missing)?).unwrap_or(usize::MAX))
                }
            }
        };
        Ok(Self {
            encoding: data_encoding(config.text("encoding")?)?,
            offset: if slice.is_some() { bound("offset")? } else { 0 },
            length: bound("length")?,
        })
    }

    /// # Errors
    /// Data too long for base58.
    pub fn write(&self, account: &Account) -> Result<Value, RpcError> {
        let end = self
            .offset
            .saturating_add(self.length)
            .min(account.data.len());
        let bytes = account.data.get(self.offset..end).unwrap_or(&[]);
        let base58 = || {
            if bytes.len() > BASE58_LIMIT {
                Err(RpcError::new(
                    RpcError::REQUEST,
                    "Encoded binary (base 58) data should be less than 128 bytes, please use Base64 encoding.",
                ))
            } else {
                Ok(bs58::encode(bytes).into_string())
            }
        };
        let data = match self.encoding {
            DataEncoding::Bare => json!(base58()?),
            DataEncoding::Base58 => json!([base58()?, "base58"]),
            DataEncoding::Base64 => json!([to_base64(bytes), "base64"]),
        };
        Ok(json!({
            "data": data,
            "executable": account.executable,
            "lamports": account.lamports,
            "owner": account.owner.to_string(),
            "rentEpoch": account.rent_epoch,
            "space": account.data.len(),
        }))
    }
}

fn data_encoding(name: Option<&str>) -> Result<DataEncoding, RpcError> {
    match name {
        None | Some("binary") => Ok(DataEncoding::Bare),
        Some("base58") => Ok(DataEncoding::Base58),
        // Nodes fall back to base64 if they cannot parse an account; this one parses none.
        Some("base64" | "jsonParsed") => Ok(DataEncoding::Base64),
        Some(other) => Err(RpcError::params(
            "encoding",
            format!("{other:?} is not base58, base64 or jsonParsed"),
        )),
    }
}
