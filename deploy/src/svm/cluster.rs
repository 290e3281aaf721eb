//! A Solana cluster's JSON-RPC, typed.
use super::transport::{Refusal, Transport};
use crate::{Amount, Fault};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use solana_address::Address;
use solana_hash::Hash;
use solana_sdk_ids::bpf_loader_upgradeable;

/// Reads see what a supermajority has voted for: it is hardly ever undone.
const CONFIRMED: &str = "confirmed";
/// What one question can ask for at most.
const ACCOUNTS_MAX: usize = 100;
const STATUSES_MAX: usize = 256;

/// A cluster, asked one thing at a time.
pub struct Cluster {
    transport: Box<dyn Transport + Send>,
}

/// What stands at an address.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    pub lamports: u64,
    pub owner: Address,
    pub executable: bool,
    pub data: Vec<u8>,
}

/// What the cluster knows of a transaction that it carried out.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Status {
    pub slot: u64,
    /// JSON's `null`: it succeeded.
    pub err: Value,
    pub confirmation_status: Option<Commitment>,
}

/// How far the cluster has agreed on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Commitment {
    Processed,
    Confirmed,
    Finalized,
}

/// A transaction that was carried out, successfully or not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Carried {
    pub slot: u64,
    /// Unix seconds that the cluster's clock showed.
    #[serde(default)]
    pub block_time: Option<i64>,
    pub meta: Meta,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Meta {
    /// JSON's `null`: it succeeded.
    pub err: Value,
    /// Lamports.
    pub fee: u64,
    /// Lamports of every account, the fee payer's first.
    pub pre_balances: Vec<u64>,
    pub post_balances: Vec<u64>,
    #[serde(default)]
    pub log_messages: Option<Vec<String>>,
    #[serde(default)]
    pub compute_units_consumed: Option<u64>,
    /// Of each instruction that called others.
    #[serde(default)]
    pub inner_instructions: Option<Vec<Calls>>,
}

/// What one instruction of a transaction called.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct Calls {
    /// The instruction's, from 0.
    pub index: u8,
    pub instructions: Vec<Call>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Call {
    /// Of the transaction's accounts.
    pub program_id_index: u8,
    pub accounts: Vec<u8>,
    /// Base58.
    pub data: String,
}

/// What a transaction's last instruction that returned something did.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReturnData {
    pub program_id: String,
    /// Base64, and the word `base64`.
    pub data: (String, String),
}

impl Carried {
    /// What the fee payer has less, fee and rent together.
    pub fn cost(&self) -> Amount {
        let balance = |balances: &[u64]| balances.first().copied().unwrap_or_default();
        let (before, after) = (
            balance(&self.meta.pre_balances),
            balance(&self.meta.post_balances),
        );
        Amount(before.saturating_sub(after).into())
    }
}

/// What a transaction would do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Simulation {
    /// JSON's `null`: it would succeed.
    pub err: Value,
    #[serde(default)]
    pub logs: Option<Vec<String>>,
    #[serde(default)]
    pub units_consumed: Option<u64>,
    #[serde(default)]
    pub return_data: Option<ReturnData>,
}

/// The hash that makes a transaction new, and how long it is good for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentBlockhash {
    pub hash: Hash,
    /// The last block height at which it counts.
    pub valid_until: u64,
}

/// An answer beside the slot it was given at.
#[derive(Deserialize)]
struct InContext<T> {
    value: T,
}

#[derive(Deserialize)]
struct AccountJson {
    lamports: u64,
    owner: String,
    executable: bool,
    /// Base64, and the word `base64`.
    data: (String, String),
}

#[derive(Deserialize)]
struct KeyedAccountJson {
    pubkey: String,
    account: AccountJson,
}

impl Cluster {
    pub fn new(transport: impl Transport + Send + 'static) -> Self {
        Self {
            transport: Box::new(transport),
        }
    }

