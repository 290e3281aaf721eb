//! A conformance kit for anybody's feedback aggregator: X402's codes and answers, both twins of each rule (what
//! holds is accepted, what does not is refused), idempotency and concurrency. It needs an agent whose keys the
//! caller has, and payments to it that nobody rated yet.

mod case;
mod payload;

use std::time::Duration;

use alloy::transports::http::reqwest::{Client, Url};
use concord_canonical::sign::PreparedKey;
use serde::Serialize;
use serde_json::{Value, json};
use tokio::time::{Instant, sleep};

use case::{Case, DUPLICATE, refused_cases};
use payload::{Draft, account_of};

/// Payments that a check uses up.
pub const PAYMENTS: usize = 3;
/// Requests that are sent at once for one payment: half of them say something else.
const AT_ONCE: usize = 8;
/// Between two looks at a submission that is not on chain yet.
const PAUSE: Duration = Duration::from_millis(500);

/// What a check is done with.
pub struct Kit {
    /// Where the aggregator takes submissions, such as `https://aggregator.example/feedback`.
    pub url: Url,
    /// Asks the aggregator.
    pub client: Client,
    /// The identity registry, CAIP-10, which the aggregator serves.
    pub agent_registry: String,
    /// The agent.
    pub agent_id: String,
    /// A key that the agent's registration file names, or its wallet.
    pub agent_key: PreparedKey,
    /// The key of the account that paid.
    pub reviewer_key: PreparedKey,
    /// CAIP-220 references of payments to the agent, which nobody rated: three.
    pub payments: [String; PAYMENTS],
    /// How long a submission may take until it is on chain.
    pub patience: Duration,
}

/// The result of one case.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct CaseResult {
    /// The case.
    pub name: &'static str,
    /// What was found instead of what was expected; `None` if it passed.
    pub failure: Option<String>,
}

/// Why a check cannot be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CheckError {
    /// A payment or a key has not the form that it must have.
    #[error(transparent)]
    Form(#[from] concord_canonical::Error),
    /// The aggregator does not answer.
    #[error("{url}: {reason}")]
    Silent {
        /// Its scheme, host and port: the rest of its URL may be a secret.
        url: String,
        /// Why.
        reason: String,
    },
}

/// An aggregator's answer.
#[derive(Clone, Debug)]
struct Answer {
    status: u16,
    location: Option<String>,
    body: Value,
}

impl Answer {
    fn text(&self, key: &str) -> &str {
        self.body[key].as_str().unwrap_or_default()
    }

    /// What tells whether two answers are about the same submission.
    fn identity(&self) -> String {
        match self.body.get("receipt") {
            Some(receipt) => receipt.to_string(),
            None => self.text("txRef").to_owned(),
        }
    }

    fn is_taken(&self) -> bool {
        matches!(self.status, 200 | 202)
    }
}

impl Kit {
    /// Runs every case. The refusals come first, so that nothing is spent on an aggregator that fails them all.
    ///
    /// # Errors
    /// [`CheckError`] if it does not answer at all; every answer is a result.
    pub async fn run(&self) -> Result<Vec<CaseResult>, CheckError> {
        let good = self.draft(0, 95, 0)?;
        let mut results = Vec::new();
        for case in refused_cases(&good)? {
            let answer = self.post(&case.body).await?;
            results.push(case.result(&answer));
        }
        let first = good.json()?;
        let accepted = self.accepted("positive-review-is-accepted", &first);
        let (accepted, result) = accepted.await?;
        results.push(result);
        let worst = self.draft(1, -7, 2)?.json()?;
        let (_, result) = self.accepted("negative-review-is-accepted", &worst).await?;
        results.push(result);
        results.push(self.repeated(&first, &accepted).await?);
        let other = Draft {
            value: 5,
            ..good.clone()
        };
        let duplicate = Case::new("other-review-of-a-payment", other.json()?, DUPLICATE);
        let answer = self.post(&duplicate.body).await?;
        results.push(duplicate.result(&answer));
        let again = self.repeated(&first, &accepted).await?;
        results.push(CaseResult {
            name: "a-duplicate-changes-nothing",
            ..again
        });
        results.push(self.concurrent().await?);
        Ok(results)
    }

    fn draft(&self, payment: usize, value: i64, decimals: u8) -> Result<Draft, CheckError> {
        let task_ref = self.payments[payment].clone();
        Ok(Draft {
            registry: self.agent_registry.clone(),
            agent_id: self.agent_id.clone(),
            reviewer: account_of(&self.reviewer_key, &task_ref)?,
            task_ref,
            agent_key: self.agent_key.clone(),
            reviewer_key: self.reviewer_key.clone(),
            value,
            decimals,
            comment: "conformance check",
        })
    }

    /// Submits, and waits until it is on chain.
    async fn accepted(
        &self,
        name: &'static str,
        body: &Value,
    ) -> Result<(Answer, CaseResult), CheckError> {
        let answer = self.post(&body.to_string()).await?;
        let answer = self.settled(answer).await?;
        let failure = self.unlike_submitted(&answer);
        Ok((answer, CaseResult { name, failure }))
    }

