use std::path::Path;

use rusqlite::Connection;

use super::{StoreError, failed};

/// One step for each version of the schema. A step never changes once it was released.
const STEPS: [&str; 6] = [
    "
CREATE TABLE meta (name TEXT PRIMARY KEY, value TEXT NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE submission (
    n INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    digest BLOB NOT NULL,
    accepted_at INTEGER NOT NULL,
    previous BLOB NOT NULL,
    receipt BLOB NOT NULL,
    signature BLOB NOT NULL,
    lane TEXT NOT NULL,
    settlement TEXT NOT NULL,
    body TEXT NOT NULL,
    file TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'accepted'
        CHECK (state IN ('accepted', 'stored', 'signed', 'sent', 'landed', 'final', 'refused')),
    is_done INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER NOT NULL DEFAULT 0,
    landing TEXT,
    feedback_index INTEGER) STRICT;
CREATE INDEX submission_open ON submission (lane, n) WHERE is_done = 0;
CREATE TABLE tx (
    submission INTEGER NOT NULL REFERENCES submission (n),
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (submission, name)) STRICT, WITHOUT ROWID;
",
    // the states are behind the files in a row: without an index each count reads every file
    "
ALTER TABLE submission ADD COLUMN reverts INTEGER NOT NULL DEFAULT 0;
CREATE INDEX submission_state ON submission (state);
",
    // limits count by agent and by reviewer
    "
ALTER TABLE submission ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE submission ADD COLUMN reviewer TEXT NOT NULL DEFAULT '';
UPDATE submission SET
    agent = substr(lane, 1, instr(lane, ' ')) || json_extract(body, '$.agentId'),
    reviewer = json_extract(file, '$.proofOfParticipation.reviewerAddress');
UPDATE submission SET reviewer = lower(reviewer) WHERE reviewer LIKE 'eip155:%';
CREATE INDEX submission_agent ON submission (agent, accepted_at);
CREATE INDEX submission_reviewer ON submission (reviewer, accepted_at);
CREATE INDEX submission_time ON submission (accepted_at);
",
    // R58
    "
CREATE TABLE revocation (
    n INTEGER PRIMARY KEY REFERENCES submission (n),
    body TEXT NOT NULL,
    accepted_at INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'accepted'
        CHECK (state IN ('accepted', 'signed', 'sent', 'landed', 'final', 'refused')),
    is_done INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    reverts INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER NOT NULL DEFAULT 0,
    landing TEXT) STRICT;
CREATE INDEX revocation_open ON revocation (n) WHERE is_done = 0;
CREATE TABLE revocation_tx (
    n INTEGER NOT NULL REFERENCES revocation (n),
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (n, name)) STRICT, WITHOUT ROWID;
",
    // files are shown by their URI
    "
CREATE INDEX submission_uri ON submission (json_extract(body, '$.uri'));
",
    // R59
    "
CREATE TABLE sponsored (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    digest BLOB NOT NULL,
    settlement TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    agent TEXT NOT NULL,
    body TEXT NOT NULL,
    file TEXT NOT NULL,
    feedback_index INTEGER NOT NULL,
    message BLOB NOT NULL,
    valid_until INTEGER NOT NULL,
    cost INTEGER NOT NULL,
    state TEXT NOT NULL DEFAULT 'prepared'
        CHECK (state IN ('prepared', 'signed', 'sent', 'landed', 'final', 'expired', 'refused')),
    accepted_at INTEGER,
    reason TEXT,
    tx TEXT,
    landing TEXT) STRICT;
CREATE INDEX sponsored_state ON sponsored (state);
CREATE INDEX sponsored_agent ON sponsored (agent, accepted_at);
CREATE INDEX sponsored_reviewer ON sponsored (reviewer, accepted_at);
CREATE INDEX sponsored_time ON sponsored (accepted_at);
CREATE INDEX sponsored_uri ON sponsored (json_extract(body, '$.uri'));
CREATE VIEW acceptance AS
    SELECT reviewer, agent, accepted_at FROM submission UNION ALL
    SELECT reviewer, agent, accepted_at FROM sponsored
    WHERE accepted_at IS NOT NULL AND state <> 'expired';
",
];

/// Brings a store to the newest version, each step in one transaction.
pub(super) fn migrate(path: &Path, connection: &Connection) -> Result<(), StoreError> {
    let broken = |error: rusqlite::Error| failed(path, error);
    let version = "PRAGMA user_version";
    let found: u32 = connection
        .query_row(version, [], |row| row.get(0))
        .map_err(broken)?;
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
