//! The commands that verify what a page shows, without believing this index.
use super::page::text;
use maud::{Markup, html};
use serde_json::Value;

/// How one feedback is verified: by its transaction, which an index cannot choose for another.
pub fn of_feedback(feedback: &Value) -> Markup {
    let chain = chain_of(&text(feedback, "agent"));
    let transaction = text(feedback, "transaction");
    verified(&chain, &format!("{chain}:{transaction}"), "feedback.json")
}

/// How a number is verified: over these reviewers (R48), or over everyone.
pub fn of_reputation(agent: &str, reviewers: &[Value]) -> Markup {
    let listed = reviewers.iter().filter_map(Value::as_str);
    let listed: String = listed.map(|it| format!(" --reviewer {it}")).collect();
    let (what, file) = if listed.is_empty() {
        (format!("agent {agent}"), "agent.json")
    } else {
        (format!("summary {agent}{listed}"), "summary.json")
    };
    verified(&chain_of(agent), &what, file)
}

/// `what` is what the API answered or has read as addresses. A text with any other character is not safe in a shell.
fn verified(chain: &str, what: &str, file: &str) -> Markup {
    let is_plain = |it: char| it.is_ascii_alphanumeric() || ":- ".contains(it);
    if chain.is_empty() || !what.chars().all(is_plain) {
        return html! {};
    }
    html! {
        h2 id="verify" { "Verify it yourself" }
        p { "The first command reads the chain from a node of your choice and writes everything it read into one file. The second verifies the file without a network; "
            a href="/explain" { "so does this page, in your browser" } "." }
        pre { "concord explain " (what) " --rpc " (chain) "=URL --bundle " (file) "\n"
            "concord explain --from " (file) @if chain.starts_with("eip155:") { " --block " (chain) "=HASH" } }
        p { "Name registries other than the canonical ones to both with " code { "--address-book FILE" } "." }
    }
}

/// The chain of an agent's id, CAIP-2.
fn chain_of(agent: &str) -> String {
    let parts: Vec<&str> = agent.split(':').collect();
    match parts.as_slice() {
        [space, reference, _, _] => format!("{space}:{reference}"),
        _ => String::new(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn a_feedback_is_verified_by_its_transaction() {
        let feedback = json!({ "agent": "eip155:1:0x12:7", "transaction": "0xab" });
        let shown = of_feedback(&feedback).into_string();
        assert!(
            shown.contains(
                "<pre>concord explain eip155:1:0xab --rpc eip155:1=URL --bundle feedback.json\n\
             concord explain --from feedback.json --block eip155:1=HASH</pre>"
            ),
            "{shown}"
        );
        let feedback = json!({ "agent": "solana:x:p:m", "transaction": "5yD" });
        let shown = of_feedback(&feedback).into_string();
        assert!(
            shown.contains("concord explain solana:x:5yD --rpc solana:x=URL"),
            "{shown}"
        );
        assert!(
            !shown.contains("--block"),
            "no hash is trusted on Solana: {shown}"
        );
    }

    #[test]
    fn r48_a_number_is_verified_for_the_reviewers_it_is_over() {
        let agent = "eip155:1:0x12:7";
        let everyone = of_reputation(agent, &[]).into_string();
        assert!(
            everyone.contains("concord explain agent eip155:1:0x12:7 --rpc"),
            "{everyone}"
        );
        let listed = of_reputation(agent, &[json!("0xaa"), json!("0xbb")]).into_string();
        let words = "concord explain summary eip155:1:0x12:7 --reviewer 0xaa --reviewer 0xbb --rpc";
        assert!(listed.contains(words), "{listed}");
    }

    #[test]
    fn nothing_of_a_stranger_is_a_word_for_a_shell() {
        for reviewer in ["0xaa; rm -rf ~", "$(id)", "`id`", "0xaa\n0xbb", "<b>"] {
            let shown = of_reputation("eip155:1:0x12:7", &[json!(reviewer)]).into_string();
            assert_eq!(shown, "", "{reviewer}");
        }
    }
}
