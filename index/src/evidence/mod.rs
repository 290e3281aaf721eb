//! Files: what registrations and feedback refer to, fetched by a [`Worker`] of its own and verified.
//!
//! What is derived is a pure function of the file and of the row that refers to it, so that a rebuild
//! derives the same (R45).
mod content;
mod feedback;
mod registration;
mod worker;

pub use content::Content;
pub use feedback::FeedbackContent;
pub(crate) use feedback::payment;
pub use registration::RegistrationContent;
pub(crate) use registration::shortened;
pub use worker::{Worker, WorkerOptions};
