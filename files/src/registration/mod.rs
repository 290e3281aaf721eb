//! Registration files: what an agent's URI holds (X402, FS, ERC-8004).

mod service;
mod signer;

pub use service::Service;
pub use signer::Signer;

use concord_canonical::{Word, caip::AccountId, hash::keccak256};
use serde::Serialize;

use crate::{
    AgentId, Extra,
    agent_id::{IdForm, as_text},
    error::{Error, Rule},
    mapping::{MappingKind, Mappings},
    parsed::{Parsed, parse_with, write_canonical},
    reader::{Fields, Node, account_id, boolean, list, text},
};

/// `type` of a registration file in its current form.
pub const REGISTRATION_TYPE: &str = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";

/// The service name of a payment address.
pub const AGENT_WALLET: &str = "agentWallet";

/// Reads a registration file, in either wording of each field (R42).
///
/// # Errors
/// Refuses more than 1 MiB, what is not strict JSON (R22), and the first field that breaks its form.
pub fn parse_registration(bytes: &[u8]) -> Result<Parsed<RegistrationFile>, Error> {
    parse_with(bytes, RegistrationFile::read)
}

/// A registration file. Readers require no member, because files on chain leave out any of them;
/// [`RegistrationFile::to_canonical`] requires those of the current form.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RegistrationFile {
    /// [`REGISTRATION_TYPE`].
    #[serde(rename = "type", skip_serializing_if = "Option::is_none")]
    #[cfg_attr(
        test,
        schemars(required, schema_with = "crate::schema::registration_type")
    )]
    pub file_type: Option<String>,
    /// The agent's name.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[cfg_attr(test, schemars(required, with = "String", length(min = 1)))]
    pub name: Option<String>,
    /// What it does.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// Its picture.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub image: Option<String>,
    /// Where it can be reached and paid.
    pub services: Vec<Service>,
    /// Whether it takes x402 payments.
    #[serde(rename = "x402Support", skip_serializing_if = "Option::is_none")]
    pub x402_support: Option<bool>,
    /// Whether it is in operation.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub active: Option<bool>,
    /// Where it is registered.
    pub registrations: Vec<Registration>,
    /// How it can be trusted.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub supported_trust: Vec<String>,
    /// The keys that may sign its responses (X402). If there is none, the wallet on chain signs (R29).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub signers: Vec<Signer>,
    /// What it is about (FS).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    #[cfg_attr(test, schemars(default))]
    pub tags: Vec<String>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

/// An agent on a registry. Written with exactly two keys (R42), the id as text (R37).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[cfg_attr(test, schemars(deny_unknown_fields))]
#[serde(rename_all = "camelCase")]
pub struct Registration {
    /// The agent's id; `None` if the file was made before the registration.
    #[serde(serialize_with = "id_or_null")]
    #[cfg_attr(test, schemars(with = "String"))]
    pub agent_id: Option<AgentId>,
    /// The identity registry, CAIP-10.
    #[cfg_attr(test, schemars(schema_with = "crate::schema::account_id"))]
    pub agent_registry: String,
}

fn id_or_null<S: serde::Serializer>(id: &Option<AgentId>, to: S) -> Result<S::Ok, S::Error> {
    match id {
        Some(id) => as_text(id, to),
        None => to.serialize_none(),
    }
}

