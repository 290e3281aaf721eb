use super::history::{LoadedAddresses, TokenBalance};
use crate::{Amount, ChainError, ChainId, Endpoint, EndpointOptions};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use serde::{Deserialize, de::DeserializeOwned};
use serde_json::{Value, json};
use solana_address::Address;
use solana_clock::Clock;
use solana_hash::Hash;

/// Reads see what a supermajority has voted for: it is hardly ever undone.
pub(super) const CONFIRMED: &str = "confirmed";
/// What one request can ask for at most.
const ACCOUNTS_MAX: usize = 100;
const STATUSES_MAX: usize = 256;
/// The clusters of Solana's own network.
const PUBLIC_GENESIS: [&str; 3] = [
    "5eykt4UsFv8P8NJdTREpY1vzqKqZKvdpKuc147dw2N9d", // mainnet-beta
    "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG", // devnet
    "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3zQawwpjk2NsNY", // testnet
];
/// CAIP-2: so much of the genesis hash names a cluster.
const REFERENCE: usize = 32;
/// R9: any cluster of one's own.
const LOCALNET: &str = "localnet";

/// Returns whether the chain is one of Solana's public clusters.
#[must_use]
pub fn is_public(chain: &ChainId) -> bool {
    let genesis = PUBLIC_GENESIS.iter();
    chain.namespace() == "solana"
        && genesis
            .copied()
            .any(|it| it.get(..REFERENCE) == Some(chain.reference()))
}

/// A Solana cluster behind a JSON-RPC endpoint. Clones share their connections.
#[derive(Clone, Debug)]
pub struct Cluster {
    endpoint: Endpoint,
}

/// JSON-RPC's `error`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    /// JSON-RPC's error code.
    pub code: i64,
    /// The node's words.
    pub message: String,
    /// What the node adds, such as the logs of a failed simulation.
    pub data: Option<Value>,
}

/// An account.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Account {
    /// The balance.
    pub lamports: u64,
    /// The program that may change it.
    pub owner: Address,
    /// Whether it is a program.
    pub executable: bool,
    /// What the program keeps in it.
    pub data: Vec<u8>,
}

/// What the cluster knows about a transaction that it executed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct SignatureStatus {
    /// Where it was executed.
    pub slot: u64,
    /// JSON's `null`: it succeeded.
    pub err: Value,
    /// How far the cluster has agreed on it. `None`: the node does not say.
    pub confirmation_status: Option<Commitment>,
}

/// How far the cluster has agreed on something.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum Commitment {
    /// A node has executed it.
    Processed,
    /// Two thirds of the stake have voted for its block.
    Confirmed,
    /// Its block is the root of 31 more.
    Finalized,
}

/// A transaction that was executed, successfully or not.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ExecutedTx {
    /// Where it was executed.
    pub slot: u64,
    /// Unix seconds that the cluster's clock showed.
    #[serde(default)]
    pub block_time: Option<i64>,
    /// What it did.
    pub meta: TxMeta,
    /// Base64, and the word `base64`.
    #[serde(default)]
    pub transaction: Option<(String, String)>,
}

/// What a transaction did.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct TxMeta {
    /// JSON's `null`: it succeeded.
    pub err: Value,
    /// Lamports.
    pub fee: u64,
    /// Lamports of every account, the fee payer's first.
    pub pre_balances: Vec<u64>,
    /// The same after it, in the same order.
    pub post_balances: Vec<u64>,
    /// What programs wrote, one line each. `None`: the node keeps no logs.
    #[serde(default)]
    pub log_messages: Option<Vec<String>>,
    /// Compute units. `None`: the node does not say.
    #[serde(default)]
    pub compute_units_consumed: Option<u64>,
    /// For each instruction that called others.
    #[serde(default)]
    pub inner_instructions: Option<Vec<InnerInstructions>>,
    /// Accounts that it loaded through lookup tables.
    #[serde(default)]
    pub loaded_addresses: Option<LoadedAddresses>,
    /// Token accounts that it named, as they were.
    #[serde(default)]
    pub pre_token_balances: Option<Vec<TokenBalance>>,
    /// The same after it.
    #[serde(default)]
    pub post_token_balances: Option<Vec<TokenBalance>>,
}

