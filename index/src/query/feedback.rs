//! Searches feedback, the newest first (BP).
use super::{
    Bounds,
    page::{Page, Paged, merge},
};
use crate::{
    Place, StoreError,
    store::{Cell, DeploymentId, Engine, Sql, Store, Stored, Value, columns_of},
    table::{Feedback, FeedbackKey, Feedbacks},
};
use concord_registry::event::{AccountId, AgentId, Profile};

/// Which feedback of one deployment is searched for.
#[derive(Debug, Clone, Default)]
pub struct FeedbackFilter {
    /// Of this kind; of both if it is `None`.
    pub profile: Option<Profile>,
    /// About these agents; about all if it is empty.
    pub agents: Vec<AgentId>,
    /// By these clients; by everyone if it is empty.
    pub reviewers: Vec<AccountId>,
    /// With one of these as its first or second tag (R50); with any if it is empty.
    pub tags: Vec<String>,
    /// With this first tag, unless it is empty.
    pub tag1: String,
    /// With this second tag, unless it is empty.
    pub tag2: String,
    /// On the value.
    pub value: Bounds,
    /// Revoked feedback too.
    pub include_revoked: bool,
    /// With or without a response.
    pub has_response: Option<bool>,
    /// S: with or without a proven payment (R13).
    pub is_paid: Option<bool>,
}

/// A search, in one or more deployments.
#[derive(Debug, Clone)]
pub struct FeedbackQuery {
    /// Where, and for what.
    pub deployments: Vec<(DeploymentId, FeedbackFilter)>,
    /// Where the page before ended.
    pub after: Vec<FeedbackPosition>,
    /// Rows of a page.
    pub limit: usize,
}

/// Where a page of feedback ends in one deployment.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FeedbackPosition {
    /// The deployment.
    pub deployment: DeploymentId,
    /// The last feedback's place.
    pub place: Place,
}

/// A feedback that was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FoundFeedback {
    /// Its deployment.
    pub deployment: DeploymentId,
    /// Its name.
    pub key: FeedbackKey,
    /// Its row.
    pub row: Feedback,
}

impl Paged for FoundFeedback {
    type Position = FeedbackPosition;

    fn position(&self) -> FeedbackPosition {
        FeedbackPosition {
            deployment: self.deployment,
            place: self.row.place,
        }
    }

    fn order(&self) -> f64 {
        self.row.at as f64
    }

    fn deployment(position: &FeedbackPosition) -> i64 {
        position.deployment.0
    }
}

/// What an index lists by place: everything, an agent's, or a client's; or what the table's key finds: what a client gave an agent.
#[derive(Clone, Copy)]
enum Listing {
    All,
    About(AgentId),
    By(AccountId),
    Between(AgentId, AccountId),
}

/// Pairs of agents and clients that are looked up one by one. What an agent has by others, however much, is then not read.
const PAIRS: usize = 1_000;

impl<E: Engine> Store<E> {
    /// Searches feedback, the newest first.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn search_feedback(
        &mut self,
        query: &FeedbackQuery,
    ) -> Result<Page<FoundFeedback, FeedbackPosition>, StoreError> {
        let wanted = query.limit.saturating_add(1);
        let mut streams = Vec::new();
        for (deployment, filter) in &query.deployments {
            let after = query.after.iter().find(|it| it.deployment == *deployment);
            let after = after.map(|it| it.place);
            let mut found: Vec<FoundFeedback> = Vec::new();
            for listing in filter.listings() {
                // What is older than a whole page is not on it.
                let oldest = found.get(query.limit).map(|it| it.row.place);
                let within = (oldest, after);
                found.extend(self.listed_feedback(*deployment, filter, listing, within, wanted)?);
                found.sort_by_key(|it| std::cmp::Reverse(it.row.place));
                found.truncate(wanted);
            }
            streams.push(found);
        }
        Ok(merge(streams, &query.after, query.limit, true))
    }

    /// Feedback between two places, the newest first.
    fn listed_feedback(
        &mut self,
        deployment: DeploymentId,
        filter: &FeedbackFilter,
        listing: Listing,
        (oldest, mut after): (Option<Place>, Option<Place>),
        wanted: usize,
    ) -> Result<Vec<FoundFeedback>, StoreError> {
        let mut found = Vec::new();
        loop {
            let sql = filter.sql(deployment, listing, (oldest, after), wanted);
            let mut rows = Vec::new();
            self.select(&sql, "feedback", &mut |cells| {
                rows.push(FoundFeedback {
                    deployment,
                    key: Feedbacks::read_key(cells)?,
                    row: Feedbacks::read_row(cells)?,
                });
                Ok(())
            })?;
            let is_last = rows.len() < wanted;
            after = rows.last().map(|it| it.row.place);
            // What SQL compares approximately is compared exactly here (R47).
            let bounds = &filter.value;
            found.extend((rows.into_iter()).filter(|it: &FoundFeedback| {
                bounds.is_empty() || bounds.admit_value(it.row.value, it.row.decimals)
            }));
            if is_last || found.len() >= wanted {
                found.truncate(wanted);
                return Ok(found);
            }
        }
    }
}

