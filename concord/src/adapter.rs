//! `concord adapter check` and `concord adapter schema`.
use super::{AGREE, DISAGREE, arguments::AdapterPart, error::CliError, print, show};
use concord_harness::{
    backend::adapter::{
        SCHEMA,
        check::{Checked, check},
    },
    model::Chain,
    report::plain,
};
use std::time::Duration;

/// The exit code.
pub(super) fn adapter(part: &AdapterPart) -> Result<u8, CliError> {
    match part {
        AdapterPart::Check {
            chain,
            timeout,
            command,
        } => check_answers(command, *chain, Duration::from_secs(*timeout)),
        AdapterPart::Schema => print(SCHEMA.as_bytes()),
    }
}

fn check_answers(command: &str, chain: Chain, limit: Duration) -> Result<u8, CliError> {
    let mut answers = 0_usize;
    let mut shown = Ok(());
    let mut on_answer = |checked: &Checked| {
        answers += 1;
        if shown.is_ok() {
            shown = show(format!("{}\n", plain(&checked.to_string())).as_bytes());
        }
    };
    let wrong = check(command, chain, limit, &mut on_answer)?;
    shown?;
    let verdict = match wrong {
        0 => format!("\n{answers} answers: all of the protocol\n"),
        _ => format!("\n{answers} answers: {wrong} wrong\n"),
    };
    show(verdict.as_bytes())?;
    Ok(if wrong == 0 { AGREE } else { DISAGREE })
}
