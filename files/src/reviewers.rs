//! Reviewer lists: whose feedback counts, published by a person or a service (R48).

use concord_canonical::{
    Error as CanonicalError, Word,
    caip::{AccountId, EIP155},
    hash::keccak256,
    sign::{PreparedKey, PublicKey, address_of_public_key, ed25519_verify, secp256k1_verify},
};
use serde::Serialize;

use crate::{
    Algorithm, Extra,
    bytes::{Bytes, key_with_prefix},
    error::{Error, Rule},
    extra::RawJson,
    mapping::{MappingKind, Mappings},
    parsed::{Parsed, parse_with, write_canonical},
    reader::{Fields, Node, account_id, list, signature_bytes, text, timestamp},
    timestamp::Timestamp,
};

/// `type` of a reviewer list.
pub const REVIEWER_LIST_TYPE: &str = "concord-reviewer-list-v1";

/// Reads a reviewer list.
///
/// # Errors
/// Refuses more than 1 MiB, what is not strict JSON (R22), another `type`, an empty list, and the first field that
/// breaks its form. A signature is checked by [`ReviewerList::signer`].
pub fn parse_reviewer_list(bytes: &[u8]) -> Result<Parsed<ReviewerList>, Error> {
    parse_with(bytes, ReviewerList::read)
}

/// A list of reviewers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ReviewerList {
    /// [`REVIEWER_LIST_TYPE`].
    #[serde(rename = "type")]
    pub file_type: String,
    /// Whose list it is, or what it is for.
    pub name: String,
    /// When it was made.
    pub created: Timestamp,
    /// Who counts. One who is listed twice counts twice, as in the registries' `getSummary`.
    pub reviewers: Vec<Reviewer>,
    /// The signer; `None` if the list is not signed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub signature: Option<ListSignature>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

/// One reviewer.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Reviewer {
    /// The account that gives feedback, CAIP-10.
    pub account: String,
    /// Why it is listed.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
    /// Everything else, a `reason` of `null` too: the list's hash covers what was written (FILE-14).
    #[serde(flatten)]
    pub extra: Extra,
}

/// A signature over a list's hash.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct ListSignature {
    /// Its algorithm.
    pub algorithm: Algorithm,
    /// The key, with `0x`.
    #[serde(serialize_with = "key_with_prefix")]
    pub public_key: PublicKey,
    /// Over the 32 bytes of [`ReviewerList::hash`].
    pub signature: Bytes,
}

impl ReviewerList {
    /// A list without a signature.
    #[must_use]
    pub fn new(name: &str, created: Timestamp, reviewers: Vec<Reviewer>) -> Self {
        Self {
            file_type: REVIEWER_LIST_TYPE.to_owned(),
            name: name.to_owned(),
            created,
            reviewers,
            signature: None,
            extra: Extra::default(),
        }
    }

    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        let file_type = fields.need("type")?;
        if file_type.str()? != REVIEWER_LIST_TYPE {
            let allowed = REVIEWER_LIST_TYPE;
            return Err(file_type.broken(Rule::Name { allowed }));
        }
        let reviewers = fields.need("reviewers")?;
        let listed = list(&reviewers, |it| Reviewer::read(it, notes))?;
        if listed.is_empty() {
            let limit = "one reviewer or more (R48)";
            return Err(reviewers.broken(Rule::Range { limit }));
        }
        let signature = fields.optional("signature", notes);
        Ok(Self {
            file_type: text(&file_type)?,
            name: text(&fields.need("name")?)?,
            created: timestamp(&fields.need("created")?)?,
            reviewers: listed,
            signature: signature.map(|it| ListSignature::read(&it)).transpose()?,
            extra: fields.rest(),
        })
    }

    /// The addresses that count on a chain, CAIP-2, in the list's order.
    #[must_use]
    pub fn addresses_on(&self, network: &str) -> Vec<&str> {
        let accounts = self.reviewers.iter().map(|it| it.account.as_str());
        let on_chain = accounts.filter_map(|it| {
            let (chain, address) = it.rsplit_once(':')?;
            (chain == network).then_some(address)
        });
        on_chain.collect()
    }

    /// An account that is listed twice. EVM addresses have no case.
    #[must_use]
    pub fn twice(&self) -> Option<&str> {
        let mut known = std::collections::BTreeSet::new();
        let mut accounts = self.reviewers.iter().map(|it| it.account.as_str());
        accounts.find(|it| !known.insert(spelling(it)))
    }

    /// RFC 8785 text, to publish as it is (R21).
    ///
    /// # Errors
    /// Refuses what a reader would refuse.
    pub fn to_canonical(&self) -> Result<String, Error> {
        write_canonical(self, Self::read).map(|(text, _)| text)
    }

    /// `keccak256` of the RFC 8785 text without `signature`: what is signed, and what names the list.
    ///
    /// # Errors
    /// As [`Self::to_canonical`].
    pub fn hash(&self) -> Result<Word, Error> {
        let unsigned = Self {
            signature: None,
            ..self.clone()
        };
        let text = unsigned.to_canonical()?;
        Ok(keccak256(text.as_bytes()))
    }

    /// Signs the list.
    ///
    /// # Errors
    /// As [`Self::to_canonical`].
    pub fn sign(&mut self, key: &PreparedKey) -> Result<(), Error> {
        let hash = self.hash()?;
        let signature = key.sign(&hash, <[u8]>::to_vec);
        let signature = signature.map_err(|error| Error::new("$.signature", Rule::Form(error)))?;
        let public_key = key.public_key();
        self.signature = Some(ListSignature {
            algorithm: Algorithm::of_key(&public_key),
            public_key,
            signature: Bytes(signature),
        });
        Ok(())
    }

    /// The key that signed the list; `None` if it has no signature.
    ///
    /// # Errors
    /// A signature that does not hold (R23).
    pub fn signer(&self) -> Result<Option<PublicKey>, Error> {
        let Some(signature) = &self.signature else {
            return Ok(None);
        };
        let hash = self.hash()?;
        let checked = signature.verify(&hash);
        checked.map_err(|error| Error::new("$.signature.signature", Rule::Form(error)))?;
        Ok(Some(signature.public_key))
    }
}

