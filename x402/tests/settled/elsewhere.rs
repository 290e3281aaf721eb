//! An agent that is registered on Solana too, and what its file there says.
use axum::{Router, routing::get};
use concord_chain::{
    EndpointOptions, Signer,
    evm::Node,
    fetch::{FetchOptions, Fetcher},
    svm::Cluster,
};
use concord_testkit::chain::{CHAIN_ID, Chain};
use concord_testkit::cluster::{NETWORK, Solana};
use concord_x402::{
    quote::{FetchedFiles, QuoteReads},
    verify::{Chains, EvmChains, SvmChains},
};
use serde_json::{Value, json};

/// What a reviewer reads on both chains, and of hosts on this machine.
pub struct Both {
    chains: Chains,
    files: FetchedFiles,
}

impl Both {
    pub async fn at(evm_url: &str, svm_url: &str) -> Self {
        let (mut evm, mut svm) = (EvmChains::default(), SvmChains::default());
        let node = Node::new(&EndpointOptions::new(evm_url)).unwrap();
        evm.add(CHAIN_ID, node).await.unwrap();
        let cluster = Cluster::new(&EndpointOptions::new(svm_url)).unwrap();
        svm.add(&NETWORK.parse().unwrap(), cluster).await.unwrap();
        let options = FetchOptions {
            allow_http: true,
            allow_private: true,
            ..FetchOptions::default()
        };
        Self {
            chains: Chains { evm, svm },
            files: FetchedFiles::new(Fetcher::new(options).unwrap()),
        }
    }

    pub fn reads(&self) -> QuoteReads<'_> {
        QuoteReads {
            registries: &self.chains,
            files: &self.files,
            origins: &self.files,
        }
    }
}

/// The agent's registrations: the one that is verified before the payment, and the one on Solana.
pub fn registrations(chain: &Chain, solana: &Solana) -> [Value; 2] {
    let on_solana = solana.registration();
    [
        json!({ "agentRegistry": chain.registry_account(), "agentId": chain.agent_id.to_string() }),
        json!({
            "agentRegistry": on_solana.agent_registry, "agentId": on_solana.agent_id.to_string(),
        }),
    ]
}

/// Serves a registration file of the agent on Solana, and says so there.
pub async fn publish(solana: &Solana, registrations: &[Value]) {
    let file = json!({ "registrations": registrations }).to_string();
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let uri = format!("http://{}/agent.json", listener.local_addr().unwrap());
    let routes = Router::new().route("/agent.json", get(async || file));
    tokio::spawn(async move { axum::serve(listener, routes).await });
    set_uri(solana, &uri).await;
}

pub async fn set_uri(solana: &Solana, uri: &str) {
    let owner = solana.owner.address();
    let set = solana.program.set_agent_uri(owner, solana.mint, uri);
    solana.send(vec![set], &[&solana.owner]).await;
}
