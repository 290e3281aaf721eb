//! The views of a registry behind an adapter.
use super::{EXAMPLE, PARTIAL, SCENARIOS, VIEWS, conform, edited, everything, report};
use crate::invocation::{answer, concord};
use serde_json::{Value, json};
use std::fs;

#[test]
fn one_wrong_view_does_not_fill_the_terminal() {
    let faulty = edited(r#"s/"returns": "0"/"returns": "1"/"#);
    let arguments = ["adapter", "--chain", "evm", &faulty];
    let short = answer(&mut concord(&arguments));
    assert_eq!(short.code, 1, "{}", short.stderr);
    let full = answer(concord(&arguments).arg("--verbose"));
    let [in_short, in_full] = [&short, &full].map(|it| it.stdout.matches("FAILED ").count());
    assert!(in_short == 3 && in_full > 20, "{in_short}, {in_full}");
    let others = in_full - in_short;
    let view = "IdentityRegistry.balanceOf(address)";
    let line = format!(
        "\nidentity-py: {view} is wrong at the end of {others} more scenarios (each one with --verbose)\n"
    );
    assert!(short.stdout.contains(&line), "{}", short.stdout);

    let mut arguments = vec!["conform", "--backend", "none", "--adapter", &faulty];
    arguments.extend(["--adapter-chain", "evm"]);
    let two = ["identity/approve-by-others", "identity/metadata-by-others"];
    let four = two.into_iter().chain(SCENARIOS);
    arguments.extend(four.flat_map(|it| ["--scenario", it]));
    let one = answer(&mut concord(&arguments));
    let line = format!(
        "\nidentity-py: {view} is wrong at the end of 1 more scenario (see it with --verbose)\n"
    );
    assert!(one.stdout.contains(&line), "{}", one.stdout);
}

#[test]
fn an_adapter_without_views_is_checked_as_before_and_its_views_are_named_as_not_asked() {
    let silent = edited(r#"s/, "views": .[^]]*.//"#);
    let answer = conform(&silent, &SCENARIOS);
    assert_eq!(answer.code, 0, "{answer:?}");
    let views = &report(&answer)["views"];
    let not_asked = views["not_asked"]["identity-py"].as_array().unwrap();
    let owner_of = json!("IdentityRegistry.ownerOf(uint256)");
    assert!(not_asked.contains(&owner_of), "{not_asked:?}");
    let of_others = |it: &&Value| !it.as_str().unwrap().starts_with("IdentityRegistry.");
    assert_eq!(not_asked.iter().filter(of_others).count(), 0);
    assert_eq!(not_asked.len(), VIEWS + 4);
}

#[test]
fn the_views_that_an_adapter_declares_are_asked_and_the_others_named() {
    let answer = conform(EXAMPLE, &SCENARIOS);
    let views = &report(&answer)["views"];
    let asked = views["asked"]["identity-py"].as_object().unwrap();
    assert_eq!(asked.len(), VIEWS, "{asked:?}");
    assert!(asked.values().all(|times| times.as_u64() > Some(0)));
    let of_the_deployment = json!({"identity-py": [
        "IdentityRegistry.eip712Domain()", "IdentityRegistry.getVersion()",
        "IdentityRegistry.name()", "IdentityRegistry.symbol()",
    ]});
    assert_eq!(views["not_asked"], of_the_deployment);
}

#[test]
fn the_terminal_and_the_page_name_the_views_that_were_not_asked() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("run.html");
    let arguments = ["adapter", "--chain", "evm", EXAMPLE, "--html"];
    let mut command = concord(&arguments);
    let answer = answer(command.arg(&page).args(["--scenario", SCENARIOS[0]]));
    assert_eq!(answer.code, 0, "{answer:?}");
    let named = "IdentityRegistry.eip712Domain(), IdentityRegistry.getVersion(), IdentityRegistry.name(), IdentityRegistry.symbol()";
    let line = format!("views not asked of identity-py: {named}\n");
    assert!(answer.stdout.contains(&line), "{}", answer.stdout);
    let page = fs::read_to_string(page).unwrap();
    for view in named.split(", ") {
        assert!(page.contains(view), "{view}");
    }
}

#[test]
fn an_answer_to_a_view_outside_the_protocol_fails_that_view_alone() {
    let broken = edited(r#"s/"returns": "0"/"refused": "Nonsense"/"#);
    let answer = conform(&broken, &SCENARIOS[..1]);
    assert_eq!(answer.code, 1, "{answer:?}");
    let report = report(&answer);
    let failures = report["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 1, "{failures:#?}");
    assert_eq!(
        failures[0]["operation"],
        "IdentityRegistry.balanceOf(address)"
    );
    let words = failures[0].to_string();
    assert!(
        words.contains("`Nonsense` is not an error class"),
        "{words}"
    );
}

/// What only views show: outcomes, events and states are sound.
#[test]
fn planted_faults_of_an_adapter_s_views_name_the_views_and_nothing_else() {
    for (chain, command, view) in [
        (
            "evm",
            format!("{EXAMPLE} --faulty-view"),
            "IdentityRegistry.isAuthorizedOrOwner(address,uint256)",
        ),
        (
            "evm",
            format!("{PARTIAL} window-from-the-start"),
            "ReputationRegistry.getClientsWindow(uint256,uint256,uint256)",
        ),
        (
            "svm",
            format!("{PARTIAL} part-without-tags"),
            "instruction open_summary_part",
        ),
    ] {
        let answer = everything(chain, &command);
        assert_eq!(answer.code, 1, "{command}: {}", answer.stderr);
        let report = report(&answer);
        let failures = report["failures"].as_array().unwrap();
        assert!(!failures.is_empty());
        for failure in failures {
            let named = (&failure["subject"], &failure["operation"]);
            assert_eq!(named, (&json!("view"), &json!(view)), "{failure:#}");
        }
    }
}
