//! What takes long: `scripts/test full` runs it, and `scripts/test` does not.
mod seeded_faults;
