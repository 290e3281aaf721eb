//! What the index knows, in the model's terms.
use crate::replay::labels::Labels;
use alloy::primitives::{I256, U256};
use concord_harness::model::{
    AgentState, AnswerState, AuthorizedState, Bytes, Bytes32, CanonicalState, FeedbackState,
    Integer, OpenFeedbackState, OpenState, PaymentState, Totals, ValidationState, ValidationsState,
    WideInteger,
};
use concord_index::{
    store::{DeploymentId, Engine, Store},
    table::{Agent, Feedback, FeedbackKey},
};
use concord_registry::event::{AgentId, Profile};

pub struct Reader<'a, E> {
    pub store: &'a mut Store<E>,
    pub deployment: DeploymentId,
    pub labels: &'a Labels,
    /// Unix seconds.
    pub start: u64,
}

impl<E: Engine> Reader<'_, E> {
    pub fn state(&mut self) -> CanonicalState {
        let head = self.store.cursor(self.deployment).unwrap().unwrap().head;
        let mut state = CanonicalState {
            time: u64::try_from(head.time).unwrap().saturating_sub(self.start),
            ..CanonicalState::default()
        };
        for (key, agent) in self.store.agents(self.deployment).unwrap() {
            assert!(!agent.is_incomplete(), "{key:?} {agent:?}"); // R46
            let label = self.labels.agent(key.agent);
            state.agents.insert(label, self.agent(key.agent, &agent));
        }
        state
    }

    fn agent(&mut self, id: AgentId, agent: &Agent) -> AgentState {
        let owner = self.labels.actor(agent.owner.unwrap());
        AgentState {
            wallet: agent.wallet.map(|it| self.labels.actor(it)),
            metadata: (self
                .store
                .metadata(self.deployment, id)
                .unwrap()
                .into_iter())
            .map(|(_, row)| (row.key, Bytes(row.value)))
            .collect(),
            authorized: self.authorized(id),
            open: self.open(id),
            validations: self.validations(id),
            ..AgentState::registered(owner, agent.uri.clone())
        }
    }

    fn authorized(&mut self, id: AgentId) -> AuthorizedState {
        let summary = self
            .store
            .authorized_summary(self.deployment, id, None, ("", ""));
        let summary = summary.unwrap();
        let total = summary.total();
        let verified = Totals {
            count: summary.verified.count,
            sum: summary.verified.score_sum,
        };
        let mut state = AuthorizedState {
            count: total.count,
            sum: total.score_sum,
            average: total.average().try_into().unwrap(),
            verified: (verified != Totals::default()).then_some(verified),
            ..AuthorizedState::default()
        };
        for (client, entries) in self.entries(Profile::Authorized, id) {
            let entries = entries
                .iter()
                .map(|(key, it)| self.score(key, it))
                .collect();
            state.clients.push(client.clone());
            state.entries.insert(client, entries);
        }
        state
    }

    fn entries(
        &mut self,
        profile: Profile,
        id: AgentId,
    ) -> Vec<(concord_harness::model::Actor, Vec<(FeedbackKey, Feedback)>)> {
        let clients = self.store.clients(self.deployment, profile, id).unwrap();
        let mut all = Vec::new();
        for (key, client) in clients {
            let entries = self.store.feedback_by(self.deployment, &key).unwrap();
            assert!(
                entries
                    .iter()
                    .map(|(key, _)| key.index)
                    .eq(1..=client.last_index)
            ); // R44
            all.push((self.labels.actor(key.client), entries));
        }
        all
    }

    fn score(&mut self, key: &FeedbackKey, row: &Feedback) -> FeedbackState {
        let payment = self.store.payment(self.deployment, key).unwrap();
        assert_eq!(payment.is_some(), row.is_paid);
        self.check_responses(key, row);
        FeedbackState {
            score: row.value.try_into().unwrap(),
            tag1: row.tag1.parse().unwrap(),
            tag2: row.tag2.parse().unwrap(),
            time: self.seconds(row.at),
            revoked: row.revoked_at.is_some(),
            responses: row.responses,
            payment: payment.map(|it| PaymentState {
                token: self.labels.actor(it.token),
                amount: Integer(it.amount.into()),
            }),
        }
    }

    fn check_responses(&mut self, key: &FeedbackKey, row: &Feedback) {
        let responses = self.store.responses(self.deployment, key).unwrap();
        assert_eq!(responses.len() as u64, row.responses);
    }

    fn open(&mut self, id: AgentId) -> OpenState {
        let summary = self.store.open_summary(self.deployment, id, None, ("", ""));
        let parts = summary.unwrap().parts;
        let sum = U256::from_be_bytes(parts.sum().to_be_bytes());
        let mut state = OpenState {
            count: parts.count(),
            sum: WideInteger(I256::from_raw(sum)),
            ..OpenState::default()
        };
        for (client, entries) in self.entries(Profile::Open, id) {
            entries
                .iter()
                .for_each(|(key, row)| self.check_responses(key, row));
            let entries = entries
                .into_iter()
                .map(|(_, row)| open_entry(row))
                .collect();
            state.clients.push(client.clone());
            state.entries.insert(client, entries);
        }
        state
    }

    fn validations(&mut self, id: AgentId) -> ValidationsState {
        let mut state = ValidationsState::default();
        for (key, row) in self.store.validations(self.deployment, id).unwrap() {
            let validation = ValidationState {
                time: self.seconds(row.updated_at),
                answer: row.answer.map(|it| AnswerState {
                    score: it.score,
                    hash: Bytes32(it.hash),
                    tag: it.tag.parse().unwrap(),
                }),
            };
            state.answered += u64::from(validation.answer.is_some());
            let of_hash = state.requests.entry(Bytes32(key.request)).or_default();
            of_hash.insert(self.labels.actor(key.validator), validation);
        }
        state
    }

    fn seconds(&self, time: i64) -> u64 {
        u64::try_from(time)
            .unwrap()
            .checked_sub(self.start)
            .unwrap()
    }
}

fn open_entry(row: Feedback) -> OpenFeedbackState {
    OpenFeedbackState {
        value: Integer(row.value),
        decimals: row.decimals,
        tag1: row.tag1,
        tag2: row.tag2,
        revoked: row.revoked_at.is_some(),
        responses: row.responses,
    }
}
