//! What every page has, and how texts and numbers of answers are shown.
use super::site::encoded;
use maud::{DOCTYPE, Markup, html};
use serde_json::Value;

/// Characters of a text in a list.
const SHORT: usize = 80;

/// A whole page.
pub fn whole(title: &str, main: &Markup) -> axum::response::Html<String> {
    let markup = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                title { (short(title)) " – Concord" }
                link rel="stylesheet" href="/explorer.css";
            }
            body {
                a.skip href="#main" { "To the content" }
                header {
                    nav aria-label="Pages" {
                        a href="/" { "Agents" }
                        a href="/status" { "Status" }
                        a href="/explain" { "Verify" }
                        a href="/v1/openapi.json" { "API" }
                    }
                }
                main id="main" { (main) }
                footer { p { "What is shown here is what this index's API answers. Texts are their authors' own." } }
            }
        }
    };
    axum::response::Html(markup.into_string())
}

/// What the API refused.
pub fn refused(message: &str) -> Markup {
    html! {
        h1 { "Not shown" }
        p.alert role="alert" { (strange(message)) }
    }
}

/// A member that is a text, or a number as it is; empty if it is null.
pub fn text(of: &Value, name: &str) -> String {
    match &of[name] {
        Value::Null => String::new(),
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}

/// The members of a list.
pub fn items<'a>(of: &'a Value, name: &str) -> &'a [Value] {
    of[name].as_array().map_or(&[], Vec::as_slice)
}

/// A text of a stranger.
pub fn strange(text: &str) -> Markup {
    html! { bdi { (text) } }
}

/// Its beginning, if it is long.
pub fn short(text: &str) -> String {
    match text.char_indices().nth(SHORT) {
        None => text.to_owned(),
        Some((end, _)) => format!("{}…", &text[..end]),
    }
}

/// An address, a hash or an id.
pub fn code(text: &str) -> Markup {
    html! { code { bdi { (text) } } }
}

/// An agent's name with a link to its page.
pub fn agent_link(id: &str, name: &str) -> Markup {
    let name = match name.trim() {
        "" => "no name",
        name => name,
    };
    html! { a href={ "/agent/" (encoded(id)) } { (strange(&short(name))) } }
}

/// A term with its description; nothing if that is empty.
pub fn entry(term: &str, description: &str) -> Markup {
    html! {
        @if !description.is_empty() {
            dt { (term) }
            dd { (strange(description)) }
        }
    }
}

/// Unix seconds as a date and a time, UTC.
pub fn time(of: &Value, name: &str) -> Markup {
    match of[name].as_i64() {
        None => html! {},
        Some(seconds) => {
            let (date, clock) = civil(seconds);
            html! { time datetime={ (date) "T" (clock) "Z" } { (date) " " (clock) " UTC" } }
        }
    }
}

/// When a file was fetched, and what its host has done since.
pub fn fetched(file: &Value) -> Markup {
    let error = text(file, "fetchError");
    let has_content = matches!(text(file, "state").as_str(), "read" | "unreadable");
    html! {
        @if !file["fetchedAt"].is_null() { p { "Fetched on " (time(file, "fetchedAt")) "." } }
        @if has_content && !error.is_empty() {
            p.warn { "Its host has failed since, the last time on " (time(file, "checkedAt")) ". " (strange(&short(&error))) }
        }
    }
}

/// A date and a time in the Gregorian calendar.
pub fn civil(seconds: i64) -> (String, String) {
    let (days, second) = (seconds.div_euclid(86_400), seconds.rem_euclid(86_400));
    // Days since 0000-03-01, in eras of 400 years (Howard Hinnant's civil_from_days).
    let days = days + 719_468;
    let (era, day) = (days.div_euclid(146_097), days.rem_euclid(146_097));
    let year = (day - day / 1_460 + day / 36_524 - day / 146_096) / 365;
    let of_year = day - (365 * year + year / 4 - year / 100);
    let month = (5 * of_year + 2) / 153;
    let date = of_year - (153 * month + 2) / 5 + 1;
    let month = if month < 10 { month + 3 } else { month - 9 };
    let year = year + era * 400 + i64::from(month <= 2);
    let (hour, minute, second) = (second / 3_600, second / 60 % 60, second % 60);
    (
        format!("{year:04}-{month:02}-{date:02}"),
        format!("{hour:02}:{minute:02}:{second:02}"),
    )
}

/// A link to the page after this one.
pub fn next(path: &str, query: &[(&str, &str)], answer: &Value) -> Markup {
    let Some(cursor) = answer["nextCursor"].as_str() else {
        return html! {};
    };
    let mut pairs: Vec<String> = Vec::new();
    for (name, value) in query.iter().copied().chain([("cursor", cursor)]) {
        if !value.is_empty() {
            pairs.push(format!("{name}={}", encoded(value)));
        }
    }
    html! { p { a.next rel="next" href={ (path) "?" (pairs.join("&")) } { "More" } } }
}

/// The pairs of a query that a page knows; of a name that comes twice, the first.
pub fn pairs(uri: &axum::http::Uri) -> Vec<(String, String)> {
    let read = axum::extract::Query::<Vec<(String, String)>>::try_from_uri(uri);
    read.map(|it| it.0).unwrap_or_default()
}

/// A value of a query, or nothing.
pub fn value<'a>(pairs: &'a [(String, String)], name: &str) -> &'a str {
    let found = pairs.iter().find(|(key, _)| key == name);
    found.map_or("", |(_, value)| value.trim())
}

/// R48: a list of reviewers, as people write one, for the API; `None` if there is none.
pub fn reviewers(text: &str) -> Option<Value> {
    let listed: Vec<&str> = text
        .split(|it: char| it.is_whitespace() || it == ',')
        .filter(|it| !it.is_empty())
        .collect();
    match listed.as_slice() {
        [] => None,
        ["everyone"] => Some(Value::from("everyone")),
        listed => Some(Value::from(listed.to_vec())),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_dates() {
        for (seconds, date, clock) in [
            (0, "1970-01-01", "00:00:00"),
            (951_782_399, "2000-02-28", "23:59:59"),
            (951_868_800, "2000-03-01", "00:00:00"),
            (1_709_164_800, "2024-02-29", "00:00:00"),
            (-1, "1969-12-31", "23:59:59"),
        ] {
            assert_eq!(civil(seconds), (date.to_owned(), clock.to_owned()));
        }
    }

    #[test]
    fn a_text_of_a_stranger_is_no_markup_and_its_beginning_ends_between_characters() {
        let shown = strange("<script>alert(1)</script>&\"").into_string();
        assert_eq!(
            shown,
            "<bdi>&lt;script&gt;alert(1)&lt;/script&gt;&amp;&quot;</bdi>"
        );
        assert_eq!(short(&"é".repeat(10_000)).chars().count(), SHORT + 1);
        let link = agent_link("eip155:1:0x1:\"><b", " ").into_string();
        assert!(
            link.contains("/agent/eip155%3A1%3A0x1%3A%22%3E%3Cb"),
            "{link}"
        );
        assert!(link.contains("no name"), "{link}");
    }

    #[test]
    fn r48_reviewers_are_listed_or_everyone_is_asked_for() {
        assert_eq!(reviewers(" ,\n"), None);
        assert_eq!(reviewers("everyone"), Some(Value::from("everyone")));
        assert_eq!(reviewers("a,b\n c"), Some(Value::from(vec!["a", "b", "c"])));
    }
}
