//! The configuration of `concord x402 serve`, and the layer that it describes.

use std::{collections::BTreeMap, net::SocketAddr, path::PathBuf, sync::Arc, time::Duration};

use alloy::{primitives::Address, transports::http::reqwest::Url};
use concord_canonical::sign::PreparedKey;
use concord_chain::{
    ChainId, EndpointOptions,
    evm::Node,
    keys::{EvmKeySource, read_keypair},
    svm::Cluster,
};
use concord_files::{X402Profile, parse_info};
use concord_registry::svm::Program;
use serde::Deserialize;
use serde_json::{Value, json};
use x402_types::proto::v2::PaymentRequirements;

use crate::{
    grants::{EvmGrants, GrantIssuers, SvmGrants},
    server::{Agent, GrantIssuer, InteractionLayer, LocalSigner, Options, SigningKey, SigningKeys},
    wire::ExternalPrefix,
};

/// Days that a grant is valid if nothing else is said, and at most (R41).
const GRANT_DAYS: u64 = 7;
const GRANT_DAYS_MAX: u64 = 30;

#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct ServeConfig {
    /// Address and port, such as 127.0.0.1:8402.
    pub listen: SocketAddr,
    /// Address and port of `/metrics`, which no buyer should reach. Off by default.
    #[serde(default)]
    pub metrics_listen: Option<SocketAddr>,
    /// The origin that buyers ask.
    pub public_url: Url,
    /// What a proxy in front removes from the start of the path, such as /api (R33).
    #[serde(default)]
    external_prefix: String,
    /// The facilitator that verifies and settles.
    pub facilitator: Url,
    /// The service that answers.
    pub upstream: Url,
    /// What is asked for: x402's payment requirements.
    pub offers: Vec<PaymentRequirements>,
    /// The agent's registrations, as a 402 announces them.
    registrations: Value,
    /// Where feedback can be submitted without gas.
    #[serde(default)]
    feedback_aggregator: Option<String>,
    /// The keys that sign.
    signers: Vec<SignerConfig>,
    /// Feedback grants for those who pay (R41), by the registry's chain. Off by default.
    #[serde(default)]
    grants: BTreeMap<ChainId, GrantConfig>,
}

/// A key: a file with it, and the time in which it may sign, as the registration file publishes it (R30).
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct SignerConfig {
    /// secp256k1: an encrypted JSON keystore.
    #[serde(default)]
    keystore: Option<PathBuf>,
    /// A file with its password.
    #[serde(default)]
    password_file: Option<PathBuf>,
    /// Ed25519: a Solana keypair file.
    #[serde(default)]
    keypair: Option<PathBuf>,
    valid_from: u64,
    #[serde(default)]
    valid_until: Option<u64>,
}

/// The registry that takes grants, and the one key that counts there (R7). It is never read from the
/// environment: the key that signs answers must not be taken for it.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
struct GrantConfig {
    rpc: String,
    /// EVM: the identity registry.
    #[serde(default)]
    identity: Option<Address>,
    /// EVM: the authorized reputation registry.
    #[serde(default)]
    authorized_reputation: Option<Address>,
    /// EVM: a keystore of the agent's owner, or of a key that the owner's contract accepts (ERC-1271).
    #[serde(default)]
    keystore: Option<PathBuf>,
    /// A file with its password.
    #[serde(default)]
    password_file: Option<PathBuf>,
    /// Solana: the program.
    #[serde(default)]
    program: Option<String>,
    /// Solana: a keypair file of the agent's feedback authority, or of its owner if none is set.
    #[serde(default)]
    keypair: Option<PathBuf>,
    /// How long a grant is valid.
    #[serde(default)]
    days: Option<u64>,
}

/// A field of the configuration, and what is wrong with it.
pub(super) type Malformed = (String, String);

fn at<E: ToString>(field: impl Into<String>) -> impl FnOnce(E) -> Malformed {
    let field = field.into();
    move |error| (field, error.to_string())
}

impl ServeConfig {
    /// The keys that sign, opened.
    pub fn signing_keys(&self) -> Result<Vec<SigningKey>, Malformed> {
        let mut keys = Vec::new();
        for (index, signer) in self.signers.iter().enumerate() {
            let key = signer.open().map_err(at(format!("signers[{index}]")))?;
            keys.push(SigningKey {
                signer: Arc::new(LocalSigner::new(key)),
                valid_from: signer.valid_from,
                valid_until: signer.valid_until,
            });
        }
        Ok(keys)
    }

