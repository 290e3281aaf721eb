use serde::Serialize;

use crate::{
    Extra,
    error::Error,
    mapping::Mappings,
    reader::{Node, text, timestamp, u53},
    timestamp::Timestamp,
};

/// A file that a review offers as evidence (PROFILE, "Attachment Pattern").
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[cfg_attr(test, derive(schemars::JsonSchema))]
#[serde(rename_all = "camelCase")]
pub struct Attachment {
    /// What to call it.
    pub name: String,
    /// Where it is.
    pub uri: String,
    /// Its media type.
    pub mime_type: String,
    /// Its size in bytes. PROFILE requires it and leaves it out in two of its examples: readers take
    /// either, writers want it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub size: Option<u64>,
    /// What it shows.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub description: Option<String>,
    /// When it was uploaded.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub uploaded_at: Option<Timestamp>,
    /// Everything else.
    #[serde(flatten)]
    pub extra: Extra,
}

impl Attachment {
    pub(crate) fn read(node: &Node<'_>, notes: &mut Mappings) -> Result<Self, Error> {
        let mut fields = node.fields()?;
        Ok(Self {
            name: text(&fields.need("name")?)?,
            uri: text(&fields.need("uri")?)?,
            mime_type: text(&fields.need("mimeType")?)?,
            size: fields
                .optional("size", notes)
                .map(|node| u53(&node))
                .transpose()?,
            description: fields
                .optional("description", notes)
                .map(|node| text(&node))
                .transpose()?,
            uploaded_at: fields
                .optional("uploadedAt", notes)
                .map(|node| timestamp(&node))
                .transpose()?,
            extra: fields.rest(),
        })
    }
}
