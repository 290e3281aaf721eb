use alloy_primitives::Address;

/// The registries of one deployment on one chain: Concord's or canonical ones.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegistryAddresses {
    /// Who the agents are.
    pub identity: Address,
    /// The open profile.
    pub open_reputation: Option<Address>,
    /// The authorized profile, which only Concord has (R15).
    pub authorized_reputation: Option<Address>,
    /// Requests and responses.
    pub validation: Option<Address>,
}

impl RegistryAddresses {
    /// An identity registry, and the open reputation registry over it.
    pub const fn open(identity: Address, open_reputation: Address) -> Self {
        Self {
            identity,
            open_reputation: Some(open_reputation),
            authorized_reputation: None,
            validation: None,
        }
    }
}
