//! `concord vectors`: programs that are right, wrong, partial, silent, dead, or careless with secrets.
use super::{assert_sentence, text};
use crate::invocation::{Answer, answer, clone_root, concord};
use serde_json::{Value, json};
use std::{fs, path::Path, process::Command};
use tempfile::TempDir;

/// A program in Python that declares `functions`, and answers request `asked` with what `body` leaves in
/// `answer`.
fn program(functions: &[&str], body: &str) -> (TempDir, String) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("program.py");
    let functions = json!(functions);
    let indented = body.replace('\n', "\n        ");
    let source = format!(
        "import hashlib, json, os, sys, time\n\
         for line in sys.stdin:\n\
         \x20   asked = json.loads(line)\n\
         \x20   octets = bytes.fromhex(asked.get('data', '').removeprefix('0x'))\n\
         \x20   if asked['fn'] == 'functions':\n\
         \x20       answer = {{'ok': {functions}}}\n\
         \x20   else:\n\
         \x20       {indented}\n\
         \x20   print(json.dumps({{'id': asked['id'], **answer}}), flush=True)\n"
    );
    fs::write(&file, source).unwrap();
    let place = text(&file).to_owned();
    (folder, place)
}

const RIGHT: &str = "answer = {'ok': '0x' + hashlib.sha256(octets).hexdigest()}";

fn run(options: &[&str], program: &str) -> Command {
    let all = [&["vectors", "run"], options, &["--", "python3", program]].concat();
    concord(&all)
}

/// What a run writes as JSON, beside its answer.
fn report(options: &[&str], program: &str) -> (Answer, Value) {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("report.json");
    let answer = answer(&mut run(
        &[options, &["--json", text(&file)]].concat(),
        program,
    ));
    let report = fs::read_to_string(&file).expect("a report");
    (answer, serde_json::from_str(&report).expect("JSON"))
}

/// How many vectors a committed file has, without those about the form of requests.
fn vectors_of(name: &str) -> usize {
    let path = clone_root().join(format!("tests/vectors/{name}.json"));
    let file: Value = serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap();
    let vectors = file["vectors"].as_array().unwrap();
    let is_checked = |it: &&Value| !it["flags"].as_array().unwrap().contains(&json!("Request"));
    vectors.iter().filter(is_checked).count()
}

#[test]
fn our_own_oracle_is_right_in_everything() {
    let concord_binary = env!("CARGO_BIN_EXE_concord");
    let oracle = [
        "vectors",
        "run",
        "--requests",
        "--",
        concord_binary,
        "oracle",
    ];
    let all = answer(&mut concord(&oracle));
    assert_eq!((all.code, &*all.stderr), (0, ""), "{}", all.stdout);
    assert!(
        all.stdout.ends_with(" vectors: all right\n"),
        "{}",
        all.stdout
    );
    for name in [
        "keccak256",
        "jcs_numbers",
        "summary_merge",
        "recover_address",
    ] {
        let row = all
            .stdout
            .lines()
            .find(|row| row.starts_with(&format!("{name} ")));
        let counts = row.unwrap().split_whitespace().skip(1);
        let counts: Vec<usize> = counts.map(|it| it.parse().unwrap()).collect();
        assert!(counts[0] >= 20 && counts[1..] == [0, 0, 0, 0], "{row:?}");
    }
}

#[test]
fn a_program_is_checked_by_what_it_declares() {
    let (_folder, sha) = program(&["sha256"], RIGHT);
    let (all, everything) = report(&[], &sha);
    assert_eq!(
        (all.code, &everything["conclusion"]),
        (4, &json!("not_declared"))
    );
    let count = vectors_of("sha256");
    assert_eq!(everything["functions"]["sha256"]["right"], count);
    assert_eq!(everything["functions"]["keccak256"]["right"], 0);
    assert_eq!(
        everything["functions"]["keccak256"]["not_declared"],
        vectors_of("keccak256")
    );

    let (one, alone) = report(&["--function", "sha256"], &sha);
    assert_eq!((one.code, &alone["conclusion"]), (0, &json!("agrees")));
    assert!(
        one.stdout
            .ends_with(&format!("\n{count} vectors: all right\n")),
        "{}",
        one.stdout
    );
    assert_eq!(alone["functions"].as_object().unwrap().len(), 1);
}

