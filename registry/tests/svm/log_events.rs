//! `AgentTransferred` in the log: what the transfer hook does at the deepest call level (R4).
use super::{program, some_address, some_key};
use agent_registry::AgentTransferred;
use anchor_lang::{AnchorSerialize, Discriminator, event::EVENT_IX_TAG_LE};
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_registry::event::{Block, Decoded, EventError, Position, RawEvent};
use concord_registry::svm::{
    Address,
    events::{Call, TopLevel, Transaction},
    programs::{ED25519, SYSTEM, TOKEN_2022},
};

fn transferred(to: u8) -> Vec<u8> {
    let event = AgentTransferred {
        nft_mint: some_key(1),
        from: some_key(2),
        to: some_key(to),
        timestamp: 5,
    };
    let mut data = AgentTransferred::DISCRIMINATOR.to_vec();
    event.serialize(&mut data).unwrap();
    data
}

fn line(data: &[u8]) -> String {
    format!("Program data: {}", BASE64.encode(data))
}

fn invoked(program: Address, depth: u8) -> String {
    format!("Program {program} invoke [{depth}]")
}

fn succeeded(program: Address) -> String {
    format!("Program {program} success")
}

fn call(program: Address) -> Call {
    Call {
        program,
        accounts: Vec::new(),
        data: Vec::new(),
    }
}

fn transaction(programs: &[Address], logs: Vec<String>) -> Transaction {
    let top = |program: &Address| TopLevel {
        program: *program,
        calls: Vec::new(),
    };
    Transaction {
        signature: [7; 64],
        block: Block {
            number: 5,
            hash: None,
        },
        instructions: programs.iter().map(top).collect(),
        logs,
    }
}

fn read(transaction: &Transaction) -> Decoded {
    program().events("solana:localnet", transaction)
}

fn positions(decoded: &Decoded) -> Vec<(u32, u32, u32)> {
    decoded
        .events
        .iter()
        .map(|it| match it.origin.position {
            Position::Svm {
                instruction,
                call,
                line,
            } => (instruction, call, line),
            other => panic!("{other:?}"),
        })
        .collect()
}

#[test]
fn an_event_in_the_log_has_the_place_of_the_call_that_wrote_it() {
    let (ours, wallet) = (program().id(), some_address(9));
    let logs = vec![
        invoked(SYSTEM, 1),
        succeeded(SYSTEM),
        invoked(wallet, 1),
        invoked(SYSTEM, 2), // call 1
        succeeded(SYSTEM),
        "Program log: Instruction: Move".to_owned(),
        invoked(TOKEN_2022, 2), // call 2
        invoked(ours, 3),       // call 3
        line(&transferred(3)),
        format!("Program {ours} consumed 5000 of 200000 compute units"),
        succeeded(ours),
        succeeded(TOKEN_2022),
        format!("Program return: {wallet} AA=="),
        succeeded(wallet),
    ];
    // The precompile writes no lines.
    let programs = [SYSTEM, ED25519, wallet];
    let decoded = read(&transaction(&programs, logs));
    assert_eq!(positions(&decoded), [(2, 3, 1)]);
    assert_eq!(decoded.undecoded, []);
    assert!(!decoded.is_log_truncated);
}

#[test]
fn events_in_calls_and_in_the_log_come_in_the_order_in_which_they_happened() {
    let ours = program().id();
    let event = |data: &[u8]| Call {
        program: ours,
        accounts: vec![program().event_authority()],
        data: [EVENT_IX_TAG_LE, data].concat(),
    };
    let mut sent = transaction(
        &[some_address(9)],
        vec![
            invoked(some_address(9), 1),
            invoked(ours, 2), // call 1, calls itself: call 2
            invoked(ours, 3),
            succeeded(ours),
            succeeded(ours),
            invoked(ours, 2), // call 3, in the log
            line(&transferred(4)),
            succeeded(ours),
            invoked(ours, 2), // call 4, calls itself: call 5
            invoked(ours, 3),
            succeeded(ours),
            succeeded(ours),
            succeeded(some_address(9)),
        ],
    );
    sent.instructions[0].calls = vec![
        call(ours),
        event(&transferred(3)),
        call(ours),
        call(ours),
        event(&transferred(5)),
    ];
    assert_eq!(positions(&read(&sent)), [(0, 2, 0), (0, 3, 1), (0, 5, 0)]);
}

#[test]
fn nobody_else_can_write_an_event_of_the_program() {
    let (ours, other) = (program().id(), some_address(9));
    let event = line(&transferred(3));
    let logs = vec![
        event.clone(),
        invoked(other, 1),
        event.clone(),
        format!("Program log: {}", invoked(ours, 2)),
        event.clone(),
        format!("Program log: Program {ours} invoke [2]"),
        event.clone(),
        invoked(ours, 2),
        succeeded(ours),
        event,
        succeeded(other),
    ];
    assert_eq!(read(&transaction(&[other], logs)), Decoded::default());
}

#[test]
fn a_line_of_the_program_that_does_not_decode_is_kept() {
    let ours = program().id();
    let logs = |data: &str| vec![invoked(ours, 1), format!("Program data: {data}")];
    let decoded = read(&transaction(&[ours], logs(&BASE64.encode([9; 12]))));
    assert_eq!(decoded.undecoded[0].raw, RawEvent::Svm(vec![9; 12]));
    assert_eq!(decoded.undecoded[0].reason, EventError::Unknown);
    let decoded = read(&transaction(&[ours], logs("no base64")));
    assert_eq!(
        decoded.undecoded[0].raw,
        RawEvent::Svm(b"no base64".to_vec())
    );
}

#[test]
fn a_log_that_was_cut_off_is_reported() {
    let ours = program().id();
    let logs = vec![invoked(ours, 1), "Log truncated".to_owned()];
    assert!(read(&transaction(&[ours], logs)).is_log_truncated);
    // what a program says is not a mark of the runtime's
    let logs = vec![invoked(ours, 1), "Program log: Log truncated".to_owned()];
    assert!(!read(&transaction(&[ours], logs)).is_log_truncated);
}
