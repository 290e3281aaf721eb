//! Every answer is of the form that the OpenAPI document has for it: `Server::send` holds each answer of each test against it.
use crate::{
    given::{account, all_given, name},
    server::{Answer, Server},
};
use axum::http::{Method, StatusCode, header};
use concord_registry::event::Profile;
use jsonschema::Validator;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeSet, HashMap},
    sync::{Arc, Mutex},
};

/// The OpenAPI document, and the schemas of it that were compiled.
pub struct Description {
    document: Value,
    validators: Mutex<HashMap<String, Arc<Validator>>>,
}

impl Description {
    pub fn new(document: Value) -> Self {
        Self {
            document,
            validators: Mutex::default(),
        }
    }

    /// The path's template.
    fn template(&self, path: &str) -> Option<&str> {
        let parts: Vec<&str> = path.split('/').collect();
        let fits = |template: &&String| {
            let of: Vec<&str> = template.split('/').collect();
            let mut pairs = of.iter().zip(&parts);
            of.len() == parts.len() && pairs.all(|(of, it)| of.starts_with('{') || of == it)
        };
        let paths = self.document["paths"].as_object().unwrap();
        paths.keys().find(fits).map(String::as_str)
    }

    /// The schema of an answer. What is of no route is an error.
    fn schema(&self, method: &Method, path: &str, status: StatusCode) -> Value {
        let template = self.template(path).unwrap_or_default();
        let method = method.as_str().to_lowercase();
        let responses = &self.document["paths"][template][&method]["responses"];
        let response = match &responses[status.as_str()] {
            Value::Null => &responses["default"],
            response => response,
        };
        match &response["content"]["application/json"]["schema"] {
            Value::Null => json!({ "$ref": "#/components/schemas/Error" }),
            schema => schema.clone(),
        }
    }

    fn validator(&self, schema: &Value) -> Arc<Validator> {
        let mut validators = self.validators.lock().unwrap();
        let validator = validators.entry(schema.to_string()).or_insert_with(|| {
            let components = &self.document["components"];
            let document = json!({ "allOf": [schema], "components": components });
            Arc::new(jsonschema::draft202012::new(&document).unwrap())
        });
        Arc::clone(validator)
    }

    fn fault(
        &self,
        (method, path): (&Method, &str),
        status: StatusCode,
        answer: &Value,
    ) -> Option<String> {
        let validator = self.validator(&self.schema(method, path, status));
        let mut faults = validator.iter_errors(answer);
        faults
            .next()
            .map(|it| format!("{it} at {}", it.instance_path()))
    }

    /// Pages for people are not described, and a preflight has no content.
    pub fn require(&self, method: &Method, path: &str, answer: &Answer) {
        let kind = answer.headers.get(header::CONTENT_TYPE);
        let is_json = kind.is_some_and(|it| it.to_str().unwrap().starts_with("application/json"));
        let has_body = *method != Method::HEAD;
        if is_json
            && has_body
            && let Some(fault) = self.fault((method, path), answer.status, &answer.json())
        {
            panic!("{method} {path}: {fault}: {}", answer.text);
        }
    }
}

/// A request for each route, which succeeds.
fn requests() -> Vec<(String, Option<Value>)> {
    let given = all_given(0).into_iter();
    let mut rated = given.filter(|it| it.profile == Profile::Authorized && it.paid.is_some());
    let one = rated.next().unwrap();
    let (agent, client) = (name(0, one.agent), account(one.client));
    let feedback = format!("/v1/feedback/{agent}/authorized/{client}/{}", one.index);
    let everyone = json!("everyone");
    let got = [
        format!("/v1/agents/{agent}"),
        format!("/v1/agents/{agent}/summary?clientAddresses=everyone&profile=authorized"),
        format!("/v1/agents/{agent}/validations"),
        format!("/v1/agents/{agent}/given"),
        format!("/v1/agents/{agent}/metadata"),
        format!("{feedback}/responses"),
        feedback,
        format!(
            "/v1/validations?chain=eip155:31337&validator={}",
            account(9)
        ),
        format!("/v1/raters/{}", account(101)),
        "/v1/status".to_owned(),
        "/v1/openapi.json".to_owned(),
        "/readyz".to_owned(),
    ];
    let posted = [
        (
            "/v1/agents/search",
            json!({ "filters": { "feedback": { "fromReviewers": everyone } } }),
        ),
        (
            "/v1/summaries",
            json!({ "agentIds": [agent], "clientAddresses": everyone }),
        ),
        ("/v1/feedback/search", json!({})),
        (
            "/subgraphs/31337/graphql",
            json!({ "query": "{ agents { id } }" }),
        ),
    ];
    let posted = posted.map(|(path, body)| (path.to_owned(), Some(body)));
    got.map(|path| (path, None))
        .into_iter()
        .chain(posted)
        .collect()
}