#[test]
fn wrong_answers_wrong_refusals_and_wrong_acceptance_are_told_apart() {
    let body = "if len(octets) == 0: answer = {'error': {'class': 'Refused'}}\n\
                elif len(octets) == 1: answer = {'error': {'class': 'Unsupported', 'message': 'one byte'}}\n\
                else: answer = {'ok': '0x' + hashlib.sha3_256(octets).hexdigest()}";
    let (_folder, keccak) = program(&["keccak256"], body);
    let (run, told) = report(&["--function", "keccak256"], &keccak);
    assert_eq!(
        (run.code, &told["conclusion"]),
        (1, &json!("differs")),
        "{}",
        run.stdout
    );
    let tally = &told["functions"]["keccak256"];
    let counts = |name: &str| tally[name].as_u64().unwrap();
    assert_eq!((counts("right"), counts("refused_wrongly")), (0, 1));
    assert!(
        counts("wrong") >= 15 && counts("not_declared") >= 1,
        "{tally}"
    );
    let empty = "REFUSED WRONGLY keccak256/empty: the hash of nothing, as published everywhere\n  \
                 expected {\"ok\":\"0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470\"}\n  \
                 answered {\"error\":null}\n";
    assert!(run.stdout.contains(empty), "{}", run.stdout);

    let accepts = "answer = {'ok': {'namespace': 'eip155', 'reference': '1'}}";
    let (_folder, accepts) = program(&["chain_id"], accepts);
    let (_, told) = report(&["--function", "chain_id"], &accepts);
    assert_eq!(told["functions"]["chain_id"]["right"], 1, "{told:#}");
}

#[test]
fn a_refusal_needs_the_class_only_if_it_names_one() {
    for (class, is_right) in [
        ("'class': 'Refused'", true),
        ("'message': 'no'", true),
        ("'class': 'MalformedTag'", true),
        ("'class': 'MalformedKey'", false),
    ] {
        let body = format!("answer = {{'error': {{{class}}}}}");
        let (_folder, refuses) = program(&["tag_decode"], &body);
        let (_, told) = report(&["--function", "tag_decode"], &refuses);
        let tally = &told["functions"]["tag_decode"];
        let refused = if is_right { "right" } else { "wrong" };
        assert!(tally[refused].as_u64().unwrap() >= 7, "{class}: {tally}");
        assert_eq!(tally["refused_wrongly"], 21, "{class}: {tally}");
    }
}

#[test]
fn an_answer_that_is_none_costs_its_vector_and_the_program_is_started_again_three_times() {
    let nonsense = "if len(octets) == 33: print('what?', flush=True); continue\n\
                    answer = {'ok': '0x' + hashlib.sha256(octets).hexdigest()}";
    let dead = nonsense.replace("print('what?', flush=True); continue", "os._exit(1)");
    let silent = nonsense.replace("print('what?', flush=True); continue", "time.sleep(600)");
    let other = nonsense.replace("print('what?', flush=True); continue", "asked['id'] = 7");
    for (body, reason) in [
        (
            nonsense,
            "`what?` is not an answer: expected value at line 1 column 1",
        ),
        (dead.as_str(), "the program has ended"),
        (silent.as_str(), "the program gave no answer within 5s"),
        (
            other.as_str(),
            "the answer's id is 7, the request's \"sha256/length-33\"",
        ),
    ] {
        let (_folder, sha) = program(&["sha256"], body);
        let (run, told) = report(&["--function", "sha256", "--timeout", "5"], &sha);
        let tally = &told["functions"]["sha256"];
        let lost = tally["unanswered"].as_u64().unwrap();
        assert!((1..=3).contains(&lost), "{tally}");
        assert_eq!(
            (run.code, &told["conclusion"], &told["restarts"]),
            (3, &json!("lost"), &json!(lost))
        );
        assert_eq!(tally["right"], vectors_of("sha256") as u64 - lost);
        assert!(run.stdout.contains(reason), "{}", run.stdout);
        assert!(
            run.stdout.contains("NO ANSWER sha256/length-33: "),
            "{}",
            run.stdout
        );
    }
}

