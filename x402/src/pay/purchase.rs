use super::{Money, PayFault, Response};
use crate::verify::Report;

/// A purchase that was answered.
#[derive(Debug)]
pub struct Purchase {
    /// Its id.
    pub id: String,
    /// The answer, whatever was found about it.
    pub response: Response,
    /// Steps S1 to S11.
    pub report: Report,
    /// Whether money moved, as the chain says.
    pub money: Money,
    /// Why the answer is not in the evidence; `None` if it is.
    pub unrecorded: Option<PayFault>,
}
