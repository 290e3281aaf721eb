//! Where the next page begins, in a form that callers pass back.
use super::ApiError;
use crate::{
    Place,
    query::{AgentPosition, FeedbackPosition},
    store::{DeploymentId, Value},
    table::{MetadataKey, ValidationKey},
};
use borsh::{BorshDeserialize, BorshSerialize};
use concord_canonical::hash::keccak256;
use concord_registry::event::AgentId;

/// A position in a form with bytes.
pub(super) trait Marked: Sized {
    type Bytes: BorshSerialize + BorshDeserialize;

    fn to_mark(&self) -> Self::Bytes;
    fn of_mark(mark: Self::Bytes) -> Option<Self>;
}

impl Marked for AgentPosition {
    /// Deployment, whether the order is a real number, its 64 bits, agent.
    type Bytes = (i64, bool, u64, AgentId);

    fn to_mark(&self) -> Self::Bytes {
        let (is_real, bits) = match self.order {
            Value::Real(number) => (true, number.to_bits()),
            Value::Int(number) => (false, number.cast_unsigned()),
            _ => (false, 0),
        };
        (self.deployment.0, is_real, bits, self.agent)
    }

    fn of_mark((deployment, is_real, bits, agent): Self::Bytes) -> Option<Self> {
        let order = if is_real {
            Value::Real(Some(f64::from_bits(bits)).filter(|it| it.is_finite())?)
        } else {
            Value::Int(bits.cast_signed())
        };
        Some(Self {
            deployment: DeploymentId(deployment),
            order,
            agent,
        })
    }
}

impl Marked for FeedbackPosition {
    type Bytes = (i64, Place);

    fn to_mark(&self) -> Self::Bytes {
        (self.deployment.0, self.place)
    }

    fn of_mark((deployment, place): Self::Bytes) -> Option<Self> {
        let deployment = DeploymentId(deployment);
        Some(Self { deployment, place })
    }
}

/// The number of a response.
impl Marked for u64 {
    type Bytes = Self;

    fn to_mark(&self) -> Self {
        *self
    }

    fn of_mark(mark: Self) -> Option<Self> {
        Some(mark)
    }
}

impl Marked for MetadataKey {
    type Bytes = Self;

    fn to_mark(&self) -> Self {
        self.clone()
    }

    fn of_mark(mark: Self) -> Option<Self> {
        Some(mark)
    }
}

impl Marked for ValidationKey {
    type Bytes = Self;

    fn to_mark(&self) -> Self {
        *self
    }

    fn of_mark(mark: Self) -> Option<Self> {
        Some(mark)
    }
}

/// A cursor belongs to one search: its first bytes are a digest of that.
pub(super) fn write<P: Marked>(search: &str, next: &[P]) -> Option<String> {
    if next.is_empty() {
        return None;
    }
    let marks: Vec<P::Bytes> = next.iter().map(Marked::to_mark).collect();
    let bytes = borsh::to_vec(&(name(search), marks)).ok()?;
    Some(hex::encode(bytes))
}

pub(super) fn read<P: Marked>(search: &str, text: Option<&str>) -> Result<Vec<P>, ApiError> {
    let malformed = |reason| ApiError::malformed("cursor", reason);
    let Some(text) = text else {
        return Ok(Vec::new());
    };
    let bytes = hex::decode(text).ok();
    let marks = bytes.and_then(|it| borsh::from_slice::<([u8; 8], Vec<P::Bytes>)>(&it).ok());
    let (of, marks) = marks.ok_or_else(|| malformed("is not one that this API returned"))?;
    if of != name(search) {
        return Err(malformed("belongs to another search"));
    }
    let positions: Option<Vec<P>> = marks.into_iter().map(P::of_mark).collect();
    positions.ok_or_else(|| malformed("is not one that this API returned"))
}

fn name(search: &str) -> [u8; 8] {
    let mut name = [0; 8];
    name.copy_from_slice(&keccak256(search.as_bytes())[..8]);
    name
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_cursor_is_read_again_in_its_own_search_only() {
        let agent = AgentId::Evm([7; 32]);
        let at = |order| AgentPosition {
            deployment: DeploymentId(3),
            order,
            agent,
        };
        let next = vec![at(Value::Real(-2.5)), at(Value::Int(-9))];
        let text = write("a", &next).unwrap();
        assert_eq!(read::<AgentPosition>("a", Some(&text)).unwrap(), next);
        let other = read::<AgentPosition>("b", Some(&text)).unwrap_err();
        assert!(other.to_string().contains("another search"), "{other}");
        for broken in ["", "zz", &text[2..], &format!("{text}00")] {
            assert!(
                read::<AgentPosition>("a", Some(broken)).is_err(),
                "{broken}"
            );
        }
        assert_eq!(write::<AgentPosition>("a", &[]), None);
        assert_eq!(read::<FeedbackPosition>("a", None).unwrap(), []);
    }
}
