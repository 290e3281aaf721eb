use std::path::Path;

use rusqlite::Connection;

use super::{StoreError, failed};

/// One step for each version of the schema. A step never changes once it was released.
const STEPS: [&str; 1] = ["
CREATE TABLE meta (name TEXT PRIMARY KEY, value INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE target (
    agent TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    url TEXT NOT NULL,
    kind TEXT NOT NULL,
    position INTEGER NOT NULL,
    PRIMARY KEY (agent, endpoint)) STRICT, WITHOUT ROWID;
CREATE TABLE own (agent TEXT PRIMARY KEY, reason TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE sample (
    agent TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    at INTEGER NOT NULL,
    kind TEXT NOT NULL,
    answered INTEGER NOT NULL,
    succeeded INTEGER,
    millis INTEGER NOT NULL,
    owned INTEGER,
    finding TEXT NOT NULL,
    PRIMARY KEY (agent, endpoint, at)) STRICT, WITHOUT ROWID;
CREATE INDEX sample_time ON sample (at, agent, endpoint);
CREATE TABLE signal (
    n INTEGER PRIMARY KEY,
    agent TEXT NOT NULL,
    endpoint TEXT NOT NULL,
    tag TEXT NOT NULL,
    window TEXT NOT NULL CHECK (window IN ('day', 'week')),
    start INTEGER NOT NULL,
    registry TEXT NOT NULL,
    submission TEXT NOT NULL,
    file TEXT NOT NULL,
    intended_at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'intended'
        CHECK (state IN ('intended', 'stored', 'signed', 'sent', 'landed', 'final', 'refused')),
    is_done INTEGER NOT NULL DEFAULT 0,
    reserved TEXT,
    reserved_at INTEGER,
    cost TEXT,
    landing TEXT,
    feedback_index INTEGER,
    reason TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    reverts INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER NOT NULL DEFAULT 0,
    UNIQUE (agent, endpoint, tag, window, start)) STRICT;
CREATE INDEX signal_open ON signal (registry, n) WHERE is_done = 0;
CREATE INDEX signal_reserved ON signal (registry, reserved_at) WHERE reserved_at IS NOT NULL;
CREATE TABLE tx (
    signal INTEGER NOT NULL REFERENCES signal (n),
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (signal, name)) STRICT, WITHOUT ROWID;
"];

/// Brings a store to the newest version, each step in one transaction.
pub(super) fn migrate(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let broken = |error: rusqlite::Error| failed(path, error);
    let version = "PRAGMA user_version";
    let found: u32 = (connection.query_row(version, [], |row| row.get(0))).map_err(broken)?;
    let known = u32::try_from(STEPS.len()).unwrap_or(u32::MAX);
    if found > known {
        let path = path.to_owned();
        return Err(StoreError::Schema { path, found, known });
    }
    for (step, next) in STEPS.iter().zip(1..).skip(found as usize) {
        let sql = format!("BEGIN IMMEDIATE; {step} PRAGMA user_version = {next}; COMMIT;");
        connection.execute_batch(&sql).map_err(broken)?;
    }
    Ok(())
}
