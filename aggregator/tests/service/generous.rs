//! An aggregator in front of chains that agree with everything.
use crate::payload::Draft;
use async_trait::async_trait;
use concord_aggregator::{
    Aggregator, AllowedAgents, Insiders, LanePlace, Limits,
    admission::Admission,
    store::{Location, Store},
};
use concord_canonical::{
    Word,
    sign::{PreparedKey, PublicKey, address_of_public_key},
    word,
};
use concord_files::{RegistrationFile, RegistrationId, parse_registration};
use concord_sql::Engine;
use concord_x402::{
    feedback::{FileFolder, FileStore},
    verify::{
        AgentRecord, FileError, Payment, Payments, RegistrationFiles, Registries, Transfer,
        Unavailable,
    },
};
use serde_json::json;
use std::{
    collections::BTreeSet,
    env,
    path::Path,
    sync::{Arc, OnceLock},
};

const RECEIPT_SEED: [u8; 32] = [77; 32];
pub const REGISTRY: &str = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e";
const WALLET: &str = "0x00000000000000000000000000000000000000aa";
const TOKEN: &str = "0x00000000000000000000000000000000000000bb";
/// A midnight (UTC): 20,000 days.
pub const DAY: u64 = 1_728_000_000;

/// Every agent exists, and everybody paid for everything.
pub struct Generous;

pub fn key(seed: u8) -> PreparedKey {
    PreparedKey::secp256k1(&[seed; 32]).unwrap()
}

/// The chains' answers must cost nothing beside what is measured: each is made once.
pub fn address(seed: u8) -> String {
    static MADE: [OnceLock<String>; 256] = [const { OnceLock::new() }; 256];
    let made = MADE[usize::from(seed)].get_or_init(|| {
        let PublicKey::Secp256k1(public) = key(seed).public_key() else {
            panic!("another key");
        };
        format!("0x{}", hex::encode(address_of_public_key(&public).unwrap()))
    });
    made.clone()
}

#[async_trait]
impl Registries for Generous {
    async fn agent(
        &self,
        _: &RegistrationId,
        block: Option<u64>,
    ) -> Result<Option<AgentRecord>, Unavailable> {
        Ok(Some(AgentRecord {
            wallet: Some(WALLET.to_owned()),
            is_wallet_contract: false,
            uri: "https://agent.example/agent.json".to_owned(),
            block: block.unwrap_or(9),
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
        unreachable!("the wallet is not a contract")
    }
}

#[async_trait]
impl RegistrationFiles for Generous {
    async fn registration(&self, _: &str, _: bool) -> Result<RegistrationFile, FileError> {
        let registrations: Vec<_> = (1..=3)
            .map(|id| json!({ "agentRegistry": REGISTRY, "agentId": id.to_string() }))
            .collect();
        static SIGNER: OnceLock<String> = OnceLock::new();
        let signer = SIGNER.get_or_init(|| {
            let PublicKey::Secp256k1(public) = key(9).public_key() else {
                panic!("another key");
            };
            hex::encode(public)
        });
        let file = json!({
            "registrations": registrations,
            "signers": [{
                "publicKey": signer,
                "algorithm": "secp256k1", "validFrom": 1, "validUntil": null,
            }],
        });
        Ok(parse_registration(file.to_string().as_bytes())
            .unwrap()
            .into_view())
    }
}

#[async_trait]
impl Payments for Generous {
    async fn payment(&self, _: &str) -> Result<Option<Payment>, Unavailable> {
        let mut amount = [0; 32];
        amount[31] = 1;
        let transfers = (1..=4).map(|seed| Transfer {
            asset: TOKEN.to_owned(),
            from: address(seed),
            to: WALLET.to_owned(),
            amount,
        });
        Ok(Some(Payment {
            succeeded: true,
            block: Some(5),
            time: DAY,
            transfers: transfers.collect(),
        }))
    }
}

#[async_trait]
impl Insiders for Generous {
    async fn is_insider(&self, _: &RegistrationId, _: &str) -> Result<bool, Unavailable> {
        Ok(false)
    }
}

/// Where the folder's store is. `CONCORD_TEST_POSTGRES` may have the address of a server: then the folder has a
/// database there, which is made the first time.
pub fn location(folder: &Path) -> Location {
    let Ok(server) = env::var("CONCORD_TEST_POSTGRES") else {
        return Location::File(folder.join("aggregator.sqlite"));
    };
    let name = hex::encode(folder.file_name().unwrap().as_encoded_bytes());
    let at = |name: &str| -> Location { format!("{server}/{name}").parse().unwrap() };
    let mut first = at("postgres").open().unwrap();
    let _ = first.script(&format!("CREATE DATABASE of_{name}")); // unless it is there
    at(&format!("of_{name}"))
}

pub fn aggregator(folder: &Path, limits: Limits, agents: AllowedAgents) -> Aggregator {
    let key = PreparedKey::ed25519(&RECEIPT_SEED);
    let store = Store::open_at(&location(folder), key).unwrap();
    aggregator_with(store, folder, limits, agents)
}

/// The lane that submits.
pub fn place() -> LanePlace {
    LanePlace {
        registry: REGISTRY.to_owned(),
        client: "eip155:84532:0x70997970C51812dc3A010C7d01b50e0d17dc79C8".to_owned(),
        settlement: "eip155:84532:0x8004B663056A597Dffe9eCcC1965A193B7388713".to_owned(),
    }
}

pub fn aggregator_with(
    store: Store,
    folder: &Path,
    limits: Limits,
    agents: AllowedAgents,
) -> Aggregator {
    let admission = Admission {
        registries: Arc::new(Generous),
        files: Arc::new(Generous),
        payments: Arc::new(Generous),
        insiders: Arc::new(Generous),
        payment_chains: BTreeSet::from(["eip155:84532".to_owned()]),
        takes_unchecked: false,
        assets: vec![format!("eip155:84532:{TOKEN}")],
        served: vec![REGISTRY.to_owned()],
        agents,
    };
    let files: Arc<dyn FileStore> = Arc::new(FileFolder::ipfs(&folder.join("files")));
    Aggregator::new(store, admission, files, vec![place()]).with_limits(limits)
}

/// The `payment`-th purchase of a reviewer at an agent.
pub fn review(payment: u64, reviewer: u8, agent: u8) -> Draft {
    Draft {
        registry: REGISTRY.to_owned(),
        agent_id: agent.to_string(),
        task_ref: format!("eip155:84532:0x{}", hex::encode(word::from_u64(payment))),
        data_hash: [1; 32],
        agent_key: key(9),
        reviewer: format!("eip155:84532:{}", address(reviewer)),
        reviewer_key: key(reviewer),
        value: 95,
        decimals: 0,
        tags: ["x402-resource-delivered", "proof-of-participation"].map(str::to_owned),
        comment: String::new(),
    }
}
