//! Reads a request's arguments into types. Every refusal names the argument and what it must be.
use super::{
    failure::Failure,
    types::{EvmAddress, Int256, SolanaChain, SolanaKey, Uint256, Word},
};
use alloc::{borrow::ToOwned, format, string::String, vec::Vec};
use concord_canonical::{
    caip::{self, ChainId},
    json::{Object, Value},
};
use core::slice;
use serde::{
    Deserialize,
    de::{
        DeserializeSeed, Deserializer, EnumAccess, IntoDeserializer, MapAccess, SeqAccess,
        VariantAccess, Visitor,
        value::{BorrowedStrDeserializer, StrDeserializer},
    },
    forward_to_deserialize_any,
};

/// Members of a request that are not arguments.
const ENVELOPE: [&str; 2] = ["id", "fn"];

/// A serde deserializer over one JSON value.
///
/// An enum is read from a string, or from the object whose member of the enum's serde name chooses
/// the variant; the object's other members are the variant's. No argument is ignored.
pub(super) struct Reader<'a> {
    pub(super) value: &'a Value<'a>,
    /// The argument's name.
    pub(super) field: &'static str,
    /// The argument's place, such as `feedback[3]`. Empty for the request itself.
    pub(super) place: String,
    /// Members that chose the type.
    tags: Vec<&'static str>,
}

/// Reads a request.
pub(super) fn read<'a, T: Deserialize<'a>>(request: &'a Value<'a>) -> Result<T, Failure> {
    T::deserialize(Reader {
        value: request,
        field: "",
        place: String::new(),
        tags: Vec::new(),
    })
}

/// The text of a request's member.
pub(super) fn text_of<'a>(request: &'a Value<'a>, name: &'static str) -> Result<&'a str, Failure> {
    let value = request.get(name).ok_or_else(|| Failure::missing(name))?;
    Reader::member(value, name).text()
}

impl<'a> Reader<'a> {
    fn member(value: &'a Value<'a>, field: &'static str) -> Self {
        Self {
            value,
            field,
            place: field.to_owned(),
            tags: Vec::new(),
        }
    }

    pub(super) fn wrong_type(&self, wanted: &str) -> Failure {
        Failure::wrong_type(&self.place, self.value, wanted)
    }

    /// Adds this value's place to what its members are refused for.
    fn inside<T>(place: &str, read: Result<T, Failure>) -> Result<T, Failure> {
        match place {
            "" => read,
            place => read.map_err(|failure| failure.inside(place)),
        }
    }

    pub(super) fn text(&self) -> Result<&'a str, Failure> {
        let text = self.value.as_str();
        text.ok_or_else(|| self.wrong_type("a string"))
    }

    fn object(&self) -> Result<&'a Object<'a>, Failure> {
        let object = self.value.as_object();
        object.ok_or_else(|| self.wrong_type("an object"))
    }

    /// The variant that this string names. A chain id names its namespace.
    fn variant(&self, variants: &'static [&'static str]) -> Result<&'static str, Failure> {
        let text = self.text()?;
        let known = |text| variants.iter().find(|variant| **variant == text).copied();
        if self.field != "chain_id" {
            return known(text).ok_or_else(|| Failure::not_one_of(&self.place, variants));
        }
        let namespace = ChainId::parse(text)?.namespace();
        known(namespace)
            .ok_or_else(|| Failure::wrong_namespace(namespace, "\"eip155\" or \"solana\""))
    }
}