    /// The hash that names the cluster, in base58.
    pub fn genesis_hash(&self) -> Result<String, Fault> {
        self.expect("getGenesisHash", json!([]))
    }

    /// Lamports.
    pub fn balance(&self, address: &Address) -> Result<u64, Fault> {
        let params = json!([address.to_string(), { "commitment": CONFIRMED }]);
        let balance: InContext<u64> = self.expect("getBalance", params)?;
        Ok(balance.value)
    }

    pub fn account(&self, address: &Address) -> Result<Option<Account>, Fault> {
        let found = self.accounts(std::slice::from_ref(address))?;
        Ok(found.into_iter().next().flatten())
    }

    /// In the order asked for.
    pub fn accounts(&self, addresses: &[Address]) -> Result<Vec<Option<Account>>, Fault> {
        const METHOD: &str = "getMultipleAccounts";
        let mut accounts = Vec::with_capacity(addresses.len());
        for some in addresses.chunks(ACCOUNTS_MAX) {
            let names: Vec<String> = some.iter().map(ToString::to_string).collect();
            let params = json!([names, { "encoding": "base64", "commitment": CONFIRMED }]);
            let found: InContext<Vec<Option<AccountJson>>> = self.expect(METHOD, params)?;
            self.require_as_many(METHOD, some.len(), found.value.len())?;
            for account in found.value {
                accounts.push(account.map(|it| self.account_of(METHOD, it)).transpose()?);
            }
        }
        Ok(accounts)
    }

    /// The upgradeable loader's buffers that `authority` may write to or close, with their lamports;
    /// or the endpoint's no, for not every one looks through all accounts.
    pub fn buffers_of(
        &self,
        authority: &Address,
    ) -> Result<Result<Vec<(Address, u64)>, Refusal>, Fault> {
        const METHOD: &str = "getProgramAccounts";
        // u32 LE 1, a buffer; u8 1, it has an authority; whose key follows.
        let start = [&[1, 0, 0, 0, 1][..], authority.as_ref()].concat();
        let starts_so = json!({
            "memcmp": { "offset": 0, "bytes": bs58::encode(start).into_string() }
        });
        let params = json!([bpf_loader_upgradeable::ID.to_string(), {
            "encoding": "base64",
            "commitment": CONFIRMED,
            "dataSlice": { "offset": 0, "length": 0 },
            "filters": [starts_so],
        }]);
        let found = match self.transport.ask(METHOD, params)? {
            Ok(found) => found,
            Err(no) => return Ok(Err(no)),
        };
        let malformed = || self.malformed(METHOD);
        let found: Vec<KeyedAccountJson> =
            serde_json::from_value(found).map_err(|_| malformed())?;
        let address = |text: &str| text.parse().map_err(|_| malformed());
        let keyed = |it: KeyedAccountJson| Ok((address(&it.pubkey)?, it.account.lamports));
        let buffers: Result<_, Fault> = found.into_iter().map(keyed).collect();
        buffers.map(Ok)
    }

    /// The lamports that keep an account of so many bytes for ever.
    pub fn rent(&self, bytes: usize) -> Result<u64, Fault> {
        self.expect("getMinimumBalanceForRentExemption", json!([bytes]))
    }

