use concord_files::{RegistrationId, ReputationInfo, X402Profile, info_schema};

/// Who announces and signs: the agent's registrations, under one profile's key or both (R26).
#[derive(Clone, Debug)]
pub struct Agent {
    info: ReputationInfo,
    profiles: Vec<X402Profile>,
    /// `{"info":…,"schema":…}`: constant, because standard clients must echo it unchanged.
    announcement: String,
}

impl Agent {
    /// Takes what a 402 announces, and the profiles that are served.
    ///
    /// # Errors
    /// Refuses an info that a reader would refuse.
    pub fn new(
        info: ReputationInfo,
        profiles: &[X402Profile],
    ) -> Result<Self, concord_files::Error> {
        let text = info.to_canonical()?;
        let schema = info_schema().trim_end();
        let served = X402Profile::ALL.into_iter();
        Ok(Self {
            info,
            profiles: served.filter(|it| profiles.contains(it)).collect(),
            announcement: format!("{{\"info\":{text},\"schema\":{schema}}}"),
        })
    }

    /// The profiles that are served, the default first.
    #[must_use]
    pub fn profiles(&self) -> &[X402Profile] {
        &self.profiles
    }

    /// What is announced.
    #[must_use]
    pub fn info(&self) -> &ReputationInfo {
        &self.info
    }

    /// Each profile's key and its value.
    pub(super) fn announcements(&self) -> Vec<(&'static str, &str)> {
        let keys = self.profiles.iter().map(|it| it.extension_key());
        keys.map(|key| (key, &*self.announcement)).collect()
    }

    /// The registration that signs for a payment: the one on the payment chain, else the first.
    pub(super) fn registration_for(&self, network: &str) -> Option<&RegistrationId> {
        // a registry is CAIP-10, whose address has no colon: the reader of the info has checked it
        let is_there = |entry: &&RegistrationId| {
            let chain = entry.agent_registry.rsplit_once(':');
            chain.is_some_and(|(chain, _)| chain == network)
        };
        let registrations = &self.info.registrations;
        (registrations.iter().find(is_there)).or(registrations.first())
    }
}
