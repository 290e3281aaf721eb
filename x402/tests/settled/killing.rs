//! Buyers that are killed at a point of their purchase.
pub use concord_testkit::errand::{end, errand, kill, stop};
use concord_testkit::gate::Fault;
use concord_x402::pay::{Authorization, EvidenceFolder, Money, PayError, PayFault, Purchase};
use std::path::Path;

/// Where a buyer is killed: after its evidence has a state; when it has signed and nothing of it is on disk;
/// and while the server has the request, before and after the payment settles.
pub const POINTS: [&str; 8] = [
    "Quoted",
    "Signing",
    "Signed",
    "Sent",
    "BeforeSettlement",
    "AfterSettlement",
    "Answered",
    "Verified",
];

/// What holds the request at a point.
pub fn fault(point: &str) -> Fault {
    match point {
        "BeforeSettlement" => Fault::HoldBefore,
        "AfterSettlement" => Fault::HoldAfter,
        _ => Fault::None,
    }
}

/// What the evidence of one purchase had after each kill.
#[derive(Default)]
pub struct Signed(Vec<(Authorization, Option<String>)>);

impl Signed {
    pub fn read(&mut self, folder: &Path, id: &str) {
        let evidence = EvidenceFolder::open(folder).unwrap().load(id);
        let evidence = evidence.unwrap().unwrap();
        self.0.push((evidence.authorization, evidence.payment));
    }

    /// Nothing is authorized or signed twice.
    pub fn assert_one(&self, pair: &str) {
        for (earlier, later) in self.0.iter().zip(&self.0[1..]) {
            assert_eq!(earlier.0, later.0, "{pair}: one authorization");
            let is_same = earlier.1.is_none() || earlier.1 == later.1;
            assert!(is_same, "{pair}: one signature");
        }
    }
}

/// After the kills a purchase is resumed: the payment settled, and only its answer may be lost.
pub fn assert_settled(resumed: Result<Purchase, PayError>, points: [&str; 2]) {
    match resumed {
        Ok(purchase) => {
            assert_eq!(crate::settled::states(&purchase.report), [], "{points:?}");
            assert!(
                matches!(purchase.money, Money::Settled { .. }),
                "{points:?}"
            );
        }
        Err(error) => {
            let is_lost = matches!(error.fault, PayFault::AnswerLost);
            assert!(is_lost, "{points:?}: {error}");
            assert!(matches!(error.money, Money::Settled { .. }), "{points:?}");
            assert!(points.contains(&"AfterSettlement"), "{points:?}");
        }
    }
}
