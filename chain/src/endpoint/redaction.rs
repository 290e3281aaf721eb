use alloy::transports::http::reqwest::Url;
use base64::{Engine, prelude::BASE64_STANDARD};
use percent_encoding::{NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};

/// Shorter pieces of a URL are words such as `v2` or `rpc`, not keys.
const SECRET_MIN: usize = 8;

/// Removes an endpoint's URL from other people's words. Providers put keys into paths, queries and
/// user names, and some repeat them in what they answer.
#[derive(Clone, Debug)]
pub struct Redaction {
    host: String,
    /// Longest first, or a part would be replaced and leave the rest.
    secrets: Vec<String>,
}

impl Redaction {
    /// Covers the URL as it was given and as it is requested.
    #[must_use]
    pub fn of(given: &str, url: &Url) -> Self {
        let host = url.host_str().unwrap_or_default();
        let host = match url.port() {
            Some(port) => format!("{host}:{port}"),
            None => host.to_owned(),
        };
        let (user, password) = (url.username(), url.password().unwrap_or_default());
        let whole = [given, url.as_str()].map(|it| it.trim_end_matches('/').to_owned());
        let mut secrets = whole.to_vec();
        let query = url.query().unwrap_or_default();
        let raw_values = query.split('&').filter_map(|pair| pair.split_once('='));
        let values = url.query_pairs().map(|(_, value)| value.into_owned());
        let basic = BASE64_STANDARD.encode([user, password].map(decoded).join(":"));
        let pieces = (url.path().split('/'))
            .chain([url.path(), query, user, password])
            .chain(raw_values.map(|(_, value)| value))
            .map(str::to_owned)
            .chain(values)
            .chain([basic]);
        secrets.extend(
            pieces
                .flat_map(encodings)
                .filter(|it| it.len() >= SECRET_MIN),
        );
        secrets.sort_by_key(|it| std::cmp::Reverse(it.len()));
        Self { host, secrets }
    }

    /// Returns host and port: all of a URL that is ever shown.
    #[must_use]
    pub fn host(&self) -> &str {
        &self.host
    }

    /// Returns the words without the URL or any piece of it that may be secret, in any case.
    #[must_use]
    pub fn clean(&self, words: &str) -> String {
        let mut clean = words.to_owned();
        for (at, secret) in self.secrets.iter().enumerate() {
            let shown = if at < 2 { &*self.host } else { "…" };
            clean = replaced(&clean, secret, shown);
        }
        clean
    }
}

/// Returns the piece as it is, percent-decoded, and percent-encoded. An endpoint may repeat any of
/// these.
fn encodings(piece: String) -> [String; 3] {
    let decoded = decoded(&piece);
    let encoded = utf8_percent_encode(&decoded, NON_ALPHANUMERIC).to_string();
    [piece, decoded, encoded]
}

fn decoded(piece: &str) -> String {
    percent_decode_str(piece).decode_utf8_lossy().into_owned()
}

fn replaced(text: &str, secret: &str, shown: &str) -> String {
    let lower = text.to_ascii_lowercase();
    let sought = secret.to_ascii_lowercase();
    let mut clean = String::new();
    let mut from = 0;
    while let Some(found) = lower[from..].find(&sought) {
        clean.push_str(&text[from..from + found]);
        clean.push_str(shown);
        from += found + sought.len();
    }
    clean.push_str(&text[from..]);
    clean
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cleaned(url: &str, words: &str) -> String {
        Redaction::of(url, &url.parse().unwrap()).clean(words)
    }

    #[test]
    fn no_piece_that_may_be_a_key_is_left() {
        let url =
            "https://user-name:pass-word@node.example:8545/v2/0123456789abcdef?apikey=QWERTYUIOP";
        let words = format!(
            "no {url}, {}, /v2/0123456789abcdef, QWERTYUIOP, pass-word, Basic {}, qwertyuiop",
            url.to_uppercase(),
            BASE64_STANDARD.encode("user-name:pass-word")
        );
        let clean = cleaned(url, &words).to_lowercase();
        for secret in [
            "0123456789abcdef",
            "qwertyuiop",
            "pass-word",
            "user-name",
            "dxnlci",
        ] {
            assert!(!clean.contains(secret), "{clean}");
        }
        assert!(clean.starts_with("no node.example:8545, "), "{clean}");
    }

    #[test]
    fn a_key_is_found_in_each_of_its_encodings() {
        let url = "https://node.example/?apikey=QWERTY%2BUIOP%2Fa";
        for words in [
            "QWERTY%2BUIOP%2Fa",
            "QWERTY+UIOP/a",
            "qwerty%2buiop%2fa",
            "apikey=QWERTY+UIOP/a",
        ] {
            let clean = cleaned(url, &format!("bad key {words}!")).to_lowercase();
            assert!(!clean.contains("qwerty"), "{clean}");
            assert!(clean.ends_with('!'), "{clean}");
        }
        let plain = "https://node.example/?apikey=QWERTY+UIOP/a";
        let clean = cleaned(plain, "QWERTY%2BUIOP%2Fa or QWERTY%20UIOP%2Fa").to_lowercase();
        assert!(!clean.contains("qwerty"), "{clean}");
    }

    #[test]
    fn what_is_no_secret_stays() {
        let words = "execution reverted at v2 of node.example, an ö and an İ";
        assert_eq!(cleaned("https://node.example/v2", words), words);
    }
}
