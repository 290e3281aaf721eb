//! Plays a scenario on a backend and on the model, and compares the index with the model.
use crate::replay::{labels::Labels, state::Reader};
use concord_harness::{
    backend::Backend,
    model::{Model, Operation, Outcome, Summary, Verdict, first_difference},
    scenario::{Scenario, TimedStep},
};
use concord_index::{
    Indexer,
    query::Reviewers,
    source::Source,
    store::{DeploymentId, Engine, Store},
};
use concord_registry::event::{AccountId, AgentId};

/// A backend that an index follows.
pub trait Followed {
    type Source: Source;
    type Engine: Engine;
    type Backend: Backend;

    fn backend(&mut self) -> &mut Self::Backend;
    fn indexer(&mut self) -> &mut Indexer<Self::Source, Self::Engine>;
    /// The labels of actors, at the beginning of a scenario.
    fn labels(&mut self, scenario: &Scenario) -> Labels;
    fn account(&self, label: &str) -> AccountId;
    /// Takes in what came of a step.
    fn follow(&mut self, scenario: &Scenario, step: Option<&TimedStep>);
    /// Compares the registries' state with their events, if the source has it.
    fn compare_state(&mut self) {}
}

/// How much was compared.
#[derive(Debug, Default)]
pub struct Compared {
    pub scenarios: usize,
    pub states: usize,
    pub summaries: usize,
}

pub fn play_all(followed: &mut impl Followed, scenarios: &[Scenario]) -> Compared {
    let mut compared = Compared::default();
    let chain = followed.backend().chain();
    for scenario in scenarios {
        if scenario.chains().any(|it| it == chain) {
            play(followed, scenario, &mut compared);
            compared.scenarios += 1;
        }
    }
    compared
}

fn play<F: Followed>(followed: &mut F, scenario: &Scenario, compared: &mut Compared) {
    let chain = followed.backend().chain();
    let reset = followed.backend().reset(scenario.start, &scenario.actors);
    reset.unwrap();
    let mut model = Model::new(chain);
    let mut labels = followed.labels(scenario);
    followed.follow(scenario, None);
    for step in &scenario.steps {
        let at = format!("{} step {} on {chain:?}", scenario.name, step.number);
        let expected = model.apply(&step.operation, step.time);
        if followed.backend().supports(&step.operation) {
            let observed = followed.backend().execute(&step.operation, step.time);
            let observed = observed.unwrap_or_else(|fault| panic!("{at}: {fault}"));
            assert_eq!(observed.outcome.verdict, expected.verdict, "{at}");
            followed.follow(scenario, Some(step));
            let ids = agents(followed);
            labels.note(&observed.outcome.events, ids);
        }
        compare_state(followed, scenario, &model, &labels, &at);
        compared.states += 1;
        compared.summaries += usize::from(compare_summary(followed, &labels, step, &expected, &at));
    }
    followed.compare_state();
    // R45: a rebuild has the same tables.
    let deployment = followed.indexer().deployment();
    let mut store = followed.indexer().store();
    let live = store.digest(deployment).unwrap();
    assert_eq!(
        store.rebuild_digest(deployment).unwrap(),
        live,
        "{}",
        scenario.name
    );
    assert!(
        store.completeness(deployment).unwrap().is_complete(),
        "{}",
        scenario.name
    );
}

fn agents<F: Followed>(followed: &mut F) -> Vec<AgentId> {
    let deployment = followed.indexer().deployment();
    let agents = followed.indexer().store().agents(deployment).unwrap();
    agents.into_iter().map(|(key, _)| key.agent).collect()
}

fn compare_state<F: Followed>(
    followed: &mut F,
    scenario: &Scenario,
    model: &Model,
    labels: &Labels,
    at: &str,
) {
    let deployment = followed.indexer().deployment();
    let mut reader = Reader {
        store: &mut followed.indexer().store(),
        deployment,
        labels,
        start: scenario.start,
    };
    let (state, expected) = (reader.state(), model.state());
    if state.digest() != expected.digest() {
        let difference = first_difference(&expected.to_json(), &state.to_json());
        panic!("{at}: the index differs from the model at {difference:?}");
    }
}

/// R47: what the index answers to a summary of the scenario is what the chain must answer.
fn compare_summary<F: Followed>(
    followed: &mut F,
    labels: &Labels,
    step: &TimedStep,
    expected: &Outcome,
    at: &str,
) -> bool {
    let agent = step.operation.agent().cloned();
    let (Verdict::Ok, Some(summary), Some(agent)) = (expected.verdict, expected.summary, agent)
    else {
        return false;
    };
    let id = agents(followed)
        .into_iter()
        .find(|id| labels.agent(*id) == agent);
    let Some(id) = id else {
        return false; // of no agent
    };
    let reviewers = reviewers(followed, &step.operation).map(|it| it.accounts().unwrap());
    let deployment = followed.indexer().deployment();
    let mut store = followed.indexer().store();
    assert_eq!(
        answer(&mut store, deployment, id, &step.operation, reviewers),
        summary,
        "{at}"
    );
    true
}

fn reviewers<F: Followed>(followed: &F, operation: &Operation) -> Option<Reviewers> {
    match operation {
        Operation::OpenSummary(query) => {
            let listed = query.clients.iter().map(|it| followed.account(&it.0));
            Some(Reviewers::Listed(listed.collect()))
        }
        _ => None,
    }
}

fn answer<E: Engine>(
    store: &mut Store<E>,
    deployment: DeploymentId,
    agent: AgentId,
    operation: &Operation,
    reviewers: Option<Option<Vec<AccountId>>>,
) -> Summary {
    let reviewers = reviewers.flatten();
    match operation {
        Operation::OpenSummary(query) => {
            let tags = (query.tag1.as_str(), query.tag2.as_str());
            let answer = store.open_summary(deployment, agent, reviewers.as_deref(), tags);
            let summary = answer.unwrap().summary;
            Summary::Open {
                count: summary.count,
                value: concord_harness::model::Integer(summary.value),
                decimals: summary.decimals,
            }
        }
        _ => {
            let answer = store.authorized_summary(deployment, agent, None, ("", ""));
            let total = answer.unwrap().total();
            Summary::Authorized {
                count: total.count,
                average: total.average().try_into().unwrap(),
            }
        }
    }
}
