//! What can be asked of a store.
mod agents;
mod authorship;
mod completeness;
mod facts;
mod feedback;
mod page;
mod raters;
mod ratings;
mod registrations;
mod summary;
mod tags;
mod threshold;
mod validations;

pub use agents::{
    AgentFilter, AgentOrder, AgentPosition, AgentQuery, FoundAgent, ReputationFilter,
};
pub use authorship::Authorship;
pub use completeness::{Completeness, Gap, IncompleteAgent};
pub use concord_chain::reviewers::{Reviewers, ReviewersError, parse_account};
pub use facts::Facts;
pub use feedback::{FeedbackFilter, FeedbackPosition, FeedbackQuery, FoundFeedback};
pub use page::Page;
pub(crate) use page::{keep, of_rows};
pub use registrations::{FileFilter, ListField, Service, TextField};
pub use summary::{AuthorizedSummary, OpenSummary, Sums};
pub use tags::Tags;
pub use threshold::{Bounds, Threshold, ThresholdError};
pub use validations::ValidationQuery;
