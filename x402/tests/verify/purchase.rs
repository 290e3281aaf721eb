//! A vector's purchase, with registries, files and chains that answer what the vector says.
use async_trait::async_trait;
use concord_canonical::{Word, word};
use concord_files::{RegistrationFile, RegistrationId, parse_registration};
use concord_x402::{
    verify::{
        self, AgentRecord, FileError, PaidExchange, Payment, Payments, Reads, RegistrationFiles,
        Registries, Report, Transfer, Unavailable,
    },
    wire::{PAYMENT_RESPONSE, PaymentRequired},
};
use http::{HeaderMap, HeaderName};
use serde_json::{Value, json};
use std::sync::Mutex;

/// The settlement's block in every vector.
pub const BLOCK: u64 = 7;

pub struct Purchase {
    vector: Value,
    required: PaymentRequired,
    headers: HeaderMap,
    /// The registration that was checked before the payment: the first that is announced, unless a test says another.
    pub checked: RegistrationId,
    /// The files that were asked for: whether past every cache.
    pub fresh: Mutex<Vec<bool>>,
    /// What the second reading of the file returns, if it differs.
    pub renewed: Option<Value>,
    /// The blocks at which the agent was read.
    pub blocks: Mutex<Vec<Option<u64>>>,
}

impl Purchase {
    pub fn of(vector: &Value) -> Self {
        let required = json!({
            "x402Version": 2,
            "accepts": [vector["offer"]],
            "extensions": vector["announced"],
        });
        let mut headers = HeaderMap::new();
        for value in vector["headers"].as_array().unwrap() {
            let name: HeaderName = PAYMENT_RESPONSE.parse().unwrap();
            headers.append(name, value.as_str().unwrap().parse().unwrap());
        }
        let required = PaymentRequired::parse(&required.to_string()).unwrap();
        let announced = required.reputation().unwrap();
        Self {
            vector: vector.clone(),
            checked: announced[0].view.registrations[0].clone(),
            required,
            headers,
            fresh: Mutex::default(),
            renewed: None,
            blocks: Mutex::default(),
        }
    }

    fn text(&self, key: &str) -> &str {
        self.vector[key].as_str().unwrap()
    }
}

pub async fn verify(purchase: &Purchase) -> Report {
    let announced = purchase.required.reputation().unwrap();
    let exchange = PaidExchange {
        target: purchase.text("target"),
        request_body: purchase.text("request").as_bytes(),
        response_body: purchase.text("response").as_bytes(),
        headers: &purchase.headers,
        offer: &purchase.required.accepts[0],
        payer: purchase.text("payer"),
        announced: &announced,
        agent: &purchase.checked,
    };
    let reads = Reads {
        registries: purchase,
        files: purchase,
        payments: purchase,
    };
    verify::verify(&exchange, reads, purchase.vector["live"].as_u64()).await
}

fn is_down(answer: &Value) -> bool {
    answer == "unavailable"
}

#[async_trait]
impl Registries for Purchase {
    async fn agent(
        &self,
        _: &RegistrationId,
        block: Option<u64>,
    ) -> Result<Option<AgentRecord>, Unavailable> {
        self.blocks.lock().unwrap().push(block);
        let agent = &self.vector["agent"];
        if is_down(agent) {
            return Err(Unavailable("no answer".to_owned()));
        }
        Ok(agent.as_object().map(|agent| AgentRecord {
            block: block.unwrap_or(1),
            wallet: agent["wallet"].as_str().map(str::to_owned),
            is_wallet_contract: agent["is_contract"].as_bool().unwrap(),
            uri: agent["uri"].as_str().unwrap().to_owned(),
        }))
    }

    async fn is_signed_by_contract(
        &self,
        _: &RegistrationId,
        block: u64,
        wallet: &str,
        _: &Word,
        _: &[u8],
    ) -> Result<bool, Unavailable> {
        assert_eq!(wallet, self.vector["agent"]["wallet"]);
        assert_eq!(block, BLOCK, "after the block of the payment");
        Ok(self.vector["contract_accepts"]
            .as_bool()
            .expect("no contract is asked"))
    }
}

#[async_trait]
impl RegistrationFiles for Purchase {
    async fn registration(&self, uri: &str, fresh: bool) -> Result<RegistrationFile, FileError> {
        assert_eq!(uri, self.vector["agent"]["uri"]);
        self.fresh.lock().unwrap().push(fresh);
        let file = match &self.renewed {
            Some(renewed) if fresh => renewed,
            _ => &self.vector["file"],
        };
        if is_down(file) {
            return Err(FileError::Unavailable("no answer".to_owned()));
        }
        let parsed = parse_registration(file.to_string().as_bytes());
        let parsed = parsed.map_err(|error| FileError::Malformed(error.to_string()))?;
        Ok(parsed.into_view())
    }
}

#[async_trait]
impl Payments for Purchase {
    async fn payment(&self, _: &str) -> Result<Option<Payment>, Unavailable> {
        let payment = &self.vector["payment"];
        if is_down(payment) {
            return Err(Unavailable("no answer".to_owned()));
        }
        let text = |it: &Value| it.as_str().unwrap().to_owned();
        let transfer = |it: &Value| Transfer {
            asset: text(&it["asset"]),
            from: text(&it["from"]),
            to: text(&it["to"]),
            amount: word::parse_decimal("amount", it["amount"].as_str().unwrap()).unwrap(),
        };
        Ok(payment.as_object().map(|payment| Payment {
            succeeded: payment["succeeded"].as_bool().unwrap(),
            block: Some(BLOCK),
            time: payment["time"].as_u64().unwrap(),
            transfers: payment["transfers"]
                .as_array()
                .unwrap()
                .iter()
                .map(transfer)
                .collect(),
        }))
    }
}
