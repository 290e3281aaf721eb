//! Both chains, an agent on both, an agent on each alone, and x402's own facilitator.
use crate::peers::{
    cluster::{Cluster, NETWORK},
    files::Files,
    peer::{Peer, install},
};
use alloy::primitives::U256;
use concord_canonical::sign::{PreparedKey, PublicKey};
use concord_chain::fetch::{FetchOptions, Fetcher};
use concord_files::AGENT_WALLET;
use concord_registry::svm::Address;
use concord_testkit::chain::{self, Chain};
use concord_x402::{quote::FetchedFiles, verify::Chains};
use serde_json::{Value, json};
use solana_keypair::Signer;

pub const EVM_NETWORK: &str = "eip155:84532";
pub const PRICE: u64 = 10_000;
pub const ED25519_SEED: [u8; 32] = [8; 32];
pub const SECP256K1_SECRET: [u8; 32] = [9; 32];

/// A token that pays, and the route that it pays for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Token {
    Usdc,
    Spl,
    Token2022,
}

pub const TOKENS: [Token; 3] = [Token::Usdc, Token::Spl, Token::Token2022];

impl Token {
    pub fn route(self) -> &'static str {
        match self {
            Self::Usdc => "/usdc",
            Self::Spl => "/spl",
            Self::Token2022 => "/token-2022",
        }
    }

    pub fn network(self) -> &'static str {
        match self {
            Self::Usdc => EVM_NETWORK,
            _ => NETWORK,
        }
    }
}

/// The chains that an agent is registered on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Registered {
    Both,
    Evm,
    Solana,
}

pub struct World {
    pub evm: Chain,
    pub solana: Cluster,
    pub files: Files,
    pub reads: Chains,
    pub fetched: FetchedFiles,
    pub facilitator: Peer,
    both: [Value; 2],
    on_evm: Value,
    on_solana: Value,
}

fn hex_of(key: &PublicKey) -> String {
    match key {
        PublicKey::Secp256k1(key) => format!("0x{}", hex::encode(key)),
        PublicKey::Ed25519(key) => format!("0x{}", hex::encode(key)),
    }
}

pub fn ed25519() -> PreparedKey {
    PreparedKey::ed25519(&ED25519_SEED)
}

pub fn secp256k1() -> PreparedKey {
    PreparedKey::secp256k1(&SECP256K1_SECRET).unwrap()
}

/// The public key with which answers about payments on a chain are signed.
pub fn signer_on(network: &str) -> String {
    hex_of(&if network == NETWORK {
        ed25519().public_key()
    } else {
        secp256k1().public_key()
    })
}

impl World {
    pub async fn start() -> Self {
        install();
        let evm = Chain::start().await;
        let solana = Cluster::start().await;
        let files = Files::start().await;
        let on_chain =
            |account: String, id: String| json!({ "agentRegistry": account, "agentId": id });
        let evm_agent = |id: U256| on_chain(evm.registry_account(), id.to_string());
        let solana_agent = |mint: Address| on_chain(solana.registry_account(), mint.to_string());
        let both = [
            evm_agent(evm.register_agent(&files.url("both.json")).await),
            solana_agent(solana.register(0, &files.url("both.json"))),
        ];
        let on_evm = evm_agent(evm.register_agent(&files.url("evm.json")).await);
        let on_solana = solana_agent(solana.register(1, &files.url("solana.json")));
        let facilitator = Peer::start(
            "facilitator.mjs",
            &json!({
                "evm": { "network": EVM_NETWORK, "rpc": evm.url, "key": chain::hex_key(&evm.facilitator) },
                "solana": { "network": NETWORK, "rpc": solana.url, "key": hex::encode(solana.facilitator.secret_bytes()) },
            }),
        );
        let world = Self {
            reads: Chains {
                evm: evm.reads.clone(),
                svm: solana.reads.clone(),
            },
            fetched: Self::fetcher(),
            evm,
            solana,
            files,
            facilitator,
            both,
            on_evm,
            on_solana,
        };
        for (name, registered) in [
            ("both.json", Registered::Both),
            ("evm.json", Registered::Evm),
            ("solana.json", Registered::Solana),
        ] {
            let file = world.file(registered);
            world.files.publish(name, file);
        }
        world
    }

    /// Reads files past every cache.
    pub fn fetcher() -> FetchedFiles {
        let options = FetchOptions {
            allow_http: true,
            allow_private: true,
            ..FetchOptions::default()
        };
        FetchedFiles::new(Fetcher::new(options).unwrap())
    }

    pub fn registrations(&self, registered: Registered) -> Vec<Value> {
        match registered {
            Registered::Both => self.both.to_vec(),
            Registered::Evm => vec![self.on_evm.clone()],
            Registered::Solana => vec![self.on_solana.clone()],
        }
    }

    fn file(&self, registered: Registered) -> Value {
        let wallets = [
            format!("{EVM_NETWORK}:{}", self.evm.wallet),
            format!("{NETWORK}:{}", self.solana.owner.pubkey()),
        ];
        let signer = |key: PreparedKey, algorithm: &str| {
            json!({
                "publicKey": hex_of(&key.public_key()), "algorithm": algorithm, "validFrom": 1, "validUntil": null,
            })
        };
        json!({
            "registrations": self.registrations(registered),
            "services": wallets.map(|it| json!({ "name": AGENT_WALLET, "endpoint": it })),
            "signers": [signer(secp256k1(), "secp256k1"), signer(ed25519(), "ed25519")],
        })
    }

    pub fn pay_to(&self, token: Token) -> String {
        match token {
            Token::Usdc => self.evm.wallet.to_string(),
            _ => self.solana.owner.pubkey().to_string(),
        }
    }

    pub fn asset(&self, token: Token) -> String {
        match token {
            Token::Usdc => self.evm.token.to_string(),
            Token::Spl => self.solana.spl.to_string(),
            Token::Token2022 => self.solana.token_2022.to_string(),
        }
    }

    pub fn payer(&self, token: Token) -> String {
        match token {
            Token::Usdc => self.evm.payer.address().to_string(),
            _ => self.solana.payer.pubkey().to_string(),
        }
    }

    /// What the agent's wallet has received.
    pub async fn received(&self, token: Token) -> u64 {
        let wallet = self.solana.owner.pubkey();
        match token {
            Token::Usdc => self.evm.balance_of_wallet().await,
            Token::Spl => self.solana.balance(&wallet, &self.solana.spl),
            Token::Token2022 => self.solana.balance(&wallet, &self.solana.token_2022),
        }
    }

    /// A paid service on `@x402/express`, which signs with @noble.
    pub fn express(&self) -> Peer {
        let offer = |token: Token| {
            let mut price = json!({ "asset": self.asset(token), "amount": PRICE.to_string() });
            if token == Token::Usdc {
                price["extra"] = json!({ "name": "USDC", "version": "2" });
            }
            json!({
                "route": token.route(), "scheme": "exact", "network": token.network(),
                "payTo": self.pay_to(token), "price": price,
            })
        };
        let [evm, solana] = &self.both;
        let signer = |algorithm: &str, secret: [u8; 32]| json!({ "algorithm": algorithm, "secret": hex::encode(secret) });
        Peer::start(
            "server.mjs",
            &json!({
                "facilitator": self.facilitator.url,
                "offers": TOKENS.map(offer),
                "agents": {
                    "eip155": { "agent": evm, "signer": signer("secp256k1", SECP256K1_SECRET) },
                    "solana": { "agent": solana, "signer": signer("ed25519", ED25519_SEED) },
                },
            }),
        )
    }
}
