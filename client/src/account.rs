use async_trait::async_trait;
use concord_chain::submission::{Landing, SignedTx, TxRecord};
use concord_registry::event::Event;

use crate::{ClientError, Operation, Registries};

/// One account at one deployment of the registries, which signs and pays.
#[async_trait]
pub trait Account: Send + Sync {
    /// The registries.
    fn registries(&self) -> &dyn Registries;

    /// The account, CAIP-10.
    fn account(&self) -> String;

    /// Adds what the caller of an operation need not choose, before it is on record: on Solana, the nonce of a
    /// registration. `earlier` is on record under the same id, and may have been signed.
    fn complete(&self, operation: &mut Operation, earlier: Option<&Operation>);

    /// Lets the chain try the operation without sending it.
    ///
    /// # Errors
    /// [`ClientError::Refused`] with the class of the rule that it breaks (R25).
    async fn try_out(&self, operation: &Operation) -> Result<(), ClientError>;

    /// Brings the operation on chain once, however often this is called with the same record, and waits until it is
    /// final. `id` names it in the record.
    ///
    /// # Errors
    /// [`ClientError`]; the record then has everything that was signed.
    async fn land(
        &mut self,
        id: &str,
        operation: &Operation,
        record: &mut (dyn TxRecord + Sync),
    ) -> Result<(), ClientError>;

    /// The registries' events in a transaction that landed.
    ///
    /// # Errors
    /// [`ClientError`] if the node does not have the transaction.
    async fn events(&self, landing: &Landing, signed: &SignedTx)
    -> Result<Vec<Event>, ClientError>;
}
