//! A document's console blocks: commands, and what they print.

const FENCE: &str = "```console";

/// A command of the document with what it prints.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    pub command: String,
    pub output: Vec<String>,
}

/// The document cut at its console blocks: text, then examples, in turn.
pub fn parse(document: &str) -> Vec<(String, Vec<Example>)> {
    let mut parts = Vec::new();
    let mut text = String::new();
    let mut lines = document.lines();
    while let Some(line) = lines.next() {
        text.push_str(line);
        text.push('\n');
        if line != FENCE {
            continue;
        }
        let mut examples: Vec<Example> = Vec::new();
        for line in lines.by_ref().take_while(|line| *line != "```") {
            match line.strip_prefix("$ ") {
                Some(command) => {
                    // Each of the two rehearsals runs its own.
                    assert!(command.starts_with("scripts/deploy-"), "{command}");
                    examples.push(Example {
                        command: command.to_owned(),
                        output: Vec::new(),
                    });
                }
                None => examples.last_mut().unwrap().output.push(line.to_owned()),
            }
        }
        parts.push((std::mem::take(&mut text), examples));
    }
    parts.push((text, Vec::new()));
    parts
}

pub fn print(parts: &[(String, Vec<Example>)]) -> String {
    let mut document = String::new();
    for (text, examples) in parts {
        document.push_str(text);
        for example in examples {
            let lines = example.output.join("\n");
            document.push_str(&format!("$ {}\n{lines}\n", example.command));
        }
        if !examples.is_empty() {
            document.push_str("```\n");
        }
    }
    document
}
