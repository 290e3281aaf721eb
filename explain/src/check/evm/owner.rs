use super::EvmHome;
use crate::{Family, Step, check::given::Insiders, evidence::Gap, layout};
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
        stranger: None,
    })
}

/// The agent's owner after a block.
pub(super) fn read(home: &EvmHome<'_>, block: B256) -> Result<Address, Gap> {
    let family = home.known_identity()?;
    let owner = to_address(home.identity_slot(block, layout::owner(family, home.agent))?);
    if owner.is_zero() {
        Err(Gap::Broken(format!(
            "the registry has no agent {}",
            home.agent
        )))
    } else {
        Ok(owner)
    }
}

/// As [`read`], for a step that may not be the one that a broken proof of it refutes.
pub(super) fn for_step(home: &EvmHome<'_>, block: B256, step: Step) -> Result<Address, Gap> {
    read(home, block).map_err(|gap| match (gap, home.step_of_agent_at(block)) {
        (Gap::Broken(_), Some(other)) if other != step => Gap::Needs(other),
        (gap, _) => gap,
    })
}

/// The agent's wallet after a block (R3).
pub(super) fn wallet(home: &EvmHome<'_>, block: B256, step: Step) -> Result<Option<Address>, Gap> {
    let family = home.known_identity()?;
    let owner = for_step(home, block, step)?;
    let record = home.identity_slot(block, layout::wallet(family, home.agent))?;
    let wallet = match family {
        Family::Concord => concord_wallet(record, owner),
        Family::Canonical => canonical_wallet(record)?,
    };
    Ok((!wallet.is_zero()).then_some(wallet))
}

/// Until one is written it is the owner.
fn concord_wallet(record: U256, owner: Address) -> Address {
    if record.byte(20) != 0 {
        Address::from_slice(&record.to_be_bytes::<32>()[12..])
    } else {
        owner
    }
}

/// `bytes` as solc stores them, of which the contract writes 20 or none: the content, and twice the length in
/// the last byte.
fn canonical_wallet(record: U256) -> Result<Address, Gap> {
    let bytes = record.to_be_bytes::<32>();
    match bytes[31] {
        0 => Ok(Address::ZERO),
        40 => Ok(Address::from_slice(&bytes[..20])),
        _ => Err(Gap::broken("the stored wallet is not of 20 bytes")),
    }
}

fn to_address(word: U256) -> Address {
    Address::from_word(word.into())
}
