use crate::invocation::clone_root;
use crate::live::deployed::{Deployed, LIVE};
use std::fs;

/// The commands of docs/DEPLOYING.md that play on a deployment.
fn commands() -> Vec<String> {
    let document = fs::read_to_string(clone_root().join("docs/DEPLOYING.md")).unwrap();
    let is_ours = |line: &&str| line.starts_with("concord conform --live ");
    document
        .lines()
        .filter(is_ours)
        .map(str::to_owned)
        .collect()
}

#[test]
fn the_document_s_commands_do_what_it_says() {
    let (whole, others): (Vec<_>, Vec<_>) = commands()
        .into_iter()
        .filter(|command| command.contains("eip155:"))
        .partition(|command| *command == format!("concord {}", LIVE.join(" ")));
    assert_eq!(whole.len(), 1, "another test plays every scenario by it");
    assert_eq!(others.len(), 1, "{others:?}");
    let deployed = Deployed::start(&[]);
    for command in others {
        let arguments: Vec<_> = command.split(' ').skip(1).collect();
        let answer = deployed.run(&arguments);
        assert_eq!(answer.code, 0, "{command}: {answer:?}");
    }
}