/// What one instruction of a transaction called.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub struct InnerInstructions {
    /// The instruction's, from 0.
    pub index: u8,
    /// In the order in which they were called.
    pub instructions: Vec<InnerInstruction>,
}

/// One of them.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct InnerInstruction {
    /// Into the transaction's accounts.
    pub program_id_index: u8,
    /// Into the transaction's accounts, one index each.
    pub accounts: Vec<u8>,
    /// Base58.
    pub data: String,
}

/// What the last instruction that returned something returned.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct ReturnData {
    /// Base58.
    pub program_id: String,
    /// Base64, and the word `base64`.
    pub data: (String, String),
}

impl ExecutedTx {
    /// Returns what the fee payer has less, fee and rent together.
    #[must_use]
    pub fn cost(&self) -> Amount {
        let (before, after) = self.balances();
        Amount(before.saturating_sub(after).into())
    }

    /// Returns what the fee payer has more, such as the rent of a closed account without the fee.
    #[must_use]
    pub fn refund(&self) -> Amount {
        let (before, after) = self.balances();
        Amount(after.saturating_sub(before).into())
    }

    /// The fee payer's lamports before and after.
    fn balances(&self) -> (u64, u64) {
        let balance = |balances: &[u64]| balances.first().copied().unwrap_or_default();
        (
            balance(&self.meta.pre_balances),
            balance(&self.meta.post_balances),
        )
    }
}

/// What a transaction would do.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Simulation {
    /// JSON's `null`: it would succeed.
    pub err: Value,
    /// What programs would write, one line each.
    #[serde(default)]
    pub logs: Option<Vec<String>>,
    /// Compute units.
    #[serde(default)]
    pub units_consumed: Option<u64>,
    /// What the last instruction that returned something would return.
    #[serde(default)]
    pub return_data: Option<ReturnData>,
}

/// The hash that makes a transaction new, and how long it is valid.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RecentBlockhash {
    /// To be put into a transaction.
    pub hash: Hash,
    /// The last block height at which it counts.
    pub valid_until: u64,
}

/// An answer with the slot it was given at.
#[derive(Deserialize)]
struct InContext<T> {
    value: T,
}

#[derive(Deserialize)]
pub(super) struct AccountJson {
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
    /// A cluster over HTTP. No request is made yet.
    ///
    /// # Errors
    /// [`ChainError::RpcUrlMalformed`].
    pub fn new(options: &EndpointOptions) -> Result<Self, ChainError> {
        Ok(Self::at(Endpoint::new(options)?))
    }

    /// A cluster at an endpoint.
    #[must_use]
    pub fn at(endpoint: Endpoint) -> Self {
        Self { endpoint }
    }

    /// The endpoint, for requests that this type does not have.
    #[must_use]
    pub fn endpoint(&self) -> &Endpoint {
        &self.endpoint
    }

