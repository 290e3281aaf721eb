//! Makes a store what an earlier version wrote.
use concord_index::store::Engine;

/// Takes away what version 12 added.
pub fn make_version_11(database: &mut impl Engine) {
    let added = [
        "DROP TABLE binding",
        "DROP INDEX undecoded_by_kind",
        "ALTER TABLE undecoded DROP COLUMN is_unknown",
        "UPDATE schema_version SET version = 11",
    ];
    for statement in added {
        database.script(statement).unwrap();
    }
}

/// Takes away what version 11 added.
pub fn make_version_10(database: &mut impl Engine) {
    make_version_11(database);
    let added = [
        "DROP INDEX evidence_by_payment",
        "ALTER TABLE evidence DROP COLUMN payment",
        "ALTER TABLE evidence DROP COLUMN place",
        "CREATE INDEX evidence_by_payment ON evidence (deployment, agent, LOWER(task_ref)) \
         WHERE holds = 1",
        "ALTER TABLE file DROP COLUMN fetched_at",
        "UPDATE schema_version SET version = 10",
    ];
    for statement in added {
        database.script(statement).unwrap();
    }
}
