//! The choices behind a deployment.
use crate::{Setting, Settings};
use solana_address::Address;
use std::{fmt, str::FromStr};

/// Who can replace the program after the deployment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum UpgradeAuthority {
    /// The deployer.
    Keep,
    /// Another key: a person's, or a multisignature's.
    Key(Address),
    /// No key, for ever.
    None,
}

impl UpgradeAuthority {
    /// Returns the key that the deployer names instead; `None` ends it. Meaningless for
    /// [`Self::Keep`].
    pub(super) fn successor(self) -> Option<Address> {
        match self {
            Self::Key(key) => Some(key),
            Self::Keep | Self::None => None,
        }
    }
}

impl FromStr for UpgradeAuthority {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text {
            "keep" => Ok(Self::Keep),
            "none" => Ok(Self::None),
            key => (key.parse().map(Self::Key))
                .map_err(|_| "not `keep`, `none` or a public key in base58".to_owned()),
        }
    }
}

impl fmt::Display for UpgradeAuthority {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Keep => f.write_str("keep"),
            Self::None => f.write_str("none"),
            Self::Key(key) => key.fmt(f),
        }
    }
}

/// The choices behind a deployment on Solana.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Choices {
    pub authority: UpgradeAuthority,
    /// Whether another program at the address is to be replaced.
    pub upgrade: bool,
    /// Whether the deployer's other buffers are closed.
    pub reclaim: bool,
    /// The Squads multisig whose vault is the upgrade authority.
    pub squads: Option<Address>,
    /// Who is proposed as the registry's next authority.
    pub registry_authority: Option<Address>,
}

const AUTHORITY: &str = "upgradeAuthority";
const UPGRADE: &str = "upgrade";
const RECLAIM: &str = "reclaimBuffers";
const SQUADS: &str = "squadsMultisig";
const REGISTRY_AUTHORITY: &str = "registryAuthority";

impl Choices {
    pub fn settings(&self) -> Settings {
        let text = |text: Address| Setting::Text(text.to_string());
        let mut settings = Settings::from([
            (
                AUTHORITY.to_owned(),
                Setting::Text(self.authority.to_string()),
            ),
            (UPGRADE.to_owned(), Setting::Flag(self.upgrade)),
            (RECLAIM.to_owned(), Setting::Flag(self.reclaim)),
        ]);
        let keys = [
            (SQUADS, self.squads),
            (REGISTRY_AUTHORITY, self.registry_authority),
        ];
        for (name, key) in keys {
            settings.extend(key.map(|key| (name.to_owned(), text(key))));
        }
        settings
    }

    /// Those of a run file or of the address book.
    pub fn recorded(settings: &Settings) -> Option<Self> {
        let flag = |name| match settings.get(name) {
            Some(Setting::Flag(flag)) => Some(*flag),
            _ => None,
        };
        let key = |name| match settings.get(name) {
            Some(Setting::Text(key)) => key.parse().ok().map(Some),
            _ => Some(None),
        };
        match settings.get(AUTHORITY) {
            Some(Setting::Text(authority)) => Some(Self {
                authority: authority.parse().ok()?,
                upgrade: flag(UPGRADE)?,
                reclaim: flag(RECLAIM)?,
                squads: key(SQUADS)?,
                registry_authority: key(REGISTRY_AUTHORITY)?,
            }),
            _ => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn choices_are_what_was_recorded() {
        for authority in [
            "keep",
            "none",
            "SysvarC1ock11111111111111111111111111111111",
        ] {
            let choices = Choices {
                authority: authority.parse().unwrap(),
                upgrade: true,
                reclaim: false,
                squads: Some(Address::new_from_array([9; 32])),
                registry_authority: Some(Address::new_from_array([10; 32])),
            };
            assert_eq!(choices.authority.to_string(), authority);
            assert_eq!(Choices::recorded(&choices.settings()), Some(choices));
        }
        assert_eq!(Choices::recorded(&Settings::new()), None);
        assert!("nobody".parse::<UpgradeAuthority>().is_err());
    }
}
