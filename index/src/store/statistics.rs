//! What SQLite's planner takes the tables for. Without statistics it takes ten rows for what a deployment has, and reads
//! all of a table in the order of its key rather than look rows up; measured ones would be those of a store that is still
//! empty. These are of a store with a million feedbacks, rounded, and the same in every store, and so are the plans.
//! Source: <https://www.sqlite.org/optoverview.html#manual_control_of_query_plans_using_sqlite_stat_tables>.

/// Of each index: rows, then how many of them have the same first column, the same first two, and so on. An index with
/// the name of its table is the table's key.
const STATISTICS: &[(&str, &str, &str)] = &[
    ("event", "event", "1000000 500000 1"),
    ("event", "event_by_agent", "1000000 500000 13 1"),
    ("agent", "agent", "100000 50000 1"),
    ("agent", "agent_by_owner", "100000 50000 2"),
    ("agent", "agent_by_wallet", "100000 50000 2"),
    ("agent", "agent_by_creation", "100000 50000 3 1"),
    ("agent", "agent_by_update", "100000 50000 3 1"),
    ("agent", "agent_by_feedback", "100000 50000 100 1"),
    ("agent", "agent_incomplete", "10 10"),
    ("unread", "unread", "1000 1000 10 5 1"),
    ("difference", "difference", "1000 1000 2 1 1"),
    ("difference", "difference_by_block", "1000 1000 2"),
    ("metadata", "metadata", "100000 50000 3 1"),
    ("agent_wallet", "agent_wallet", "100000 50000 2 1"),
    ("file", "sqlite_autoindex_file_1", "1000000 500000 1"),
    ("file", "file_due", "1000000 500000 1000"),
    ("file", "file_behind", "10 10"),
    ("registration", "registration", "100000 50000 1"),
    ("registration", "registration_by_file", "100000 50000 2"),
    ("registration", "registration_waiting", "1000 1000"),
    ("evidence", "evidence", "1000000 500000 250000 10 2 1"),
    ("evidence", "evidence_by_file", "1000000 500000 2"),
    ("evidence", "evidence_by_payment", "1000000 500000 10 2 1"),
    ("client", "client", "1000000 500000 250000 10 1"),
    ("client", "client_most_active", "1000000 500000 250000 10 5"),
    ("feedback", "feedback", "1000000 500000 250000 10 2 1"),
    ("feedback", "feedback_by_place", "1000000 500000 1"),
    ("feedback", "feedback_newest", "1000000 500000 10 1"),
    ("feedback", "feedback_by_client", "1000000 500000 20 1"),
    ("response", "response", "100000 50000 25000 4 2 2 1"),
    ("payment", "payment", "100000 50000 25000 4 2 1"),
    ("validation", "validation", "100000 50000 4 1 1"),
    ("validation", "validation_by_validator", "100000 50000 100"),
    ("part", "part", "1000000 500000 250000 10 2 2 1 1"),
    ("part", "part_by_client", "1000000 500000 250000 20 4 2"),
    ("total", "total", "800000 400000 200000 8 3 1"),
    (
        "total",
        "total_ranked_by_average",
        "800000 400000 200000 40000 10000 20 1 1",
    ),
    (
        "total",
        "total_ranked_by_count",
        "800000 400000 200000 40000 10000 400 1 1",
    ),
];

/// The statements that give them to SQLite.
pub(super) fn script() -> String {
    let rows = STATISTICS.iter();
    let rows: Vec<String> = rows
        .map(|(table, index, numbers)| format!("('{table}', '{index}', '{numbers}')"))
        .collect();
    let rows = rows.join(", ");
    // The first ANALYZE makes the table of statistics, the second one has them read.
    format!(
        "ANALYZE sqlite_schema; DELETE FROM sqlite_stat1; \
         INSERT INTO sqlite_stat1 (tbl, idx, stat) VALUES {rows}; ANALYZE sqlite_schema;"
    )
}
