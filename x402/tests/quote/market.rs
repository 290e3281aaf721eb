//! A 402 answer, and registries, files and origins that answer what a test says.
use async_trait::async_trait;
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_canonical::{Word, word};
use concord_files::{RegistrationFile, RegistrationId, parse_registration};
use concord_x402::{
    quote::{
        Allowance, Asked, KnownRegistries, Origin, OriginProofs, Quote, QuoteReads, Refusal,
        SpendPolicy, quote,
    },
    verify::{AgentRecord, FileError, RegistrationFiles, Registries, Unavailable},
};
use http::HeaderMap;
use serde_json::{Value, json};

pub const REGISTRY: &str = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e";
pub const WALLET: &str = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
pub const OTHER: &str = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
const ASSET: &str = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";

pub struct Market {
    pub url: &'static str,
    pub required: Value,
    /// The header's name; `None` for no header.
    pub header: Option<&'static str>,
    /// What each registry says: JSON's null for no agent, `None` for no answer.
    pub agent: Option<Value>,
    pub file: Value,
    pub proof: Value,
    pub trusted: Vec<String>,
    pub allowed_network: &'static str,
    pub require_bound_origin: bool,
}

impl Market {
    pub fn honest() -> Self {
        let registration = json!({ "agentRegistry": REGISTRY, "agentId": "42" });
        let file = json!({ "registrations": [registration], "services": [] });
        Self {
            url: "https://agent.example/weather?city=London",
            required: json!({
                "x402Version": 2,
                "resource": { "url": "https://agent.example/weather" },
                "accepts": [{
                    "scheme": "exact", "network": "eip155:84532", "asset": ASSET, "payTo": WALLET,
                    "amount": "10000", "maxTimeoutSeconds": 300,
                }],
                "extensions": {
                    "8004-reputation": { "info": { "version": "1.0.0", "registrations": [registration] } },
                },
            }),
            header: Some("payment-required"),
            agent: Some(json!({ "wallet": WALLET, "uri": "https://agent.example/agent.json" })),
            proof: file.clone(),
            file,
            trusted: vec![REGISTRY.to_lowercase()],
            allowed_network: "eip155:84532",
            require_bound_origin: false,
        }
    }

    pub fn info(&mut self) -> &mut Value {
        &mut self.required["extensions"]["8004-reputation"]["info"]
    }

    pub fn record(&mut self) -> &mut Value {
        self.agent.as_mut().unwrap()
    }

    pub async fn quote(&self) -> Result<Quote, Refusal> {
        let mut headers = HeaderMap::new();
        if let Some(name) = self.header {
            let value = STANDARD.encode(self.required.to_string());
            headers.insert(name, value.parse().unwrap());
        }
        let policy = SpendPolicy {
            allowances: vec![Allowance {
                network: self.allowed_network.to_owned(),
                asset: ASSET.to_lowercase(),
                amount_max: word::from_u64(10_000),
            }],
            timeout_max: 300,
        };
        let mut registries = KnownRegistries::default();
        for registry in &self.trusted {
            registries.trust(registry).unwrap();
        }
        let asked = Asked {
            url: self.url,
            headers: &headers,
            policy: &policy,
            registries: &registries,
            require_bound_origin: self.require_bound_origin,
        };
        let reads = QuoteReads {
            registries: self,
            files: self,
            origins: self,
        };
        quote(&asked, reads).await
    }
}

fn read(file: &Value) -> Result<RegistrationFile, FileError> {
    match file.as_str() {
        Some("unavailable") => return Err(FileError::Unavailable("no answer".to_owned())),
        Some("mismatch") => return Err(FileError::Mismatch("another block".to_owned())),
        _ => {}
    }
    let parsed = parse_registration(file.to_string().as_bytes());
    let parsed = parsed.map_err(|error| FileError::Malformed(error.to_string()))?;
    Ok(parsed.into_view())
}

#[async_trait]
impl Registries for Market {
    async fn agent(
        &self,
        _: &RegistrationId,
        block: Option<u64>,
    ) -> Result<Option<AgentRecord>, Unavailable> {
        assert_eq!(block, None, "before a payment the latest state counts");
        let agent = self.agent.as_ref();
        let agent = agent.ok_or_else(|| Unavailable("no answer".to_owned()))?;
        Ok(agent.as_object().map(|agent| AgentRecord {
            block: block.unwrap_or(1),
            wallet: agent["wallet"].as_str().map(str::to_owned),
            is_wallet_contract: false,
            uri: agent["uri"].as_str().unwrap().to_owned(),
        }))
    }

    async fn is_signed_by_contract(
        &self,
        _: &RegistrationId,
        _: u64,
        _: &str,
        _: &Word,
        _: &[u8],
    ) -> Result<bool, Unavailable> {
        panic!("nothing is signed before a payment")
    }
}

#[async_trait]
impl RegistrationFiles for Market {
    async fn registration(&self, _: &str, _: bool) -> Result<RegistrationFile, FileError> {
        read(&self.file)
    }
}

#[async_trait]
impl OriginProofs for Market {
    async fn proof(&self, origin: &Origin) -> Result<RegistrationFile, FileError> {
        let expected = "https://agent.example:443/.well-known/agent-registration.json";
        assert_eq!(origin.proof_url(), expected);
        read(&self.proof)
    }
}
