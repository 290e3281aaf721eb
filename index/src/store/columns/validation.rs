use super::{Cell, Cells, Stored, Value};
use crate::{
    StoreError,
    table::{Answer, Validation, ValidationKey, Validations},
};

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
