//! The views of a registry behind an adapter.
use super::{
    Adapter,
    message::{Ask, Viewed},
};
use crate::{
    backend::{
        StepFault, evm, svm,
        views::{Draw, Known, ViewAnswer, ViewDifference, ViewQuestion, shown},
    },
    model::{Chain, first_difference},
};
use serde_json::Value;

impl Adapter {
    pub(super) fn ask_declared_views(
        &mut self,
        known: Known<'_>,
        draw: &mut Draw,
    ) -> Result<Vec<ViewAnswer>, StepFault> {
        if self.views.is_empty() {
            return Ok(Vec::new());
        }
        let questions = match self.chain {
            Chain::Evm => evm::view_questions(known, &self.actors, draw),
            Chain::Svm => svm::view_questions(known, &self.actors, draw),
        };
        let declared = questions
            .into_iter()
            .filter(|it| self.views.contains(&it.view));
        let declared: Vec<_> = declared.collect();
        declared.into_iter().map(|it| self.ask_view(it)).collect()
    }

    /// A malformed answer fails this view only; a program that does not answer is not asked again.
    fn ask_view(&mut self, question: ViewQuestion) -> Result<ViewAnswer, StepFault> {
        let ask = Ask::View {
            view: &question.view.to_string(),
            arguments: &question.arguments,
        };
        let difference = match self.ask::<Viewed>(&ask) {
            Ok(answer) => compare(&question.expected, answer),
            Err(fault @ StepFault::Unreachable(_)) => return Err(fault),
            Err(fault) => Some(unclear(shown(&question.expected), fault)), // R25
        };
        Ok(ViewAnswer {
            view: question.view,
            arguments: question.arguments,
            difference,
        })
    }
}

fn compare(
    expected: &Result<Value, concord_canonical::ErrorClass>,
    answer: Viewed,
) -> Option<ViewDifference> {
    match (expected, answer) {
        (Ok(expected), Viewed::Returns(actual)) => first_difference(expected, &actual)
            .map(|(path, expected, actual)| ViewDifference::of(path, expected, actual)),
        (Err(expected), Viewed::Refused(actual)) if actual.0 == *expected => None,
        (expected, answer) => {
            let actual = match answer {
                Viewed::Returns(actual) => actual,
                Viewed::Refused(class) => class.0.name().into(),
            };
            Some(ViewDifference::of("$".to_owned(), shown(expected), actual))
        }
    }
}

fn unclear(expected: Value, fault: StepFault) -> ViewDifference {
    ViewDifference {
        native_error: Some(fault.in_words()),
        ..ViewDifference::of("$".to_owned(), expected, "no answer of the protocol".into())
    }
}
