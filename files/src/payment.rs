//! Proof of payment, in PROFILE's wording (`proof_of_payment`) and BP's (`proofOfPayment`).

use concord_canonical::caip::{ChainId, EIP155, TaskRef};
use serde::Serialize;

use crate::{
    Extra,
    error::{Error, Rule},
    mapping::{MappingKind, Mappings},
    reader::{Fields, Node, address, text, timestamp, u53},
    timestamp::Timestamp,
};

/// The receipt of a payment. A file only claims it: on chain it may not exist.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct ProofOfPayment {
    /// The payer: a CAIP-10 id, or an address alone.
    pub from_address: String,
    /// The payee: a CAIP-10 id, or an address alone.
    pub to_address: String,
    /// The chain of the payment.
    pub chain_id: ChainReference,
    /// The transaction: `0x` and 64 hex digits, or base58 of 64 bytes.
    pub tx_hash: String,
    /// The amount in the token's smallest unit.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub amount: Option<String>,
    /// The token's symbol.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub currency: Option<String>,
    /// The token: a CAIP-10 id, or an address alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token_address: Option<String>,
    /// The payment protocol, such as `x402`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub protocol: Option<String>,
    /// When it was paid.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub timestamp: Option<Timestamp>,
    /// The invoice that it settles.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub invoice_id: Option<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

/// A chain as files name it: a number in PROFILE, decimal text in BP, or a CAIP-2 id. The form is kept
/// (R37).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(untagged)]
pub enum ChainReference {
    /// An EVM chain id.
    Number(u64),
    /// An EVM chain id in decimal, or a CAIP-2 id.
    Text(String),
}

impl ChainReference {
    /// The CAIP-2 id.
    #[must_use]
    pub fn caip2(&self) -> String {
        match self {
            Self::Number(number) => format!("{EIP155}:{number}"),
            Self::Text(text) if text.contains(':') => text.clone(),
            Self::Text(text) => format!("{EIP155}:{text}"),
        }
    }

    /// R37: a number or text, whichever the dialect writes; the other one is noted.
    fn read(node: &Node<'_>, writes: ChainForm, notes: &mut Mappings) -> Result<Self, Error> {
        let is_number = node.value.as_number().is_some();
        let chain = if is_number {
            Self::Number(u53(node)?)
        } else {
            Self::Text(text(node)?)
        };
        ChainId::parse(&chain.caip2()).map_err(|error| node.form(error))?;
        match (writes, is_number) {
            (ChainForm::Number, false) => notes.note(MappingKind::ChainIdText, &node.path),
            (ChainForm::Text, true) => notes.note(MappingKind::ChainIdNumber, &node.path),
            _ => {}
        }
        Ok(chain)
    }
}

/// How a dialect writes `chainId`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum ChainForm {
    Number,
    Text,
}

/// Proof of payment under the key that the file has; the key is kept (R37).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
pub enum PaymentField {
    /// PROFILE's key.
    #[serde(rename = "proof_of_payment")]
    Profile(ProofOfPayment),
    /// ERC-8004's and BP's key.
    #[serde(rename = "proofOfPayment")]
    Standard(ProofOfPayment),
}

impl PaymentField {
    /// The proof.
    #[must_use]
    pub fn proof(&self) -> &ProofOfPayment {
        match self {
            Self::Profile(proof) | Self::Standard(proof) => proof,
        }
    }

    /// Reads either key. A dialect writes the key that belongs to its form of `chainId`.
    pub(crate) fn read(
        fields: &mut Fields<'_>,
        writes: ChainForm,
        notes: &mut Mappings,
    ) -> Result<Option<Self>, Error> {
        let profile = fields.optional("proof_of_payment", notes);
        let standard = fields.optional("proofOfPayment", notes);
        let (node, is_profile) = match (profile, standard) {
            (Some(first), Some(second)) => {
                let other = first.path;
                return Err(Error::new(second.path, Rule::Exclusive { other }));
            }
            (Some(node), None) => (node, true),
            (None, Some(node)) => (node, false),
            (None, None) => return Ok(None),
        };
        if is_profile != (writes == ChainForm::Number) {
            notes.note(MappingKind::ProofOfPaymentKey, &node.path);
        }
        let proof = ProofOfPayment::read(&node, writes, notes)?;
        Ok(Some(if is_profile {
            Self::Profile(proof)
        } else {
            Self::Standard(proof)
        }))
    }
}

impl ProofOfPayment {
    fn read(node: &Node<'_>, writes: ChainForm, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        let chain_id = ChainReference::read(&fields.need("chainId")?, writes, notes)?;
        let transaction = fields.need("txHash")?;
        let mut optional = |key| fields.optional(key, notes);
        let [amount, currency, token, protocol, invoice] = [
            "amount",
            "currency",
            "tokenAddress",
            "protocol",
            "invoiceId",
        ]
        .map(&mut optional);
        let time = optional("timestamp");
        let plain = |node: Option<Node<'_>>| node.map(|node| text(&node)).transpose();
        Ok(Self {
            from_address: address(&fields.need("fromAddress")?)?,
            to_address: address(&fields.need("toAddress")?)?,
            tx_hash: transaction_of(&transaction, &chain_id)?,
            chain_id,
            amount: plain(amount)?,
            currency: plain(currency)?,
            token_address: token.map(|node| address(&node)).transpose()?,
            protocol: plain(protocol)?,
            timestamp: time.map(|node| timestamp(&node)).transpose()?,
            invoice_id: plain(invoice)?,
            extra: fields.rest(),
        })
    }

    /// The payment as a task reference, `network:transaction` (R31).
    #[must_use]
    pub fn task_ref(&self) -> String {
        format!("{}:{}", self.chain_id.caip2(), self.tx_hash)
    }
}

/// A transaction in its chain's own form.
fn transaction_of(node: &Node<'_>, chain: &ChainReference) -> Result<String, Error> {
    let transaction = text(node)?;
    let task_ref = format!("{}:{transaction}", chain.caip2());
    TaskRef::parse(&task_ref).map_err(|error| node.form(error))?;
    Ok(transaction)
}
