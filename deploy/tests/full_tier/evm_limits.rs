//! An endpoint that takes few requests, and says so with the codes of EVM providers.
use crate::evm::{
    local_chain::{BASE_SEPOLIA, LocalChain},
    program::{Workplace, assert_deployed},
};
use crate::shared::limiting_proxy::{Count, LimitingProxy, Limits, Refusal};
use std::{thread, time::Instant};

const LIMITS: Limits = Limits {
    per_method: 12,
    in_total: 40,
    unanswered: 13,
    refusals: &[
        Refusal {
            status: "200 OK",
            code: -32_016,
            message: "over rate limit",
            says_when: false,
        },
        Refusal {
            status: "429 Too Many Requests",
            code: -32_016,
            message: "slow down",
            says_when: true,
        },
        Refusal {
            status: "200 OK",
            code: -32_005,
            message: "Rate limited",
            says_when: false,
        },
    ],
};

fn deploys(arguments: &[&str]) -> Count {
    let chain = LocalChain::start(BASE_SEPOLIA);
    let proxy = LimitingProxy::start(chain.port(), &LIMITS);
    let workplace = Workplace::at_url(&proxy.url());
    let begun = Instant::now();
    workplace.apply(arguments).assert_done();
    let (took, count) = (begun.elapsed(), proxy.count());
    let required = count.required(&LIMITS);
    println!("{arguments:?}: {took:.0?}, the limits require {required:.0?}; {count:?}");
    assert!(count.unanswered >= 4, "{count:?}");
    assert_deployed(&chain, &workplace.to(&chain.url()), 4);
    count
}

#[test]
fn one_run_deploys_within_the_limits_of_an_endpoint() {
    let stated = thread::spawn(|| deploys(&["--rpc-limit", "12/40"]));
    let learned = deploys(&[]);
    let stated = stated.join().unwrap();
    assert_eq!(stated.refused, 0, "{stated:?}");
    assert!(learned.refused >= 1, "{learned:?}");
    assert!(learned.refused <= learned.total() / 4, "{learned:?}");
    assert!(learned.refused_in_a_row <= 6, "{learned:?}");
}
