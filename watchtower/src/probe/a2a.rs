use concord_chain::fetch::Answer;
use serde_json::Value;

use super::Finding;

/// A card has a name and a list of skills in every version of A2A.
pub(super) fn judge(answer: Answer) -> Finding {
    if answer.status != 200 {
        return Finding::Status(answer.status);
    }
    let card: Option<Value> = serde_json::from_slice(&answer.body).ok();
    let is_card = card.is_some_and(|it| it["name"].is_string() && it["skills"].is_array());
    if is_card {
        Finding::AsPromised
    } else {
        Finding::Unlike("not an A2A agent card")
    }
}
