//! The forms of answers. Each described member is always there, and there is no other one: the tests of the API check every
//! answer with this.
use super::{object_of, reference};
use serde_json::{Value, json};

/// The schema of a route's answer, by its name. `None` for what is no JSON of our own form.
pub(super) fn of(path: &str) -> Option<&'static str> {
    Some(match path {
        "/v1/agents/search" => "AgentPage",
        "/v1/agents/{agent}" => "AgentDetails",
        "/v1/agents/{agent}/summary" => "Summary",
        "/v1/agents/{agent}/validations" | "/v1/validations" => "ValidationPage",
        "/v1/agents/{agent}/given" | "/v1/feedback/search" => "FeedbackPage",
        "/v1/agents/{agent}/metadata" => "MetadataPage",
        "/v1/summaries" => "SummaryList",
        "/v1/feedback/{agent}/{profile}/{client}/{index}" => "FeedbackDetails",
        "/v1/feedback/{agent}/{profile}/{client}/{index}/responses" => "ResponsePage",
        "/v1/raters/{account}" => "Rater",
        "/v1/status" => "Status",
        "/readyz" => "Ready",
        "/subgraphs/{name}/graphql" => "GraphqlAnswer",
        _ => return None,
    })
}

fn text() -> Value {
    json!({ "type": "string" })
}

fn whole() -> Value {
    json!({ "type": "integer", "format": "uint64", "minimum": 0 })
}

fn truth() -> Value {
    json!({ "type": "boolean" })
}

fn described(mut schema: Value, words: &str) -> Value {
    schema["description"] = words.into();
    schema
}

/// Unix seconds.
fn time() -> Value {
    described(
        json!({ "type": "integer", "format": "int64" }),
        "Unix seconds",
    )
}

/// Unix seconds that someone stated: any 64 bits.
fn stated_time() -> Value {
    described(whole(), "Unix seconds, as stated: all of 64 bits")
}

/// `0x` and hex digits.
fn hex() -> Value {
    json!({ "type": "string", "pattern": "^0x([0-9a-f]{2})*$" })
}

/// A number that JavaScript cannot hold.
fn digits() -> Value {
    json!({ "type": "string", "pattern": "^-?(0|[1-9][0-9]*)$" })
}

/// The exact decimal.
fn decimal() -> Value {
    json!({ "type": ["string", "null"], "pattern": "^-?[0-9]+(\\.[0-9]+)?$" })
}

fn list(of: Value) -> Value {
    json!({ "type": "array", "items": of })
}

fn or_null(schema: Value) -> Value {
    json!({ "anyOf": [schema, { "type": "null" }] })
}

fn one_of(words: &[&str]) -> Value {
    json!({ "enum": words })
}

fn profile() -> Value {
    one_of(&["open", "authorized"])
}

/// R48: the reviewers that a statement is about.
fn reviewers() -> Value {
    json!({ "anyOf": [list(text()), { "const": "everyone" }] })
}

fn cursor() -> Value {
    described(or_null(text()), "Continues the page; null on the last one")
}

/// An object with these members and no other. Each is there.
fn record(members: &[(&str, Value)]) -> Value {
    let mut schema = object_of(
        members
            .iter()
            .map(|(name, of)| ((*name).to_owned(), of.clone())),
    );
    schema["required"] = members.iter().map(|(name, _)| *name).collect();
    schema
}

fn page(of: &str) -> Value {
    record(&[("items", list(reference(of))), ("nextCursor", cursor())])
}

/// A record with more members.
fn with(mut schema: Value, more: &[(&str, Value)]) -> Value {
    for (name, of) in more {
        schema["properties"][*name] = of.clone();
        if let Some(required) = schema["required"].as_array_mut() {
            required.push((*name).into());
        }
    }
    schema
}

/// Every schema of an answer, by its name.
pub(super) fn schemas() -> Vec<(&'static str, Value)> {
    [agents(), feedback(), summaries(), validations(), health()].concat()
}

