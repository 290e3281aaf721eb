use super::{Dialect, statistics};

/// The schema that this version writes. A store of another one is not touched.
pub(super) const VERSION: i64 = 12;

/// Creates what is missing. Types are those of [`Dialect`]: `INT`, `REAL`, `TXT` and `BYTES`, and
/// `CLUSTERED` after a table.
const TABLES: &str = "
CREATE TABLE IF NOT EXISTS schema_version (version INT NOT NULL);
CREATE TABLE IF NOT EXISTS deployment (
    id INT PRIMARY KEY,
    chain TXT NOT NULL, registry TXT NOT NULL, digest BYTES NOT NULL,
    head_number INT, head_hash BYTES, head_parent BYTES, head_time INT, final_number INT,
    UNIQUE (chain, registry));
CREATE TABLE IF NOT EXISTS block (
    deployment INT NOT NULL, number INT NOT NULL, hash BYTES NOT NULL, parent BYTES NOT NULL,
    time INT NOT NULL,
    PRIMARY KEY (deployment, number)) CLUSTERED;
CREATE TABLE IF NOT EXISTS reorganization (
    deployment INT NOT NULL, number INT NOT NULL, at INT NOT NULL, from_block INT NOT NULL,
    to_block INT NOT NULL, fork_hash BYTES NOT NULL, replaced_hash BYTES NOT NULL,
    events INT NOT NULL,
    PRIMARY KEY (deployment, number)) CLUSTERED;
CREATE TABLE IF NOT EXISTS event (
    deployment INT NOT NULL, place BYTES NOT NULL, registry BYTES NOT NULL, tx BYTES NOT NULL,
    time INT NOT NULL, agent BYTES, body BYTES NOT NULL,
    PRIMARY KEY (deployment, place)) CLUSTERED;
CREATE INDEX IF NOT EXISTS event_by_agent ON event (deployment, agent, place);
CREATE TABLE IF NOT EXISTS undecoded (
    deployment INT NOT NULL, place BYTES NOT NULL, tx BYTES NOT NULL, raw BYTES NOT NULL,
    reason TXT NOT NULL, is_unknown INT NOT NULL DEFAULT 0,
    PRIMARY KEY (deployment, place)) CLUSTERED;
CREATE INDEX IF NOT EXISTS undecoded_by_kind ON undecoded (deployment, is_unknown);
CREATE TABLE IF NOT EXISTS agent (
    deployment INT NOT NULL, agent BYTES NOT NULL,
    owner BYTES, wallet BYTES, uri TXT NOT NULL, approved BYTES, feedback_authority BYTES,
    auth_schemes INT, created_at INT NOT NULL, created BYTES NOT NULL, updated_at INT NOT NULL,
    updated BYTES NOT NULL, authorized_clients INT NOT NULL, open_clients INT NOT NULL,
    authorized_reviewers INT NOT NULL DEFAULT 0, open_reviewers INT NOT NULL DEFAULT 0,
    payers INT NOT NULL DEFAULT 0, feedback_count INT NOT NULL, missing INT NOT NULL, unexplained INT NOT NULL,
    PRIMARY KEY (deployment, agent)) CLUSTERED;
CREATE INDEX IF NOT EXISTS agent_by_owner ON agent (deployment, owner);
CREATE INDEX IF NOT EXISTS agent_by_wallet ON agent (deployment, wallet);
CREATE INDEX IF NOT EXISTS agent_by_creation ON agent (deployment, created_at, agent);
CREATE INDEX IF NOT EXISTS agent_by_update ON agent (deployment, updated_at, agent);
CREATE INDEX IF NOT EXISTS agent_incomplete ON agent (deployment)
    WHERE owner IS NULL OR missing > 0 OR unexplained > 0;
CREATE INDEX IF NOT EXISTS agent_by_feedback ON agent (deployment, feedback_count, agent);
CREATE TABLE IF NOT EXISTS unread (
    deployment INT NOT NULL, agent BYTES NOT NULL, profile INT NOT NULL, client BYTES NOT NULL,
    PRIMARY KEY (deployment, agent, profile, client)) CLUSTERED;
CREATE TABLE IF NOT EXISTS difference (
    deployment INT NOT NULL, agent BYTES NOT NULL, field TXT NOT NULL, client BYTES NOT NULL,
    events TXT NOT NULL, state TXT NOT NULL, block INT NOT NULL,
    PRIMARY KEY (deployment, agent, field, client)) CLUSTERED;
CREATE INDEX IF NOT EXISTS difference_by_block ON difference (deployment, block);
CREATE TABLE IF NOT EXISTS binding (
    deployment INT NOT NULL, agent BYTES NOT NULL, contract BYTES NOT NULL,
    standard INT, token_contract BYTES, token BYTES, block INT NOT NULL,
    PRIMARY KEY (deployment, agent)) CLUSTERED;
