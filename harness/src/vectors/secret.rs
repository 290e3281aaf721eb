//! What no report repeats: the secret key of a request. The committed ones are published, but a
//! program under test may log its reports anywhere, next to keys that are not.

/// The shortest run of a secret's hex digits that is left out.
const RUN_MIN: usize = 16;
const MASK: &str = "<secret key>";

/// `text` without any run of the secret's hex digits, in either case.
pub(super) fn without(secret: Option<&str>, text: &str) -> String {
    let Some(secret) = secret else {
        return text.to_owned();
    };
    let digits = secret.strip_prefix("0x").unwrap_or(secret);
    let digits = digits.to_ascii_lowercase().into_bytes();
    if digits.is_empty() {
        return text.to_owned();
    }
    let run = RUN_MIN.min(digits.len());
    let lower = text.to_ascii_lowercase().into_bytes();
    let mut hidden = vec![false; lower.len()];
    for (at, window) in lower.windows(run).enumerate() {
        if digits.windows(run).any(|part| part == window) {
            hidden[at..at + run].fill(true);
        }
    }
    masked(text, &hidden)
}

/// `text` with each hidden run as [`MASK`]. Hidden bytes are ASCII, so characters stay whole.
fn masked(text: &str, hidden: &[bool]) -> String {
    let mut shown = String::with_capacity(text.len());
    let mut was_hidden = false;
    for (at, c) in text.char_indices() {
        match (hidden[at], was_hidden) {
            (true, false) => shown.push_str(MASK),
            (true, true) => (),
            (false, _) => shown.push(c),
        }
        was_hidden = hidden[at];
    }
    shown
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECRET: &str = "0x9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";

    #[test]
    fn leaves_out_the_whole_secret_and_parts_of_it_in_either_case() {
        let upper = SECRET[2..].to_ascii_uppercase();
        for (text, expected) in [
            (SECRET.to_owned(), "0x<secret key>"),
            (format!("key {upper}é!"), "key <secret key>é!"),
            (format!("{}…", &SECRET[..30]), "0x<secret key>…"),
            (format!("[{}]", &SECRET[40..57]), "[<secret key>]"),
            ("é 9d61b19deffd5a6".to_owned(), "é 9d61b19deffd5a6"),
        ] {
            assert_eq!(without(Some(SECRET), &text), expected);
        }
    }

    #[test]
    fn leaves_text_without_a_secret_alone() {
        assert_eq!(without(None, SECRET), SECRET);
        assert_eq!(without(Some("0x"), "0x00"), "0x00");
        assert_eq!(without(Some("0xab"), "xaby"), "x<secret key>y");
    }
}
