use std::collections::BTreeMap;

use crate::Sample;

/// What the samples of one endpoint in one window come to.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub struct Tally {
    /// How many there are.
    pub samples: u64,
    /// How many were answered.
    pub answered: u64,
    /// How many say whether the request succeeded (R36).
    pub judged: u64,
    /// How many succeeded.
    pub succeeded: u64,
    /// Milliseconds of those that were answered: the sum, the shortest and the longest.
    pub millis: Option<Millis>,
    /// What the last check of the domain that could be made found (R43).
    pub owned: Option<bool>,
    /// Unix seconds of the first sample.
    pub first: u64,
    /// Unix seconds of the last sample.
    pub last: u64,
    /// How often each finding came, by its words.
    pub findings: BTreeMap<String, u64>,
    /// How it was probed the last time.
    pub kind: String,
}

/// Response times, in milliseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Millis {
    /// All together.
    pub sum: u64,
    /// The shortest.
    pub least: u64,
    /// The longest.
    pub most: u64,
}

impl Tally {
    /// Adds up samples, in the order of their times.
    #[must_use]
    pub fn of(samples: &[Sample]) -> Self {
        let mut tally = Self {
            first: samples.first().map_or(0, |it| it.at),
            ..Self::default()
        };
        for sample in samples {
            tally.add(sample);
        }
        tally
    }

    fn add(&mut self, sample: &Sample) {
        self.samples += 1;
        self.last = sample.at;
        self.kind.clone_from(&sample.kind);
        self.owned = sample.owned.or(self.owned);
        *self.findings.entry(sample.finding.clone()).or_default() += 1;
        if let Some(succeeded) = sample.succeeded {
            self.judged += 1;
            self.succeeded += u64::from(succeeded);
        }
        if sample.answered {
            self.answered += 1;
            let new = sample.millis;
            let millis = self.millis.get_or_insert(Millis {
                sum: 0,
                least: new,
                most: new,
            });
            millis.sum = millis.sum.saturating_add(new);
            millis.least = millis.least.min(new);
            millis.most = millis.most.max(new);
        }
    }
}