#[test]
fn a_program_that_always_dies_leaves_a_report_and_a_wrong_answer_counts_more() {
    let (_folder, dead) = program(&["sha256", "keccak256"], "os._exit(1)");
    let (run, told) = report(&[], &dead);
    assert_eq!(
        (run.code, &told["restarts"]),
        (3, &json!(3)),
        "{}",
        run.stdout
    );
    let all = (vectors_of("sha256") + vectors_of("keccak256")) as u64;
    assert_eq!(told["total"]["unanswered"], all);
    assert!(
        run.stdout
            .contains("the program was started again 3 times, and is not any more"),
        "{}",
        run.stdout
    );

    let (_folder, wrong) = program(
        &["sha256"],
        "if len(octets) == 0: os._exit(1)\nanswer = {'ok': 1}",
    );
    assert_eq!(
        answer(&mut self::run(&["--function", "sha256"], &wrong)).code,
        1
    );
}

#[test]
fn junit_has_a_case_for_each_vector() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("run.xml");
    let body = "if len(octets) == 33: os._exit(1)\nanswer = {'ok': '\\x1b[31m' if len(octets) == 0 else '0x' + hashlib.sha256(octets).hexdigest()}";
    let (_folder, sha) = program(&["sha256"], body);
    let run = answer(&mut run(
        &["--function", "sha256,keccak256", "--junit", text(&file)],
        &sha,
    ));
    assert_eq!(run.code, 1, "{}", run.stdout);
    assert!(!run.stdout.contains('\u{1b}'), "{}", run.stdout);
    let xml = fs::read_to_string(&file).unwrap();
    let count = vectors_of("sha256");
    let suite = format!(
        "<testsuite name=\"sha256\" tests=\"{count}\" failures=\"1\" errors=\"1\" skipped=\"0\">"
    );
    assert!(xml.contains(&suite), "{xml}");
    assert_eq!(xml.matches("<skipped ").count(), vectors_of("keccak256"));
    assert_eq!(
        xml.matches("<testcase ").count(),
        count + vectors_of("keccak256")
    );
    assert!(!xml.contains('\u{1b}'), "{xml}");
}

#[test]
fn no_report_repeats_a_secret_key() {
    // Of RFC 8032 §7.1, test 1.
    let secret = "9d61b19deffd5a60ba844af492ec2cc44449c5697b326919703bac031cae7f60";
    let echoes = [
        "answer = {'ok': asked['secret_key']}",
        "answer = {'ok': asked['secret_key'].upper()[2:40]}",
        "answer = {'ok': {asked['secret_key']: [asked['secret_key']]}}",
        "answer = {'error': {'class': asked['secret_key'], 'message': line}}",
        "print(line.strip(), flush=True); continue",
        "print('no ' + asked['secret_key'][:30], flush=True); continue",
        "asked['id'] = asked['secret_key']; answer = {'ok': 1}",
    ];
    for body in echoes {
        let (_folder, echo) = program(&["sign", "public_key_of_secret"], body);
        let folder = tempfile::tempdir().unwrap();
        let files = ["run.json", "run.xml"].map(|name| folder.path().join(name));
        let options = ["--json", text(&files[0]), "--junit", text(&files[1])];
        let run = answer(&mut run(&options, &echo));
        assert_ne!(run.code, 0);
        let written = files.map(|file| fs::read_to_string(file).unwrap());
        for shown in [&run.stdout, &run.stderr, &written[0], &written[1]] {
            let shown = shown.to_lowercase();
            for at in 0..=secret.len() - 16 {
                assert!(!shown.contains(&secret[at..at + 16]), "{body}: {shown}");
            }
        }
    }
}