    /// X402 §3: the fields of an accepted submission.
    fn unlike_submitted(&self, answer: &Answer) -> Option<String> {
        if answer.status != 200 || answer.text("status") != "submitted" {
            return Some(format!("expected 200 and submitted, {}", described(answer)));
        }
        for field in ["settlementRegistry", "txRef", "feedbackURI"] {
            if answer.text(field).is_empty() {
                return Some(format!("{field} is missing, {}", described(answer)));
            }
        }
        // R54: on the chain of the registry that the reviewer signed
        let chain = self.agent_registry.rsplit_once(':').map_or("", |it| it.0);
        let settlement = answer.text("settlementRegistry");
        let is_there = |text: &str| text.rsplit_once(':').is_some_and(|it| it.0 == chain);
        if is_there(settlement) && is_there(answer.text("txRef")) {
            None
        } else {
            Some(format!("expected {chain}, {}", described(answer)))
        }
    }

    /// The same payload, its members in another order, gets the same answer.
    async fn repeated(&self, body: &Value, first: &Answer) -> Result<CaseResult, CheckError> {
        let mut members: Vec<String> = body
            .as_object()
            .into_iter()
            .flatten()
            .map(|(key, value)| format!("{} : {value}", json!(key)))
            .collect();
        members.reverse();
        let answer = self.post(&format!("{{ {} }}", members.join(" , "))).await?;
        let is_same = answer.status == 200
            && answer.identity() == first.identity()
            && answer.text("feedbackURI") == first.text("feedbackURI");
        let failure = (!is_same).then(|| {
            let (found, expected) = (described(&answer), described(first));
            format!("{found}, before it {expected}")
        });
        let name = "same-payload-has-the-same-answer";
        Ok(CaseResult { name, failure })
    }

    /// One payment, many requests at once: one submission is taken, and whatever differs is a duplicate.
    async fn concurrent(&self) -> Result<CaseResult, CheckError> {
        let one = self.draft(2, 80, 0)?.json()?.to_string();
        let other = self.draft(2, 20, 0)?.json()?.to_string();
        let mut posts = tokio::task::JoinSet::new();
        for index in 0..AT_ONCE {
            let is_other = index % 2 == 1;
            let body = if is_other { other.clone() } else { one.clone() };
            let (client, url) = (self.client.clone(), self.url.clone());
            posts.spawn(async move { (is_other, post(&client, url, body).await) });
        }
        let mut answers = Vec::new();
        while let Some(joined) = posts.join_next().await {
            let (is_other, answer) = joined.map_err(|error| self.silent(&error))?;
            answers.push((is_other, answer?));
        }
        let name = "one-submission-of-many-at-once";
        let failure = unlike_one(&answers);
        Ok(CaseResult { name, failure })
    }

    /// Follows `Location` until the submission is not pending, as long as there is patience.
    async fn settled(&self, mut answer: Answer) -> Result<Answer, CheckError> {
        let end = Instant::now() + self.patience;
        let mut place = self.url.clone();
        while answer.status == 202 && Instant::now() < end {
            let Some(next) = answer
                .location
                .as_deref()
                .and_then(|it| place.join(it).ok())
            else {
                return Ok(answer);
            };
            sleep(PAUSE).await;
            let response = self.client.get(next.clone()).send().await;
            let response = response.map_err(|error| self.silent(&error.without_url()))?;
            answer = (read(response).await).map_err(|error| self.silent(&error.without_url()))?;
            place = next;
        }
        Ok(answer)
    }

    async fn post(&self, body: &str) -> Result<Answer, CheckError> {
        post(&self.client, self.url.clone(), body.to_owned()).await
    }

    fn silent(&self, error: &dyn ToString) -> CheckError {
        silent(&self.url, error)
    }
}

fn silent(url: &Url, error: &dyn ToString) -> CheckError {
    CheckError::Silent {
        url: url.origin().ascii_serialization(),
        reason: error.to_string(),
    }
}

async fn post(client: &Client, url: Url, body: String) -> Result<Answer, CheckError> {
    let request = client.post(url.clone());
    let request = request.header("content-type", "application/json");
    let response = request.body(body).send().await;
    let response = response.map_err(|error| silent(&url, &error.without_url()))?;
    (read(response).await).map_err(|error| silent(&url, &error.without_url()))
}

async fn read(
    response: alloy::transports::http::reqwest::Response,
) -> Result<Answer, alloy::transports::http::reqwest::Error> {
    let location = response.headers().get("location");
    let location = location.and_then(|it| it.to_str().ok()).map(str::to_owned);
    Ok(Answer {
        status: response.status().as_u16(),
        location,
        body: serde_json::from_slice(&response.bytes().await?).unwrap_or(Value::Null),
    })
}

fn described(answer: &Answer) -> String {
    let body: String = answer.body.to_string().chars().take(300).collect();
    format!("found {} {body}", answer.status)
}

/// `answers`: whether the request had the other review, and the answer.
fn unlike_one(answers: &[(bool, Answer)]) -> Option<String> {
    let mut taken = answers.iter().filter(|(_, answer)| answer.is_taken());
    let Some((winner, first)) = taken.next() else {
        let (_, answer) = answers.first()?;
        return Some(format!("none was taken: {}", described(answer)));
    };
    for (is_other, answer) in answers {
        let is_right = match is_other == winner {
            // 200 has txRef, and 202 has not: only a receipt names both
            true => {
                let is_known = first.body.get("receipt").is_some();
                answer.is_taken() && (!is_known || answer.identity() == first.identity())
            }
            false => (answer.status, answer.text("code")) == DUPLICATE,
        };
        if !is_right {
            return Some(format!(
                "{}, beside {}",
                described(answer),
                described(first)
            ));
        }
    }
    None
}
