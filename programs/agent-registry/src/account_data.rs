//! The one loader of our accounts, and what creates and overwrites them.
//!
//! Instructions take our accounts unchecked. Anchor's `Account<T>` would load them before the handler runs, and so answer
//! before the checks of arguments (SPEC 3a), with an `AccountNotInitialized` that says for neither the agent nor the entry
//! which of them is missing (R25).
use crate::{
    ConcordError, account_creation,
    error::{refusal, require},
};
use anchor_lang::{Discriminator, Space, prelude::*};
use concord_canonical::pda::{Account as Place, Seeds};

/// A type of account that this program owns.
pub trait Record: AccountSerialize + AccountDeserialize + Discriminator + Space {
    /// Bytes of its longest account.
    const SPACE: usize = Self::DISCRIMINATOR.len() + Self::INIT_SPACE;

    /// Bytes of this one's account.
    fn space(&self) -> usize {
        Self::SPACE
    }
}

/// A record whose fields say where it lies.
pub trait Placed: Record {
    /// What its address is derived from (§3b).
    fn place(&self) -> Place<'_>;
}

/// The `T` in `account`, or `None` if the account holds no `T` of this program.
pub fn load<T: Record>(account: &AccountInfo) -> Result<Option<T>> {
    if account.owner != &crate::ID {
        return Ok(None);
    }
    let data = account.try_borrow_data()?;
    if !data.starts_with(T::DISCRIMINATOR) {
        return Ok(None);
    }
    match T::try_deserialize_unchecked(&mut &data[..]) {
        Ok(record) => Ok(Some(record)),
        Err(_) => Err(refusal(ConcordError::AccountMismatch)), // too short
    }
}

/// What [`find`] finds.
pub enum Slot<T> {
    Held(T),
    Vacant(Derived),
}

/// The `T` of `place`, or that its address is vacant. R25: `AccountMismatch` if `account` is at another address.
pub fn find<T: Placed>(account: &AccountInfo, place: &Place) -> Result<Slot<T>> {
    match load::<T>(account)? {
        Some(record) if record.place() == *place => Ok(Slot::Held(record)),
        Some(_) => Err(refusal(ConcordError::AccountMismatch)),
        None => Derived::at(account, place).map(Slot::Vacant),
    }
}

/// The `T` of `place`, or the error `missing`.
pub fn require_held<T: Placed>(
    account: &AccountInfo,
    place: &Place,
    missing: ConcordError,
) -> Result<T> {
    match find(account, place)? {
        Slot::Held(record) => Ok(record),
        Slot::Vacant(_) => Err(refusal(missing)),
    }
}

/// Overwrites `account`, which holds a `T` or is newly created for one. What it has beyond this one's text or lists becomes
/// zeros. R12: what a later layout has behind its space stays as it is (SVM-29).
pub fn store<T: Record>(account: &AccountInfo, record: &T) -> Result<()> {
    require!(account.is_writable, AccountMismatch);
    let mut data = account.try_borrow_mut_data()?;
    let Some(mut rest) = data.get_mut(..record.space()) else {
        return Err(refusal(ConcordError::AccountMismatch));
    };
    record.try_serialize(&mut rest)?;
    rest.fill(0);
    Ok(())
}

/// The address of `place` and its bump.
pub fn derive(place: &Place) -> (Pubkey, u8) {
    Pubkey::find_program_address(&place.seeds().parts(), &crate::ID)
}

/// What signs for an address of this program: its seeds and its bump.
pub struct Derived {
    seeds: Seeds,
    bump: [u8; 1],
}

impl Derived {
    /// Searches the bump. `AccountMismatch` unless `account` has the address of `place`.
    pub fn at(account: &AccountInfo, place: &Place) -> Result<Self> {
        let (address, bump) = derive(place);
        require!(*account.key == address, AccountMismatch);
        Ok(Self::known(place, bump))
    }

    /// Of a `bump` found before.
    pub fn known(place: &Place, bump: u8) -> Self {
        Self {
            seeds: place.seeds(),
            bump: [bump],
        }
    }

    pub fn bump(&self) -> u8 {
        self.bump[0]
    }

    /// The seeds and the bump, as a call takes them.
    pub fn signer(&self) -> [&[u8]; 5] {
        let [name, first, second, third] = self.seeds.parts();
        [name, first, second, third, &self.bump]
    }

    /// Creates `account` for `record`, rent-exempt.
    pub fn create<'info, T: Record>(
        &self,
        payer: &AccountInfo<'info>,
        account: &AccountInfo<'info>,
        record: &T,
    ) -> Result<()> {
        account_creation::create_pda(payer, account, record.space(), &self.signer())?;
        store(account, record)
    }
}
