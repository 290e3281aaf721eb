//! Every view of the contracts, asked at the end of a scenario.
mod authorized;
mod book;
mod feedback;
mod identity;
mod moves;
mod open;
mod question;
mod validation;

use super::{Clock, Dialect, Registries, ledger::Ledger};
use crate::backend::{
    StepFault,
    views::{
        self, AUTHORIZED, Draw, IDENTITY, Known, OPEN, VALIDATION, ViewAnswer, ViewName,
        ViewQuestion,
    },
};
use crate::model::Actor;
use book::Book;
use question::{Questions, Reader};
use std::collections::BTreeSet;

/// So many views are one request of a node: it has limits to a request's and an answer's size.
const ASKED_AT_ONCE: usize = 200;

/// What a registry of others answers as it likes (R2). A version is read when the run begins.
const GET_VERSION: &str = "getVersion()";
const OWN_NAMES: [&str; 3] = [GET_VERSION, "name()", "symbol()"];

impl<L: Ledger> Registries<L> {
    /// The views of the contracts' dialect, of registries that are there and of those that are not.
    pub(super) fn interface_of_dialect(&self) -> BTreeSet<ViewName> {
        match self.dialect {
            Dialect::Canonical | Dialect::CanonicalAbi => views::all(views::CANONICAL),
            Dialect::Concord | Dialect::OverCanonicalIdentity => views::all(views::EVM),
        }
    }

    /// The views of the registries that are there.
    pub(super) fn askable(&self) -> BTreeSet<ViewName> {
        if !self.ledger.answers_many() {
            return BTreeSet::new();
        }
        let there = |interface: &str| match interface {
            IDENTITY => true,
            OPEN => self.addresses.open_reputation.is_some(),
            AUTHORIZED => self.addresses.authorized_reputation.is_some(),
            VALIDATION => self.addresses.validation.is_some(),
            _ => false,
        };
        let mut views = self.interface_of_dialect();
        views.retain(|view| there(view.interface));
        let dialect = self.dialect;
        views.retain(|view| match dialect {
            Dialect::Concord => true,
            Dialect::OverCanonicalIdentity => {
                view.interface != IDENTITY || view.signature != GET_VERSION
            }
            Dialect::Canonical => view.signature != GET_VERSION,
            Dialect::CanonicalAbi => !OWN_NAMES.contains(&view.signature),
        });
        views
    }

    pub(super) fn ask_every_view(
        &mut self,
        known: Known<'_>,
        draw: &mut Draw,
    ) -> Result<Vec<ViewAnswer>, StepFault> {
        if !self.ledger.answers_many() {
            return Ok(Vec::new());
        }
        let book = self.book(known);
        let mut questions = ask_of(&book, draw);
        questions.retain(&self.askable());
        let moves = moves::ask(&book);
        let mut answers = Vec::new();
        for calls in questions.calls().chunks(ASKED_AT_ONCE) {
            answers.extend(self.ledger.views(calls)?);
        }
        let mut refusals = Vec::new();
        for calls in moves::calls(&moves).chunks(ASKED_AT_ONCE) {
            refusals.extend(self.ledger.views(calls)?);
        }
        let reader = Reader {
            agents: &self.agents,
            requests: &self.requests,
            clock: Clock {
                start: self.start,
                times: self.ledger.scenario_times(),
            },
            dialect: self.dialect,
            error_classes: &self.error_classes,
        };
        let mut compared = questions.compare(&answers, &reader)?;
        compared.extend(moves::compare(moves, &refusals)?);
        Ok(compared)
    }

    fn book<'a>(&mut self, known: Known<'a>) -> Book<'a> {
        let mut book = Book::of(
            known,
            self.addresses,
            self.dialect,
            self.ledger.chain_id(),
            &self.agents,
            &self.unregistered,
            &mut self.requests,
        );
        book.accepts_draft_v1 = self.accepts_draft_v1;
        book
    }
}

/// Every view of the registries that the book has.
fn ask_of(book: &Book<'_>, draw: &mut Draw) -> Questions {
    let mut questions = Questions::default();
    identity::ask(book, draw, &mut questions);
    if let Some(registry) = book.registries.open_reputation {
        open::ask(book, registry, draw, &mut questions);
    }
    if let Some(registry) = book.registries.authorized_reputation {
        authorized::ask(book, registry, draw, &mut questions);
    }
    if let Some(registry) = book.registries.validation {
        validation::ask(book, registry, draw, &mut questions);
    }
    questions
}

/// What Concord's contracts are asked, in canonical terms, for a registry that is behind labels.
pub(in crate::backend) fn questions(
    known: Known<'_>,
    actors: &[Actor],
    draw: &mut Draw,
) -> Vec<ViewQuestion> {
    ask_of(&Book::without_a_chain(known, actors), draw).in_canonical_terms()
}
