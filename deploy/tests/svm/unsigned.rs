//! What `plan --json` gives to a Squads multisig, or to any other sender.
use crate::svm::{
    cluster::{Cluster, decoded, program_key},
    workplace::Workplace,
};
use serde_json::{Value, json};
use solana_instruction::{AccountMeta, Instruction};
use solana_signer::Signer;

pub fn instruction(json: &Value) -> Instruction {
    let account = |it: &Value| AccountMeta {
        pubkey: it["address"].as_str().unwrap().parse().unwrap(),
        is_signer: it["signer"].as_bool().unwrap(),
        is_writable: it["writable"].as_bool().unwrap(),
    };
    Instruction {
        program_id: json["program"].as_str().unwrap().parse().unwrap(),
        accounts: (json["accounts"].as_array().unwrap().iter())
            .map(account)
            .collect(),
        data: decoded(&json["data"]),
    }
}

/// Builds the step's transaction from the plan alone, and lands it.
fn send(cluster: &Cluster, step: &Value) {
    let instructions = step["transaction"]["instructions"].as_array().unwrap();
    let instructions: Vec<Instruction> = instructions.iter().map(instruction).collect();
    let program = program_key();
    let accounts = instructions.iter().flat_map(|it| &it.accounts);
    let names_program = accounts
        .filter(|it| it.is_signer)
        .any(|it| it.pubkey == program.pubkey());
    if names_program {
        cluster.carry_out(&instructions, &[&program])
    } else {
        cluster.carry_out(&instructions, &[])
    }
    cluster.ask("local_advance", json!([1])); // new code can be called one slot later
}

#[test]
fn another_sender_can_carry_out_the_plan() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    assert_eq!(workplace.plan(&[]).assert_done().code, Some(0));
    let plan = workplace.plan(&["--json"]).assert_done().json();
    let steps = plan["steps"].as_array().unwrap();
    for step in steps {
        send(&cluster, step);
    }
    assert_eq!(cluster.signatures().len(), steps.len());
    cluster.ask("local_advance", json!([64]));
    let applied = workplace.apply(&[]);
    assert!(applied.assert_done().stderr.contains("nothing was sent"));
    assert_eq!(cluster.signatures().len(), steps.len());
    workplace.run(&["verify"]).assert_done();

    // Nothing is left to send, for anybody.
    let plan = workplace.plan(&["--json"]).assert_done().json();
    let steps = plan["steps"].as_array().unwrap();
    assert!(steps.iter().all(|step| step.get("transaction").is_none()));
}
