//! How rows are written in SQL.
mod evidence;
mod sums;
mod validation;

pub(crate) use sums::average;

use super::{Cell, Cells, Value};
use crate::{StoreError, table::*};

/// A table in SQL: the columns of its key after `deployment`, and the others.
pub(crate) trait Stored: Table {
    const KEY: &'static [&'static str];
    const COLUMNS: &'static [&'static str];

    fn key_values(key: &Self::Key) -> Vec<Value>;
    fn row_values(row: &Self::Row) -> Vec<Value>;
    fn read_key(cells: &mut Cells<'_>) -> Result<Self::Key, StoreError>;
    fn read_row(cells: &mut Cells<'_>) -> Result<Self::Row, StoreError>;
}

/// A table whose key and row are structs with a cell for each column.
macro_rules! stored {
    ($table:ident: $key:ident { $($k:ident: $k_column:literal),+ }, $row:ident { $($r:ident: $r_column:literal),+ }) => {
        impl Stored for $table {
            const KEY: &'static [&'static str] = &[$($k_column),+];
            const COLUMNS: &'static [&'static str] = &[$($r_column),+];

            fn key_values(key: &$key) -> Vec<Value> {
                vec![$(key.$k.to_value()),+]
            }

            fn row_values(row: &$row) -> Vec<Value> {
                vec![$(row.$r.to_value()),+]
            }

            fn read_key(cells: &mut Cells<'_>) -> Result<$key, StoreError> {
                Ok($key { $($k: cells.take($k_column)?),+ })
            }

            fn read_row(cells: &mut Cells<'_>) -> Result<$row, StoreError> {
                Ok($row { $($r: cells.take($r_column)?),+ })
            }
        }
    };
}

stored!(Agents: AgentKey { agent: "agent" }, Agent {
    owner: "owner", wallet: "wallet", uri: "uri", approved: "approved",
    feedback_authority: "feedback_authority", auth_schemes: "auth_schemes",
    created_at: "created_at", created: "created", updated_at: "updated_at", updated: "updated",
    authorized_clients: "authorized_clients", open_clients: "open_clients",
    authorized_reviewers: "authorized_reviewers", open_reviewers: "open_reviewers",
    payers: "payers",
    feedback_count: "feedback_count", missing: "missing", unexplained: "unexplained"
});
stored!(AllMetadata: MetadataKey { agent: "agent", id: "id" }, Metadata {
    key: "key", value: "value", updated_at: "updated_at"
});
stored!(Clients: ClientKey { profile: "profile", agent: "agent", client: "client" }, Client {
    ordinal: "ordinal", last_index: "last_index", count: "count", paid: "paid"
});
stored!(Wallets: WalletKey { agent: "agent", place: "place" }, WalletChange { wallet: "wallet" });
stored!(Files: FileKey { id: "id" }, File {
    uri: "uri", state: "state", attempts: "attempts", next_at: "next_at",
    checked_at: "checked_at", fetched_at: "fetched_at", host: "host", bytes: "bytes", reason: "reason"
});
stored!(Registrations: AgentKey { agent: "agent" }, Registration {
    file: "file", state: "state", reason: "reason", is_proven: "is_proven", claims: "claims",
    name: "name", description: "description", image: "image", active: "active", x402: "x402",
    mcp: "mcp", a2a: "a2a", web: "web", oasf: "oasf", ens: "ens", did: "did", email: "email",
    mcp_version: "mcp_version", a2a_version: "a2a_version", oasf_version: "oasf_version",
    agent_wallet: "agent_wallet", supported_trusts: "supported_trusts", mcp_tools: "mcp_tools",
    mcp_prompts: "mcp_prompts", mcp_resources: "mcp_resources", a2a_skills: "a2a_skills",
    oasf_skills: "oasf_skills", oasf_domains: "oasf_domains"
});
stored!(Settings: SettingKey { name: "name", subject: "subject" }, Setting {
    value: "value", updated_at: "updated_at"
});

const FEEDBACK_KEY: &[&str] = &["profile", "agent", "client", "idx"];

fn feedback_key(key: &FeedbackKey) -> Vec<Value> {
    vec![
        key.profile.to_value(),
        key.agent.to_value(),
        key.client.to_value(),
        key.index.to_value(),
    ]
}

fn read_feedback_key(cells: &mut Cells<'_>) -> Result<FeedbackKey, StoreError> {
    Ok(FeedbackKey {
        profile: cells.take("profile")?,
        agent: cells.take("agent")?,
        client: cells.take("client")?,
        index: cells.take("idx")?,
    })
}

