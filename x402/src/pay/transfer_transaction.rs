use base64::{Engine as _, engine::general_purpose::STANDARD};
use concord_canonical::{
    caip::{SOLANA, parse_solana_key},
    json::{self, Value},
};
use concord_files::RawJson;
use concord_registry::svm::{
    Address, Instruction,
    compute_budget::{set_unit_limit, set_unit_price},
    token::PaymentMint,
};
use serde::{Deserialize, Serialize};
use serde_json::json;
use solana_hash::Hash;
use solana_message::v0::Message;
use solana_signature::Signature;

use super::OfferUnpayable;
use crate::wire::Offer;

/// SPL Memo.
const MEMO: Address = Address::from_str_const("MemoSq4gqABAXKb96qnH8TysNcWxMyWCqXgDLGmfcHr");
/// Bytes of a seller's memo that both standard clients take.
const MEMO_MAX: usize = 256;
/// Compute units that a transfer and a memo need at most, and microlamports for one: those of `@x402/svm`.
const UNITS: u32 = 20_000;
const UNIT_PRICE: u64 = 1;

/// What the payer signs on Solana: a transaction that transfers the offer's amount, in the layout that x402's
/// facilitators accept. The cluster takes each message once, and only while its block hash is recent.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub struct TransferTransaction {
    /// The cluster, CAIP-2.
    pub network: String,
    /// Who pays.
    #[serde(with = "base58")]
    pub payer: Address,
    /// Who pays the network's fee: the seller's.
    #[serde(with = "base58")]
    pub fee_payer: Address,
    /// The token.
    #[serde(with = "base58")]
    pub mint: Address,
    /// SPL Token or Token-2022.
    #[serde(with = "base58")]
    pub token_program: Address,
    /// Decimals of the token.
    pub decimals: u8,
    /// Who is paid, at their associated token account.
    #[serde(with = "base58")]
    pub to: Address,
    /// In the token's smallest unit.
    pub amount: u64,
    /// The seller's memo, or a random one.
    pub memo: String,
    /// Compute units. A random number of them makes two payments with a seller's memo differ.
    pub units: u32,
    /// Base58.
    pub blockhash: String,
    /// The last block height at which the block hash counts.
    pub valid_until: u64,
    /// The message that is signed, base64.
    pub message: String,
}

/// What a cluster says of a payment's surroundings.
#[derive(Clone, Copy, Debug)]
pub(super) struct Surroundings {
    pub(super) kind: PaymentMint,
    pub(super) blockhash: Hash,
    pub(super) valid_until: u64,
    /// 16 random bytes.
    pub(super) random: [u8; 16],
}

/// The accounts that an offer names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct OfferAccounts {
    pub(super) mint: Address,
    pub(super) to: Address,
    pub(super) fee_payer: Address,
    pub(super) amount: u64,
}

impl OfferAccounts {
    /// Reads them.
    pub(super) fn read(offer: &Offer) -> Result<Self, OfferUnpayable> {
        if offer.scheme != "exact" {
            return Err(OfferUnpayable::new("scheme", &offer.scheme, "exact"));
        }
        if !offer.is_on(SOLANA) {
            return Err(OfferUnpayable::new("network", &offer.network, "Solana"));
        }
        let key = |field, text: &str| match parse_solana_key(field, text) {
            Ok(key) => Ok(Address::from(key)),
            Err(_) => Err(OfferUnpayable::new(field, text, "a Solana address")),
        };
        let fee_payer = member(offer, "feePayer").unwrap_or_default();
        let amount = offer.amount.parse();
        Ok(Self {
            mint: key("asset", &offer.asset)?,
            to: key("payTo", &offer.pay_to)?,
            fee_payer: key("extra.feePayer", &fee_payer)?,
            amount: amount
                .map_err(|_| OfferUnpayable::new("amount", &offer.amount, "at most 64 bits"))?,
        })
    }
}

impl TransferTransaction {
    pub(super) fn new(
        offer: &Offer,
        payer: Address,
        around: &Surroundings,
    ) -> Result<Self, OfferUnpayable> {
        let random = hex::encode(around.random);
        let (memo, units) = match member(offer, "memo").filter(|it| !it.is_empty()) {
            None => (random, UNITS),
            Some(memo) if memo.len() <= MEMO_MAX => {
                let [first, second, ..] = around.random;
                (memo, UNITS + u32::from(u16::from_le_bytes([first, second])))
            }
            Some(memo) => {
                let expected = format!("at most {MEMO_MAX} bytes");
                return Err(OfferUnpayable::new("extra.memo", &memo, expected));
            }
        };
        Self::build(offer, payer, around, memo, units)
    }

