//! The result of a run, over steps and views.
use super::{Failure, Run, StepCount, StepRecord, StepResult, Subject};
use crate::backend::views::ViewName;
use serde::Serialize;
use std::{
    collections::{BTreeMap, BTreeSet},
    fmt,
};

/// A participant that could not be asked any more: it ended, was silent, or answered nonsense.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Lost {
    pub participant: String,
    pub scenario: String,
    pub reason: String,
}

impl fmt::Display for Lost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            participant,
            scenario,
            reason,
        } = self;
        write!(
            f,
            "{participant} stopped answering in scenario {scenario}: {reason}"
        )
    }
}

/// What a run says in one word, the worst first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Conclusion {
    /// Somebody differs, or a step inconclusive though its participant answers.
    Differs,
    /// Somebody did not answer; everything else agrees.
    Lost,
    /// HARN-60: there are backends, and the scenarios have nothing for any of them.
    NothingPlayed,
    /// What is declared agrees; scenarios have steps of other profiles.
    NotDeclared,
    Agrees,
}

impl Run {
    /// Did every participant play every step, come to what is expected, and answer every view?
    pub fn agrees(&self) -> bool {
        self.conclusion() == Conclusion::Agrees
    }

    /// The worst that can be said of the run.
    pub fn conclusion(&self) -> Conclusion {
        let is_lost = |it: &Failure<'_>| it.difference.subject == Subject::Lost;
        if self.failures().any(|it| !is_lost(&it)) {
            return Conclusion::Differs;
        }
        if !self.lost.is_empty() {
            return Conclusion::Lost;
        }
        let backends = self.participants.iter().filter(|it| it.chain.is_some());
        let backends = backends.count();
        if backends > 0 && self.idle().len() == backends {
            return Conclusion::NothingPlayed;
        }
        let is_undeclared = |it: &StepRecord| it.result == StepResult::NotDeclared;
        if self.records.iter().any(is_undeclared) {
            Conclusion::NotDeclared
        } else {
            Conclusion::Agrees
        }
    }

    /// The backends that have shown nothing: every step was left out for them.
    pub fn idle(&self) -> Vec<&str> {
        let shows = |it: &StepRecord| match it.result {
            StepResult::Absent | StepResult::NotDeclared | StepResult::NotReached => false,
            StepResult::Varied => it.observed.is_some(),
            StepResult::Passed | StepResult::Failed(_) | StepResult::Error(_) => true,
        };
        let shown = self.records.iter().filter(|it| shows(it));
        let active: BTreeSet<_> = shown.map(|it| it.participant.as_str()).collect();
        let backends = self.participants.iter().filter(|it| it.chain.is_some());
        let names = backends.map(|it| it.name.as_str());
        names.filter(|name| !active.contains(name)).collect()
    }

    /// Steps that failed or inconclusive, then views.
    pub fn failures(&self) -> impl Iterator<Item = Failure<'_>> {
        let steps = self.records.iter().filter_map(|record| {
            Some(Failure {
                scenario: &record.scenario,
                step: record.step,
                operation: record.operation.to_owned(),
                rules: &record.rules,
                participant: &record.participant,
                difference: record.result.difference()?,
            })
        });
        steps.chain(self.view_failures())
    }

    /// Views that answered wrongly, or could not be asked.
    pub fn view_failures(&self) -> impl Iterator<Item = Failure<'_>> {
        self.views.iter().flat_map(|record| {
            let failure = |operation: String, rules, difference| Failure {
                scenario: &record.scenario,
                step: record.step,
                operation,
                rules,
                participant: &record.participant,
                difference,
            };
            let fault = record.fault.iter();
            let fault = fault.map(move |it| failure("views".to_owned(), &[], it));
            let wrong = record.differences.iter();
            let wrong = wrong.map(move |(view, it)| failure(view.to_string(), view.rules(), it));
            fault.chain(wrong)
        })
    }

    /// Every participant's views: how many questions were answered as they must be.
    pub fn view_counts(&self) -> BTreeMap<&str, StepCount> {
        let mut counts: BTreeMap<_, StepCount> = BTreeMap::new();
        for record in &self.views {
            let count = counts.entry(record.participant.as_str()).or_default();
            count.merge(record.count());
        }
        counts
    }

    /// How often each view was asked, by participant.
    pub fn views_asked(&self) -> BTreeMap<&str, BTreeMap<ViewName, usize>> {
        let mut asked: BTreeMap<_, BTreeMap<_, usize>> = BTreeMap::new();
        for record in &self.views {
            let of_participant = asked.entry(record.participant.as_str()).or_default();
            for (view, times) in &record.asked {
                *of_participant.entry(*view).or_default() += times;
            }
        }
        asked
    }

    /// The views that each backend was never asked, of the profiles that it declares.
    pub fn views_not_asked(&self) -> BTreeMap<&str, BTreeSet<ViewName>> {
        let asked = self.views_asked();
        let backends = self.participants.iter().filter(|it| it.chain.is_some());
        let not_asked = backends.map(|participant| {
            let own = asked.get(&*participant.name);
            let is_left = |view: &&ViewName| {
                participant.profiles.contains(&view.profile())
                    && own.is_none_or(|own| !own.contains_key(view))
            };
            let left = participant.interface.iter().filter(is_left);
            (&*participant.name, left.copied().collect::<BTreeSet<_>>())
        });
        not_asked.filter(|(_, left)| !left.is_empty()).collect()
    }
}
