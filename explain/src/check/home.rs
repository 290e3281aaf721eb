//! The chain of the feedback's registry: what each kind of chain answers in its own way.
use super::{
    given::{Given, Insiders},
    verdict::Checked,
};
use crate::evidence::Gap;
use concord_canonical::Word;
use concord_registry::event::AccountId;
use concord_x402::verify::AgentRecord;

pub(super) trait Home: Send + Sync {
    /// [`crate::Step::Inclusion`].
    fn inclusion(&self) -> Checked;

    /// The event, from a transaction that succeeded.
    fn given(&self) -> Result<Given, Gap>;

    /// [`crate::Step::Registry`].
    fn registry(&self) -> Checked;

    /// [`crate::Step::NotRevoked`].
    fn not_revoked(&self, given: &Given) -> Checked;

    /// Whether the stored feedback is revoked.
    fn is_revoked(&self, given: &Given) -> Result<bool, Gap>;

    /// The index of the client's newest feedback; 0 if there is none.
    fn last_index(&self) -> Result<u64, Gap>;

    /// Everyone who ever gave feedback to the agent.
    fn clients(&self) -> Result<Vec<AccountId>, Gap>;

    /// Owner, and who else counts as the agent itself.
    fn insiders(&self, given: &Given) -> Result<Insiders, Gap>;

    /// [`crate::Step::Authorization`] of authorized feedback.
    fn authorization(&self, given: &Given) -> Checked;

    /// The agent's URI; empty if it has none.
    fn agent_uri(&self) -> Result<String, Gap>;

    /// The agent after a block, or at the bundle's; on Solana as it is now. `None` if there is none.
    fn agent(&self, block: Option<u64>) -> Result<Option<AgentRecord>, Gap>;

    /// The agent's wallet after a block, or at the bundle's, for [`crate::Step::PaymentProof`]; on Solana as it is now.
    fn wallet(&self, block: Option<u64>) -> Result<Option<String>, Gap>;

    /// R36: requires that more than the bundle's text says which wallet is the agent's.
    fn require_known_wallet(&self) -> Result<(), Gap>;

    /// Whether a wallet that is a contract accepts a signature (ERC-1271), after a block.
    fn accepts(&self, block: u64, wallet: &str, hash: &Word, signature: &[u8])
    -> Result<bool, Gap>;
}
