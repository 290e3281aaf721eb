use concord_canonical::{json::INTEGER_MAX, value::Value};
use serde::{Serialize, Serializer};

use crate::{
    error::Error,
    feedback::Rating,
    mapping::Mappings,
    reader::{Fields, decimals, i128_field},
};

/// `value` and `valueDecimals`: the fixed-point rating of open feedback, within the registry's bounds
/// (R16).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct RatingValue {
    /// The integer on chain. Beyond ±(2^53 − 1) it is written as decimal text, because RFC 8785 would
    /// map neighbours to the same bytes (R22).
    #[serde(serialize_with = "as_integer_or_text")]
    #[cfg_attr(test, schemars(schema_with = "crate::schema::int128"))]
    pub value: i128,
    /// How many of its digits follow the point.
    #[cfg_attr(test, schemars(range(max = 18)))]
    pub value_decimals: u8,
}

impl RatingValue {
    pub(crate) fn read(fields: &mut Fields<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let value_node = fields.need("value")?;
        let value = i128_field(&value_node, notes)?;
        let value_decimals = decimals(&fields.need("valueDecimals")?)?;
        // R37: the bound is the field's (R16), not that of X402's tags
        Value::new(value, value_decimals).map_err(|error| value_node.form(error))?;
        Ok(Self {
            value,
            value_decimals,
        })
    }

    /// The rating; zero for parts that no registry takes, which no writer lets through.
    pub(crate) fn rating(self) -> Rating {
        Rating::Value(Value::new(self.value, self.value_decimals).unwrap_or_default())
    }
}

#[allow(clippy::trivially_copy_pass_by_ref, reason = "serde's signature")]
fn as_integer_or_text<S: Serializer>(value: &i128, to: S) -> Result<S::Ok, S::Error> {
    match i64::try_from(*value) {
        Ok(integer) if integer.unsigned_abs() <= INTEGER_MAX.unsigned_abs() => {
            to.serialize_i64(integer)
        }
        _ => to.collect_str(value),
    }
}
