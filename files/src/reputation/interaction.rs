use concord_canonical::{
    Error as CanonicalError, Word,
    interaction::interaction_hash,
    json::Value,
    sign::{PublicKey, ed25519_verify, secp256k1_verify},
};
use serde::Serialize;

use super::{Found, RegistrationId, X402Profile, from_extensions, same};
use crate::{
    Algorithm, Extra,
    bytes::{Bytes, HexWord, key_bytes, key_with_prefix},
    error::{Error, Rule},
    mapping::{MappingKind, Mappings},
    parsed::{Parsed, json_of, parse_with, write_canonical, write_checked},
    reader::{Fields, Node, signature_bytes, task_ref, word},
};

/// What an agent signed: the five fields that interaction data and feedback files share.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct SignedInteraction {
    /// The payment, `network:transaction`, byte for byte (R31).
    #[cfg_attr(test, schemars(schema_with = "crate::schema::task_ref"))]
    pub task_ref: String,
    /// The hash of request and response.
    pub data_hash: HexWord,
    /// The key that signed, compressed.
    #[serde(serialize_with = "key_with_prefix")]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::public_key_0x"))]
    pub agent_signer_public_key: PublicKey,
    /// The signature over the interaction hash.
    pub agent_signature: Bytes,
    /// Its algorithm.
    pub agent_signature_algorithm: Algorithm,
}

impl SignedInteraction {
    pub(crate) fn read(fields: &mut Fields<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let algorithm = Algorithm::read(&fields.need("agentSignatureAlgorithm")?)?;
        let key = fields.need("agentSignerPublicKey")?;
        if !key.str()?.starts_with("0x") {
            notes.note(MappingKind::PublicKeyPrefix, &key.path);
        }
        Ok(Self {
            task_ref: task_ref(&fields.need("taskRef")?)?,
            data_hash: word(&fields.need("dataHash")?)?,
            agent_signer_public_key: algorithm.read_key(&key)?,
            agent_signature: signature_bytes(&fields.need("agentSignature")?, algorithm)?,
            agent_signature_algorithm: algorithm,
        })
    }

    /// The interaction hash, recomputed.
    ///
    /// # Errors
    /// As [`interaction_hash`].
    pub fn interaction_hash(&self, profile: X402Profile) -> Result<Word, CanonicalError> {
        interaction_hash(profile.hash_profile(), &self.task_ref, &self.data_hash.0)
    }

    /// Verifies the agent's signature over the recomputed hash with the key that is stated here. Whether
    /// that key may sign for the agent is another question (R29).
    ///
    /// # Errors
    /// A malformed signature, or one that does not hold.
    pub fn verify(&self, profile: X402Profile) -> Result<(), CanonicalError> {
        let hash = self.interaction_hash(profile)?;
        let key = key_bytes(&self.agent_signer_public_key);
        match self.agent_signer_public_key {
            PublicKey::Secp256k1(_) => secp256k1_verify(key, &hash, &self.agent_signature.0),
            PublicKey::Ed25519(_) => ed25519_verify(key, &hash, &self.agent_signature.0),
        }
    }
}

/// What a paid response carries in `PAYMENT-RESPONSE`: X402's `InteractionData`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct InteractionData {
    /// The agent.
    #[serde(flatten)]
    pub agent: RegistrationId,
    /// What it signed.
    #[serde(flatten)]
    pub signed: SignedInteraction,
    /// The hash that it signed, as stated; [`SignedInteraction::interaction_hash`] recomputes it.
    pub interaction_hash: HexWord,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

/// Reads interaction data by itself.
///
/// # Errors
/// Refuses what is not strict JSON (R22) and the first field that breaks its form.
pub fn parse_interaction(bytes: &[u8]) -> Result<Parsed<InteractionData>, Error> {
    parse_with(bytes, InteractionData::read)
}

