use concord_files::RegistrationId;

use super::{
    QuoteReads,
    check::{agent, claimed, file},
    refusal::Refusal,
};

/// Checks a registration of an agent beside the one that was verified: it exists (P6), its own file is read (P7), and that
/// file lists it and the verified one (P8). A seller can announce any agent's registration as its own; only the agent's
/// file says that both are the same.
///
/// # Errors
/// The first check that fails.
pub async fn registered_elsewhere(
    other: &RegistrationId,
    verified: &RegistrationId,
    reads: QuoteReads<'_>,
) -> Result<(), Refusal> {
    let record = agent(other, reads).await?;
    let file = file(&record, reads).await?;
    claimed(&file, other)?;
    claimed(&file, verified)
}
