//! Answers as lines for people. Texts of strangers are shown, and do nothing.
use serde_json::Value;
use std::fmt::Write as _;

/// Characters of a text in a line.
const LONG: usize = 100;

/// A text in one line: what would move the cursor, turn the direction or hide is escaped, and the end of
/// a long one is left out.
pub fn shown(text: &str) -> String {
    let mut shown = String::new();
    for character in text.chars().take(LONG) {
        let is_hidden = matches!(character,
            '\u{ad}' | '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{feff}' | '\u{e0000}'..='\u{e007f}');
        if character.is_control() || is_hidden {
            shown.extend(character.escape_unicode())
        } else {
            shown.push(character)
        }
    }
    if text.chars().nth(LONG).is_some() {
        shown.push('…');
    }
    shown
}

/// A member that is a text, or a number as it is.
fn text(of: &Value, name: &str) -> String {
    match &of[name] {
        Value::String(text) => shown(text),
        Value::Null => String::new(),
        other => shown(&other.to_string()),
    }
}

fn items(answer: &Value) -> &[Value] {
    answer["items"].as_array().map_or(&[], Vec::as_slice)
}

fn end(lines: &mut String, answer: &Value) {
    if let Some(cursor) = answer["nextCursor"].as_str() {
        line(lines, format_args!("more: --cursor {}", shown(cursor)));
    }
}

fn line(lines: &mut String, words: std::fmt::Arguments<'_>) {
    let _ = writeln!(lines, "{words}"); // a String takes any text
}

/// Agents, one a line.
pub fn agents(answer: &Value) -> String {
    let mut lines = String::new();
    for agent in items(answer) {
        let file = &agent["registrationFile"];
        let name = match text(file, "name") {
            name if name.is_empty() => "(no name)".to_owned(),
            name => name,
        };
        let id = text(agent, "id");
        let mut words = format!("{id}  {name}  {} feedback", text(agent, "totalFeedback"));
        if !agent["feedback"].is_null() {
            let average = text(&agent["feedback"]["average"], "decimal");
            let count = text(&agent["feedback"], "count");
            let _ = write!(words, "  average {average} of {count} by these reviewers");
        }
        if agent["incomplete"] == true {
            words.push_str("  INCOMPLETE: events are missing");
        }
        line(&mut lines, format_args!("{words}"));
    }
    if lines.is_empty() {
        lines.push_str("no agent is like that\n");
    }
    if let Some(waiting @ 1..) = answer["filesWaiting"].as_u64() {
        line(
            &mut lines,
            format_args!("{waiting} files were not fetched yet: what they say is not known"),
        );
    }
    end(&mut lines, answer);
    lines
}

/// A summary with its facts.
pub fn summary(answer: &Value) -> String {
    let mut lines = String::new();
    let summary = &answer["summary"];
    line(
        &mut lines,
        format_args!("agent      {}", text(answer, "agent")),
    );
    line(
        &mut lines,
        format_args!("profile    {}", text(answer, "profile")),
    );
    let whose = match &answer["clientAddresses"] {
        Value::Array(listed) => format!("{} listed", listed.len()),
        _ => "everyone: anyone can make accounts".to_owned(),
    };
    line(&mut lines, format_args!("reviewers  {whose}"));
    for tag in ["tag", "tag1", "tag2"] {
        if !text(answer, tag).is_empty() {
            line(&mut lines, format_args!("{tag:<10} {}", text(answer, tag)));
        }
    }
    line(
        &mut lines,
        format_args!("count      {}", text(summary, "count")),
    );
    let average = match text(answer, "profile").as_str() {
        "authorized" => text(summary, "averageScore"),
        _ => text(summary, "decimal"),
    };
    line(&mut lines, format_args!("average    {average}"));
    let facts = &answer["facts"];
    line(
        &mut lines,
        format_args!(
            "facts      {} feedback by {} reviewers, {} of them by one; {} proven payers",
            text(facts, "feedback"),
            text(facts, "reviewers"),
            text(&facts["mostActive"], "feedback"),
            text(&facts["proven"], "payers"),
        ),
    );
    if answer["incomplete"] == true {
        line(
            &mut lines,
            format_args!("INCOMPLETE: events of this agent are missing"),
        );
    }
    lines
}

