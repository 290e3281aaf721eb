//! X402's extension: its two profiles, what a 402 announces, and what a paid response carries.

mod info;
mod interaction;
mod profile;

pub use info::{RegistrationId, ReputationInfo, info_from_extensions, parse_info};
pub use interaction::{
    InteractionData, SignedInteraction, interaction_from_extensions, parse_interaction,
};
pub use profile::X402Profile;

use concord_canonical::json;

use crate::{
    error::Error,
    mapping::{Mapping, Mappings},
    parsed::{parse_json, text_of},
    reader::Node,
};

/// What one profile's key of an `extensions` object holds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Found<T> {
    /// The profile that the key of the file belongs to (R26).
    pub profile: X402Profile,
    /// The typed view.
    pub view: T,
    /// Each difference in wording that was bridged.
    pub mappings: Vec<Mapping>,
}

/// Reads each profile's key of an `extensions` object. A verifier takes the profile from the key (R26);
/// a server may serve both.
fn from_extensions<T>(
    extensions: &[u8],
    read: impl Fn(&Node<'_>, &mut Mappings) -> Result<T, Error>,
) -> Result<Vec<Found<T>>, Error> {
    let value = parse_json(text_of(extensions)?)?;
    let mut fields = Node::root(&value).fields()?;
    let mut found = Vec::new();
    for profile in X402Profile::ALL {
        let Some(node) = fields.take(profile.extension_key()) else {
            continue;
        };
        let mut notes = Mappings::default();
        let view = read(&node, &mut notes)?;
        let mappings = notes.into_vec();
        found.push(Found {
            profile,
            view,
            mappings,
        });
    }
    Ok(found)
}

/// The schema of the `info` that a 402 announces, as X402 wants it beside `info`.
#[must_use]
pub fn info_schema() -> &'static str {
    include_str!("../../schemas/reputation-info.json")
}

/// Whether two members say the same, whatever their white space.
fn same(a: &json::Value<'_>, b: &json::Value<'_>) -> bool {
    a.to_canonical() == b.to_canonical()
}