    /// Returns the hash that names the cluster, in base58.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn genesis_hash(&self) -> Result<String, ChainError> {
        self.expect("getGenesisHash", json!([])).await
    }

    /// Requires that the cluster is the one that `chain` names. R9: programs cannot read the genesis
    /// hash, so it is compared here.
    ///
    /// # Errors
    /// [`ChainError::WrongChain`].
    pub async fn require_chain(&self, chain: &ChainId) -> Result<(), ChainError> {
        let genesis = self.genesis_hash().await?;
        let is_own = !PUBLIC_GENESIS.contains(&&*genesis);
        let reference = genesis.get(..REFERENCE).unwrap_or(&genesis);
        if chain.reference() == reference || (chain.reference() == LOCALNET && is_own) {
            return Ok(());
        }
        Err(ChainError::WrongChain {
            expected: chain.to_string(),
            found: format!("solana:{reference}"),
        })
    }

    /// Returns lamports.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn balance(&self, address: &Address) -> Result<u64, ChainError> {
        self.balance_since(address, None).await
    }

    /// Returns lamports; with `since`, as they are in this slot or a later one.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`], also if the node has not reached the slot.
    pub async fn balance_since(
        &self,
        address: &Address,
        since: Option<u64>,
    ) -> Result<u64, ChainError> {
        let mut config = json!({ "commitment": CONFIRMED });
        if let Some(slot) = since {
            config["minContextSlot"] = slot.into();
        }
        let params = json!([address.to_string(), config]);
        let balance: InContext<u64> = self.expect("getBalance", params).await?;
        Ok(balance.value)
    }

    /// Returns an account.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn account(&self, address: &Address) -> Result<Option<Account>, ChainError> {
        let found = self.accounts(std::slice::from_ref(address)).await?;
        Ok(found.into_iter().next().flatten())
    }

    /// Returns accounts, in the order asked for.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn accounts(
        &self,
        addresses: &[Address],
    ) -> Result<Vec<Option<Account>>, ChainError> {
        const METHOD: &str = "getMultipleAccounts";
        let mut accounts = Vec::with_capacity(addresses.len());
        for some in addresses.chunks(ACCOUNTS_MAX) {
            let names: Vec<String> = some.iter().map(ToString::to_string).collect();
            let params = json!([names, { "encoding": "base64", "commitment": CONFIRMED }]);
            let found: InContext<Vec<Option<AccountJson>>> = self.expect(METHOD, params).await?;
            self.require_as_many(METHOD, some.len(), found.value.len())?;
            for account in found.value {
                accounts.push(account.map(|it| self.account_of(METHOD, it)).transpose()?);
            }
        }
        Ok(accounts)
    }

    /// Returns a program's accounts that start with these bytes, with their lamports; or the
    /// endpoint's refusal, for not every one searches all accounts.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn accounts_starting_with(
        &self,
        program: &Address,
        start: &[u8],
    ) -> Result<Result<Vec<(Address, u64)>, Refusal>, ChainError> {
        const METHOD: &str = "getProgramAccounts";
        let filter = json!({
            "memcmp": { "offset": 0, "bytes": bs58::encode(start).into_string() }
        });
        let params = json!([program.to_string(), {
            "encoding": "base64",
            "commitment": CONFIRMED,
            "dataSlice": { "offset": 0, "length": 0 },
            "filters": [filter],
        }]);
        let found = match self.ask(METHOD, params).await? {
            Ok(found) => found,
            Err(no) => return Ok(Err(no)),
        };
        let malformed = || self.malformed(METHOD);
        let found: Vec<KeyedAccountJson> =
            serde_json::from_value(found).map_err(|_| malformed())?;
        let address = |text: &str| text.parse().map_err(|_| malformed());
        let keyed = |it: KeyedAccountJson| Ok((address(&it.pubkey)?, it.account.lamports));
        let accounts: Result<_, ChainError> = found.into_iter().map(keyed).collect();
        accounts.map(Ok)
    }

    /// Returns the lamports that make an account of so many bytes exempt from rent.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn rent(&self, bytes: usize) -> Result<u64, ChainError> {
        self.expect("getMinimumBalanceForRentExemption", json!([bytes]))
            .await
    }

    /// Returns a block hash for new transactions.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn recent_blockhash(&self) -> Result<RecentBlockhash, ChainError> {
        #[derive(Deserialize)]
        #[serde(rename_all = "camelCase")]
        struct Latest {
            blockhash: String,
            last_valid_block_height: u64,
        }
        const METHOD: &str = "getLatestBlockhash";
        let params = json!([{ "commitment": CONFIRMED }]);
        let latest: InContext<Latest> = self.expect(METHOD, params).await?;
        let hash = latest.value.blockhash.parse();
        Ok(RecentBlockhash {
            hash: hash.map_err(|_| self.malformed(METHOD))?,
            valid_until: latest.value.last_valid_block_height,
        })
    }

    /// Returns the height of the last block that can no longer be undone.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn final_block_height(&self) -> Result<u64, ChainError> {
        let params = json!([{ "commitment": "finalized" }]);
        self.expect("getBlockHeight", params).await
    }

    /// Returns Unix seconds by the cluster's own clock.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn unix_time(&self) -> Result<i64, ChainError> {
        let clock = self.account(&solana_sdk_ids::sysvar::clock::ID).await?;
        let clock = clock.and_then(|it| wincode::deserialize::<Clock>(&it.data).ok());
        clock
            .map(|clock| clock.unix_timestamp)
            .ok_or_else(|| self.malformed("getMultipleAccounts"))
    }

    /// Returns what the cluster knows about each transaction; `None`: nothing.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn statuses(
        &self,
        transactions: &[&str],
    ) -> Result<Vec<Option<SignatureStatus>>, ChainError> {
        const METHOD: &str = "getSignatureStatuses";
        let mut statuses = Vec::with_capacity(transactions.len());
        for some in transactions.chunks(STATUSES_MAX) {
            let params = json!([some, { "searchTransactionHistory": true }]);
            let found: InContext<Vec<Option<SignatureStatus>>> =
                self.expect(METHOD, params).await?;
            self.require_as_many(METHOD, some.len(), found.value.len())?;
            statuses.extend(found.value);
        }
        Ok(statuses)
    }

    /// Returns a transaction that was executed and confirmed.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn transaction(&self, signature: &str) -> Result<Option<ExecutedTx>, ChainError> {
        let params = json!([signature, {
            "encoding": "base64",
            "commitment": CONFIRMED,
            "maxSupportedTransactionVersion": 0,
        }]);
        self.expect("getTransaction", params).await
    }

    /// Simulates a transaction, whose signatures and block hash are not looked at.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn simulate(&self, raw: &[u8]) -> Result<Simulation, ChainError> {
        let params = json!([BASE64.encode(raw), {
            "encoding": "base64",
            "commitment": CONFIRMED,
            "sigVerify": false,
            "replaceRecentBlockhash": true,
        }]);
        let simulation: InContext<Simulation> = self.expect("simulateTransaction", params).await?;
        Ok(simulation.value)
    }

    /// Sends a signed transaction in base64; or returns the cluster's refusal, after trying it.
    ///
    /// # Errors
    /// [`ChainError::Unreachable`].
    pub async fn send(&self, raw: &str) -> Result<Result<(), Refusal>, ChainError> {
        let params = json!([raw, { "encoding": "base64", "preflightCommitment": CONFIRMED }]);
        let answer = self.ask("sendTransaction", params).await?;
        Ok(answer.map(drop))
    }

    async fn ask(&self, method: &str, params: Value) -> Result<Result<Value, Refusal>, ChainError> {
        let answer = self.endpoint.request(method, params).await?;
        Ok(answer.map_err(|no| Refusal {
            code: no.code,
            message: no.message.into_owned(),
            data: no
                .data
                .and_then(|data| serde_json::from_str(data.get()).ok()),
        }))
    }

    /// For methods that every cluster answers.
    pub(super) async fn expect<T: DeserializeOwned>(
        &self,
        method: &str,
        params: Value,
    ) -> Result<T, ChainError> {
        let answer = self.endpoint.expect(method, params).await?;
        serde_json::from_value(answer).map_err(|_| self.malformed(method))
    }

    pub(super) fn require_as_many(
        &self,
        method: &str,
        asked: usize,
        answered: usize,
    ) -> Result<(), ChainError> {
        if asked == answered {
            Ok(())
        } else {
            Err(self.malformed(method))
        }
    }

    pub(super) fn account_of(
        &self,
        method: &str,
        json: AccountJson,
    ) -> Result<Account, ChainError> {
        let data = BASE64.decode(&json.data.0);
        Ok(Account {
            lamports: json.lamports,
            owner: json.owner.parse().map_err(|_| self.malformed(method))?,
            executable: json.executable,
            data: data.map_err(|_| self.malformed(method))?,
        })
    }

    fn malformed(&self, method: &str) -> ChainError {
        let reason = "the answer is not of the form that Solana's JSON-RPC has for it";
        self.endpoint.unreachable(method, reason.to_owned())
    }
}