    /// The layer around the paywall, which signs with these keys.
    pub fn interactions(&self, keys: Arc<SigningKeys>) -> Result<InteractionLayer, Malformed> {
        let mut info = json!({ "version": "1.0.0", "registrations": self.registrations });
        if let Some(aggregator) = &self.feedback_aggregator {
            info["feedbackAggregator"] = json!(aggregator);
        }
        let info = parse_info(info.to_string().as_bytes()).map_err(at("info"))?;
        let agent = Agent::new(info.into_view(), &X402Profile::ALL).map_err(at("info"))?;
        let prefix = ExternalPrefix::new(&self.external_prefix);
        let options = Options {
            external_prefix: prefix.map_err(at("externalPrefix"))?,
            grants: self.grants()?,
            ..Options::default()
        };
        Ok(InteractionLayer::with_options(agent, keys, options))
    }

    fn grants(&self) -> Result<Option<Arc<dyn GrantIssuer>>, Malformed> {
        let mut issuers = Vec::new();
        for (chain, grants) in &self.grants {
            let issuer = grants.issuer(chain);
            issuers
                .push(issuer.map_err(|(field, words)| (format!("grants.{chain}.{field}"), words))?);
        }
        Ok(if issuers.is_empty() {
            None
        } else {
            Some(Arc::new(GrantIssuers::new(issuers)))
        })
    }
}

impl SignerConfig {
    fn open(&self) -> Result<PreparedKey, String> {
        if let Some(path) = &self.keypair {
            let keypair = read_keypair(path).map_err(|error| error.to_string())?;
            return Ok(PreparedKey::ed25519(keypair.secret_bytes()));
        }
        let source = EvmKeySource {
            keystore: self.keystore.clone(),
            password_file: self.password_file.clone(),
        };
        let key = source.open().map_err(|error| error.to_string())?;
        let key =
            key.ok_or("has neither keystore nor keypair, and CONCORD_EVM_PRIVATE_KEY is not set")?;
        let secret = zeroize::Zeroizing::new(key.to_bytes().0);
        PreparedKey::secp256k1(&secret).map_err(|error| error.to_string())
    }
}

impl GrantConfig {
    fn issuer(&self, chain: &ChainId) -> Result<Arc<dyn GrantIssuer>, Malformed> {
        let days = self.days.unwrap_or(GRANT_DAYS);
        if !(1..=GRANT_DAYS_MAX).contains(&days) {
            let words = format!("{days} is not within 1 and {GRANT_DAYS_MAX} (R41)");
            return Err(("days".to_owned(), words));
        }
        let validity = Duration::from_secs(days * 24 * 60 * 60);
        match chain.namespace() {
            "eip155" => Ok(Arc::new(self.on_evm(chain)?.valid_for(validity))),
            "solana" => Ok(Arc::new(self.on_solana(chain)?.valid_for(validity))),
            other => {
                let words = format!("{other} is neither eip155 nor solana");
                Err(("chain".to_owned(), words))
            }
        }
    }

    fn on_evm(&self, chain: &ChainId) -> Result<EvmGrants, Malformed> {
        let source = EvmKeySource {
            keystore: Some(need("keystore", &self.keystore)?.clone()),
            password_file: self.password_file.clone(),
        };
        let key = source.open().map_err(at("keystore"))?;
        let node = Node::new(&EndpointOptions::new(&self.rpc)).map_err(at("rpc"))?;
        Ok(EvmGrants::new(
            node,
            chain.evm_number().map_err(at("chain"))?,
            *need("identity", &self.identity)?,
            *need("authorizedReputation", &self.authorized_reputation)?,
            Arc::new(need("keystore", &key)?.clone()),
        ))
    }

    fn on_solana(&self, chain: &ChainId) -> Result<SvmGrants, Malformed> {
        let key = read_keypair(need("keypair", &self.keypair)?).map_err(at("keypair"))?;
        let cluster = Cluster::new(&EndpointOptions::new(&self.rpc)).map_err(at("rpc"))?;
        let program = need("program", &self.program)?;
        let malformed = |_| {
            let words = "expected an address in base58".to_owned(); // DEP-66
            ("program".to_owned(), words)
        };
        let program = Program::new(program.parse().map_err(malformed)?);
        let network = chain.to_string();
        Ok(SvmGrants::new(cluster, &network, program, Arc::new(key)))
    }
}

fn need<'a, T>(field: &str, value: &'a Option<T>) -> Result<&'a T, Malformed> {
    let missing = || (field.to_owned(), "is missing".to_owned());
    value.as_ref().ok_or_else(missing)
}