/// Reads the interaction data under each profile's key of a settlement's `extensions` object, there or
/// under `.info` (R35).
///
/// # Errors
/// As [`parse_interaction`]; two copies that differ are malformed.
pub fn interaction_from_extensions(
    extensions: &[u8],
) -> Result<Vec<Found<InteractionData>>, Error> {
    from_extensions(extensions, read_there_or_under_info)
}

/// R35.
fn read_there_or_under_info(
    node: &Node<'_>,
    notes: &mut Mappings,
) -> Result<InteractionData, Error> {
    let mut fields = node.fields()?;
    let is_here = FIELDS.iter().any(|key| fields.has(key));
    let Some(info) = fields.optional("info", notes) else {
        return InteractionData::read(node, notes);
    };
    if !is_here {
        notes.note(MappingKind::InfoWrapper, &info.path);
        return InteractionData::read(&info, notes);
    }
    let expected = "an object";
    let copies = [node.value, info.value].map(Value::as_object);
    let [Some(here), Some(there)] = copies else {
        return Err(info.broken(Rule::Type { expected }));
    };
    let differing = FIELDS
        .iter()
        .find(|key| match (here.get(key), there.get(key)) {
            (Some(here), Some(there)) => !same(here, there),
            (None, None) => false,
            _ => true,
        });
    if let Some(key) = differing {
        let other = format!("{}.{key}", node.path);
        return Err(Error::new(
            format!("{}.{key}", info.path),
            Rule::Conflict { other },
        ));
    }
    InteractionData::read(node, notes)
}

/// The fields of [`InteractionData`].
const FIELDS: [&str; 8] = [
    "agentRegistry",
    "agentId",
    "taskRef",
    "dataHash",
    "interactionHash",
    "agentSignerPublicKey",
    "agentSignature",
    "agentSignatureAlgorithm",
];

impl InteractionData {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        Ok(Self {
            agent: RegistrationId::read(&mut fields, notes)?,
            signed: SignedInteraction::read(&mut fields, notes)?,
            interaction_hash: word(&fields.need("interactionHash")?)?,
            extra: fields.rest(),
        })
    }

    /// The data in its current form, RFC 8785.
    ///
    /// # Errors
    /// Refuses what [`parse_interaction`] would refuse.
    pub fn to_canonical(&self) -> Result<String, Error> {
        write_canonical(self, Self::read).map(|(text, _)| text)
    }

    /// As [`Self::to_canonical`], for a signer of many answers, who has checked each field: the form of the reference and
    /// of the signature, and the key once. Decompressing the key again costs a tenth of a signature.
    ///
    /// # Errors
    /// Refuses an extra member that is a field, too (R22).
    pub fn to_canonical_of_checked(&self) -> Result<String, Error> {
        if self.extra.is_empty() {
            json_of(&InOrder::of(self))
        } else {
            write_checked(self)
        }
    }
}

/// [`InteractionData`] without extra members. They are texts in the order of RFC 8785, §3.2.3, and serde_json
/// escapes texts as §3.2.2.2 does, so that what it writes is canonical.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct InOrder<'a> {
    agent_id: &'a str,
    agent_registry: &'a str,
    agent_signature: &'a Bytes,
    agent_signature_algorithm: Algorithm,
    #[serde(serialize_with = "key_with_prefix")]
    agent_signer_public_key: PublicKey,
    data_hash: HexWord,
    interaction_hash: HexWord,
    task_ref: &'a str,
}

impl<'a> InOrder<'a> {
    fn of(data: &'a InteractionData) -> Self {
        let signed = &data.signed;
        Self {
            agent_id: data.agent.agent_id.as_str(),
            agent_registry: &data.agent.agent_registry,
            agent_signature: &signed.agent_signature,
            agent_signature_algorithm: signed.agent_signature_algorithm,
            agent_signer_public_key: signed.agent_signer_public_key,
            data_hash: signed.data_hash,
            interaction_hash: data.interaction_hash,
            task_ref: &signed.task_ref,
        }
    }
}
