use concord_canonical::{
    Word,
    caip::{AccountId, ChainId},
    word,
};
use concord_files::RawJson;

use super::{
    error::{WireError, WireRule},
    json::Node,
};

/// Offers of one 402 answer.
pub const OFFERS_MAX: usize = 64;

/// One way to pay: an entry of `accepts`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Offer {
    /// The payment scheme, such as `exact`.
    pub scheme: String,
    /// The payment chain, CAIP-2.
    pub network: String,
    /// The token's address on that chain.
    pub asset: String,
    /// The recipient's address on that chain.
    pub pay_to: String,
    /// The amount in the token's smallest unit: a decimal uint256.
    pub amount: String,
    /// Seconds that the payment may stay valid.
    pub max_timeout_seconds: u64,
    /// The scheme's own data, such as the name and version of an EIP-712 domain.
    pub extra: Option<RawJson>,
    /// The whole entry as it was offered: what a payment must echo.
    original: RawJson,
}

impl Offer {
    pub(super) fn read(node: &Node<'_>) -> Result<Self, WireError> {
        node.object()?;
        let network = node.need("network")?;
        let chain = network.str()?;
        ChainId::parse(chain).map_err(|error| network.form(error))?;
        let amount = node.need("amount")?;
        word::parse_decimal("amount", amount.str()?).map_err(|error| amount.form(error))?;
        let timeout = node.need("maxTimeoutSeconds")?;
        Ok(Self {
            scheme: read_scheme(&node.need("scheme")?)?,
            asset: read_address(&node.need("asset")?, chain)?,
            pay_to: read_address(&node.need("payTo")?, chain)?,
            amount: amount.string()?,
            max_timeout_seconds: timeout.u53("maxTimeoutSeconds")?,
            extra: node.optional("extra").map(|node| node.raw()).transpose()?,
            network: network.string()?,
            original: node.raw()?,
        })
    }

    /// Whether the network is a chain of this namespace.
    #[must_use]
    pub fn is_on(&self, namespace: &str) -> bool {
        ChainId::parse(&self.network).is_ok_and(|chain| chain.namespace() == namespace)
    }

    /// The amount as a big-endian word.
    #[must_use]
    pub fn amount_word(&self) -> Option<Word> {
        word::parse_decimal("amount", &self.amount).ok()
    }

    /// The recipient, CAIP-10.
    #[must_use]
    pub fn pay_to_account(&self) -> String {
        format!("{}:{}", self.network, self.pay_to)
    }

    /// The whole entry as it was offered, RFC 8785.
    #[must_use]
    pub fn original(&self) -> &RawJson {
        &self.original
    }
}

fn read_scheme(node: &Node<'_>) -> Result<String, WireError> {
    const LIMIT: usize = 64;
    match node.str()?.len() {
        1..=LIMIT => node.string(),
        length => Err(node.refused(WireRule::Size {
            unit: "bytes, at least 1",
            length,
            limit: LIMIT,
        })),
    }
}

/// An address in the form of its chain's namespace.
fn read_address(node: &Node<'_>, chain: &str) -> Result<String, WireError> {
    let address = node.str()?;
    AccountId::parse(&format!("{chain}:{address}")).map_err(|error| node.form(error))?;
    Ok(address.to_owned())
}
