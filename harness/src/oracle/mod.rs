//! `concord oracle`: every canonical function, one line in, one line out.
//!
//! A request is one JSON object on one line, `{"id": any?, "fn": name, …arguments}`; its answer is
//! `{"id": same, "ok": result}` or `{"id": same, "error": {"class": …, "message": …}}`. A bad line
//! gets an answer like any other, and the reading goes on.
//!
//! In answers, bytes are lower-case hex with `0x`, and integers of a type wider than 53 bits are
//! decimal strings; a summary's count is a number, because it counts the request's own entries. No message repeats a secret, or any text that might be one in the wrong place.

mod arguments;
mod authorization;
mod hashing;
mod naming;
mod signing;
mod statements;
mod summary;

use arguments::{Arguments, Failure};
use concord_canonical::json;
use serde_json::Value as Json;
use std::io::{self, BufRead, Write};

/// What a function answers.
type Answer = Result<Json, Failure>;

/// A function of the protocol.
struct Function {
    name: &'static str,
    call: fn(&Arguments<'_>) -> Answer,
}

const FUNCTIONS: &[Function] = &[
    function("keccak256", hashing::keccak256),
    function("sha256", hashing::sha256),
    function("request_bytes", hashing::request_bytes),
    function("jcs", hashing::jcs),
    function("data_hash", hashing::data_hash),
    function("interaction_hash", hashing::interaction_hash),
    function("reviewer_message", hashing::reviewer_message),
    function("feedback_auth", authorization::feedback_auth),
    function("feedback_auth_blob", authorization::feedback_auth_blob),
    function(
        "feedback_auth_blob_decode",
        authorization::feedback_auth_blob_decode,
    ),
    function("payment_proof", statements::payment_proof),
    function(
        "validation_request_hash",
        statements::validation_request_hash,
    ),
    function("agent_wallet_set", statements::agent_wallet_set),
    function("tag", naming::tag),
    function("tag_decode", naming::tag_decode),
    function("summary", summary::summary),
    function("verify", signing::verify),
    function("sign", signing::sign),
    function("chain_id", naming::chain_id),
    function("account_id", naming::account_id),
    function("task_ref", naming::task_ref),
    function("pda", naming::pda),
];

const fn function(name: &'static str, call: fn(&Arguments<'_>) -> Answer) -> Function {
    Function { name, call }
}

/// Answers every line of `input` on `output`, in order, until the end of the input.
///
/// # Errors
/// Those of reading and writing; never because of what a line says.
pub fn run(mut input: impl BufRead, mut output: impl Write) -> io::Result<()> {
    let mut line = Vec::new();
    while input.read_until(b'\n', &mut line)? > 0 {
        let answer = match std::str::from_utf8(&line) {
            Ok(text) => answer(text),
            Err(error) => envelope(
                "null",
                Err(Failure::bad_request(format!(
                    "line is not UTF-8 at byte {}",
                    error.valid_up_to()
                ))),
            ),
        };
        writeln!(output, "{answer}")?;
        output.flush()?;
        line.clear();
    }
    Ok(())
}

/// The answer to one line, without a line break.
pub fn answer(line: &str) -> String {
    let request = match json::parse(line) {
        Ok(request) => request,
        Err(error) => return envelope("null", Err(Failure::not_json(&error))),
    };
    let Some(object) = request.as_object() else {
        let failure = Failure::bad_request("line is not a JSON object".into());
        return envelope("null", Err(failure));
    };
    let id = object
        .get("id")
        .map_or_else(|| "null".to_string(), arguments::verbatim);
    let arguments = Arguments::new(object);
    if arguments.is_secret_in(&id) {
        let failure = Failure::bad_request("id repeats the secret key".into());
        return envelope("null", Err(failure));
    }
    envelope(&id, call(&arguments))
}

fn call(arguments: &Arguments<'_>) -> Answer {
    let name = arguments.text("fn")?;
    match FUNCTIONS.iter().find(|function| function.name == name) {
        Some(function) => (function.call)(arguments),
        None => Err(Failure::bad_request(format!(
            "fn is {}, must be one of {}",
            arguments::shown_name(name),
            names().collect::<Vec<_>>().join(", ")
        ))),
    }
}

/// The names of all functions, in the order of the protocol's table.
pub fn names() -> impl Iterator<Item = &'static str> {
    FUNCTIONS.iter().map(|function| function.name)
}

/// `id` is JSON text already.
fn envelope(id: &str, answer: Answer) -> String {
    match answer {
        Ok(ok) => format!("{{\"id\":{id},\"ok\":{ok}}}"),
        Err(failure) => {
            let class = failure.class.name();
            let message = Json::from(failure.message);
            format!("{{\"id\":{id},\"error\":{{\"class\":\"{class}\",\"message\":{message}}}}}")
        }
    }
}
