use super::EvmHome;
use crate::{Step, check::given::Insiders, evidence::Gap, layout};
use alloy_primitives::{Address, B256, U256};
use concord_registry::event::AccountId;

/// R18: owner, approved account, and the client if they are an operator, after a block.
pub(super) fn insiders(home: &EvmHome<'_>, block: B256) -> Result<Insiders, Gap> {
    let family = home.known_identity()?;
    let owner = read(home, block)?;
    let approved = to_address(home.identity_slot(block, layout::approved(family, home.agent))?);
    let operator = layout::operator(family, owner, home.client);
    let is_operator = !home.identity_slot(block, operator)?.is_zero();
    let mut accounts = vec![("owner", AccountId::from(owner))];
    if !approved.is_zero() {
        accounts.push(("approved account", approved.into()));
    }
    if is_operator {
        accounts.push(("operator", home.client.into()));
    }
    Ok(Insiders {
        accounts,
        are_of_that_time: true,
    })
}

/// The agent's owner after a block.
pub(super) fn read(home: &EvmHome<'_>, block: B256) -> Result<Address, Gap> {
    let family = home.known_identity()?;
    let owner = to_address(home.identity_slot(block, layout::owner(family, home.agent))?);
    match owner.is_zero() {
        true => Err(Gap::Broken(format!(
            "the registry has no agent {}",
            home.agent
        ))),
        false => Ok(owner),
    }
}

/// As [`read`], for a step other than the one that a broken proof of it refutes.
pub(super) fn for_another_step(home: &EvmHome<'_>, block: B256) -> Result<Address, Gap> {
    read(home, block).map_err(|gap| match gap {
        Gap::Broken(_) => Gap::Needs(Step::SelfFeedback),
        gap => gap,
    })
}

/// The agent's wallet after a block (R3): until one is written it is the owner.
pub(super) fn wallet(home: &EvmHome<'_>, block: B256) -> Result<Option<Address>, Gap> {
    let family = home.known_identity()?;
    let slot = layout::wallet(family, home.agent).ok_or_else(|| {
        Gap::cannot_check("where the canonical registry keeps a wallet is not known here")
    })?;
    let owner = for_another_step(home, block)?;
    let record = home.identity_slot(block, slot)?;
    let is_written = record.byte(20) != 0;
    let wallet = match is_written {
        true => Address::from_slice(&record.to_be_bytes::<32>()[12..]),
        false => owner,
    };
    Ok((!wallet.is_zero()).then_some(wallet))
}

fn to_address(word: U256) -> Address {
    Address::from_word(word.into())
}
