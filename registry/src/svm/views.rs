//! What the program's read instructions return, decoded from a simulation's return data.
use super::Program;
use borsh::BorshDeserialize;
use concord_canonical::summary::{Accumulator, DECIMALS_COUNT, I256};
use solana_address::Address;

/// The summary of open feedback (R16); all zeros if nothing matched.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshDeserialize)]
pub struct OpenSummary {
    /// How many feedbacks entered it.
    pub count: u64,
    /// Their average times `10^decimals`, truncated toward zero.
    pub value: i128,
    /// 0 to 18.
    pub decimals: u8,
}

/// What a summary is computed from (R16). Parts over different clients add up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, BorshDeserialize)]
pub struct OpenSummaryPart {
    /// The sum of the values, each scaled to 18 decimals: an int256, big-endian.
    pub sum: [u8; 32],
    /// How many feedbacks entered it.
    pub count: u64,
    /// How many of them had 0, 1, … 18 decimals.
    pub histogram: [u64; DECIMALS_COUNT],
}

impl OpenSummaryPart {
    /// The canonical crate's form, which merges parts and finishes a summary.
    ///
    /// # Errors
    /// No feedback makes such a part.
    pub fn accumulator(&self) -> Result<Accumulator, concord_canonical::Error> {
        let sum = I256::from_be_bytes(&self.sum);
        Accumulator::from_parts(sum, self.count, self.histogram)
    }
}

/// A type that a read instruction of the program returns.
pub trait View: BorshDeserialize {
    /// Its name in the program's interface description.
    const NAME: &'static str;
}

impl View for OpenSummary {
    const NAME: &'static str = "OpenSummary";
}

impl View for OpenSummaryPart {
    const NAME: &'static str = "OpenSummaryPart";
}

/// Why return data is not the answer that was asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ViewError {
    /// Another program returned it.
    #[error("the return data is from {returned_by}; expected the program {program}")]
    OtherProgram {
        /// Who returned it.
        returned_by: Address,
        /// The program that was asked.
        program: Address,
    },
    /// Its bytes are not the type's, or bytes are left over.
    #[error("{length} bytes of return data are not one {expected}")]
    Malformed {
        /// The type that was asked for.
        expected: &'static str,
        /// Bytes of the return data.
        length: usize,
    },
}

impl Program {
    /// Decodes return data as a `T`; every byte must belong to it.
    ///
    /// # Errors
    /// [`ViewError`].
    pub fn decode_view<T: View>(&self, returned_by: &Address, data: &[u8]) -> Result<T, ViewError> {
        if *returned_by != self.id() {
            return Err(ViewError::OtherProgram {
                returned_by: *returned_by,
                program: self.id(),
            });
        }
        T::try_from_slice(data).map_err(|_| ViewError::Malformed {
            expected: T::NAME,
            length: data.len(),
        })
    }
}
