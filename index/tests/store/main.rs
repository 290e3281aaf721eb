//! The store: kills, full disks, second writers, schemas, gaps. No chain is needed.
mod completeness;
mod failures;
mod killed;
mod repair;
mod world;
