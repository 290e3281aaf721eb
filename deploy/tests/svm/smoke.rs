use crate::{cluster::Cluster, workplace::Workplace};

#[test]
fn one_agent_gets_one_feedback_and_a_summary() {
    let cluster = Cluster::start();
    let workplace = Workplace::at(&cluster);
    workplace
        .run(&["smoke", "--yes"])
        .assert_refused(2, "run `concord deploy apply` first");
    workplace.apply(&[]).assert_done();
    let sent = cluster.signatures().len();
    for _ in 0..2 {
        let smoke = workplace
            .run(&["smoke", "--yes", "--json"])
            .assert_done()
            .json();
        let check = &smoke["checks"][0];
        assert_eq!(check["expected"], "count 1, sum 87");
        assert_eq!(check["found"], "count 1, sum 87");
        assert_eq!(smoke["deeds"].as_array().unwrap().len(), 4);
    }
    assert_eq!(cluster.signatures().len(), sent + 4);
}
