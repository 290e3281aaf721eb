//! Files that events refer to: fetched, verified, and what comes of them.
mod fetched;
mod host;
mod signed;
mod world;