    /// The same transaction for an offer, which differs if this one pays another.
    pub(super) fn rebuilt(&self, offer: &Offer) -> Result<Self, OfferUnpayable> {
        let Ok(blockhash) = self.blockhash.parse() else {
            let expected = "a block hash";
            return Err(OfferUnpayable::new("blockhash", &self.blockhash, expected));
        };
        let kind = PaymentMint {
            program: self.token_program,
            decimals: self.decimals,
            has_fee: false,
            has_hook: false,
        };
        let around = Surroundings {
            kind,
            blockhash,
            valid_until: self.valid_until,
            random: [0; 16],
        };
        let memo = member(offer, "memo").filter(|it| !it.is_empty());
        let memo = memo.unwrap_or_else(|| self.memo.clone());
        Self::build(offer, self.payer, &around, memo, self.units)
    }

    fn build(
        offer: &Offer,
        payer: Address,
        around: &Surroundings,
        memo: String,
        units: u32,
    ) -> Result<Self, OfferUnpayable> {
        let OfferAccounts {
            mint,
            to,
            fee_payer,
            amount,
        } = OfferAccounts::read(offer)?;
        let refused = |field, found: &Address, expected| {
            Err(OfferUnpayable::new(field, &found.to_string(), expected))
        };
        // the payer's signature must not pay fees, which no policy limits
        if fee_payer == payer {
            return refused(
                "extra.feePayer",
                &fee_payer,
                "another account than the payer",
            );
        }
        let kind = &around.kind;
        if kind.has_fee || kind.has_hook {
            let expected = "a token whose transfers have neither a fee nor a hook";
            return refused("asset", &mint, expected);
        }
        let instructions = [
            set_unit_limit(units),
            set_unit_price(UNIT_PRICE),
            kind.transfer(&mint, &payer, &to, amount),
            Instruction {
                program_id: MEMO,
                accounts: Vec::new(),
                data: memo.clone().into_bytes(),
            },
        ];
        let message = Message::try_compile(&fee_payer, &instructions, &[], around.blockhash);
        let Ok(message) = message else {
            let expected = "accounts of one transaction";
            return refused("payTo", &to, expected);
        };
        Ok(Self {
            network: offer.network.clone(),
            payer,
            fee_payer,
            mint,
            token_program: kind.program,
            decimals: kind.decimals,
            to,
            amount,
            memo,
            units,
            blockhash: around.blockhash.to_string(),
            valid_until: around.valid_until,
            message: STANDARD.encode(message.serialize()),
        })
    }

    /// The bytes that are signed; `None` for evidence that somebody changed.
    #[must_use]
    pub fn message_bytes(&self) -> Option<Vec<u8>> {
        STANDARD.decode(&self.message).ok()
    }

    /// The payment's `payload`, as the scheme `exact` has it: the transaction without the fee payer's
    /// signature. `None` if it is not JSON.
    #[must_use]
    pub fn payload(&self, signature: &Signature) -> Option<RawJson> {
        const SIGNATURES: u8 = 2; // the fee payer's, then the payer's
        let message = self.message_bytes()?;
        let signed = [&[0; 64], signature.as_ref(), &message].concat();
        let transaction = [&[SIGNATURES], &signed[..]].concat();
        let payload = json!({ "transaction": STANDARD.encode(transaction) });
        RawJson::parse(&payload.to_string()).ok()
    }
}

/// A text of the offer's `extra`.
fn member(offer: &Offer, key: &str) -> Option<String> {
    let extra = json::parse(offer.extra.as_ref()?.as_str()).ok()?;
    let value = extra.get(key).and_then(Value::as_str);
    value.map(str::to_owned)
}

mod base58 {
    use concord_registry::svm::Address;
    use serde::{Deserialize, Deserializer, Serializer, de::Error as _};

    pub(super) fn serialize<S: Serializer>(key: &Address, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(&key.to_string())
    }

    pub(super) fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Address, D::Error> {
        let text = String::deserialize(from)?;
        text.parse().map_err(D::Error::custom)
    }
}
