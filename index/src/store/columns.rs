//! How rows are written in SQL.
use super::{
    Value,
    value::{Cell, Cells},
};
use crate::{StoreError, fold::EMPTY, table::*};
use concord_canonical::summary::{DECIMALS_COUNT, I256};

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
    feedback_count: "feedback_count", missing: "missing", unexplained: "unexplained"
});
stored!(AllMetadata: MetadataKey { agent: "agent", key: "key" }, Metadata {
    value: "value", updated_at: "updated_at"
});
stored!(Clients: ClientKey { profile: "profile", agent: "agent", client: "client" }, Client {
    ordinal: "ordinal", last_index: "last_index"
});
stored!(Wallets: WalletKey { agent: "agent", place: "place" }, WalletChange { wallet: "wallet" });
stored!(Files: FileKey { id: "id" }, File {
    uri: "uri", state: "state", attempts: "attempts", next_at: "next_at",
    checked_at: "checked_at", host: "host", bytes: "bytes", reason: "reason"
});
stored!(Registrations: AgentKey { agent: "agent" }, Registration {
    file: "file", state: "state", reason: "reason", is_proven: "is_proven", claims: "claims",
    name: "name", description: "description", image: "image", active: "active", x402: "x402",
    mcp: "mcp", a2a: "a2a", web: "web", oasf: "oasf", ens: "ens", did: "did", email: "email",
    json: "json"
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

impl Stored for AllEvidence {
    const KEY: &'static [&'static str] = FEEDBACK_KEY;
    const COLUMNS: &'static [&'static str] = &[
        "file",
        "state",
        "reason",
        "is_proven",
        "dialect",
        "scheme",
        "differences",
        "reviewer",
        "task_ref",
        "signer",
        "holds",
    ];

    fn key_values(key: &FeedbackKey) -> Vec<Value> {
        feedback_key(key)
    }

    fn row_values(row: &Evidence) -> Vec<Value> {
        let proof = row.proof.as_ref();
        vec![
            row.file.to_value(),
            row.state.to_value(),
            row.reason.to_value(),
            row.is_proven.to_value(),
            row.dialect.to_value(),
            row.scheme.to_value(),
            row.differences.to_value(),
            proof.map(|it| it.reviewer.clone()).to_value(),
            proof.map(|it| it.task_ref.clone()).to_value(),
            proof.map(|it| it.signer.clone()).to_value(),
            proof.map(|it| it.holds).to_value(),
        ]
    }

    fn read_key(cells: &mut Cells<'_>) -> Result<FeedbackKey, StoreError> {
        read_feedback_key(cells)
    }

    fn read_row(cells: &mut Cells<'_>) -> Result<Evidence, StoreError> {
        Ok(Evidence {
            file: cells.take("file")?,
            state: cells.take("state")?,
            reason: cells.take("reason")?,
            is_proven: cells.take("is_proven")?,
            dialect: cells.take("dialect")?,
            scheme: cells.take("scheme")?,
            differences: cells.take("differences")?,
            proof: read_proof(cells)?,
        })
    }
}

fn read_proof(cells: &mut Cells<'_>) -> Result<Option<Proof>, StoreError> {
    let reviewer: Option<String> = cells.take("reviewer")?;
    let task_ref: Option<String> = cells.take("task_ref")?;
    let signer: Option<Vec<u8>> = cells.take("signer")?;
    let holds: Option<bool> = cells.take("holds")?;
    Ok(match (reviewer, task_ref, signer, holds) {
        (Some(reviewer), Some(task_ref), Some(signer), Some(holds)) => Some(Proof {
            reviewer,
            task_ref,
            signer,
            holds,
        }),
        _ => None,
    })
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

impl Stored for Validations {
    const KEY: &'static [&'static str] = &["agent", "request", "validator"];
    const COLUMNS: &'static [&'static str] = &[
        "uri",
        "tag",
        "requested_at",
        "place",
        "updated_at",
        "responses",
        "score",
        "answer_uri",
        "answer_hash",
        "answer_tag",
    ];

    fn key_values(key: &ValidationKey) -> Vec<Value> {
        vec![
            key.agent.to_value(),
            key.request.to_value(),
            key.validator.to_value(),
        ]
    }

    fn row_values(row: &Validation) -> Vec<Value> {
        let answer = row.answer.as_ref();
        vec![
            row.uri.to_value(),
            row.tag.to_value(),
            row.requested_at.to_value(),
            row.place.to_value(),
            row.updated_at.to_value(),
            row.responses.to_value(),
            answer.map(|it| it.score).to_value(),
            answer.map(|it| it.uri.clone()).to_value(),
            answer.map(|it| it.hash).to_value(),
            answer.map(|it| it.tag.clone()).to_value(),
        ]
    }

    fn read_key(cells: &mut Cells<'_>) -> Result<ValidationKey, StoreError> {
        Ok(ValidationKey {
            agent: cells.take("agent")?,
            request: cells.take("request")?,
            validator: cells.take("validator")?,
        })
    }

    fn read_row(cells: &mut Cells<'_>) -> Result<Validation, StoreError> {
        Ok(Validation {
            uri: cells.take("uri")?,
            tag: cells.take("tag")?,
            requested_at: cells.take("requested_at")?,
            place: cells.take("place")?,
            updated_at: cells.take("updated_at")?,
            responses: cells.take("responses")?,
            answer: read_answer(cells)?,
        })
    }
}