impl Stored for Feedbacks {
    const KEY: &'static [&'static str] = FEEDBACK_KEY;
    const COLUMNS: &'static [&'static str] = &[
        "value",
        "decimals",
        "approx",
        "tag1",
        "tag2",
        "endpoint",
        "uri",
        "hash",
        "scheme",
        "signature",
        "at",
        "place",
        "tx",
        "revoked_at",
        "responses",
        "is_paid",
    ];

    fn key_values(key: &FeedbackKey) -> Vec<Value> {
        feedback_key(key)
    }

    fn row_values(row: &Feedback) -> Vec<Value> {
        vec![
            row.value.to_value(),
            row.decimals.to_value(),
            approximately(row.value, row.decimals).to_value(),
            row.tag1.to_value(),
            row.tag2.to_value(),
            row.endpoint.to_value(),
            row.uri.to_value(),
            row.hash.to_value(),
            row.scheme.to_value(),
            row.signature.to_value(),
            row.at.to_value(),
            row.place.to_value(),
            row.transaction.to_value(),
            row.revoked_at.to_value(),
            row.responses.to_value(),
            row.is_paid.to_value(),
        ]
    }

    fn read_key(cells: &mut Cells<'_>) -> Result<FeedbackKey, StoreError> {
        read_feedback_key(cells)
    }

    fn read_row(cells: &mut Cells<'_>) -> Result<Feedback, StoreError> {
        let value = cells.take("value")?;
        let decimals = cells.take("decimals")?;
        cells.take::<f64>("approx")?;
        Ok(Feedback {
            value,
            decimals,
            tag1: cells.take("tag1")?,
            tag2: cells.take("tag2")?,
            endpoint: cells.take("endpoint")?,
            uri: cells.take("uri")?,
            hash: cells.take("hash")?,
            scheme: cells.take("scheme")?,
            signature: cells.take("signature")?,
            at: cells.take("at")?,
            place: cells.take("place")?,
            transaction: cells.take("tx")?,
            revoked_at: cells.take("revoked_at")?,
            responses: cells.take("responses")?,
            is_paid: cells.take("is_paid")?,
        })
    }
}

/// R47: for ordering only.
fn approximately(value: i128, decimals: u8) -> f64 {
    value as f64 / 10f64.powi(decimals.into())
}

impl Stored for Responses {
    const KEY: &'static [&'static str] = &["profile", "agent", "client", "idx", "number"];
    const COLUMNS: &'static [&'static str] = &["responder", "uri", "hash", "at", "place", "tx"];

    fn key_values(key: &ResponseKey) -> Vec<Value> {
        let mut values = feedback_key(&key.feedback);
        values.push(key.number.to_value());
        values
    }

    fn row_values(row: &Response) -> Vec<Value> {
        vec![
            row.responder.to_value(),
            row.uri.to_value(),
            row.hash.to_value(),
            row.at.to_value(),
            row.place.to_value(),
            row.transaction.to_value(),
        ]
    }

    fn read_key(cells: &mut Cells<'_>) -> Result<ResponseKey, StoreError> {
        Ok(ResponseKey {
            feedback: read_feedback_key(cells)?,
            number: cells.take("number")?,
        })
    }

    fn read_row(cells: &mut Cells<'_>) -> Result<Response, StoreError> {
        Ok(Response {
            responder: cells.take("responder")?,
            uri: cells.take("uri")?,
            hash: cells.take("hash")?,
            at: cells.take("at")?,
            place: cells.take("place")?,
            transaction: cells.take("tx")?,
        })
    }
}

impl Stored for Payments {
    const KEY: &'static [&'static str] = FEEDBACK_KEY;
    const COLUMNS: &'static [&'static str] = &[
        "payee",
        "token",
        "amount",
        "task_ref_hash",
        "paid_at",
        "expiry",
        "facilitator",
        "signature",
        "at",
        "place",
    ];

    fn key_values(key: &FeedbackKey) -> Vec<Value> {
        feedback_key(key)
    }

    fn row_values(row: &Payment) -> Vec<Value> {
        vec![
            row.payee.to_value(),
            row.token.to_value(),
            i128::from(row.amount).to_value(),
            row.task_ref_hash.to_value(),
            row.paid_at.to_value(),
            row.expiry.to_value(),
            row.facilitator.to_value(),
            row.signature.to_value(),
            row.at.to_value(),
            row.place.to_value(),
        ]
    }

    fn read_key(cells: &mut Cells<'_>) -> Result<FeedbackKey, StoreError> {
        read_feedback_key(cells)
    }

    fn read_row(cells: &mut Cells<'_>) -> Result<Payment, StoreError> {
        let payee = cells.take("payee")?;
        let token = cells.take("token")?;
        let amount = u64::try_from(cells.take::<i128>("amount")?);
        Ok(Payment {
            payee,
            token,
            amount: amount.map_err(|_| StoreError::Malformed {
                table: Self::NAME,
                column: "amount",
            })?,
            task_ref_hash: cells.take("task_ref_hash")?,
            paid_at: cells.take("paid_at")?,
            expiry: cells.take("expiry")?,
            facilitator: cells.take("facilitator")?,
            signature: cells.take("signature")?,
            at: cells.take("at")?,
            place: cells.take("place")?,
        })
    }
}