fn agents() -> Vec<(&'static str, Value)> {
    let mut found = agent();
    found["properties"]["feedback"] = described(
        record(&[("count", whole()), ("average", reference("OpenSummary"))]),
        "What the filter's reviewers say, if the search is about that",
    );
    let details = with(
        agent(),
        &[
            ("metadata", list(reference("Metadata"))),
            ("nextMetadata", cursor()),
            ("moreGaps", truth()),
            ("gaps", list(reference("Gap"))),
            ("moreDifferences", truth()),
            ("differences", list(reference("Difference"))),
            ("binding", or_null(reference("Binding"))),
        ],
    );
    let page = with(
        page("FoundAgent"),
        &[
            ("fromReviewers", or_null(reviewers())),
            ("filesWaiting", or_null(whole())),
        ],
    );
    vec![
        ("AgentPage", page),
        ("FoundAgent", found),
        ("AgentDetails", details),
        ("RegistrationFile", registration()),
        ("Metadata", metadata()),
        ("MetadataPage", self::page("Metadata")),
        ("Gap", gap()),
        ("Difference", difference()),
        ("Binding", binding()),
    ]
}

/// ERC-8217
fn binding() -> Value {
    record(&[
        (
            "contract",
            described(or_null(text()), "Which contract the agent's metadata name"),
        ),
        (
            "proven",
            described(
                truth(),
                "Whether that contract owns the agent and confirms the binding",
            ),
        ),
        ("reason", described(or_null(text()), "Why it is not proven")),
        (
            "standard",
            or_null(one_of(&["ERC721", "ERC1155", "ERC6909"])),
        ),
        (
            "tokenContract",
            described(or_null(text()), "Of the token that the contract names"),
        ),
        ("tokenId", or_null(text())),
        (
            "block",
            described(or_null(whole()), "After which block the contract was asked"),
        ),
    ])
}

fn agent() -> Value {
    let clients = record(&[("open", whole()), ("authorized", whole())]);
    record(&[
        (
            "id",
            described(text(), "CAIP-10 of the registry, and the agent's id"),
        ),
        ("agentId", text()),
        ("owner", or_null(text())),
        ("agentWallet", or_null(text())),
        ("agentURI", text()),
        ("approved", or_null(text())),
        ("feedbackAuthority", or_null(text())),
        ("authSchemes", or_null(whole())),
        ("createdAt", time()),
        ("updatedAt", time()),
        ("totalFeedback", whole()),
        ("clients", clients),
        ("incomplete", truth()),
        ("registrationFile", or_null(reference("RegistrationFile"))),
    ])
}

fn file_state() -> Value {
    one_of(&["waiting", "unavailable", "unreadable", "read"])
}

fn registration() -> Value {
    let proven = [
        ("state", file_state()),
        ("reason", or_null(text())),
        ("contentProven", truth()),
        ("listsThisAgent", truth()),
        ("active", or_null(truth())),
        ("x402Support", or_null(truth())),
    ];
    let texts = [
        "name",
        "description",
        "image",
        "mcpEndpoint",
        "a2aEndpoint",
        "webEndpoint",
        "oasfEndpoint",
        "ens",
        "did",
        "emailEndpoint",
        "mcpVersion",
        "a2aVersion",
        "oasfVersion",
        "agentWallet",
    ];
    let lists = [
        "supportedTrust",
        "mcpTools",
        "mcpPrompts",
        "mcpResources",
        "a2aSkills",
        "oasfSkills",
        "oasfDomains",
    ];
    let texts = texts.map(|name| (name, or_null(text())));
    let lists = lists.map(|name| (name, list(text())));
    record(&[&proven[..], &fetching(), &texts, &lists].concat())
}

fn metadata() -> Value {
    record(&[
        ("key", text()),
        ("value", hex()),
        (
            "text",
            described(or_null(text()), "The value, if it is text"),
        ),
        ("updatedAt", time()),
    ])
}

/// R46
fn gap() -> Value {
    record(&[
        ("profile", profile()),
        ("clientAddress", text()),
        ("first", whole()),
        ("last", whole()),
    ])
}

/// R45
fn difference() -> Value {
    record(&[
        ("field", text()),
        ("clientAddress", or_null(text())),
        ("events", text()),
        ("state", text()),
        ("block", whole()),
    ])
}