fn read_answer(cells: &mut Cells<'_>) -> Result<Option<Answer>, StoreError> {
    let score: Option<u8> = cells.take("score")?;
    let uri: Option<String> = cells.take("answer_uri")?;
    let hash: Option<[u8; 32]> = cells.take("answer_hash")?;
    let tag: Option<String> = cells.take("answer_tag")?;
    Ok(match (score, uri, hash, tag) {
        (Some(score), Some(uri), Some(hash), Some(tag)) => Some(Answer {
            score,
            uri,
            hash,
            tag,
        }),
        _ => None,
    })
}

impl Stored for Parts {
    const KEY: &'static [&'static str] = &["profile", "agent", "client", "tag1", "tag2", "is_paid"];
    const COLUMNS: &'static [&'static str] = &["count", "sum", "histogram"];

    fn key_values(key: &PartKey) -> Vec<Value> {
        vec![
            key.profile.to_value(),
            key.agent.to_value(),
            key.client.to_value(),
            key.tag1.to_value(),
            key.tag2.to_value(),
            key.is_paid.to_value(),
        ]
    }

    fn row_values(row: &Part) -> Vec<Value> {
        vec![
            row.count.to_value(),
            row.sum.to_value(),
            Histogram(row.histogram).to_value(),
        ]
    }

    fn read_key(cells: &mut Cells<'_>) -> Result<PartKey, StoreError> {
        Ok(PartKey {
            profile: cells.take("profile")?,
            agent: cells.take("agent")?,
            client: cells.take("client")?,
            tag1: cells.take("tag1")?,
            tag2: cells.take("tag2")?,
            is_paid: cells.take("is_paid")?,
        })
    }

    fn read_row(cells: &mut Cells<'_>) -> Result<Part, StoreError> {
        Ok(Part {
            count: cells.take("count")?,
            sum: cells.take("sum")?,
            histogram: cells.take::<Histogram>("histogram")?.0,
        })
    }
}

impl Stored for Totals {
    const KEY: &'static [&'static str] = &["profile", "agent", "tag1", "tag2"];
    const COLUMNS: &'static [&'static str] = &[
        "count",
        "sum",
        "histogram",
        "average",
        "paid_count",
        "paid_sum",
    ];

    fn key_values(key: &TotalKey) -> Vec<Value> {
        vec![
            key.profile.to_value(),
            key.agent.to_value(),
            key.tag1.to_value(),
            key.tag2.to_value(),
        ]
    }

    fn row_values(row: &Total) -> Vec<Value> {
        vec![
            row.all.count.to_value(),
            row.all.sum.to_value(),
            Histogram(row.all.histogram).to_value(),
            average(&row.all).to_value(),
            row.paid.count.to_value(),
            row.paid.sum.to_value(),
        ]
    }

    fn read_key(cells: &mut Cells<'_>) -> Result<TotalKey, StoreError> {
        Ok(TotalKey {
            profile: cells.take("profile")?,
            agent: cells.take("agent")?,
            tag1: cells.take("tag1")?,
            tag2: cells.take("tag2")?,
        })
    }

    fn read_row(cells: &mut Cells<'_>) -> Result<Total, StoreError> {
        let all = Part {
            count: cells.take("count")?,
            sum: cells.take("sum")?,
            histogram: cells.take::<Histogram>("histogram")?.0,
        };
        cells.take::<f64>("average")?;
        let mut paid = Part {
            count: cells.take("paid_count")?,
            sum: cells.take("paid_sum")?,
            ..EMPTY
        };
        paid.histogram[0] = paid.count;
        Ok(Total { all, paid })
    }
}

/// R47: for ordering only.
pub(crate) fn average(part: &Part) -> f64 {
    const WAD: f64 = 1e18;
    let is_negative = I256::from_be_bytes(&part.sum).is_negative();
    let magnitude = part.sum.iter().fold(0.0, |value, byte| {
        let digit = if is_negative { !byte } else { *byte };
        value * 256.0 + f64::from(digit)
    });
    let sum = if is_negative {
        -magnitude - 1.0
    } else {
        magnitude
    };
    match part.count {
        0 => 0.0,
        count => sum / WAD / count as f64,
    }
}

struct Histogram([u64; DECIMALS_COUNT]);

impl Cell for Histogram {
    fn to_value(&self) -> Value {
        let bytes = self.0.iter().flat_map(|count| count.to_be_bytes());
        Value::Blob(bytes.collect())
    }

    fn from_value(value: &Value) -> Option<Self> {
        let Value::Blob(bytes) = value else {
            return None;
        };
        let (counts, []) = bytes.as_chunks::<8>() else {
            return None;
        };
        let counts: Vec<u64> = counts.iter().map(|it| u64::from_be_bytes(*it)).collect();
        counts.try_into().ok().map(Self)
    }
}
