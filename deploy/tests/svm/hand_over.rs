//! What goes to other keys with the program, and upgrades that another key sends.
use crate::shared::process::Answer;
use crate::svm::{
    cluster::{Cluster, deployer, program_key},
    unsigned::instruction,
    workplace::{Workplace, built, write_keypair},
};
use serde_json::{Value, json};
use sha2::{Digest, Sha256};
use solana_keypair::Keypair;
use solana_signer::Signer;

fn next() -> Keypair {
    Keypair::new_from_array([8; 32])
}

fn apply(workplace: &Workplace, more: &[&str]) -> Answer {
    workplace.run(&[&["apply", "--yes", "--poll", "40"], more].concat())
}

#[test]
fn the_registry_s_authority_is_proposed_with_the_program() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    let key = next().pubkey().to_string();
    let vault = "SysvarC1ock11111111111111111111111111111111";
    apply(
        &workplace,
        &["--upgrade-authority", &key, "--registry-authority", vault],
    )
    .assert_refused(2, &format!("--registry-authority {vault}: a sysvar"));

    // Left behind, it is named wherever somebody looks.
    let applied = apply(&workplace, &["--upgrade-authority", &key]);
    let stays = format!("the registry's authority stays {}", deployer().pubkey());
    assert!(
        applied.assert_done().stdout.contains(&stays),
        "{}",
        applied.stdout
    );
    let verified = workplace.run(&["verify"]);
    let warning = format!(
        "warning: the deployer's key {} still is",
        deployer().pubkey()
    );
    assert!(
        verified.assert_done().stderr.contains(&warning),
        "{}",
        verified.stderr
    );

    let sent = cluster.signatures().len();
    let both = ["--upgrade-authority", &key, "--registry-authority", &key];
    let applied = apply(&workplace, &both);
    let words = format!("the registry's authority will be {key} once it accepts");
    assert!(
        applied.assert_done().stdout.contains(&words),
        "{}",
        applied.stdout
    );
    assert_eq!(cluster.signatures().len(), sent + 1);
    assert_eq!(workplace.recorded()["registry"]["proposedAuthority"], key);
    let again = apply(&workplace, &both);
    assert!(again.assert_done().stderr.contains("nothing was sent"));

    cluster.ask("requestAirdrop", json!([key, 1_000_000_000]));
    let file = workplace.file("next.json");
    write_keypair(&file, &next());
    let accept = ["registry", "accept", "--yes", "--poll", "40", "--keypair"];
    workplace
        .run(&[&accept[..], &[file.to_str().unwrap()]].concat())
        .assert_done();
    assert_eq!(workplace.recorded()["registry"]["authority"], key);
    let verified = workplace.run(&["verify"]);
    assert!(
        !verified.assert_done().stderr.contains("warning"),
        "{}",
        verified.stderr
    );
    let again = apply(&workplace, &both);
    assert!(again.assert_done().stderr.contains("nothing was sent"));

    let other = Keypair::new_from_array([9; 32]).pubkey().to_string();
    apply(
        &workplace,
        &["--upgrade-authority", &key, "--registry-authority", &other],
    )
    .assert_refused(2, &format!("is {key}, not {}", deployer().pubkey()));
}

/// A program that does the same, other in one letter of a panic's text.
fn changed() -> Vec<u8> {
    let mut elf = built();
    let path = b"/rust/library";
    let at = elf.windows(path.len()).position(|it| it == path).unwrap();
    elf[at + 1] = b'R';
    elf
}

fn hash(elf: &[u8]) -> String {
    let digits: String = Sha256::digest(elf)
        .iter()
        .map(|it| format!("{it:02x}"))
        .collect();
    format!("0x{digits}")
}

/// As a build's note has it.
const COMMIT: &str = "0123456789abcdef0123456789abcdef01234567";

fn with(workplace: Workplace, name: &str, elf: &[u8], commit: Option<&str>) -> Workplace {
    let workplace = workplace.with_program(name, elf, &program_key().pubkey().to_string());
    let note = workplace.file(name).with_extension("build.json");
    let mut content = crate::shared::process::json_file(&note);
    content["commit"] = json!(commit);
    std::fs::write(note, content.to_string()).unwrap();
    workplace
}

