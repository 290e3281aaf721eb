use super::{Cell, Cells, FEEDBACK_KEY, Stored, Value, feedback_key, read_feedback_key};
use crate::{
    Place, StoreError,
    table::{AllEvidence, Evidence, FeedbackKey, Proof},
};

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
        "payment",
        "place",
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
            proof.and_then(|it| it.payment).to_value(),
            proof.map(|it| it.place).to_value(),
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
    let payment = cells.take("payment")?;
    let place: Option<Place> = cells.take("place")?;
    Ok(match (reviewer, task_ref, signer, holds, place) {
        (Some(reviewer), Some(task_ref), Some(signer), Some(holds), Some(place)) => Some(Proof {
            reviewer,
            task_ref,
            signer,
            holds,
            payment,
            place,
        }),
        _ => None,
    })
}