CREATE INDEX IF NOT EXISTS binding_by_block ON binding (deployment, block);
CREATE TABLE IF NOT EXISTS metadata (
    deployment INT NOT NULL, agent BYTES NOT NULL, id BYTES NOT NULL,
    key TXT NOT NULL, value BYTES NOT NULL, updated_at INT NOT NULL,
    PRIMARY KEY (deployment, agent, id)) CLUSTERED;
CREATE TABLE IF NOT EXISTS agent_wallet (
    deployment INT NOT NULL, agent BYTES NOT NULL, place BYTES NOT NULL, wallet BYTES,
    PRIMARY KEY (deployment, agent, place)) CLUSTERED;
CREATE TABLE IF NOT EXISTS file (
    deployment INT NOT NULL, id BYTES NOT NULL,
    uri TXT NOT NULL, state INT NOT NULL, attempts INT NOT NULL, next_at INT NOT NULL,
    checked_at INT, fetched_at INT, host TXT, bytes BYTES, reason TXT,
    behind INT NOT NULL DEFAULT 0, parked INT NOT NULL DEFAULT 0,
    PRIMARY KEY (deployment, id));
CREATE INDEX IF NOT EXISTS file_due ON file (deployment, next_at)
    WHERE state <> 2 AND parked = 0;
CREATE INDEX IF NOT EXISTS file_behind ON file (deployment) WHERE behind = 1;
CREATE TABLE IF NOT EXISTS registration (
    deployment INT NOT NULL, agent BYTES NOT NULL,
    file BYTES NOT NULL, state INT NOT NULL, reason TXT, is_proven INT NOT NULL,
    claims INT NOT NULL, name TXT, description TXT, image TXT, active INT, x402 INT,
    mcp TXT, a2a TXT, web TXT, oasf TXT, ens TXT, did TXT, email TXT,
    mcp_version TXT, a2a_version TXT, oasf_version TXT, agent_wallet TXT,
    supported_trusts TXT NOT NULL DEFAULT '', mcp_tools TXT NOT NULL DEFAULT '',
    mcp_prompts TXT NOT NULL DEFAULT '', mcp_resources TXT NOT NULL DEFAULT '',
    a2a_skills TXT NOT NULL DEFAULT '', oasf_skills TXT NOT NULL DEFAULT '',
    oasf_domains TXT NOT NULL DEFAULT '',
    PRIMARY KEY (deployment, agent)) CLUSTERED;
CREATE INDEX IF NOT EXISTS registration_waiting ON registration (deployment) WHERE state = 0;
CREATE INDEX IF NOT EXISTS registration_by_file ON registration (deployment, file);
CREATE TABLE IF NOT EXISTS evidence (
    deployment INT NOT NULL, profile INT NOT NULL, agent BYTES NOT NULL, client BYTES NOT NULL,
    idx INT NOT NULL,
    file BYTES NOT NULL, state INT NOT NULL, reason TXT, is_proven INT NOT NULL, dialect TXT,
    scheme TXT, differences TXT, reviewer TXT, task_ref TXT, signer BYTES, holds INT,
    payment BYTES, place BYTES,
    PRIMARY KEY (deployment, profile, agent, client, idx)) CLUSTERED;
CREATE INDEX IF NOT EXISTS evidence_by_file ON evidence (deployment, file);
CREATE INDEX IF NOT EXISTS evidence_by_payment ON evidence (deployment, agent, payment, place)
    WHERE holds = 1;
CREATE TABLE IF NOT EXISTS client (
    deployment INT NOT NULL, profile INT NOT NULL, agent BYTES NOT NULL, client BYTES NOT NULL,
    ordinal INT NOT NULL, last_index INT NOT NULL, count INT NOT NULL DEFAULT 0,
    paid INT NOT NULL DEFAULT 0,
    PRIMARY KEY (deployment, profile, agent, client)) CLUSTERED;
CREATE INDEX IF NOT EXISTS client_most_active ON client (deployment, profile, agent, count);
CREATE TABLE IF NOT EXISTS feedback (
    deployment INT NOT NULL, profile INT NOT NULL, agent BYTES NOT NULL, client BYTES NOT NULL,
    idx INT NOT NULL,
    value TXT NOT NULL, decimals INT NOT NULL, approx REAL NOT NULL, tag1 TXT NOT NULL,
    tag2 TXT NOT NULL, endpoint TXT NOT NULL, uri TXT NOT NULL, hash BYTES NOT NULL, scheme INT,
    signature BYTES, at INT NOT NULL, place BYTES NOT NULL, tx BYTES NOT NULL, revoked_at INT,
    responses INT NOT NULL, is_paid INT NOT NULL,
    PRIMARY KEY (deployment, profile, agent, client, idx)) CLUSTERED;