fn program_on_record(workplace: &Workplace) -> Value {
    workplace.recorded()["contracts"]["AgentRegistry"].clone()
}

/// The deployer writes the buffer and hands it over; the upgrade authority sends one transaction.
#[test]
fn under_another_authority_an_upgrade_is_prepared_and_printed() {
    let cluster = Cluster::start();
    let key = next().pubkey().to_string();
    let dirty = format!("{COMMIT}-dirty");
    let workplace = with(Workplace::at(&cluster), "first", &changed(), Some(&dirty));
    let first = apply(&workplace, &["--upgrade-authority", &key]);
    let words = format!("git commit: {dirty}");
    assert!(
        first.assert_done().stdout.contains(&words),
        "{}",
        first.stdout
    );
    let before = program_on_record(&workplace);
    assert_eq!(before["commit"], dirty);
    assert_eq!(before.get("replaced"), None);

    let workplace = with(workplace, "second", &built(), Some(COMMIT));
    let upgrade = ["--upgrade-authority", &key, "--upgrade"];
    let refused = apply(&workplace, &["--upgrade-authority", "keep", "--upgrade"]);
    refused.assert_refused(2, &format!("is {key}, not the deployer"));
    let applied = apply(&workplace, &[&upgrade[..], &["--json"]].concat());
    let step = applied.assert_done().json()["forOtherSigner"][0].clone();
    assert_eq!(step["id"], "program");
    // Nothing has changed yet, and the book says so.
    assert!(cluster.program().0 == changed());
    assert_eq!(program_on_record(&workplace), before);
    assert_eq!(workplace.run(&["verify"]).code, Some(1));

    // It is printed again for whoever lost it, and nothing is sent for it.
    let sent = cluster.signatures().len();
    let again = apply(&workplace, &upgrade);
    let words = "the upgrade authority sends this transaction";
    assert!(
        again.assert_done().stdout.contains(words),
        "{}",
        again.stdout
    );
    assert!(again.stdout.contains("other signer"), "{}", again.stdout);
    let plan = workplace.run(&[&["plan", "--json"], &upgrade[..]].concat());
    let steps = plan.assert_done().json()["steps"].clone();
    assert_eq!(
        steps.as_array().unwrap().last().unwrap()["transaction"],
        step["transaction"]
    );
    assert_eq!(cluster.signatures().len(), sent);

    let instructions = step["transaction"]["instructions"].as_array().unwrap();
    let instructions: Vec<_> = instructions.iter().map(instruction).collect();
    cluster.carry_out(&instructions, &[&next()]);
    assert!(cluster.program().0 == built());
    cluster.ask("local_advance", json!([64]));
    let entered = apply(&workplace, &upgrade);
    assert!(entered.assert_done().stderr.contains("nothing was sent"));
    workplace.run(&["verify"]).assert_done();
    let after = program_on_record(&workplace);
    assert_eq!(after["codeHash"], hash(&built()));
    assert_eq!(after["commit"], COMMIT);
    let replaced = json!([{
        "codeHash": hash(&changed()),
        "commit": dirty,
        "transaction": before["transaction"],
        "block": before["block"],
    }]);
    assert_eq!(after["replaced"], replaced);
}

/// A build of which no commit is known has none on record. The book of another machine does not know
/// what is replaced, and the chain does.
#[test]
fn what_was_replaced_is_on_record_even_if_its_deployment_is_not() {
    let cluster = Cluster::start();
    let first = with(Workplace::at(&cluster), "first", &changed(), None);
    let applied = first.apply(&[]);
    let words = "git commit: not known, and not recorded";
    assert!(
        applied.assert_done().stdout.contains(words),
        "{}",
        applied.stdout
    );
    assert_eq!(program_on_record(&first).get("commit"), None);

    let second = with(Workplace::at(&cluster), "second", &built(), Some(COMMIT));
    second.apply(&["--upgrade"]).assert_done();
    let record = program_on_record(&second);
    assert_eq!(
        record["replaced"],
        json!([{ "codeHash": hash(&changed()) }])
    );
    assert_eq!(record["commit"], COMMIT);
}
