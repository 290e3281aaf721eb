use super::{
    StoreError,
    db::{Db, text},
};
use concord_sql::Location;

/// What brings a store from one version to the next.
struct Step {
    /// For both engines, in SQLite's words.
    sql: &'static str,
    /// For stores that have rows or indices already: Postgres has none that are older than the seventh step.
    older: &'static str,
}

/// One step for each version of the schema. A step never changes once it was released.
const STEPS: [Step; 10] = [
    Step {
        sql: "
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
        older: "",
    },
    // the states are behind the files in a row: without an index each count reads every file
    Step {
        sql: "
ALTER TABLE submission ADD COLUMN reverts INTEGER NOT NULL DEFAULT 0;
CREATE INDEX submission_state ON submission (state);
",
        older: "",
    },
    // limits count by agent and by reviewer
    Step {
        sql: "
ALTER TABLE submission ADD COLUMN agent TEXT NOT NULL DEFAULT '';
ALTER TABLE submission ADD COLUMN reviewer TEXT NOT NULL DEFAULT '';
CREATE INDEX submission_agent ON submission (agent, accepted_at);
CREATE INDEX submission_reviewer ON submission (reviewer, accepted_at);
CREATE INDEX submission_time ON submission (accepted_at);
",
        older: "
UPDATE submission SET
    agent = substr(lane, 1, instr(lane, ' ')) || json_extract(body, '$.agentId'),
    reviewer = json_extract(file, '$.proofOfParticipation.reviewerAddress');
UPDATE submission SET reviewer = lower(reviewer) WHERE reviewer LIKE 'eip155:%';
",
    },
    // R58
    Step {
        sql: "
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
        older: "",
    },
    // files are shown by their URI
    Step {
        sql: "",
        older: "
CREATE INDEX submission_uri ON submission (json_extract(body, '$.uri'));
",
    },
    // R59
    Step {
        sql: "
CREATE TABLE sponsored (
    id INTEGER PRIMARY KEY,
    key TEXT NOT NULL UNIQUE,
    digest BLOB NOT NULL,
    settlement TEXT NOT NULL,
    reviewer TEXT NOT NULL,
    agent TEXT NOT NULL,
    body TEXT NOT NULL,
    file TEXT NOT NULL,
    uri TEXT NOT NULL,
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
CREATE INDEX sponsored_uri ON sponsored (uri);
CREATE VIEW acceptance AS
    SELECT reviewer, agent, accepted_at FROM submission UNION ALL
    SELECT reviewer, agent, accepted_at FROM sponsored
    WHERE accepted_at IS NOT NULL AND state <> 'expired';
",
        older: "",
    },
    // several processes on one database; what a facilitator settled
    Step {
        sql: "
ALTER TABLE submission ADD COLUMN uri TEXT NOT NULL DEFAULT '';
CREATE INDEX submission_of_uri ON submission (uri);
CREATE TABLE lease (
    lane TEXT PRIMARY KEY,
    holder TEXT NOT NULL,
    epoch INTEGER NOT NULL,
    until INTEGER NOT NULL) STRICT, WITHOUT ROWID;
CREATE TABLE settled (
    key TEXT NOT NULL,
    agent TEXT NOT NULL,
    payer TEXT NOT NULL,
    asset TEXT NOT NULL,
    amount TEXT NOT NULL,
    decimals INTEGER NOT NULL,
    paid_at INTEGER NOT NULL,
    PRIMARY KEY (key, agent, asset)) STRICT;
CREATE INDEX settled_time ON settled (agent, paid_at);
",
        older: "
DROP INDEX submission_uri;
UPDATE submission SET uri = json_extract(body, '$.uri');
",
    },
    // responses that are relayed for agents; `n` counts with the submissions (R57)
    Step {
        sql: "
CREATE TABLE response (
    n INTEGER PRIMARY KEY,
    submission INTEGER NOT NULL UNIQUE REFERENCES submission (n),
    digest BLOB NOT NULL,
    accepted_at INTEGER NOT NULL,
    previous BLOB NOT NULL,
    receipt BLOB NOT NULL,
    signature BLOB NOT NULL,
    body TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'accepted'
        CHECK (state IN ('accepted', 'signed', 'sent', 'landed', 'final', 'refused')),
    is_done INTEGER NOT NULL DEFAULT 0,
    reason TEXT,
    attempts INTEGER NOT NULL DEFAULT 0,
    reverts INTEGER NOT NULL DEFAULT 0,
    not_before INTEGER NOT NULL DEFAULT 0,
    landing TEXT) STRICT;
CREATE INDEX response_open ON response (n) WHERE is_done = 0;
CREATE TABLE response_tx (
    n INTEGER NOT NULL REFERENCES response (n),
    name TEXT NOT NULL,
    position INTEGER NOT NULL,
    body TEXT NOT NULL,
    PRIMARY KEY (n, name)) STRICT, WITHOUT ROWID;
",
        older: "",
    },
    // each receipt is compared with the latest
    Step {
        sql: "
CREATE INDEX response_time ON response (accepted_at);
",
        older: "",
    },
    // lanes take what is due first, in each state, for an agent that is not busy; what is open is counted by it as well
    Step {
        sql: "
DROP INDEX submission_open;
CREATE INDEX submission_work ON submission (lane, state, not_before, n, agent) WHERE is_done = 0;
ALTER TABLE submission ADD COLUMN landed_at INTEGER;
ALTER TABLE submission ADD COLUMN yields INTEGER NOT NULL DEFAULT 0;
ALTER TABLE revocation ADD COLUMN landed_at INTEGER;
ALTER TABLE revocation ADD COLUMN yields INTEGER NOT NULL DEFAULT 0;
ALTER TABLE response ADD COLUMN landed_at INTEGER;
ALTER TABLE response ADD COLUMN yields INTEGER NOT NULL DEFAULT 0;
",
        older: "",
    },
];

/// Postgres's words for SQLite's, whose tables are strict: columns take their own type only.
const WORDS: [(&str, &str); 5] = [
    (" STRICT, WITHOUT ROWID", ""),
    (" STRICT", ""),
    (" INTEGER", " BIGINT"),
    (" BLOB", " BYTEA"),
    (" TEXT", " TEXT COLLATE \"C\""),
];

/// Brings a store to the newest version, each step in one transaction.
pub(super) fn migrate(location: &Location, db: &mut Db) -> Result<(), StoreError> {
    if db.is_file() {
        migrate_file(location, db)
    } else {
        migrate_server(location, db)
    }
}

fn known() -> u32 {
    u32::try_from(STEPS.len()).unwrap_or(u32::MAX)
}

fn require_known(location: &Location, found: u64) -> Result<(), StoreError> {
    if found > known().into() {
        Err(StoreError::Schema {
            place: location.to_string(),
            found: u32::try_from(found).unwrap_or(u32::MAX),
            known: known(),
        })
    } else {
        Ok(())
    }
}

fn migrate_file(location: &Location, db: &mut Db) -> Result<(), StoreError> {
    let found = db.count("PRAGMA user_version", &[])?;
    require_known(location, found)?;
    for (step, next) in STEPS.iter().zip(1u64..).skip(found as usize) {
        let Step { sql, older } = step;
        let sql = format!("BEGIN IMMEDIATE; {sql} {older} PRAGMA user_version = {next}; COMMIT;");
        db.script(&sql)?;
    }
    Ok(())
}

/// Several processes may start at once: only one of them goes first.
fn migrate_server(location: &Location, db: &mut Db) -> Result<(), StoreError> {
    db.begin()?;
    let migrated = migrate_server_alone(location, db);
    match &migrated {
        Ok(()) => db.script("COMMIT")?,
        Err(_) => db.disconnect(),
    }
    migrated
}

fn migrate_server_alone(location: &Location, db: &mut Db) -> Result<(), StoreError> {
    let sql = "SELECT count(*) FROM information_schema.tables WHERE table_name = 'meta' \
               AND table_schema = current_schema()";
    let version = "SELECT CAST(value AS BIGINT) FROM meta WHERE name = 'schema'";
    let found = match db.count(sql, &[])? {
        0 => 0,
        _ => db.count(version, &[])?,
    };
    require_known(location, found)?;
    for step in STEPS.iter().skip(found as usize) {
        if !step.sql.is_empty() {
            let words = WORDS.iter();
            let sql = words.fold(step.sql.to_owned(), |sql, (from, to)| sql.replace(from, to));
            db.script(&sql)?;
        }
    }
    let sql = "INSERT INTO meta (name, value) VALUES (?1, ?2) \
               ON CONFLICT (name) DO UPDATE SET value = excluded.value";
    db.run(sql, &[text("schema"), text(&known().to_string())])
}