impl<'de> Deserializer<'de> for Reader<'de> {
    type Error = Failure;

    fn deserialize_any<V: Visitor<'de>>(self, _: V) -> Result<V::Value, Failure> {
        Err(self.wrong_type("of a type that the function names"))
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let flag = self.value.as_bool();
        visitor.visit_bool(flag.ok_or_else(|| self.wrong_type("true or false"))?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_borrowed_str(self.text()?)
    }

    fn deserialize_byte_buf<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_byte_buf(self.bytes()?)
    }

    fn deserialize_u8<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_u8(self.integer_of("a uint8, 0 to 255")?)
    }

    fn deserialize_u64<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_u64(self.integer_of("a uint64, 0 to 18446744073709551615")?)
    }

    fn deserialize_i128<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_i128(self.integer_of("an int128, -2^127 to 2^127 - 1")?)
    }

    /// The types that have a text form of their own.
    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let bytes = match name {
            Word::NAME => self.word()?,
            EvmAddress::NAME => self.evm_address()?.to_vec(),
            SolanaKey::NAME => caip::parse_solana_key(self.field, self.text()?)?.to_vec(),
            SolanaChain::NAME => self.solana_chain()?.to_vec(),
            Uint256::NAME => self.uint256()?.to_vec(),
            Int256::NAME => self.int256()?.to_vec(),
            _ => return visitor.visit_newtype_struct(self),
        };
        visitor.visit_byte_buf(bytes)
    }

    /// An argument that is present has a value: `null` is none.
    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        visitor.visit_some(self)
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Failure> {
        let elements = self.value.as_array();
        let elements = elements.ok_or_else(|| self.wrong_type("a list"))?;
        visitor.visit_seq(Elements {
            elements: elements.iter(),
            list: &self,
            read: 0,
        })
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        let object = self.object()?;
        let tags = self.tags.iter().filter(|tag| !fields.contains(tag));
        let known: Vec<&str> = tags.chain(fields).copied().collect();
        let is_request = self.place.is_empty();
        let is_known =
            |name: &str| known.contains(&name) || (is_request && ENVELOPE.contains(&name));
        let read = match object.iter().find(|(name, _)| !is_known(name)) {
            Some((name, _)) => Err(Failure::unknown_argument(name, &known)),
            None => visitor.visit_map(Members {
                object,
                fields: fields.iter(),
                value: None,
            }),
        };
        Self::inside(&self.place, read)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        mut self,
        name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        if self.field == name {
            let variant: StrDeserializer<'_, Failure> = self.variant(variants)?.into_deserializer();
            return visitor.visit_enum(variant);
        }
        let tag = self.object()?.get(name);
        let tag = tag.ok_or_else(|| Failure::missing(name))?;
        let variant = Reader::member(tag, name).variant(variants)?;
        self.tags
            .extend((!ENVELOPE.contains(&name)).then_some(name));
        visitor.visit_enum(Tagged {
            variant,
            members: self,
        })
    }

    forward_to_deserialize_any! {
        i8 i16 i32 i64 u16 u32 u128 f32 f64 char string bytes unit unit_struct tuple tuple_struct
        map identifier ignored_any
    }
}

/// The members of an object, in the order in which the type names them.
struct Members<'a> {
    object: &'a Object<'a>,
    fields: slice::Iter<'static, &'static str>,
    value: Option<Reader<'a>>,
}

impl<'a> MapAccess<'a> for Members<'a> {
    type Error = Failure;

    fn next_key_seed<K: DeserializeSeed<'a>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Failure> {
        let object = self.object;
        let next = self
            .fields
            .find_map(|field| Some((*field, object.get(field)?)));
        let Some((field, value)) = next else {
            return Ok(None);
        };
        self.value = Some(Reader::member(value, field));
        seed.deserialize(BorrowedStrDeserializer::new(field))
            .map(Some)
    }

    fn next_value_seed<S: DeserializeSeed<'a>>(&mut self, seed: S) -> Result<S::Value, Failure> {
        let value = self.value.take();
        seed.deserialize(value.ok_or_else(|| Failure::missing("a value"))?)
    }
}

/// The elements of a list.
struct Elements<'a, 'b> {
    elements: slice::Iter<'a, Value<'a>>,
    list: &'b Reader<'a>,
    read: usize,
}

impl<'a> SeqAccess<'a> for Elements<'a, '_> {
    type Error = Failure;

    fn next_element_seed<S: DeserializeSeed<'a>>(
        &mut self,
        seed: S,
    ) -> Result<Option<S::Value>, Failure> {
        let Some(value) = self.elements.next() else {
            return Ok(None);
        };
        let element = Reader {
            place: format!("{}[{}]", self.list.place, self.read),
            ..Reader::member(value, self.list.field)
        };
        self.read += 1;
        seed.deserialize(element).map(Some)
    }
}

/// A variant that a member of the object has chosen.
struct Tagged<'a> {
    variant: &'static str,
    members: Reader<'a>,
}

impl<'a> EnumAccess<'a> for Tagged<'a> {
    type Error = Failure;
    type Variant = Reader<'a>;

    fn variant_seed<S: DeserializeSeed<'a>>(
        self,
        seed: S,
    ) -> Result<(S::Value, Reader<'a>), Failure> {
        let variant = BorrowedStrDeserializer::<Failure>::new(self.variant);
        Ok((seed.deserialize(variant)?, self.members))
    }
}

impl<'a> VariantAccess<'a> for Reader<'a> {
    type Error = Failure;

    fn unit_variant(self) -> Result<(), Failure> {
        Ok(())
    }

    fn newtype_variant_seed<S: DeserializeSeed<'a>>(self, seed: S) -> Result<S::Value, Failure> {
        seed.deserialize(self)
    }

    fn tuple_variant<V: Visitor<'a>>(self, _: usize, visitor: V) -> Result<V::Value, Failure> {
        self.deserialize_any(visitor)
    }

    fn struct_variant<V: Visitor<'a>>(
        self,
        fields: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Failure> {
        self.deserialize_struct("", fields, visitor)
    }
}
