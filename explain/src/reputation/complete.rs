use super::{ExplainedReputation, ReputationBundle, explain_reputation};
use crate::{Source, SubjectError, Trust};

/// As for one feedback; a client's last index comes after the list of clients.
const ROUNDS_MAX: usize = 20;

/// Explains, fetches what is missing, and explains again until nothing is. As in [`crate::complete`], a cluster's word is read again (R36).
///
/// # Errors
/// The bundle names no agent, or a feedback of another one.
pub async fn complete_reputation(
    bundle: &mut ReputationBundle,
    trust: &Trust,
    source: &mut impl Source,
) -> Result<ExplainedReputation, SubjectError> {
    bundle.read.forget_what_was_not_read_here();
    for _ in 0..ROUNDS_MAX {
        let explained = explain_reputation(bundle, trust)?;
        if explained.needs.is_empty() {
            return Ok(explained);
        }
        for need in explained.needs {
            match source.fetch(&need).await {
                Ok(pieces) => pieces.into_iter().for_each(|piece| bundle.add(piece)),
                Err(reason) => bundle.read.add_unavailable(need, reason),
            }
        }
    }
    explain_reputation(bundle, trust)
}
