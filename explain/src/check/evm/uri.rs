//! An agent's URI, from the slots and the code in which the registry keeps it.
use super::{EvmHome, owner};
use crate::{Family, Step, evidence::Gap, layout};
use alloy_primitives::{Address, B256, U256, keccak256};
use concord_registry::evm::text::text_of;

/// Bytes of a URI that is read: each 32 of them need a proof.
const LENGTH_MAX: usize = 4096;

/// The URI after a block, for a step that asks. What the step `registration` reads is its fault alone.
pub(super) fn read(home: &EvmHome<'_>, block: B256, step: Step) -> Result<String, Gap> {
    owner::for_step(home, block, step)?; // without an owner there is no agent
    let bytes = stored(home, block).map_err(|gap| match gap {
        Gap::Broken(_) if home.state_block() == Ok(block) && step != Step::Registration => {
            Gap::Needs(Step::Registration)
        }
        gap => gap,
    });
    Ok(text_of(&bytes?)) // EVM-31: as events have it
}

fn stored(home: &EvmHome<'_>, block: B256) -> Result<Vec<u8>, Gap> {
    let family = home.known_identity()?;
    let slot = layout::uri(family, home.agent);
    let word = home.identity_slot(block, slot)?;
    match family {
        Family::Canonical => solidity(home, block, slot, word),
        Family::Concord => concord(home, block, slot, word),
    }
}

/// As solc stores a `string`.
fn solidity(home: &EvmHome<'_>, block: B256, slot: U256, word: U256) -> Result<Vec<u8>, Gap> {
    if !word.bit(0) {
        let length = usize::from(word.byte(0) / 2);
        return Ok(head(word, length));
    }
    let length = length_of((word - U256::from(1)) / U256::from(2))?;
    further(home, block, slot, length)
}

/// As `AgentUris` stores it: LibBytes' form, or the address of code.
fn concord(home: &EvmHome<'_>, block: B256, slot: U256, word: U256) -> Result<Vec<u8>, Gap> {
    let low = word.byte(0);
    let pointer = Address::from_slice(&word.to_be_bytes::<32>()[..20]);
    match (low, pointer.is_zero()) {
        (0xff, false) => {
            // SSTORE2: the code starts with STOP, so that calls do nothing
            let code = home.view.code(block, pointer)?;
            Ok(code.get(1..).unwrap_or_default().to_vec())
        }
        (0xff, true) => further(home, block, slot, length_of(word >> 8)?),
        (length, _) => {
            let length = usize::from(length);
            let mut bytes = head(word, length.min(31));
            if length > 31 {
                bytes.extend(further(home, block, slot, length - 31)?);
            }
            Ok(bytes)
        }
    }
}

/// The upper bytes of a word.
fn head(word: U256, length: usize) -> Vec<u8> {
    word.to_be_bytes::<32>()[..length.min(32)].to_vec()
}

fn length_of(word: U256) -> Result<usize, Gap> {
    let length = usize::try_from(word).ok().filter(|it| *it <= LENGTH_MAX);
    length.ok_or_else(|| {
        Gap::Broken(format!(
            "the agent's URI has {word} bytes; {LENGTH_MAX} are read"
        ))
    })
}

/// The bytes in the slots from the hash of the first one on.
fn further(home: &EvmHome<'_>, block: B256, slot: U256, length: usize) -> Result<Vec<u8>, Gap> {
    let first = U256::from_be_bytes(keccak256(slot.to_be_bytes::<32>()).0);
    let mut bytes = Vec::with_capacity(length);
    // every slot is asked for before any is missed, so that a reader fetches them at once
    let words = (0..length.div_ceil(32))
        .map(|place| home.identity_slot(block, first.wrapping_add(U256::from(place))));
    for word in words.collect::<Vec<_>>() {
        bytes.extend(word?.to_be_bytes::<32>());
    }
    bytes.truncate(length);
    Ok(bytes)
}