CREATE INDEX IF NOT EXISTS feedback_by_place ON feedback (deployment, place);
CREATE INDEX IF NOT EXISTS feedback_newest ON feedback (deployment, agent, place);
CREATE INDEX IF NOT EXISTS feedback_by_client ON feedback (deployment, client, place);
CREATE TABLE IF NOT EXISTS response (
    deployment INT NOT NULL, profile INT NOT NULL, agent BYTES NOT NULL, client BYTES NOT NULL,
    idx INT NOT NULL, number INT NOT NULL,
    responder BYTES NOT NULL, uri TXT NOT NULL, hash BYTES NOT NULL, at INT NOT NULL,
    place BYTES NOT NULL, tx BYTES NOT NULL,
    PRIMARY KEY (deployment, profile, agent, client, idx, number)) CLUSTERED;
CREATE TABLE IF NOT EXISTS payment (
    deployment INT NOT NULL, profile INT NOT NULL, agent BYTES NOT NULL, client BYTES NOT NULL,
    idx INT NOT NULL,
    payee BYTES NOT NULL, token BYTES NOT NULL, amount TXT NOT NULL, task_ref_hash BYTES NOT NULL,
    paid_at INT NOT NULL, expiry INT NOT NULL, facilitator BYTES NOT NULL,
    signature BYTES NOT NULL, at INT NOT NULL, place BYTES NOT NULL,
    PRIMARY KEY (deployment, profile, agent, client, idx)) CLUSTERED;
CREATE TABLE IF NOT EXISTS validation (
    deployment INT NOT NULL, agent BYTES NOT NULL, request BYTES NOT NULL,
    validator BYTES NOT NULL,
    uri TXT NOT NULL, tag BYTES, requested_at INT NOT NULL, place BYTES NOT NULL,
    updated_at INT NOT NULL, responses INT NOT NULL, score INT, answer_uri TXT, answer_hash BYTES,
    answer_tag TXT,
    PRIMARY KEY (deployment, agent, request, validator)) CLUSTERED;
CREATE INDEX IF NOT EXISTS validation_by_validator ON validation (deployment, validator);
CREATE TABLE IF NOT EXISTS part (
    deployment INT NOT NULL, profile INT NOT NULL, agent BYTES NOT NULL, client BYTES NOT NULL,
    tag1 TXT NOT NULL, tag2 TXT NOT NULL, is_paid INT NOT NULL,
    count INT NOT NULL, sum BYTES NOT NULL, histogram BYTES NOT NULL,
    PRIMARY KEY (deployment, profile, agent, client, tag1, tag2, is_paid)) CLUSTERED;
CREATE INDEX IF NOT EXISTS part_by_client ON part (deployment, profile, client, tag1, tag2);
CREATE TABLE IF NOT EXISTS total (
    deployment INT NOT NULL, profile INT NOT NULL, agent BYTES NOT NULL,
    tag1 TXT NOT NULL, tag2 TXT NOT NULL,
    count INT NOT NULL, sum BYTES NOT NULL, histogram BYTES NOT NULL, average REAL NOT NULL,
    paid_count INT NOT NULL, paid_sum BYTES NOT NULL,
    PRIMARY KEY (deployment, profile, agent, tag1, tag2)) CLUSTERED;
CREATE INDEX IF NOT EXISTS total_ranked_by_average
    ON total (deployment, profile, tag1, tag2, average, agent, count);
CREATE INDEX IF NOT EXISTS total_ranked_by_count
    ON total (deployment, profile, tag1, tag2, count, agent, average);
CREATE TABLE IF NOT EXISTS setting (
    deployment INT NOT NULL, name TXT NOT NULL, subject BYTES NOT NULL,
    value TXT NOT NULL, updated_at INT NOT NULL,
    PRIMARY KEY (deployment, name, subject)) CLUSTERED;
";

/// The columns that version 6 added, each with its type.
const ADDED_IN_6: [&str; 11] = [
    "mcp_version TXT",
    "a2a_version TXT",
    "oasf_version TXT",
    "agent_wallet TXT",
    "supported_trusts TXT NOT NULL DEFAULT ''",
    "mcp_tools TXT NOT NULL DEFAULT ''",
    "mcp_prompts TXT NOT NULL DEFAULT ''",
    "mcp_resources TXT NOT NULL DEFAULT ''",
    "a2a_skills TXT NOT NULL DEFAULT ''",
    "oasf_skills TXT NOT NULL DEFAULT ''",
    "oasf_domains TXT NOT NULL DEFAULT ''",
];

