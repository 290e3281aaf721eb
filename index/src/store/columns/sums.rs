use super::{Cell, Cells, Stored, Value};
use crate::{
    StoreError,
    fold::EMPTY,
    table::{Part, PartKey, Parts, Total, TotalKey, Totals},
};
use concord_canonical::summary::{DECIMALS_COUNT, I256};

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