impl Reviewer {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields: Fields<'_> = node.fields()?;
        let account = account_id(&fields.need("account")?)?;
        let said = fields.take("reason");
        let mut extra = fields.rest();
        let reason = match said {
            Some(it) if it.value.is_null() => {
                notes.note(MappingKind::NullAsAbsent, it.path);
                extra.insert("reason".to_owned(), RawJson::of(it.value)); // FILE-14: it is hashed
                None
            }
            it => it.map(|it| text(&it)).transpose()?,
        };
        Ok(Self {
            account,
            reason,
            extra,
        })
    }
}

impl ListSignature {
    fn read(node: &Node<'_>) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        let algorithm = Algorithm::read(&fields.need("algorithm")?)?;
        Ok(Self {
            algorithm,
            public_key: algorithm.read_key(&fields.need("publicKey")?)?,
            signature: signature_bytes(&fields.need("signature")?, algorithm)?,
        })
    }

    fn verify(&self, hash: &Word) -> Result<(), CanonicalError> {
        let signature = &self.signature.0;
        match &self.public_key {
            PublicKey::Ed25519(key) => ed25519_verify(key, hash, signature),
            PublicKey::Secp256k1(key) => {
                secp256k1_verify(&address_of_public_key(key)?, hash, signature)
            }
        }
    }
}

