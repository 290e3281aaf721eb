//! R53: what a reviewer says changes neither the decision nor what is read for it, nor the order of reads.
use crate::payload::{Draft, public_key};
use async_trait::async_trait;
use concord_aggregator::{
    AllowedAgents, Insiders, Refusal,
    admission::{Admission, Admitted},
    form::Form,
};
use concord_canonical::{
    Word,
    sign::{PreparedKey, PublicKey, address_of_public_key},
};
use concord_files::{RegistrationFile, RegistrationId, parse_registration};
use concord_x402::verify::{
    AgentRecord, FileError, Payment, Payments, RegistrationFiles, Registries, Transfer, Unavailable,
};
use proptest::prelude::*;
use std::{
    collections::BTreeSet,
    sync::{Arc, Mutex},
};

const REGISTRY: &str = "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e";
const WALLET: &str = "0x00000000000000000000000000000000000000aa";
const TOKEN: &str = "0x00000000000000000000000000000000000000bb";

/// What is wrong with a submission, apart from what it says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Fault {
    None,
    Reviewer,
    Registry,
    NoAgent,
    Signer,
    Unpaid,
    Failed,
    Insider,
    NodeDown,
}

const FAULTS: [Fault; 9] = [
    Fault::None,
    Fault::Reviewer,
    Fault::Registry,
    Fault::NoAgent,
    Fault::Signer,
    Fault::Unpaid,
    Fault::Failed,
    Fault::Insider,
    Fault::NodeDown,
];

/// A chain in memory that writes down what it is asked.
struct Ledger {
    fault: Fault,
    payer: String,
    reads: Mutex<Vec<String>>,
}

impl Ledger {
    fn note(&self, what: String) {
        self.reads.lock().unwrap().push(what);
    }
}