impl FeedbackFilter {
    /// Each agent and each client once.
    fn listings(&self) -> Vec<Listing> {
        let mut agents = self.agents.clone();
        agents.sort_unstable();
        agents.dedup();
        let mut clients = self.reviewers.clone();
        clients.sort_unstable();
        clients.dedup();
        match (agents.is_empty(), clients.is_empty()) {
            (true, true) => vec![Listing::All],
            (true, false) => clients.into_iter().map(Listing::By).collect(),
            (false, false) if agents.len().saturating_mul(clients.len()) <= PAIRS => {
                let of_agent = |agent| clients.iter().map(move |it| Listing::Between(agent, *it));
                agents.into_iter().flat_map(of_agent).collect()
            }
            (false, _) => agents.into_iter().map(Listing::About).collect(),
        }
    }

    fn sql(
        &self,
        deployment: DeploymentId,
        listing: Listing,
        (oldest, after): (Option<Place>, Option<Place>),
        wanted: usize,
    ) -> Sql {
        let mut sql = Sql::new(format!(
            "SELECT f.profile, f.agent, f.client, f.idx, {} FROM feedback f",
            columns_of::<Feedbacks>("f")
        ));
        sql.bind(" WHERE f.deployment = ?", [deployment.0.to_value()]);
        match listing {
            Listing::All => &mut sql,
            Listing::About(agent) => sql.bind(" AND f.agent = ?", [agent.to_value()]),
            Listing::By(client) => sql.bind(" AND f.client = ?", [client.to_value()]),
            Listing::Between(agent, client) => {
                let both = [agent.to_value(), client.to_value()];
                sql.bind(" AND f.agent = ? AND f.client = ?", both)
            }
        };
        if let Listing::About(_) = listing {
            sql.list("f.client", self.reviewers.iter().map(Cell::to_value));
        }
        // As an expression, a column leaves an index that begins otherwise to be used: the key, or those by place.
        let place = match (listing, self.profile) {
            (Listing::Between(..), profile) => {
                let both = [Profile::Authorized, Profile::Open];
                let wanted = both
                    .iter()
                    .filter(|it| profile.is_none_or(|wanted| wanted == **it));
                sql.list("f.profile", wanted.map(Cell::to_value));
                "COALESCE(f.place, f.place)" // Postgres has no + of bytes
            }
            (_, Some(profile)) => {
                sql.bind(" AND +f.profile = ?", [profile.to_value()]);
                "f.place"
            }
            (_, None) => "f.place",
        };
        self.restrict(&mut sql);
        if let Some(after) = after {
            sql.bind(&format!(" AND {place} < ?"), [after.to_value()]);
        }
        if let Some(oldest) = oldest {
            sql.bind(&format!(" AND {place} > ?"), [oldest.to_value()]);
        }
        sql.push(&format!(" ORDER BY {place} DESC LIMIT {wanted}"));
        sql
    }

    fn restrict(&self, sql: &mut Sql) {
        for (column, tag) in [("f.tag1", &self.tag1), ("f.tag2", &self.tag2)] {
            if !tag.is_empty() {
                sql.bind(&format!(" AND {column} = ?"), [tag.to_value()]);
            }
        }
        self.restrict_tags(sql);
        self.value.restrict(sql, "f.approx");
        if !self.include_revoked {
            sql.push(" AND f.revoked_at IS NULL");
        }
        match self.has_response {
            Some(true) => sql.push(" AND f.responses > 0"),
            Some(false) => sql.push(" AND f.responses = 0"),
            None => sql,
        };
        if let Some(is_paid) = self.is_paid {
            sql.bind(" AND f.is_paid = ?", [is_paid.to_value()]);
        }
    }

    /// R50: either tag is one of these.
    fn restrict_tags(&self, sql: &mut Sql) {
        if self.tags.is_empty() {
            return;
        }
        let marks = vec!["?"; self.tags.len()].join(", ");
        let values: Vec<Value> = self.tags.iter().map(Cell::to_value).collect();
        let twice = values.iter().chain(&values).cloned();
        let either = format!(" AND (f.tag1 IN ({marks}) OR f.tag2 IN ({marks}))");
        sql.bind(&either, twice.collect::<Vec<_>>());
    }
}
