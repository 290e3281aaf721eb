//! The chain of the feedback's registry: what each kind of chain answers in its own way.
use super::{
    given::{Given, Insiders},
    verdict::Checked,
};
use crate::evidence::Gap;

pub(super) trait Home {
    /// [`crate::Step::Inclusion`].
    fn inclusion(&self) -> Checked;

    /// The event, from a transaction that succeeded.
    fn given(&self) -> Result<Given, Gap>;

    /// [`crate::Step::Registry`].
    fn registry(&self) -> Checked;

    /// [`crate::Step::NotRevoked`].
    fn not_revoked(&self, given: &Given) -> Checked;

    /// Owner, and who else counts as the agent itself.
    fn insiders(&self, given: &Given) -> Result<Insiders, Gap>;

    /// [`crate::Step::Authorization`] of authorized feedback.
    fn authorization(&self, given: &Given) -> Checked;

    /// The agent's URI; empty if it has none.
    fn agent_uri(&self) -> Result<String, Gap>;
}
