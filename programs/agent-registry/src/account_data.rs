//! Loading and storing our accounts inside handlers, after the checks of arguments (R25):
//! Anchor's eager `Account<T>` would answer before them, and with its own errors.
use crate::{
    ConcordError,
    error::{refusal, require},
};
use anchor_lang::{Discriminator, prelude::*};

/// The `T` in `account`, or `None` if the account holds no `T` of this program.
pub fn load<T: AccountDeserialize + Discriminator>(account: &AccountInfo) -> Result<Option<T>> {
    if account.owner != &crate::ID {
        return Ok(None);
    }
    let data = account.try_borrow_data()?;
    if !data.starts_with(T::DISCRIMINATOR) {
        return Ok(None);
    }
    T::try_deserialize_unchecked(&mut &data[..]).map(Some)
}

/// Overwrites `account`, which holds a `T` or is newly created for one. R12: what a later layout
/// has behind the `T` stays as it is (SVM-29).
pub fn store<T: AccountSerialize>(account: &AccountInfo, value: &T) -> Result<()> {
    require!(account.is_writable, ConcordError::AccountMismatch);
    let mut data = account.try_borrow_mut_data()?;
    value.try_serialize(&mut &mut data[..])
}

/// [`store`], for a type that becomes shorter: the rest of its `space` becomes zeros, and a later
/// layout begins behind that.
pub fn store_with_zeros<T: AccountSerialize>(
    account: &AccountInfo,
    value: &T,
    space: usize,
) -> Result<()> {
    require!(account.is_writable, ConcordError::AccountMismatch);
    let mut data = account.try_borrow_mut_data()?;
    let mut rest = data
        .get_mut(..space)
        .ok_or_else(|| refusal(ConcordError::AccountMismatch))?;
    value.try_serialize(&mut rest)?;
    rest.fill(0);
    Ok(())
}

/// [`load`], for a type whose layouts only ever add fields at the end: an account shorter than
/// `space` was written by an older one, and reads as if zeros followed. `AccountMismatch` where it is
/// shorter than the `first` layout: nothing wrote such an account.
pub fn load_padded<T: AccountDeserialize + Discriminator>(
    account: &AccountInfo,
    first: usize,
    space: usize,
) -> Result<Option<T>> {
    if account.owner != &crate::ID || account.data_len() >= space {
        return load(account);
    }
    let mut data = account.try_borrow_data()?.to_vec();
    if !data.starts_with(T::DISCRIMINATOR) {
        return Ok(None);
    }
    require!(data.len() >= first, ConcordError::AccountMismatch);
    data.resize(space, 0);
    T::try_deserialize_unchecked(&mut &data[..]).map(Some)
}

/// [`store`], for such a type: what a later layout added to a longer account stays as it is.
/// `AccountMismatch` if a shorter one has no room for a value that is not zero.
pub fn store_trimmed<T: AccountSerialize>(
    account: &AccountInfo,
    value: &T,
    space: usize,
) -> Result<()> {
    require!(account.is_writable, ConcordError::AccountMismatch);
    let mut data = account.try_borrow_mut_data()?;
    if data.len() >= space {
        return value.try_serialize(&mut &mut data[..]);
    }
    let mut bytes = Vec::with_capacity(space);
    value.try_serialize(&mut bytes)?;
    let (kept, rest) = bytes.split_at(data.len());
    require!(
        rest.iter().all(|byte| *byte == 0),
        ConcordError::AccountMismatch
    );
    data.copy_from_slice(kept);
    Ok(())
}

/// R25: an account that is absent is a rule's matter (`missing`) only where its address is the
/// one the arguments derive; any other account there is the client's mistake.
pub fn absent(account: &AccountInfo, derived: Pubkey, missing: ConcordError) -> Error {
    if *account.key == derived {
        refusal(missing)
    } else {
        refusal(ConcordError::AccountMismatch)
    }
}