    pub fn recent_blockhash(&self) -> Result<RecentBlockhash, Fault> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Latest {
            blockhash: String,
            last_valid_block_height: u64,
        }
        const METHOD: &str = "getLatestBlockhash";
        let params = json!([{ "commitment": CONFIRMED }]);
        let latest: InContext<Latest> = self.expect(METHOD, params)?;
        let hash = latest.value.blockhash.parse();
        Ok(RecentBlockhash {
            hash: hash.map_err(|_| self.malformed(METHOD))?,
            valid_until: latest.value.last_valid_block_height,
        })
    }

    /// Blocks that can no longer be undone.
    pub fn final_block_height(&self) -> Result<u64, Fault> {
        self.expect("getBlockHeight", json!([{ "commitment": "finalized" }]))
    }

    /// Seconds since 1970, by the cluster's own clock.
    pub fn unix_time(&self) -> Result<i64, Fault> {
        const UNIX_TIMESTAMP: std::ops::Range<usize> = 32..40; // of the clock sysvar, i64 LE
        let clock = self.account(&solana_sdk_ids::sysvar::clock::ID)?;
        let time = clock
            .as_ref()
            .and_then(|clock| clock.data.get(UNIX_TIMESTAMP));
        time.and_then(|time| Some(i64::from_le_bytes(time.try_into().ok()?)))
            .ok_or_else(|| self.malformed("getMultipleAccounts"))
    }

    /// What the cluster knows of each transaction; `None`: nothing.
    pub fn statuses(&self, transactions: &[&str]) -> Result<Vec<Option<Status>>, Fault> {
        const METHOD: &str = "getSignatureStatuses";
        let mut statuses = Vec::with_capacity(transactions.len());
        for some in transactions.chunks(STATUSES_MAX) {
            let params = json!([some, { "searchTransactionHistory": true }]);
            let found: InContext<Vec<Option<Status>>> = self.expect(METHOD, params)?;
            self.require_as_many(METHOD, some.len(), found.value.len())?;
            statuses.extend(found.value);
        }
        Ok(statuses)
    }

    /// A transaction that was carried out and confirmed.
    pub fn carried(&self, transaction: &str) -> Result<Option<Carried>, Fault> {
        let params = json!([transaction, {
            "encoding": "base64",
            "commitment": CONFIRMED,
            "maxSupportedTransactionVersion": 0,
        }]);
        self.expect("getTransaction", params)
    }

    /// `raw`: a signed transaction.
    pub fn simulate(&self, raw: &[u8]) -> Result<Simulation, Fault> {
        let params = json!([BASE64.encode(raw), {
            "encoding": "base64",
            "commitment": CONFIRMED,
            "sigVerify": false,
            "replaceRecentBlockhash": true,
        }]);
        let simulation: InContext<Simulation> = self.expect("simulateTransaction", params)?;
        Ok(simulation.value)
    }

    /// Hands over a signed transaction in base64. The cluster's no to it, after trying it.
    pub fn send(&self, raw: &str) -> Result<Result<(), Refusal>, Fault> {
        let params = json!([raw, { "encoding": "base64", "preflightCommitment": CONFIRMED }]);
        let answer = self.transport.ask("sendTransaction", params)?;
        Ok(answer.map(drop))
    }

    /// For questions that have an answer on every cluster.
    fn expect<T: DeserializeOwned>(&self, method: &str, params: Value) -> Result<T, Fault> {
        let answer = self.transport.ask(method, params)?;
        let answer = answer.map_err(|no| self.unreachable(method, no.message))?;
        serde_json::from_value(answer).map_err(|_| self.malformed(method))
    }

    fn require_as_many(&self, method: &str, asked: usize, answered: usize) -> Result<(), Fault> {
        match asked == answered {
            true => Ok(()),
            false => Err(self.malformed(method)),
        }
    }

    fn account_of(&self, method: &str, json: AccountJson) -> Result<Account, Fault> {
        let data = BASE64.decode(&json.data.0);
        Ok(Account {
            lamports: json.lamports,
            owner: json.owner.parse().map_err(|_| self.malformed(method))?,
            executable: json.executable,
            data: data.map_err(|_| self.malformed(method))?,
        })
    }

    fn malformed(&self, method: &str) -> Fault {
        let reason = "the answer is not of the form that Solana's JSON-RPC has for it";
        self.unreachable(method, reason.to_owned())
    }

    fn unreachable(&self, method: &str, reason: String) -> Fault {
        Fault::Unreachable {
            host: self.transport.host().to_owned(),
            method: method.to_owned(),
            reason,
        }
    }
}
