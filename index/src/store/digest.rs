use super::{DeploymentId, Engine, Store, columns::Stored};
use crate::{StoreError, table::*};

impl<E: Engine> Store<E> {
    /// R45: returns a digest of every table but the event log. It equals [`Tables::digest`] of the
    /// events folded in memory.
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn digest(&mut self, deployment: DeploymentId) -> Result<[u8; 32], StoreError> {
        let mut digest = Digest::default();
        self.take_in::<Agents>(deployment, &mut digest)?;
        self.take_in::<AllMetadata>(deployment, &mut digest)?;
        self.take_in::<Wallets>(deployment, &mut digest)?;
        self.take_in::<Clients>(deployment, &mut digest)?;
        self.take_in::<Feedbacks>(deployment, &mut digest)?;
        self.take_in::<Responses>(deployment, &mut digest)?;
        self.take_in::<Payments>(deployment, &mut digest)?;
        self.take_in::<Validations>(deployment, &mut digest)?;
        self.take_in::<Parts>(deployment, &mut digest)?;
        self.take_in::<Totals>(deployment, &mut digest)?;
        self.take_in::<Settings>(deployment, &mut digest)?;
        Ok(digest.finish())
    }

    /// R45: returns a digest of what is derived from files. It equals [`Self::derived_digest`].
    ///
    /// # Errors
    /// The store cannot be read.
    pub fn file_digest(&mut self, deployment: DeploymentId) -> Result<[u8; 32], StoreError> {
        let mut digest = Digest::default();
        self.take_in::<Registrations>(deployment, &mut digest)?;
        self.take_in::<AllEvidence>(deployment, &mut digest)?;
        Ok(digest.finish())
    }

    fn take_in<T: Stored>(
        &mut self,
        deployment: DeploymentId,
        digest: &mut Digest,
    ) -> Result<(), StoreError> {
        let order = T::KEY.join(", ");
        self.rows::<T>(deployment, "", &[], &order, &mut |key, row| {
            digest.row::<T>(&key, &row);
            Ok(())
        })
    }
}
