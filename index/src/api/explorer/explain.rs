//! `/explain`: the page that verifies bundles in the reader's browser, as `explain/page/build` wrote it. It is the one page with a
//! script. What it may do is what its own policy says: its script and style by their hashes, and no connection.
use super::{page, site::Site};
use axum::{
    body::Bytes,
    extract::State,
    http::{HeaderValue, header},
    response::{IntoResponse, Response},
};
use maud::html;
use std::sync::Arc;

/// Bytes of a page that is served: what is built has about 2 MB.
const BYTES_MAX: usize = 16 << 20;
/// The page's text before the policy, and after it.
const POLICY: (&str, &str) = (
    "<meta http-equiv=\"Content-Security-Policy\" content=\"",
    "\">",
);
/// The sources that a policy may name. Hashes name texts that are in the page.
const KEYWORDS: [&str; 2] = ["'none'", "'wasm-unsafe-eval'"];

/// The page that verifies bundles without a network.
#[derive(Debug, Clone)]
pub struct ExplainPage {
    html: Bytes,
    policy: HeaderValue,
}

/// Why a file is not the page that `explain/page/build` writes.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ExplainPageError {
    /// It is too long.
    #[error("it has {0} bytes; the limit is {BYTES_MAX}")]
    Length(usize),
    /// It is another file.
    #[error("it has no Content-Security-Policy: explain/page/build writes the page")]
    NoPolicy,
    /// A script could come from elsewhere, or what the reader drops could go elsewhere.
    #[error("its policy allows {0:?}; the page of explain/page/build allows hashes only")]
    Policy(String),
}

impl ExplainPage {
    /// Takes the page's bytes, and the policy that is in it.
    ///
    /// # Errors
    /// [`ExplainPageError`]
    pub fn new(html: impl Into<Bytes>) -> Result<Self, ExplainPageError> {
        let html = html.into();
        if html.len() > BYTES_MAX {
            return Err(ExplainPageError::Length(html.len()));
        }
        let text = str::from_utf8(&html).map_err(|_| ExplainPageError::NoPolicy)?;
        let policy = text
            .split_once(POLICY.0)
            .and_then(|(_, it)| it.split_once(POLICY.1));
        let policy = policy.ok_or(ExplainPageError::NoPolicy)?.0;
        require_closed(policy)?;
        // A page cannot say this of itself.
        let policy = HeaderValue::from_str(&format!("{policy}; frame-ancestors 'none'"));
        let policy = policy.map_err(|_| ExplainPageError::NoPolicy)?;
        Ok(Self { html, policy })
    }
}

/// Requires that what is not named is forbidden, and that nothing is named but by its hash.
fn require_closed(policy: &str) -> Result<(), ExplainPageError> {
    let refused = |text: &str| ExplainPageError::Policy(text.chars().take(80).collect());
    let directives: Vec<&str> = policy.split(';').map(str::trim).collect();
    if directives.first() != Some(&"default-src 'none'") {
        return Err(refused(policy));
    }
    for directive in directives {
        let mut sources = directive.split_ascii_whitespace().skip(1);
        let is_known = |it: &&str| KEYWORDS.contains(it) || it.starts_with("'sha256-");
        if let Some(open) = sources.find(|it| !is_known(it)) {
            return Err(refused(open));
        }
    }
    Ok(())
}

/// The page; if this index has none, how to verify without it.
pub async fn page(State(site): State<Site>) -> Response {
    let Some(page) = site.explain_page() else {
        return without().into_response();
    };
    let ExplainPage { html, policy } = Arc::unwrap_or_clone(page);
    let mut response = ([(header::CONTENT_TYPE, "text/html; charset=utf-8")], html).into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_SECURITY_POLICY, policy);
    response
}

fn without() -> axum::response::Html<String> {
    let main = html! {
        h1 { "Check a reputation offline" }
        p { "This index does not carry the page that verifies bundles. The command does the same, on a machine without a network:" }
        pre { "concord explain --from FILE --block CHAIN=HASH" }
        p { "Whoever runs this index can add the page: " code { "explain/page/build" } " writes it, and " code { "--explain-page FILE" } " names it." }
    };
    page::whole("Check a reputation offline", &main)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with(policy: &str) -> Result<ExplainPage, ExplainPageError> {
        ExplainPage::new(format!("<!doctype html>{}{policy}{}", POLICY.0, POLICY.1))
    }

    #[test]
    fn the_policy_of_the_page_is_served_and_no_frame_may_hold_it() {
        let own =
            "default-src 'none'; script-src 'sha256-AA+/==' 'wasm-unsafe-eval'; base-uri 'none'";
        let served = with(own).unwrap().policy;
        assert_eq!(served, format!("{own}; frame-ancestors 'none'"));
    }

    #[test]
    fn a_page_that_may_do_more_is_refused_with_what_it_may_do() {
        for (policy, allowed) in [
            (
                "default-src 'none'; script-src 'unsafe-inline'",
                "'unsafe-inline'",
            ),
            (
                "default-src 'none'; connect-src https://x.example",
                "https://x.example",
            ),
            ("default-src 'none'; script-src *", "*"),
            ("script-src 'sha256-AA=='", "script-src 'sha256-AA=='"),
        ] {
            let refused = with(policy).unwrap_err();
            assert_eq!(refused, ExplainPageError::Policy(allowed.to_owned()));
        }
        for other in ["", "<html>", "\u{0}"] {
            assert_eq!(
                ExplainPage::new(other).unwrap_err(),
                ExplainPageError::NoPolicy
            );
        }
        let long = vec![b' '; BYTES_MAX + 1];
        assert_eq!(
            ExplainPage::new(long).unwrap_err(),
            ExplainPageError::Length(BYTES_MAX + 1)
        );
    }
}
