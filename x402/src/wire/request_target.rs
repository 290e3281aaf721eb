use http::Uri;

/// What a proxy in front of the server removed from the start of the path, such as `/api`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExternalPrefix(String);

/// A prefix that is not `/` and segments, without a `/` at its end.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("external_prefix is {0:?}, which must begin with / and not end with one, without ? and #")]
pub struct ExternalPrefixMalformed(String);

impl ExternalPrefix {
    /// Takes a prefix; empty for none.
    ///
    /// # Errors
    /// [`ExternalPrefixMalformed`].
    pub fn new(prefix: &str) -> Result<Self, ExternalPrefixMalformed> {
        let is_path = prefix.starts_with('/') && !prefix.ends_with('/');
        let is_plain = prefix
            .bytes()
            .all(|byte| byte.is_ascii_graphic() && !matches!(byte, b'?' | b'#'));
        if prefix.is_empty() || is_path && is_plain {
            Ok(Self(prefix.to_owned()))
        } else {
            Err(ExternalPrefixMalformed(prefix.to_owned()))
        }
    }
}

/// The target that is hashed for a request without a body: path and query as the operator's outermost hop
/// received them (R33). An absolute form is reduced to them.
#[must_use]
pub fn request_target(prefix: &ExternalPrefix, uri: &Uri) -> String {
    // R33
    let target = uri.path_and_query().map_or("/", |it| it.as_str());
    let slash = if target.starts_with('?') { "/" } else { "" };
    format!("{}{slash}{target}", prefix.0)
}