fn feedback() -> Vec<(&'static str, Value)> {
    let item = with(entry(), &[("raterAgents", list(text()))]);
    let mut details = with(
        item.clone(),
        &[
            ("payment", or_null(reference("Payment"))),
            ("nextResponses", cursor()),
        ],
    );
    details["properties"]["responses"] = list(reference("Response"));
    let rater = record(&[
        ("account", text()),
        ("agents", list(text())),
        ("nextCursor", cursor()),
    ]);
    vec![
        ("FeedbackPage", page("Feedback")),
        ("Feedback", item),
        ("FeedbackDetails", details),
        ("Evidence", evidence()),
        ("Authorship", authorship()),
        ("Response", response()),
        ("ResponsePage", page("Response")),
        ("Payment", payment()),
        ("Rater", rater),
    ]
}

fn entry() -> Value {
    let authorization = record(&[("scheme", whole()), ("signature", or_null(hex()))]);
    record(&[
        ("agent", text()),
        ("profile", profile()),
        ("clientAddress", text()),
        ("feedbackIndex", whole()), // R44: from 1 on, if the registry enforces it
        ("value", digits()),
        ("valueDecimals", whole()),
        ("decimal", decimal()),
        ("tag1", text()),
        ("tag2", text()),
        ("endpoint", text()),
        ("feedbackURI", text()),
        ("feedbackHash", hex()),
        ("authorization", or_null(authorization)),
        ("createdAt", time()),
        ("transaction", text()),
        ("isRevoked", truth()),
        ("revokedAt", or_null(time())),
        ("responses", described(whole(), "How many")),
        ("paymentProven", truth()),
        ("evidence", or_null(reference("Evidence"))),
        ("authorship", reference("Authorship")),
    ])
}