impl RegistrationFile {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        let services = read_services(&mut fields, notes)?;
        let registrations = read_list(&mut fields, "registrations", notes, Registration::read)?;
        let signers = read_list(&mut fields, "signers", notes, Signer::read)?;
        let tags = read_list(&mut fields, "tags", notes, |node, _| text(node))?;
        let names = ["x402Support", "x402support"];
        let x402 = fields.either(names, MappingKind::X402SupportKey, notes)?;
        let names = ["supportedTrust", "supportedTrusts"];
        let trust = fields.either(names, MappingKind::SupportedTrustsKey, notes)?;
        let active = fields.optional("active", notes);
        let mut plain = |key| {
            let node = fields.optional(key, notes);
            node.map(|node| text(&node)).transpose()
        };
        Ok(Self {
            file_type: plain("type")?,
            name: plain("name")?,
            description: plain("description")?,
            image: plain("image")?,
            services,
            x402_support: x402.map(|node| boolean(&node)).transpose()?,
            active: active.map(|node| boolean(&node)).transpose()?,
            registrations,
            supported_trust: trust
                .map(|node| list(&node, text))
                .transpose()?
                .unwrap_or_default(),
            signers,
            tags,
            extra: fields.rest(),
        })
    }

    /// The payment addresses among the services, CAIP-10, in the file's order.
    ///
    /// # Errors
    /// Refuses an `agentWallet` service whose endpoint is not a CAIP-10 id.
    pub fn agent_wallets(&self) -> Result<Vec<AccountId<'_>>, Error> {
        let services = self.services.iter().enumerate();
        services
            .filter(|(_, service)| service.name == AGENT_WALLET)
            .map(|(index, service)| {
                AccountId::parse(&service.endpoint).map_err(|error| {
                    let path = format!("$.services[{index}].endpoint");
                    Error::new(path, Rule::Form(error)).found(&service.endpoint)
                })
            })
            .collect()
    }

    /// Whether the file lists this agent. EVM registries are equal in either case (R37).
    #[must_use]
    pub fn claims(&self, registry: &AccountId<'_>, agent_id: &AgentId) -> bool {
        self.registrations.iter().any(|entry| {
            let is_registry = AccountId::parse(&entry.agent_registry)
                .is_ok_and(|listed| is_same_account(&listed, registry));
            is_registry && entry.agent_id.as_ref() == Some(agent_id)
        })
    }

    /// The file in its current form: RFC 8785 text to publish as it is (R21, R42).
    ///
    /// # Errors
    /// Refuses what a reader would refuse, another `type`, a missing name, a registration without an id,
    /// an `agentWallet` that is not a CAIP-10 id, and a signer that is never valid.
    pub fn to_canonical(&self) -> Result<String, Error> {
        self.check_current_form()?;
        write_canonical(self, Self::read).map(|(text, _)| text)
    }

    /// `keccak256` of [`Self::to_canonical`] (R21).
    ///
    /// # Errors
    /// As [`Self::to_canonical`].
    pub fn hash(&self) -> Result<Word, Error> {
        self.to_canonical().map(|text| keccak256(text.as_bytes()))
    }

    fn check_current_form(&self) -> Result<(), Error> {
        let missing = |path: String| Error::new(path, Rule::Missing);
        let allowed = REGISTRATION_TYPE;
        match self.file_type.as_deref() {
            Some(REGISTRATION_TYPE) => {}
            Some(other) => return Err(Error::new("$.type", Rule::Name { allowed }).found(other)),
            None => return Err(missing("$.type".to_owned())),
        }
        if self.name.as_deref().unwrap_or_default().is_empty() {
            return Err(missing("$.name".to_owned()));
        }
        if let Some(index) = (self.registrations.iter()).position(|entry| entry.agent_id.is_none())
        {
            return Err(missing(format!("$.registrations[{index}].agentId")));
        }
        self.agent_wallets()?;
        for (index, signer) in self.signers.iter().enumerate() {
            signer.check_window(index)?;
        }
        Ok(())
    }
}

impl Registration {
    fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        let agent_registry = account_id(&fields.need("agentRegistry")?)?;
        let id = fields.need("agentId")?;
        let agent_id = if id.value.is_null() {
            notes.note(MappingKind::AgentIdNull, &id.path);
            None
        } else {
            Some(AgentId::read(&id, &agent_registry, IdForm::Text, notes)?)
        };
        if !fields.rest().is_empty() {
            notes.note(MappingKind::RegistrationKeys, &node.path);
        }
        Ok(Self {
            agent_id,
            agent_registry,
        })
    }
}

/// R42: `services`, or `endpoints` as it was called.
fn read_services(fields: &mut Fields<'_>, notes: &mut Mappings) -> Result<Vec<Service>, Error> {
    let node = fields.either(["services", "endpoints"], MappingKind::EndpointsKey, notes)?;
    let read = node.map(|node| list(&node, |element| Service::read(element, notes)));
    Ok(read.transpose()?.unwrap_or_default())
}

fn read_list<T>(
    fields: &mut Fields<'_>,
    key: &'static str,
    notes: &mut Mappings,
    mut read: impl FnMut(&Node<'_>, &mut Mappings) -> Result<T, Error>,
) -> Result<Vec<T>, Error> {
    let node = fields.optional(key, notes);
    let elements = node.map(|node| list(&node, |element| read(element, notes)));
    Ok(elements.transpose()?.unwrap_or_default())
}

/// Equal chain, and equal address: without case on eip155.
fn is_same_account(a: &AccountId<'_>, b: &AccountId<'_>) -> bool {
    let is_address = match a.chain_id().namespace() {
        concord_canonical::caip::EIP155 => a.address().eq_ignore_ascii_case(b.address()),
        _ => a.address() == b.address(),
    };
    a.chain_id() == b.chain_id() && is_address
}
