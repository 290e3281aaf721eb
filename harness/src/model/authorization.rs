use super::{Actor, Agent};

/// Who allowed whom to review which agent: the seven fields of R5, symbolically.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Authorization {
    pub agent: Agent,
    pub client: Actor,
    /// Exclusive upper bound of the client's last index (R8).
    pub index_limit: u64,
    /// Seconds after the scenario's start; the authorization holds strictly before it.
    pub expiry: u64,
    /// The chain that the signed text names.
    pub chain: Domain,
    /// The registry that the signed text names: the identity registry on EVM, the program on
    /// Solana.
    pub registry: Domain,
    /// The signer that the signed text names, and whose key signs unless `damage` says other.
    pub signer: Actor,
    pub damage: Option<Damage>,
}

/// A field that binds an authorization to one deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// The deployment under test.
    Here,
    /// Some other deployment.
    Elsewhere,
}

/// What happened to the signed bytes between the signer and the registry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Damage {
    /// One bit of the signature is flipped.
    SignatureCorrupted,
    /// This actor's key signed a text that names another signer.
    SignedBy(Actor),
    /// Nothing is sent: an empty blob on EVM, no precompile instruction on Solana.
    Missing,
    /// The last byte is cut off the blob, or off the precompile instruction's data.
    Truncated,
    /// A zero byte follows the blob, or the precompile instruction's data.
    Extended,
}

impl Authorization {
    /// Would the signature verify under the key of the signer that the text names?
    pub fn is_signature_valid(&self) -> bool {
        match &self.damage {
            Some(Damage::SignatureCorrupted) => false,
            Some(Damage::SignedBy(actor)) => *actor == self.signer,
            _ => true,
        }
    }
}