/// When a file was fetched. Each is null for content that the URI holds.
fn fetching() -> [(&'static str, Value); 3] {
    let moment = |words| described(or_null(time()), words);
    [
        ("checkedAt", moment("The last attempt to fetch the file")),
        ("fetchedAt", moment("The last one that had its content")),
        (
            "fetchError",
            described(or_null(text()), "Why the last attempt had none"),
        ),
    ]
}

/// R49
fn evidence() -> Value {
    let difference = record(&[
        ("field", text()),
        ("inFile", or_null(text())),
        ("onChain", text()),
    ]);
    let said = record(&[
        ("state", file_state()),
        ("reason", or_null(text())),
        ("contentProven", truth()),
        ("hashScheme", or_null(text())),
        ("dialect", or_null(text())),
        ("differences", or_null(list(difference))),
        ("taskRef", or_null(text())),
        ("signaturesHold", or_null(truth())),
    ]);
    with(said, &fetching())
}

/// R49
fn authorship() -> Value {
    record(&[
        ("kind", one_of(&["onchain", "signed", "claimed"])),
        ("reviewer", described(text(), "CAIP-10 of who counts (R38)")),
        ("claimedReviewer", or_null(text())),
    ])
}

fn response() -> Value {
    record(&[
        ("number", json!({ "type": "integer", "minimum": 1 })),
        ("responder", text()),
        ("responseURI", text()),
        ("responseHash", hex()),
        ("createdAt", time()),
        ("transaction", text()),
    ])
}

/// R13
fn payment() -> Value {
    record(&[
        ("payee", text()),
        ("token", text()),
        ("amount", digits()),
        ("taskRefHash", hex()),
        ("paidAt", stated_time()),
        ("expiry", stated_time()),
        ("facilitator", text()),
        ("signature", hex()),
        ("provenAt", time()),
    ])
}

fn summaries() -> Vec<(&'static str, Value)> {
    let sums = json!({ "anyOf": [reference("OpenSummary"), reference("AuthorizedSummary")] });
    let summary = record(&[
        ("agent", text()),
        ("profile", profile()),
        ("clientAddresses", reviewers()),
        ("tag", text()),
        ("tag1", text()),
        ("tag2", text()),
        ("summary", sums),
        ("facts", reference("Facts")),
        ("incomplete", truth()),
    ]);
    let open = record(&[
        ("count", whole()),
        ("summaryValue", digits()),
        ("summaryValueDecimals", whole()),
        ("decimal", decimal()),
    ]);
    let scores = [("count", whole()), ("averageScore", whole())];
    let authorized = with(
        record(&scores),
        &[
            ("verified", record(&scores)),
            ("unverified", record(&scores)),
        ],
    );
    vec![
        ("Summary", summary),
        (
            "SummaryList",
            record(&[("items", list(reference("Summary")))]),
        ),
        ("OpenSummary", open),
        ("AuthorizedSummary", authorized),
        ("Facts", facts()),
    ]
}

/// R48
fn facts() -> Value {
    let share = json!({ "type": ["number", "null"], "minimum": 0, "maximum": 1 });
    let paid = json!({ "type": "object", "additionalProperties": digits() });
    record(&[
        ("feedback", whole()),
        (
            "reviewers",
            described(
                whole(),
                "Accounts that submitted: a proof in a file is not looked at here",
            ),
        ),
        (
            "mostActive",
            record(&[("feedback", whole()), ("share", share)]),
        ),
        (
            "proven",
            record(&[
                ("payers", whole()),
                ("paid", described(paid, "Amounts by token")),
            ]),
        ),
        ("firstAt", or_null(time())),
        ("lastAt", or_null(time())),
    ])
}

fn validations() -> Vec<(&'static str, Value)> {
    let answer = record(&[
        ("response", whole()),
        ("responseURI", text()),
        ("responseHash", hex()),
        ("tag", text()),
    ]);
    let validation = record(&[
        ("agent", text()),
        ("requestHash", hex()),
        ("validatorAddress", text()),
        ("requestURI", text()),
        ("requestTag", or_null(hex())),
        ("requestedAt", time()),
        ("updatedAt", time()),
        ("responses", whole()),
        (
            "answer",
            described(or_null(answer), "The latest; null while it is pending"),
        ),
    ]);
    vec![
        ("Validation", validation),
        ("ValidationPage", page("Validation")),
    ]
}

fn health() -> Vec<(&'static str, Value)> {
    let reorganization = record(&[
        ("noticedAt", time()),
        ("fromBlock", whole()),
        ("toBlock", whole()),
        ("depth", whole()),
        ("forkHash", text()),
        ("replacedHash", text()),
        ("events", whole()),
    ]);
    let reorganizations = record(&[
        ("count", whole()),
        ("deepest", whole()),
        ("newest", list(reorganization)),
    ]);
    let differences = json!({ "type": "object", "additionalProperties": whole() });
    let deployment = record(&[
        ("chain", described(text(), "CAIP-2")),
        ("registry", text()),
        ("block", or_null(whole())),
        ("blockTime", or_null(time())),
        ("finalBlock", or_null(whole())),
        ("agents", whole()),
        (
            "incompleteAgents",
            described(whole(), "Agents of which events are missing"),
        ),
        (
            "missingAgentIds",
            described(
                whole(),
                "EVM: ids between the first and the last agent that no event names",
            ),
        ),
        (
            "undecodedEvents",
            described(whole(), "Events whose bytes this version cannot decode"),
        ),
        (
            "unknownEvents",
            described(
                whole(),
                "Events of later versions of the registries, which this version does not know",
            ),
        ),
        (
            "stateUnread",
            described(
                whole(),
                "Agents and clients whose state is still to be compared",
            ),
        ),
        ("stateDifferences", differences),
        ("reorganizations", reorganizations),
    ]);
    let deployments = ("deployments", list(reference("Deployment")));
    let errors = list(json!({ "type": "object", "required": ["message"] }));
    vec![
        ("Deployment", deployment),
        ("Status", record(std::slice::from_ref(&deployments))),
        ("Ready", record(&[("ready", truth()), deployments])),
        ("GraphqlErrors", record(&[("errors", errors)])),
        (
            "GraphqlAnswer",
            json!({ "anyOf": [
                record(&[("data", json!({ "type": "object" }))]),
                reference("GraphqlErrors"),
            ] }),
        ),
    ]
}
