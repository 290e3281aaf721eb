//! `concord-client` asks `/v1` over HTTP.
use crate::api::server::Server;
use crate::worlds::given::{account, all_given, name};
use concord_client::{
    ClientError, IndexClient, IndexError, Kind, ReputationFilter, Reviewers, ReviewersError, Tags,
};
use concord_registry::event::Profile;
use serde_json::{Value, json};

#[tokio::test]
async fn r48_the_client_names_reviewers_and_gets_the_same_answers() {
    let server = Server::start();
    let index = IndexClient::new(&server.listen().await).unwrap();
    let reviewers = Reviewers::Listed([1, 2, 3].map(account).to_vec());
    let listed = [1, 2, 3].map(|it| account(it).to_string());
    let thresholds = json!({ "hasFeedback": true, "minCount": 2, "tag1": "starred" });
    let options = json!({ "sort": ["averageValue:desc"], "pageSize": 2 });

    let filter = ReputationFilter {
        reviewers: &reviewers,
        thresholds: thresholds.clone(),
    };
    let page = index.search_agents(&Value::Null, Some(filter), &options);
    let page = page.await.unwrap();
    let mut feedback = thresholds;
    feedback["fromReviewers"] = json!(listed);
    let body = json!({ "filters": { "feedback": feedback }, "options": options });
    let expected = server.posted("/v1/agents/search", body).await;
    assert_eq!(json!(page.items), expected["items"]);
    assert_eq!(json!(page.next_cursor), expected["nextCursor"]);
    assert_eq!(page.items.len(), 2);

    let agent = name(1, 1);
    let tags = Tags {
        tag1: "speed",
        tag2: "",
    };
    let summary = index.summary(Kind::Open, &agent, &reviewers, tags).await;
    let summary = summary.unwrap();
    let body = json!({ "agentIds": [agent], "clientAddresses": listed, "tag1": "speed" });
    let expected = server.posted("/v1/summaries", body).await;
    assert_eq!(summary, expected["items"][0]);
    assert_eq!(summary["clientAddresses"], json!(listed), "R48");
    let everyone = index.summary(Kind::Authorized, &agent, &Reviewers::Everyone, tags);
    assert_eq!(everyone.await.unwrap()["clientAddresses"], "everyone");
}

#[tokio::test]
async fn r44_a_feedback_is_found_by_its_index_from_1() {
    let server = Server::start();
    let index = IndexClient::new(&server.listen().await).unwrap();
    let first = all_given(0).into_iter();
    let mut open = first.filter(|it| it.profile == Profile::Open);
    let first = open.next().unwrap();
    let (agent, client) = (name(0, first.agent), account(first.client).to_string());
    let found = index.feedback(Kind::Open, &agent, &client, 1).await;
    assert_eq!(found.unwrap()["value"], json!(first.value.to_string()));
    let none = index.feedback(Kind::Open, &agent, &client, 0).await;
    let none = none.unwrap_err();
    let is_refused = matches!(&none, ClientError::Index(IndexError::Refused(words)) if words.contains("counts from 1"));
    assert!(is_refused, "R44: {none}");
    let filters = json!({ "reviewers": [client] });
    let page = index.search_feedback(&filters, &Value::Null).await;
    let items = page.unwrap().items;
    assert!(!items.is_empty());
    assert!(items.iter().all(|it| it["clientAddress"] == json!(client)));
}

#[tokio::test]
async fn r48_no_reviewers_and_unknown_filters_are_errors() {
    let server = Server::start();
    let index = IndexClient::new(&server.listen().await).unwrap();
    let (agent, tags) = (name(1, 1), Tags::default());
    let nobody = Reviewers::Listed(Vec::new());
    let error = index.summary(Kind::Open, &agent, &nobody, tags).await;
    let error = error.unwrap_err();
    let is_empty = matches!(error, ClientError::Reviewers(ReviewersError::Empty));
    assert!(is_empty, "{error}");
    let filters = json!({ "feedback": { "minCount": 1 } });
    let error = index.search_agents(&filters, None, &Value::Null).await;
    let error = error.unwrap_err().to_string();
    assert!(error.contains("filters.feedback"), "{error}");
    let filters = json!({ "minStars": 4 });
    let error = index.search_agents(&filters, None, &Value::Null).await;
    let error = error.unwrap_err();
    let is_refused = matches!(&error, ClientError::Index(IndexError::Refused(words)) if words.contains("minStars"));
    assert!(is_refused && !error.is_retryable(), "{error}");
    for url in ["", "ftp:", "ftp://host/", "http://user:secret@host/"] {
        let error = IndexClient::new(url).unwrap_err();
        assert!(matches!(error, IndexError::Url(_)), "{url}");
        assert!(!error.to_string().contains("secret"), "{error}");
    }
    let closed = IndexClient::new("http://127.0.0.1:1/path?key=secret").unwrap();
    let error = closed.summary(Kind::Open, &agent, &Reviewers::Everyone, tags);
    let error = error.await.unwrap_err();
    assert!(error.is_retryable(), "{error}");
    assert!(!error.to_string().contains("secret"), "{error}");
}