/// An account in one spelling.
fn spelling(account: &str) -> String {
    let is_evm = AccountId::parse(account).is_ok_and(|it| it.chain_id().namespace() == EIP155);
    if is_evm {
        account.to_ascii_lowercase()
    } else {
        account.to_owned()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const EVM: &str = "eip155:84532:0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    const OTHER: &str = "eip155:8453:0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
    const SVM: &str = "solana:localnet:4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS";

    fn sample() -> ReviewerList {
        let reviewer = |account: &str, reason: Option<&str>| Reviewer {
            account: account.to_owned(),
            reason: reason.map(str::to_owned),
            extra: Extra::default(),
        };
        let reviewers = vec![
            reviewer(EVM, Some("asks daily")),
            reviewer(SVM, None),
            reviewer(OTHER, None),
        ];
        let created = Timestamp::parse("2026-11-23T00:00:00Z").expect("a time");
        ReviewerList::new("Weather desk", created, reviewers)
    }

    fn read(text: &str) -> Result<ReviewerList, Error> {
        parse_reviewer_list(text.as_bytes()).map(Parsed::into_view)
    }

    /// The hash by a Keccak in Python, written from FIPS 202.
    #[test]
    fn a_list_has_one_text_and_one_hash() {
        let text = r#"{"created":"2026-11-23T00:00:00Z","name":"Weather desk","reviewers":[{"account":"eip155:84532:0x70997970C51812dc3A010C7d01b50e0d17dc79C8","reason":"asks daily"},{"account":"solana:localnet:4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS"},{"account":"eip155:8453:0x70997970C51812dc3A010C7d01b50e0d17dc79C8"}],"type":"concord-reviewer-list-v1"}"#;
        let list = sample();
        assert_eq!(list.to_canonical().as_deref(), Ok(text));
        assert_eq!(
            hex::encode(list.hash().expect("a list")),
            "6c5be8783ca22a8fe07645478528d4a904eb36374564217b9eeb4b2c890a0055"
        );
        assert_eq!(read(text), Ok(list));
    }

    #[test]
    fn r48_each_chain_has_its_own_reviewers() {
        let list = sample();
        let address = "0x70997970C51812dc3A010C7d01b50e0d17dc79C8";
        assert_eq!(list.addresses_on("eip155:84532"), [address]);
        assert_eq!(list.addresses_on("solana:localnet").len(), 1);
        assert_eq!(list.addresses_on("eip155:1"), [""; 0]);
        assert_eq!(list.twice(), None);
        let mut twice = list;
        let again = twice.reviewers[0].account.to_lowercase();
        twice.reviewers[1].account.clone_from(&again);
        assert_eq!(twice.twice(), Some(&*again));
    }

    #[test]
    fn a_signature_is_of_the_whole_list() {
        let keys = [
            PreparedKey::secp256k1(&[9; 32]).expect("a key"),
            PreparedKey::ed25519(&[9; 32]),
        ];
        for key in keys {
            let mut list = sample();
            assert_eq!(list.signer(), Ok(None));
            let hash = list.hash();
            list.sign(&key).expect("signed");
            assert_eq!(list.hash(), hash, "the signature is not in its own hash");
            let text = list.to_canonical().expect("a list");
            assert_eq!(
                read(&text).and_then(|it| it.signer()),
                Ok(Some(key.public_key()))
            );
            let mut renamed = list.clone();
            renamed.name.push('!');
            let mut longer = list.clone();
            longer.reviewers.push(longer.reviewers[0].clone());
            let mut later = list;
            later.created = Timestamp::parse("2026-11-24T00:00:00Z").expect("a time");
            for changed in [renamed, longer, later] {
                assert!(changed.signer().is_err(), "{changed:?}");
            }
        }
    }

    /// Text, hash and signature by `canonicalize` and `@noble/curves`; the client in TypeScript has the same list.
    #[test]
    fn file_14_further_members_and_null_are_hashed_and_signed() {
        let text = r#"{"created":"2026-11-23T00:00:00Z","issue":7,"name":"Weather desk","reviewers":[{"account":"eip155:31337:0x70997970C51812dc3A010C7d01b50e0d17dc79C8","note":"asks daily","reason":null},{"account":"solana:localnet:4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS","since":{"year":2025}}],"signature":{"algorithm":"secp256k1","publicKey":"0x0256b328b30c8bf5839e24058747879408bdb36241dc9c2e7c619faa12b2920967","signature":"0xe2a204accf13b074da9063509e5cca771bcb5a21682c25789d64e84e8bf65023380d922549779a7688f7855ccc873489eaff12e6bd0cc9718c6b8ce991199a5000"},"type":"concord-reviewer-list-v1"}"#;
        let list = read(text).expect("a list");
        assert_eq!(list.to_canonical().as_deref(), Ok(text));
        assert_eq!(
            hex::encode(list.hash().expect("a list")),
            "9e788a6818918cce5dd8dd6c710c3073688aa4de511add1c6a87ab0417f83cb4"
        );
        let key = PreparedKey::secp256k1(&[9; 32]).expect("a key");
        assert_eq!(list.signer(), Ok(Some(key.public_key())));
        assert_eq!(list.reviewers[0].reason, None);
        let parsed = parse_reviewer_list(text.as_bytes()).expect("a list");
        let [mapping] = parsed.mappings() else {
            panic!("one null")
        };
        assert_eq!(mapping.kind, MappingKind::NullAsAbsent);
        for (from, to) in [
            (r#","reason":null"#, ""),
            (r#""asks daily""#, r#""asks hourly""#),
            (r#"{"year":2025}"#, r#"{"year":2026}"#),
            (r#""since""#, r#""reason":null,"since""#),
            (r#""issue":7"#, r#""issue":8"#),
        ] {
            let changed = read(&text.replacen(from, to, 1)).expect("a list");
            assert!(changed.signer().is_err(), "{from}");
            assert_ne!(changed.hash(), list.hash(), "{from}");
        }
    }

    #[test]
    fn what_is_no_list_is_refused_with_the_field() {
        let text = sample().to_canonical().expect("a list");
        for (from, to, path) in [
            ("list-v1", "list-v2", "$.type"),
            ("84532:0x", "84532:0y", "$.reviewers[0].account"),
            ("\"asks daily\"", "7", "$.reviewers[0].reason"),
            ("T00:00:00Z", "", "$.created"),
            ("\"name\"", "\"nom\"", "$.name"),
            ("\"reviewers\"", "\"reviewer\"", "$.reviewers"),
        ] {
            let error = read(&text.replacen(from, to, 1)).expect_err(path);
            assert_eq!(error.path(), path);
        }
        let empty = r#"{"created":"2026-11-23T00:00:00Z","name":"a","reviewers":[],"type":"concord-reviewer-list-v1"}"#;
        assert_eq!(read(empty).expect_err("empty").path(), "$.reviewers");
        assert!(read("# ours\n0x70997970C51812dc3A010C7d01b50e0d17dc79C8\n").is_err());
    }
}