#[test]
fn a_program_that_cannot_be_asked_is_exit_code_3_in_one_sentence() {
    let missing = concord(&["vectors", "run", "--", "/nonexistent/library"]);
    let words =
        "the program `/nonexistent/library` cannot be asked: it does not start: No such file";
    assert_sentence(&answer(&mut { missing }), 3, words);
    let (_folder, unknown) = program(&["sha256", "sha512"], RIGHT);
    let words = "functions: it declares \"sha512\", which is not an oracle function";
    assert_sentence(&answer(&mut run(&[], &unknown)), 3, words);
    let mute = concord(&["vectors", "run", "--timeout", "1", "--", "sleep", "600"]);
    assert_sentence(
        &answer(&mut { mute }),
        3,
        "functions: the program gave no answer within 1s",
    );
    let other = concord(&[
        "vectors",
        "run",
        "--",
        "sh",
        "-c",
        "read -r line; echo '{\"id\":\"functions\",\"ok\":{}}'",
    ]);
    assert_sentence(
        &answer(&mut { other }),
        3,
        "functions: the answer is not a list of names",
    );
}

#[test]
fn a_wrong_command_line_is_exit_code_2_before_the_program_starts() {
    let nowhere = ["--json", "/nonexistent/report"];
    let refused = answer(&mut run(&nowhere, "/nonexistent/program.py"));
    assert_sentence(
        &refused,
        2,
        "/nonexistent/report cannot be written: No such file",
    );
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (folder.path().join("report"), folder.path().join("./report"));
    let twice = answer(&mut run(
        &["--json", text(&one), "--junit", text(&other)],
        "none.py",
    ));
    assert_sentence(&twice, 2, "--json and --junit both name ");
    for arguments in [
        &["vectors", "run"][..],
        &["vectors", "run", "--"],
        &["vectors", "run", "--function", "sha512", "--", "true"],
        &["vectors", "run", "--timeout", "0", "--", "true"],
        &["vectors", "export"],
        &["vectors"],
    ] {
        let refused = answer(&mut concord(arguments));
        assert_eq!(
            (refused.code, &*refused.stdout),
            (2, ""),
            "{arguments:?}: {refused:?}"
        );
    }
}

#[test]
fn a_report_that_cannot_be_written_hides_no_wrong_answer() {
    for (body, code) in [("answer = {'ok': 1}", 1), (RIGHT, 2)] {
        let (_folder, sha) = program(&["sha256"], body);
        let options = ["--function", "sha256", "--json", "/dev/full"];
        let full = answer(&mut run(&options, &sha));
        assert_eq!(full.code, code, "{full:?}");
        assert!(
            full.stderr.contains("/dev/full cannot be written"),
            "{full:?}"
        );
        assert!(full.stdout.contains(" vectors: "), "{full:?}");
    }
}

#[test]
fn exported_vectors_are_the_committed_ones_and_nothing_is_replaced() {
    let folder = tempfile::tempdir().unwrap();
    let place = folder.path().join("deep/vectors");
    let export = || answer(&mut concord(&["vectors", "export", text(&place)]));
    let exported = export();
    assert_eq!(exported.code, 0, "{exported:?}");
    let committed = clone_root().join("tests/vectors");
    let names = |folder: &Path| {
        let entries = fs::read_dir(folder)
            .unwrap()
            .map(|it| it.unwrap().file_name());
        let names = entries.map(|it| it.into_string().unwrap());
        let mut names: Vec<_> = names.filter(|it| it.ends_with(".json")).collect();
        names.sort();
        names
    };
    let mut expected = names(&committed);
    expected.retain(|it| it != "data_hash_of_zeros.json"); // of the crate, not of the protocol
    assert_eq!(names(&place), expected);
    for name in expected {
        let read = |folder: &Path| fs::read(folder.join(&name)).unwrap();
        assert!(read(&place) == read(&committed), "{name}");
    }
    assert_sentence(
        &export(),
        2,
        "keccak256.json cannot be written: File exists",
    );
}
