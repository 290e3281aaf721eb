//! Every answer is of the form that the OpenAPI document has for it: `Server::send` holds each answer of each test against it.
use crate::api::{
    furnished::{complete, requests},
    server::{Answer, Server},
};
use axum::http::{Method, StatusCode, header};
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

    /// Every member of the answers to requests that succeed, each after its schema's name.
    fn members(&self) -> BTreeSet<String> {
        let mut members = BTreeSet::new();
        for operations in self.document["paths"].as_object().unwrap().values() {
            for operation in operations.as_object().unwrap().values() {
                let schema =
                    &operation["responses"]["200"]["content"]["application/json"]["schema"];
                self.collect(schema, "", &mut members);
            }
        }
        members
    }

    fn collect(&self, schema: &Value, at: &str, members: &mut BTreeSet<String>) {
        if let Some((name, of)) = self.referred(schema) {
            if members.insert(name.to_owned()) {
                self.collect(of, name, members);
            }
            return;
        }
        for of in schema["anyOf"].as_array().into_iter().flatten() {
            self.collect(of, at, members);
        }
        for (name, of) in schema["properties"].as_object().into_iter().flatten() {
            let at = format!("{at}.{name}");
            self.collect(of, &at, members);
            members.insert(at);
        }
        self.collect_if_there(&schema["items"], at, members);
        self.collect_if_there(&schema["additionalProperties"], at, members);
    }

    fn collect_if_there(&self, schema: &Value, at: &str, members: &mut BTreeSet<String>) {
        if schema.is_object() {
            self.collect(schema, at, members);
        }
    }

    /// Takes from `members` those of which an answer has a value.
    fn reach(&self, schema: &Value, answer: &Value, at: &str, members: &mut BTreeSet<String>) {
        if answer.is_null() {
            return;
        }
        if let Some((name, of)) = self.referred(schema) {
            members.remove(name);
            return self.reach(of, answer, name, members);
        }
        for of in schema["anyOf"].as_array().into_iter().flatten() {
            if self.validator(of).is_valid(answer) {
                self.reach(of, answer, at, members);
            }
        }
        for item in answer.as_array().into_iter().flatten() {
            self.reach(&schema["items"], item, at, members);
        }
        for (name, value) in answer.as_object().into_iter().flatten() {
            let is_empty = value.is_null() || *value == json!([]) || *value == json!({});
            let at = format!("{at}.{name}");
            if !is_empty {
                members.remove(&at);
            }
            self.reach(&schema["properties"][name], value, &at, members);
        }
    }

    fn referred(&self, schema: &Value) -> Option<(&str, &Value)> {
        let name = schema["$ref"].as_str()?.rsplit('/').next()?;
        let (name, of) = self.document["components"]["schemas"]
            .as_object()?
            .get_key_value(name)?;
        Some((name, of))
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

fn method_of(body: Option<&Value>) -> Method {
    body.map_or(Method::GET, |_| Method::POST)
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
    let mut server = Server::start();
    complete(&mut server);
    let description = server.description().await;
    let mut asked = BTreeSet::from(["/livez", "/metrics"]); // text
    let mut without_value = description.members();
    assert!(without_value.len() > 200, "{}", without_value.len());
    for (path, body) in requests() {
        let answer = answered(&server, &path, body.as_ref()).await;
        let path = path.split('?').next().unwrap().to_owned();
        let schema = description.schema(&method_of(body.as_ref()), &path, StatusCode::OK);
        description.reach(&schema, &answer, "", &mut without_value);
        asked.insert(description.template(&path).unwrap());
    }
    assert_eq!(without_value, BTreeSet::new());
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
    let mut server = Server::start();
    complete(&mut server);
    let description = server.description().await;
    let mut refused = 0;
    for (path, body) in requests() {
        let answer = answered(&server, &path, body.as_ref()).await;
        let method = method_of(body.as_ref());
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
