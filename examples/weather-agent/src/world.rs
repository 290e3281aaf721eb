//! Two development chains, one agent registered on both, and what a buyer needs to know.
use crate::{
    Failed,
    evm::{CHAIN_ID, Evm, PRICE},
    solana::{NETWORK, Solana},
};
use concord_canonical::{caip::AccountId, sign::PublicKey};
use concord_chain::{atomic_file, keys::Keypair};
use concord_files::{
    AGENT_WALLET, AgentId, Algorithm, Extra, REGISTRATION_TYPE, Registration, RegistrationFile,
    Service, Signer,
};
use serde_json::{Value, json};
use std::path::PathBuf;

pub struct World {
    pub evm: Evm,
    solana: Solana,
    origin: String,
    /// RFC 8785, as it is published.
    pub registration_file: String,
}

fn root() -> PathBuf {
    let root = PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..");
    root.canonicalize().unwrap_or(root)
}

/// What the buyer's commands read and write.
fn folder() -> PathBuf {
    root().join("target/weather-agent")
}

impl World {
    /// Starts the chains and registers the agent, whose file is served at the origin.
    pub async fn start(origin: &str, signer: &PublicKey) -> Result<Self, Failed> {
        let uri = format!("{origin}/.well-known/agent-registration.json");
        let evm = Evm::start(&root(), &uri).await?;
        let solana = Solana::start(&root(), &uri).await?;
        let mut world = Self {
            evm,
            solana,
            origin: origin.to_owned(),
            registration_file: String::new(),
        };
        world.registration_file = world.file(*signer)?.to_canonical()?;
        Ok(world)
    }

    fn places(&self) -> [(String, String); 2] {
        let (evm, solana) = (&self.evm, &self.solana);
        [
            (evm.registry(), evm.agent_id.to_string()),
            (solana.registry(), solana.mint.to_string()),
        ]
    }

    /// The registrations, as a 402 announces them.
    pub fn registrations(&self) -> Value {
        let entry =
            |(registry, id): &(String, String)| json!({ "agentRegistry": registry, "agentId": id });
        self.places().iter().map(entry).collect()
    }

    fn file(&self, signer: PublicKey) -> Result<RegistrationFile, Failed> {
        let service = |name: &str, endpoint: String| Service {
            name: name.to_owned(),
            endpoint,
            version: None,
            extra: Extra::default(),
        };
        let mut registrations = Vec::new();
        for (registry, id) in self.places() {
            let agent_id = AgentId::parse(&AccountId::parse(&registry)?, &id)?;
            registrations.push(Registration {
                agent_id: Some(agent_id),
                agent_registry: registry,
            });
        }
        Ok(RegistrationFile {
            file_type: Some(REGISTRATION_TYPE.to_owned()),
            name: Some("Weather".to_owned()),
            description: Some("The temperature of a city, signed".to_owned()),
            services: vec![
                service("web", format!("{}/weather", self.origin)),
                service(
                    AGENT_WALLET,
                    format!("eip155:{CHAIN_ID}:{}", self.evm.wallet()),
                ),
            ],
            x402_support: Some(true),
            active: Some(true),
            registrations,
            signers: vec![Signer {
                public_key: signer,
                algorithm: Algorithm::of_key(&signer),
                valid_from: 1,
                valid_until: None,
                comment: None,
                extra: Extra::default(),
            }],
            ..RegistrationFile::default()
        })
    }

    /// A file of shell variables for the buyer's commands.
    pub fn environment(&self) -> PathBuf {
        folder().join("env")
    }

    /// Writes the buyer's configuration, the buyer's development keys, and the variables that name them.
    pub fn write_environment(&self) -> Result<(), Failed> {
        let folder = folder();
        let _ = std::fs::remove_dir_all(&folder); // purchases of chains that are gone
        let network = format!("eip155:{CHAIN_ID}");
        let [(registry, agent_id), (solana_registry, mint)] = self.places();
        let config = json!({
            "chains": {
                (network.clone()): {
                    "rpc": self.evm.url,
                    "identity": self.evm.identity,
                    "reputation": self.evm.reputation,
                },
                NETWORK: { "rpc": self.solana.url(), "program": self.solana.program.id().to_string() },
            },
            "trust": [registry, solana_registry],
            "allow": [{ "network": network, "asset": self.evm.token, "amountMax": PRICE.to_string() }],
            "fetch": { "allowHttp": true, "allowPrivate": true },
        });
        let config_file = folder.join("buyer.json");
        atomic_file::write_json(&config_file, &config)?;
        let keypair_file = folder.join("buyer-solana.json");
        atomic_file::write_private_json(&keypair_file, &bytes_of(&self.solana.buyer))?;
        let key = hex::encode(self.evm.buyer.to_bytes());
        let variables = [
            ("CONCORD_X402_CONFIG", config_file.display().to_string()),
            (
                "CONCORD_X402_EVIDENCE",
                folder.join("purchases").display().to_string(),
            ),
            ("CONCORD_EVM_PRIVATE_KEY", key),
            ("CONCORD_SOLANA_KEYPAIR", keypair_file.display().to_string()),
            ("FILES", folder.join("files").display().to_string()),
            ("WEATHER", format!("{}/weather?city=London", self.origin)),
            ("REGISTRY", registry),
            ("AGENT_ID", agent_id),
            ("SOLANA_REGISTRY", solana_registry),
            ("MINT", mint),
        ];
        let lines: Vec<_> = (variables
            .iter()
            .map(|(name, value)| format!("export {name}='{value}'\n")))
        .collect();
        Ok(atomic_file::write_private(
            &self.environment(),
            lines.concat().as_bytes(),
        )?)
    }
}

/// As solana-keygen writes it.
fn bytes_of(key: &Keypair) -> Vec<u8> {
    key.to_bytes().to_vec()
}