#[async_trait]
impl Registries for Ledger {
    async fn agent(
        &self,
        registration: &RegistrationId,
        block: Option<u64>,
    ) -> Result<Option<AgentRecord>, Unavailable> {
        self.note(format!("agent {} {block:?}", registration.agent_id));
        let record = AgentRecord {
            wallet: Some(WALLET.to_owned()),
            is_wallet_contract: false,
            uri: "https://agent.example/agent.json".to_owned(),
            block: block.unwrap_or(9),
        };
        match self.fault {
            Fault::NodeDown => Err(Unavailable("the node is down".to_owned())),
            Fault::NoAgent => Ok(None),
            _ => Ok(Some(record)),
        }
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
impl RegistrationFiles for Ledger {
    async fn registration(&self, uri: &str, fresh: bool) -> Result<RegistrationFile, FileError> {
        self.note(format!("file {uri} {fresh}"));
        let key = match self.fault {
            Fault::Signer => key(8),
            _ => key(9),
        };
        let file = serde_json::json!({
            "registrations": [{ "agentRegistry": REGISTRY, "agentId": "7" }],
            "signers": [{
                "publicKey": public_key(&key).trim_start_matches("0x"),
                "algorithm": "secp256k1", "validFrom": 1, "validUntil": null,
            }],
        });
        Ok(parse_registration(file.to_string().as_bytes())
            .unwrap()
            .into_view())
    }
}

#[async_trait]
impl Payments for Ledger {
    async fn payment(&self, task_ref: &str) -> Result<Option<Payment>, Unavailable> {
        self.note(format!("payment {task_ref}"));
        let mut amount = [0; 32];
        amount[31] = 1;
        let transfer = Transfer {
            asset: TOKEN.to_owned(),
            from: self.payer.clone(),
            to: WALLET.to_owned(),
            amount,
        };
        Ok(Some(Payment {
            succeeded: self.fault != Fault::Failed,
            block: Some(5),
            time: 1_769_428_800,
            transfers: match self.fault {
                Fault::Unpaid => Vec::new(),
                _ => vec![transfer],
            },
        }))
    }
}

#[async_trait]
impl Insiders for Ledger {
    async fn is_insider(&self, _: &RegistrationId, account: &str) -> Result<bool, Unavailable> {
        self.note(format!("insider {account}"));
        Ok(self.fault == Fault::Insider)
    }
}

fn key(seed: u8) -> PreparedKey {
    PreparedKey::secp256k1(&[seed; 32]).unwrap()
}

fn payer() -> String {
    let PublicKey::Secp256k1(public) = key(3).public_key() else {
        panic!("another key");
    };
    format!("0x{}", hex::encode(address_of_public_key(&public).unwrap()))
}

#[derive(Clone, Debug)]
struct Said {
    value: i128,
    decimals: u8,
    tags: [String; 2],
    comment: String,
}

fn said() -> impl Strategy<Value = Said> {
    let bound = (1i128 << 53) - 1;
    let tag = "[a-zA-Z0-9 \u{e4}\u{2603}-]{0,8}";
    (-bound..=bound, 0u8..=18, tag, tag, ".{0,300}").prop_map(
        |(value, decimals, tag1, tag2, comment)| Said {
            value,
            decimals,
            tags: [tag1, tag2],
            comment,
        },
    )
}

fn decide(fault: Fault, said: &Said) -> (Result<Admitted, Refusal>, Vec<String>) {
    let registry = match fault {
        Fault::Registry => "eip155:84532:0x0000000000000000000000000000000000000001",
        _ => REGISTRY,
    };
    let draft = Draft {
        registry: registry.to_owned(),
        agent_id: "7".to_owned(),
        task_ref: format!("eip155:84532:0x{}", "ab".repeat(32)),
        data_hash: [1; 32],
        agent_key: key(9),
        reviewer: format!("eip155:84532:{}", payer()),
        reviewer_key: match fault {
            Fault::Reviewer => key(4),
            _ => key(3),
        },
        value: said.value,
        decimals: said.decimals,
        tags: said.tags.clone(),
        comment: said.comment.clone(),
    };
    let ledger = Arc::new(Ledger {
        fault,
        payer: payer(),
        reads: Mutex::default(),
    });
    let admission = Admission {
        registries: ledger.clone(),
        files: ledger.clone(),
        payments: ledger.clone(),
        insiders: ledger.clone(),
        payment_chains: BTreeSet::from(["eip155:84532".to_owned()]),
        takes_unchecked: false,
        assets: vec![format!("eip155:84532:{TOKEN}")],
        served: vec![REGISTRY.to_owned()],
        agents: AllowedAgents::new(),
    };
    let form = Form::read(draft.json().to_string().as_bytes()).unwrap();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .build()
        .unwrap();
    let mut decision = runtime.block_on(admission.check(&form.claim, 1_769_428_900));
    if let Err(refusal) = &mut decision {
        refusal.message.clear(); // a signature's error shows the signer that it recovers
    }
    let reads = ledger.reads.lock().unwrap().clone();
    (decision, reads)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn r53_what_is_said_changes_nothing(one in said(), other in said()) {
        for fault in FAULTS {
            prop_assert_eq!(decide(fault, &one), decide(fault, &other), "{:?}", fault);
        }
    }
}

/// Without this the property above could hold for decisions that never differ.
#[test]
fn the_decisions_differ_by_what_is_wrong() {
    let praise = Said {
        value: 100,
        decimals: 0,
        tags: Default::default(),
        comment: String::new(),
    };
    let class = |fault| match decide(fault, &praise).0 {
        Ok(_) => "accepted".to_owned(),
        Err(refusal) => refusal.class,
    };
    let classes: Vec<String> = FAULTS.map(class).into();
    let expected = [
        "accepted",
        "BadSignature",
        "RegistryNotServed",
        "AgentNotFound",
        "SignerUnknown",
        "PaymentMismatch",
        "PaymentNotFound",
        "SelfFeedback",
        "Unavailable",
    ];
    assert_eq!(classes, expected);
}
