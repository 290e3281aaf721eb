//! What can be asked of a store.
mod completeness;
mod reviewers;
mod summary;

pub use completeness::{Completeness, Gap, IncompleteAgent};
pub use reviewers::{Reviewers, ReviewersError};
pub use summary::{AuthorizedSummary, OpenSummary};