async fn answered(server: &Server, path: &str, body: Option<&Value>) -> Value {
    let answer = match body {
        None => server.get(path).await,
        Some(body) => server.post(path, body).await,
    };
    assert_eq!(answer.status, StatusCode::OK, "{path}: {}", answer.text);
    answer.json()
}

#[tokio::test]
async fn every_route_answers_as_it_is_described() {
    let server = Server::start();
    let description = server.description().await;
    let mut asked = BTreeSet::from(["/livez", "/metrics"]); // text
    for (path, body) in requests() {
        answered(&server, &path, body.as_ref()).await;
        let path = path.split('?').next().unwrap().to_owned();
        asked.insert(description.template(&path).unwrap());
    }
    let paths = description.document["paths"].as_object().unwrap();
    let all: BTreeSet<&str> = paths.keys().map(String::as_str).collect();
    assert_eq!(asked, all);
}

/// Each change of a member of an answer: it is not there, it is of another type, there is another one.
fn changes(of: &Value) -> Vec<(String, Value)> {
    let mut changed = Vec::new();
    match of {
        Value::Object(members) => {
            changed.push((
                "another member".to_owned(),
                with(members, "stars", json!(5)),
            ));
            for (name, value) in members {
                let mut without = members.clone();
                without.remove(name);
                changed.push((format!("{name} left out"), without.into()));
                let is_object = value.is_object();
                let other = if is_object { json!([]) } else { json!({}) };
                changed.push((
                    format!("{name} of another type"),
                    with(members, name, other),
                ));
                let within = changes(value).into_iter();
                let within =
                    within.map(|(what, it)| (format!("{name}: {what}"), with(members, name, it)));
                changed.extend(within);
            }
        }
        Value::Array(items) => {
            if let Some((first, rest)) = items.split_first() {
                let within = changes(first).into_iter();
                let within = within.map(|(what, it)| {
                    let items: Vec<Value> = [it].into_iter().chain(rest.iter().cloned()).collect();
                    (format!("first: {what}"), items.into())
                });
                changed.extend(within);
            }
        }
        _ => (),
    }
    changed
}

fn with(members: &Map<String, Value>, name: &str, value: Value) -> Value {
    let mut changed = members.clone();
    changed.insert(name.to_owned(), value);
    changed.into()
}

#[tokio::test]
async fn an_answer_of_another_form_than_is_described_is_found() {
    let server = Server::start();
    let description = server.description().await;
    let mut refused = 0;
    for (path, body) in requests() {
        let answer = answered(&server, &path, body.as_ref()).await;
        let method = if body.is_none() {
            Method::GET
        } else {
            Method::POST
        };
        let path = path.split('?').next().unwrap();
        // What a query selects is its own; the document is OpenAPI's; maps have any members.
        if path.contains("graphql") || path.contains("openapi") {
            continue;
        }
        for (what, changed) in changes(&answer) {
            // A search without a filter by reputation has no summary, and maps have members of any name.
            let is_free = ["paid: ", "stateDifferences: ", "first: feedback left out"];
            if is_free.iter().any(|it| what.contains(it)) {
                continue;
            }
            let fault = description.fault((&method, path), StatusCode::OK, &changed);
            assert!(fault.is_some(), "{path}: {what} is not found");
            refused += 1;
        }
    }
    assert!(refused > 300, "{refused}");
}
