use super::trie::{ProofBroken, require};
use crate::bundle::{EvmAccount, EvmSlot, HexHash};
use alloy_primitives::{B256, U256, keccak256};
use alloy_trie::{EMPTY_ROOT_HASH, KECCAK_EMPTY, TrieAccount};

/// Why an account's evidence proves nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum AccountFault {
    #[error(transparent)]
    Proof(#[from] ProofBroken),
    #[error("the balance has {0} bytes; the limit is 32")]
    Balance(usize),
}

/// Requires that the account is under the state root, or that there is none if it is empty (EIP-1186).
pub(crate) fn require_account(state_root: B256, account: &EvmAccount) -> Result<(), AccountFault> {
    let balance = U256::try_from_be_slice(&account.balance.0);
    let balance = balance.ok_or(AccountFault::Balance(account.balance.0.len()))?;
    let stated = TrieAccount {
        nonce: account.nonce,
        balance,
        storage_root: account.storage_hash.b256(),
        code_hash: account.code_hash.b256(),
    };
    let value = (!is_absent(&stated)).then(|| alloy_rlp::encode(stated));
    let key = keccak256(&account.address.0);
    require(
        "the account",
        state_root,
        key.as_slice(),
        value,
        &account.proof,
    )?;
    Ok(())
}

/// Nodes write an account that is not there with zeros, or with the hashes of nothing.
fn is_absent(account: &TrieAccount) -> bool {
    account.nonce == 0
        && account.balance.is_zero()
        && [EMPTY_ROOT_HASH, B256::ZERO].contains(&account.storage_root)
        && [KECCAK_EMPTY, B256::ZERO].contains(&account.code_hash)
}

/// Requires that the slot is under the account's storage root. The account must be proven itself.
pub(crate) fn require_slot(
    storage_root: B256,
    slot: HexHash,
    stated: &EvmSlot,
) -> Result<U256, ProofBroken> {
    let word = U256::from_be_bytes(stated.value.0);
    let key = keccak256(slot.0);
    let prove = |value| {
        require(
            "the slot",
            storage_root,
            key.as_slice(),
            value,
            &stated.proof,
        )
    };
    match word.is_zero() {
        false => prove(Some(alloy_rlp::encode(word)))?,
        // a zero is not in the trie; anvil's has those that were read, and a leaf of zero proves as much
        true => prove(None).or_else(|_| prove(Some(alloy_rlp::encode(word))))?,
    }
    Ok(word)
}
