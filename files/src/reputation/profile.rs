use concord_canonical::interaction::Profile;

use crate::{
    error::{Error, Rule},
    reader::Fields,
};

/// A profile of X402's extension. It fixes hash prefix, extension key, proof field and comment field
/// together (R26).
///
/// | | default | later name |
/// |---|---|---|
/// | hash prefix | `x402:8004-reputation:v1` | `x402:reputation:v1` |
/// | extension key | `8004-reputation` | `reputation` |
/// | proof field | `proofOfParticipation` | `proofOfInteraction` |
/// | comment field | `comment` | `reasoning` |
/// | default tags (R40) | `x402-resource-delivered`, `proof-of-participation` | `starred`, `x402` |
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Default)]
pub enum X402Profile {
    /// X402's own, the default.
    #[default]
    Reputation8004,
    /// The same extension under its later name.
    Reputation,
}

impl X402Profile {
    /// Both, the default first.
    pub const ALL: [Self; 2] = [Self::Reputation8004, Self::Reputation];

    /// The version of the interaction hash, whose name is the hash's prefix.
    #[must_use]
    pub const fn hash_profile(self) -> Profile {
        match self {
            Self::Reputation8004 => Profile::X4028004ReputationV1,
            Self::Reputation => Profile::X402ReputationV1,
        }
    }

    /// The key in `extensions`.
    #[must_use]
    pub const fn extension_key(self) -> &'static str {
        match self {
            Self::Reputation8004 => "8004-reputation",
            Self::Reputation => "reputation",
        }
    }

    /// The key of the proof in feedback files.
    #[must_use]
    pub const fn proof_field(self) -> &'static str {
        match self {
            Self::Reputation8004 => "proofOfParticipation",
            Self::Reputation => "proofOfInteraction",
        }
    }

    /// The key of the comment in feedback files.
    #[must_use]
    pub const fn comment_field(self) -> &'static str {
        match self {
            Self::Reputation8004 => "comment",
            Self::Reputation => "reasoning",
        }
    }

    /// The tags of feedback whose reviewer names none (R40).
    #[must_use]
    pub const fn default_tags(self) -> [&'static str; 2] {
        match self {
            Self::Reputation8004 => ["x402-resource-delivered", "proof-of-participation"],
            Self::Reputation => ["starred", "x402"],
        }
    }

    /// The other profile.
    #[must_use]
    pub const fn other(self) -> Self {
        match self {
            Self::Reputation8004 => Self::Reputation,
            Self::Reputation => Self::Reputation8004,
        }
    }

    /// The profile of the proof that a feedback file holds; a file holds one at most.
    pub(crate) fn of_proof_in(fields: &Fields<'_>) -> Result<Option<Self>, Error> {
        let [first, second] = Self::ALL.map(|profile| fields.has(profile.proof_field()));
        match (first, second) {
            (true, true) => {
                let [first, second] =
                    Self::ALL.map(|profile| fields.path_of(profile.proof_field()));
                Err(Error::new(second, Rule::Exclusive { other: first }))
            }
            (true, false) => Ok(Some(Self::Reputation8004)),
            (false, true) => Ok(Some(Self::Reputation)),
            (false, false) => Ok(None),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::X402Profile;

    /// By X402 and by the later name's pull request, word for word.
    #[test]
    fn r26_and_r40_fix_five_names_together() {
        let names = |profile: X402Profile| {
            let [tag1, tag2] = profile.default_tags();
            let prefix = profile.hash_profile().name();
            let [key, proof] = [profile.extension_key(), profile.proof_field()];
            [prefix, key, proof, profile.comment_field(), tag1, tag2]
        };
        assert_eq!(
            names(X402Profile::default()),
            [
                "x402:8004-reputation:v1",
                "8004-reputation",
                "proofOfParticipation",
                "comment",
                "x402-resource-delivered",
                "proof-of-participation",
            ]
        );
        assert_eq!(
            names(X402Profile::Reputation),
            [
                "x402:reputation:v1",
                "reputation",
                "proofOfInteraction",
                "reasoning",
                "starred",
                "x402"
            ]
        );
        for profile in X402Profile::ALL {
            assert_ne!(profile.other(), profile);
        }
    }
}
