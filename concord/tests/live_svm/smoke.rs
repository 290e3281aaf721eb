//! `concord smoke`: one agent, one authorized feedback, one summary.
use crate::live_svm::{
    deployed::{CHAIN, Deployed, assert_nothing_secret},
    playing::report,
};

#[test]
fn one_agent_gets_one_feedback_and_a_summary() {
    let deployed = Deployed::start();
    let sent = deployed.recorder.sends();
    let asked = deployed.run(&["smoke", "--chain", CHAIN]);
    assert_eq!((asked.code, asked.stdout.as_str()), (2, ""));
    assert!(asked.stderr.contains("stdin is not a terminal"));
    assert_eq!(deployed.recorder.sends(), sent);
    for _ in 0..2 {
        let done = deployed.run(&["smoke", "--chain", CHAIN, "--yes", "--json"]);
        assert_eq!(done.code, 0, "{}", done.stderr);
        assert_nothing_secret(&done.stdout);
        assert_nothing_secret(&done.stderr);
        let report = report(&done);
        assert_eq!(report["agree"], true);
        let [register, feedback, summary] = &report["steps"].as_array().unwrap()[..] else {
            panic!("{report:#}");
        };
        for step in [register, feedback] {
            let transaction = step["observed"]["transaction"].as_str().unwrap();
            deployed.assert_landed(transaction);
            let units = &step["observed"]["cost"]["compute_units"];
            assert!(units.as_u64().unwrap() > 1_000, "{step:#}");
        }
        let found = &summary["observed"]["summary"];
        assert_eq!(
            (&found["count"], &found["average"]),
            (&1.into(), &87.into())
        );
        // A register and a feedback open accounts, whose rent stays there.
        assert!(report["spent"].as_str().unwrap().parse::<u64>().unwrap() > 1_000_000);
        assert!(!deployed.record().exists());
    }
    // Two transactions, two gifts, and two returns, each time.
    assert_eq!(deployed.recorder.sends(), sent + 2 * 6);
}
