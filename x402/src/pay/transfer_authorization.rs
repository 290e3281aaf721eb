use alloy::{
    primitives::{Address, B256, Signature, U256},
    sol,
    sol_types::{Eip712Domain, SolStruct},
};
use concord_canonical::{
    caip::{ChainId, EIP155},
    json::{self, Value},
};
use concord_files::RawJson;
use serde::{Deserialize, Deserializer, Serialize, Serializer, de::Error as _};
use serde_json::json;

use super::OfferUnpayable;
use crate::wire::Offer;

/// Seconds before now from which an authorization is valid, as both standard clients write it: a chain's
/// clock may be behind.
const BACKDATED: u64 = 600;

sol! {
    /// EIP-3009's message.
    #[derive(Debug)]
    struct TransferWithAuthorization {
        address from;
        address to;
        uint256 value;
        uint256 validAfter;
        uint256 validBefore;
        bytes32 nonce;
    }
}

/// The EIP-712 domain of a token.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TokenDomain {
    /// As the offer's `extra` states it. A wrong one only makes the signature worthless.
    pub name: String,
    /// As the offer's `extra` states it.
    pub version: String,
    /// That of the offer's network.
    pub chain_id: u64,
    /// The offer's asset.
    pub verifying_contract: Address,
}

/// What the payer signs: EIP-3009's `TransferWithAuthorization`. The token takes each nonce once.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferAuthorization {
    /// The token.
    pub domain: TokenDomain,
    /// Who pays.
    pub from: Address,
    /// Who is paid.
    pub to: Address,
    /// In the token's smallest unit.
    #[serde(serialize_with = "to_decimal", deserialize_with = "from_decimal")]
    pub value: U256,
    /// Valid after this second.
    pub valid_after: u64,
    /// Valid before this second.
    pub valid_before: u64,
    /// Random, so that no two authorizations share it.
    pub nonce: B256,
}

impl TransferAuthorization {
    /// The authorization that pays an offer, valid until `now` and the offer's `maxTimeoutSeconds`.
    ///
    /// # Errors
    /// [`OfferUnpayable`].
    pub fn new(
        offer: &Offer,
        from: Address,
        nonce: B256,
        now: u64,
    ) -> Result<Self, OfferUnpayable> {
        if offer.scheme != "exact" {
            return Err(OfferUnpayable::new("scheme", &offer.scheme, "exact"));
        }
        let value = offer.amount.parse();
        Ok(Self {
            domain: domain_of(offer)?,
            from,
            to: address("payTo", &offer.pay_to)?,
            value: value
                .map_err(|_| OfferUnpayable::new("amount", &offer.amount, "a decimal uint256"))?,
            valid_after: now.saturating_sub(BACKDATED),
            valid_before: now.saturating_add(offer.max_timeout_seconds),
            nonce,
        })
    }

    /// The message, for signers that show it.
    #[must_use]
    pub fn message(&self) -> TransferWithAuthorization {
        TransferWithAuthorization {
            from: self.from,
            to: self.to,
            value: self.value,
            validAfter: U256::from(self.valid_after),
            validBefore: U256::from(self.valid_before),
            nonce: self.nonce,
        }
    }

    /// The message's domain.
    #[must_use]
    pub fn eip712_domain(&self) -> Eip712Domain {
        let TokenDomain { name, version, .. } = &self.domain;
        Eip712Domain::new(
            Some(name.clone().into()),
            Some(version.clone().into()),
            Some(U256::from(self.domain.chain_id)),
            Some(self.domain.verifying_contract),
            None,
        )
    }

    /// The EIP-712 digest that is signed.
    #[must_use]
    pub fn digest(&self) -> B256 {
        self.message().eip712_signing_hash(&self.eip712_domain())
    }

    /// The chain, CAIP-2.
    #[must_use]
    pub fn network(&self) -> String {
        format!("{EIP155}:{}", self.domain.chain_id)
    }

    /// The payment's `payload`, as the scheme `exact` has it; `None` if it is not JSON.
    #[must_use]
    pub fn payload(&self, signature: &Signature) -> Option<RawJson> {
        let payload = json!({
            "signature": alloy::primitives::hex::encode_prefixed(signature.as_bytes()),
            "authorization": {
                "from": self.from.to_string(),
                "to": self.to.to_string(),
                "value": self.value.to_string(),
                "validAfter": self.valid_after.to_string(),
                "validBefore": self.valid_before.to_string(),
                "nonce": self.nonce.to_string(),
            },
        });
        RawJson::parse(&payload.to_string()).ok()
    }
}

/// Name and version are the server's to say. Chain and contract are those that were checked.
fn domain_of(offer: &Offer) -> Result<TokenDomain, OfferUnpayable> {
    let chain = ChainId::parse(&offer.network).ok();
    let chain = chain.filter(|it| it.namespace() == EIP155);
    let chain_id = chain.and_then(|it| it.reference().parse().ok());
    let extra = offer.extra.as_ref().map_or("{}", RawJson::as_str);
    let extra = json::parse(extra).ok();
    let member = |key: &str| {
        let value = extra.as_ref().and_then(|it| it.get(key));
        value.and_then(Value::as_str).map(str::to_owned)
    };
    if let Some(method) = member("assetTransferMethod").filter(|it| it != "eip3009") {
        return Err(OfferUnpayable::new(
            "extra.assetTransferMethod",
            &method,
            "eip3009",
        ));
    }
    let missing = |field| OfferUnpayable::new(field, "missing", "the token's EIP-712 domain");
    Ok(TokenDomain {
        name: member("name").ok_or_else(|| missing("extra.name"))?,
        version: member("version").ok_or_else(|| missing("extra.version"))?,
        chain_id: chain_id.ok_or_else(|| {
            OfferUnpayable::new("network", &offer.network, "an EVM chain below 2^64")
        })?,
        verifying_contract: address("asset", &offer.asset)?,
    })
}

fn address(field: &'static str, text: &str) -> Result<Address, OfferUnpayable> {
    let parsed = text.parse();
    parsed.map_err(|_| OfferUnpayable::new(field, text, "an EVM address"))
}

fn to_decimal<S: Serializer>(value: &U256, serializer: S) -> Result<S::Ok, S::Error> {
    serializer.serialize_str(&value.to_string())
}

fn from_decimal<'de, D: Deserializer<'de>>(deserializer: D) -> Result<U256, D::Error> {
    let text = String::deserialize(deserializer)?;
    U256::from_str_radix(&text, 10).map_err(D::Error::custom)
}
