//! BP's `feedback` filter, and the parameters that name the feedback of a summary.
use super::{
    ApiError, Limits,
    names::{accounts, profile},
    request::{Bound, ReviewerList, require_known, require_short, typed},
};
use crate::query::{Bounds, ReputationFilter};
use concord_registry::event::{AccountId, Profile};
use serde::Deserialize;
use serde_json::Value;

/// BP's members, with agent0's `tag` and `hasNoFeedback`, and `profile`.
pub(super) const MEMBERS: &[&str] = &[
    "hasFeedback",
    "hasNoFeedback",
    "minValue",
    "maxValue",
    "minCount",
    "maxCount",
    "tag",
    "tag1",
    "tag2",
    "fromReviewers",
    "profile",
];

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Asked {
    has_feedback: Option<bool>,
    has_no_feedback: Option<bool>,
    min_value: Option<Bound>,
    max_value: Option<Bound>,
    min_count: Option<u64>,
    max_count: Option<u64>,
    #[serde(default)]
    tag: String,
    #[serde(default)]
    tag1: String,
    #[serde(default)]
    tag2: String,
    from_reviewers: Option<ReviewerList>,
    profile: Option<String>,
}

/// Reads BP's `feedback` filter.
pub(super) fn read(
    value: &Value,
    path: &str,
    limits: &Limits,
) -> Result<ReputationFilter, ApiError> {
    require_known(value, path, MEMBERS)?;
    let asked: Asked = typed(value, path)?;
    let field = format!("{path}.fromReviewers");
    let reviewers = reviewers(asked.from_reviewers.as_ref(), &field, limits)?;
    let has_feedback = has_feedback(&asked, path)?;
    Ok(ReputationFilter {
        profile: asked_profile(asked.profile.as_deref(), path)?,
        reviewers,
        tag: asked.tag,
        tag1: asked.tag1,
        tag2: asked.tag2,
        has_feedback,
        min_count: asked.min_count,
        max_count: asked.max_count,
        average: Bounds {
            min: asked.min_value.map(|it| it.0),
            max: asked.max_value.map(|it| it.0),
        },
    })
}

/// `hasFeedback: false` and `hasNoFeedback: true` mean the same, and admit no bound.
fn has_feedback(asked: &Asked, path: &str) -> Result<bool, ApiError> {
    let has = match (asked.has_feedback, asked.has_no_feedback) {
        (Some(has), Some(has_not)) if has == has_not => {
            let reason = "contradicts hasFeedback";
            return Err(ApiError::malformed(format!("{path}.hasNoFeedback"), reason));
        }
        (Some(has), _) => has,
        (None, has_not) => !has_not.unwrap_or(false),
    };
    let bounds = [
        ("minValue", asked.min_value.is_some()),
        ("maxValue", asked.max_value.is_some()),
        ("minCount", asked.min_count.is_some()),
        ("maxCount", asked.max_count.is_some()),
    ];
    match bounds.iter().find(|(_, is_given)| *is_given && !has) {
        None => Ok(has),
        Some((name, _)) => {
            let reason = "is of no use for agents without feedback";
            Err(ApiError::malformed(format!("{path}.{name}"), reason))
        }
    }
}

/// R48: there is no default.
pub(super) fn reviewers(
    asked: Option<&ReviewerList>,
    field: &str,
    limits: &Limits,
) -> Result<Option<Vec<AccountId>>, ApiError> {
    match asked {
        None => {
            let reason = "is required: list reviewers, or ask for \"everyone\"";
            Err(ApiError::malformed(field, reason))
        }
        Some(ReviewerList::Everyone) => Ok(None),
        Some(ReviewerList::Listed(listed)) => {
            require_short(field, listed, limits)?;
            accounts(field, listed).map(Some)
        }
    }
}

/// BP's feedback is open.
pub(super) fn asked_profile(asked: Option<&str>, path: &str) -> Result<Profile, ApiError> {
    match asked {
        None => Ok(Profile::Open),
        Some(text) => profile(&format!("{path}.profile"), text),
    }
}
