//! What a run came to: a matrix for people, JSON for programs.
mod json;
mod text;

pub use json::json;
pub use text::text;
