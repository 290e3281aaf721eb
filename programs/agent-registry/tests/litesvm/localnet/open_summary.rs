//! What the open summaries return, and the arithmetic to expect it with.

use super::{accounts::Fields, program_id};
use litesvm::types::TransactionMetadata;

/// An int256, two's complement, big-endian; arithmetic wraps.
pub type Int256 = [u8; 32];

fn int256(value: i128) -> Int256 {
    let mut word = if value < 0 { [0xFF; 32] } else { [0; 32] };
    word[16..].copy_from_slice(&value.to_be_bytes());
    word
}

fn plus(a: Int256, b: Int256) -> Int256 {
    let mut sum = [0; 32];
    let mut carry = 0;
    for place in (0..32).rev() {
        let digit = u16::from(a[place]) + u16::from(b[place]) + carry;
        sum[place] = digit as u8;
        carry = digit >> 8;
    }
    sum
}

/// `value` at 18 decimals.
pub fn scaled(value: i128, decimals: u8) -> Int256 {
    (decimals..18).fold(int256(value), |word, _| {
        (0..9).fold(word, |tenfold, _| plus(tenfold, word))
    })
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Part {
    pub sum: Int256,
    pub count: u64,
    pub histogram: [u64; 19],
}

impl Part {
    pub const NONE: Self = Self {
        sum: [0; 32],
        count: 0,
        histogram: [0; 19],
    };

    pub fn merged(&self, other: &Self) -> Self {
        Self {
            sum: plus(self.sum, other.sum),
            count: self.count + other.count,
            histogram: std::array::from_fn(|i| self.histogram[i] + other.histogram[i]),
        }
    }

    pub fn of(sent: &TransactionMetadata) -> Self {
        let mut fields = returned(sent);
        let part = Self {
            sum: fields.bytes32(),
            count: fields.u64(),
            histogram: std::array::from_fn(|_| fields.u64()),
        };
        fields.end();
        part
    }
}

/// The program's return data.
fn returned(sent: &TransactionMetadata) -> Fields {
    assert_eq!(sent.return_data.program_id, program_id());
    Fields::of(&[&[0; 8], &sent.return_data.data[..]].concat(), [0; 8])
}

/// (count, value, decimals)
pub fn summary(sent: &TransactionMetadata) -> (u64, i128, u8) {
    let mut fields = returned(sent);
    let summary = (fields.u64(), fields.i128(), fields.u8());
    fields.end();
    summary
}
