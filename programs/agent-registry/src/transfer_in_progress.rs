//! Reading Token-2022 token accounts while Token-2022 moves a token between them.
use crate::{
    ConcordError,
    error::{refusal, require},
};
use anchor_lang::prelude::*;
use anchor_spl::token_2022::{
    self,
    spl_token_2022::{
        extension::{
            BaseStateWithExtensions, ExtensionType, PodStateWithExtensions,
            transfer_hook::TransferHookAccount,
        },
        pod::PodAccount,
    },
};

/// A token account on either side of a transfer that is under way.
pub struct TransferSide {
    pub owner: Pubkey,
    /// After the transfer: Token-2022 moves the balances before it calls the hook.
    pub amount: u64,
    /// Whether an agent can be there: its owner is fixed, and nothing can hide the token or keep it from moving on (R4).
    pub can_hold_agents: bool,
}

impl TransferSide {
    /// `NotInTransfer` unless Token-2022 is transferring `mint` from or to `account` at this
    /// moment: it sets the `transferring` flag of its token accounts for the duration of the hook's
    /// call. The account is read by Token-2022's own types, which know its multisignature accounts
    /// apart: the bytes of those are chosen by whoever makes one.
    pub fn read(account: &AccountInfo, mint: &Pubkey) -> Result<Self> {
        require!(account.owner == &token_2022::ID, NotInTransfer);
        let data = account.try_borrow_data()?;
        let state = PodStateWithExtensions::<PodAccount>::unpack(&data)
            .map_err(|_| refusal(ConcordError::NotInTransfer))?;
        let hook = state.get_extension::<TransferHookAccount>();
        require!(
            state.base.mint == *mint && hook.is_ok_and(|hook| hook.transferring.into()),
            NotInTransfer
        );
        Ok(Self {
            owner: state.base.owner,
            amount: state.base.amount.into(),
            // an extension that these types do not know is none of the harmless ones
            can_hold_agents: state
                .get_extension_types()
                .is_ok_and(|extensions| can_hold_agents(&extensions)),
        })
    }
}

/// R4: SetAuthority would move the agent out of an account without ImmutableOwner without a transfer. Of the other
/// extensions, only those that leave the token visible and movable are known to be harmless.
fn can_hold_agents(extensions: &[ExtensionType]) -> bool {
    const HARMLESS: [ExtensionType; 4] = [
        ExtensionType::ImmutableOwner,
        ExtensionType::MemoTransfer,
        ExtensionType::CpiGuard,
        ExtensionType::TransferHookAccount,
    ];
    extensions.contains(&ExtensionType::ImmutableOwner)
        && extensions.iter().all(|it| HARMLESS.contains(it))
}