/// The statements that make tables of version 5 those of version 6.
pub(super) fn steps_from_5(dialect: &Dialect) -> Vec<String> {
    let added = ADDED_IN_6.iter();
    let added = added.map(|column| format!("ALTER TABLE registration ADD COLUMN {column}"));
    added.map(|statement| spoken(&statement, dialect)).collect()
}

/// The statements that make tables of version 6 those of version 7, less the tables that it added.
const STEPS_FROM_6: [&str; 9] = [
    "ALTER TABLE client ADD COLUMN count INT NOT NULL DEFAULT 0",
    "ALTER TABLE client ADD COLUMN paid INT NOT NULL DEFAULT 0",
    "ALTER TABLE agent ADD COLUMN authorized_reviewers INT NOT NULL DEFAULT 0",
    "ALTER TABLE agent ADD COLUMN open_reviewers INT NOT NULL DEFAULT 0",
    "ALTER TABLE agent ADD COLUMN payers INT NOT NULL DEFAULT 0",
    "DROP INDEX total_by_average",
    "DROP INDEX total_by_count",
    "UPDATE client SET
        count = (SELECT COUNT(*) FROM feedback f WHERE f.deployment = client.deployment
            AND f.profile = client.profile AND f.agent = client.agent
            AND f.client = client.client AND f.revoked_at IS NULL),
        paid = (SELECT COUNT(*) FROM feedback f WHERE f.deployment = client.deployment
            AND f.profile = client.profile AND f.agent = client.agent
            AND f.client = client.client AND f.revoked_at IS NULL AND f.is_paid = 1)",
    "UPDATE agent SET
        authorized_reviewers = (SELECT COUNT(*) FROM client c
            WHERE c.deployment = agent.deployment AND c.agent = agent.agent
            AND c.profile = 0 AND c.count > 0),
        open_reviewers = (SELECT COUNT(*) FROM client c
            WHERE c.deployment = agent.deployment AND c.agent = agent.agent
            AND c.profile = 1 AND c.count > 0),
        payers = (SELECT COUNT(*) FROM client c
            WHERE c.deployment = agent.deployment AND c.agent = agent.agent
            AND c.profile IN (0, 1) AND c.paid > 0)",
];

/// Those statements in an engine's dialect.
pub(super) fn steps_from_6(dialect: &Dialect) -> Vec<String> {
    STEPS_FROM_6.map(|it| spoken(it, dialect)).to_vec()
}

/// The statements that make tables of version 10 those of version 11, less the index that they drop. When a file was fetched
/// whose host has failed since, the version before did not note.
const STEPS_FROM_10: [&str; 6] = [
    "ALTER TABLE file ADD COLUMN fetched_at INT",
    "UPDATE file SET fetched_at = checked_at WHERE state = 1 AND reason IS NULL",
    "DROP INDEX evidence_by_payment",
    "ALTER TABLE evidence ADD COLUMN payment BYTES",
    "ALTER TABLE evidence ADD COLUMN place BYTES",
    "UPDATE evidence SET
        place = (SELECT f.place FROM feedback f WHERE f.deployment = evidence.deployment
            AND f.profile = evidence.profile AND f.agent = evidence.agent
            AND f.client = evidence.client AND f.idx = evidence.idx)
        WHERE task_ref IS NOT NULL",
];

/// Those statements in an engine's dialect.
pub(super) fn steps_from_10(dialect: &Dialect) -> Vec<String> {
    STEPS_FROM_10.map(|it| spoken(it, dialect)).to_vec()
}

/// The statements that make tables of version 11 those of version 12, less the table that it added. The reason is the text of
/// `EventError::Unknown`.
const STEPS_FROM_11: [&str; 2] = [
    "ALTER TABLE undecoded ADD COLUMN is_unknown INT NOT NULL DEFAULT 0",
    "UPDATE undecoded SET is_unknown = 1
        WHERE reason = 'no event of this registry has this topic or discriminator'",
];

/// Those statements in an engine's dialect.
pub(super) fn steps_from_11(dialect: &Dialect) -> Vec<String> {
    STEPS_FROM_11.map(|it| spoken(it, dialect)).to_vec()
}

/// The statements that create the tables in an engine's dialect.
pub(super) fn tables(dialect: &Dialect) -> String {
    let statistics = if dialect.is_told_statistics {
        statistics::script()
    } else {
        String::new()
    };
    spoken(TABLES, dialect) + &statistics
}

fn spoken(statements: &str, dialect: &Dialect) -> String {
    statements
        .replace(" INT", &format!(" {}", dialect.integer))
        .replace(" REAL", &format!(" {}", dialect.real))
        .replace(" TXT", &format!(" {}", dialect.text))
        .replace(" BYTES", &format!(" {}", dialect.blob))
        .replace(" CLUSTERED", dialect.clustered)
}