/// Feedback, one a line.
pub fn feedback_list(answer: &Value) -> String {
    let mut lines = String::new();
    for feedback in items(answer) {
        line(&mut lines, format_args!("{}", feedback_line(feedback)));
    }
    if lines.is_empty() {
        lines.push_str("no feedback is like that\n");
    }
    end(&mut lines, answer);
    lines
}

fn feedback_line(feedback: &Value) -> String {
    let mut words = format!(
        "{} {} {} {}  {}",
        text(feedback, "agent"),
        text(feedback, "profile"),
        text(feedback, "clientAddress"),
        text(feedback, "feedbackIndex"),
        text(feedback, "decimal"),
    );
    for tag in ["tag1", "tag2"] {
        if !text(feedback, tag).is_empty() {
            let _ = write!(words, "  {tag} {}", text(feedback, tag));
        }
    }
    if feedback["isRevoked"] == true {
        words.push_str("  revoked");
    }
    words
}

/// A feedback with its evidence.
pub fn feedback(answer: &Value) -> String {
    let mut lines = format!("{}\n", feedback_line(answer));
    for (words, name) in [("endpoint", "endpoint"), ("file", "feedbackURI")] {
        if !text(answer, name).is_empty() {
            line(
                &mut lines,
                format_args!("{words:<11}{}", text(answer, name)),
            );
        }
    }
    let authorship = &answer["authorship"];
    let reviewer = text(authorship, "reviewer");
    match text(authorship, "kind").as_str() {
        "claimed" => line(
            &mut lines,
            format_args!(
                "author     {reviewer}; its file claims {}, without proof",
                text(authorship, "claimedReviewer")
            ),
        ),
        kind => line(&mut lines, format_args!("author     {reviewer} ({kind})")),
    }
    let evidence = &answer["evidence"];
    if !evidence.is_null() {
        let proven = if evidence["contentProven"] == true {
            "proven by the chain"
        } else {
            "not proven: only claimed"
        };
        let state = text(evidence, "state");
        line(&mut lines, format_args!("evidence   {state}, {proven}"));
        for difference in evidence["differences"].as_array().into_iter().flatten() {
            let of = text(difference, "field");
            line(
                &mut lines,
                format_args!("           differs from the chain in {of}"),
            );
        }
    }
    for response in answer["responses"].as_array().into_iter().flatten() {
        let (by, uri) = (text(response, "responder"), text(response, "responseURI"));
        line(&mut lines, format_args!("response   {by}  {uri}"));
    }
    if !answer["nextResponses"].is_null() {
        line(
            &mut lines,
            format_args!("           there are more responses: ask the index for its page of them"),
        );
    }
    if !answer["payment"].is_null() {
        let payment = &answer["payment"];
        let (amount, token) = (text(payment, "amount"), text(payment, "token"));
        line(
            &mut lines,
            format_args!("payment    {amount} of {token}, proven"),
        );
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_of_strangers_stay_in_their_line() {
        let hostile = "a\n\u{1b}[2J\u{202e}b\u{200b}c\u{7}";
        let escaped = "a\\u{a}\\u{1b}[2J\\u{202e}b\\u{200b}c\\u{7}";
        assert_eq!(shown(hostile), escaped);
        assert_eq!(shown(&"é".repeat(101)), format!("{}…", "é".repeat(100)));
        assert_eq!(shown(&"é".repeat(100)), "é".repeat(100));
    }

    #[test]
    fn a_feedback_with_more_responses_says_so() {
        let of = |next| feedback(&serde_json::json!({ "responses": [], "nextResponses": next }));
        assert!(of(Some("ab")).contains("there are more responses"));
        assert!(!of(None).contains("more responses"));
    }
}
