//! R17: the limits that every chain and every off-chain writer can keep.
use crate::error::require;
use anchor_lang::prelude::*;

/// `text` is at most `max` bytes and holds no NUL; that it is UTF-8 its type says.
pub fn require_portable(text: &str, max: usize) -> Result<()> {
    require!(
        text.len() <= max && !text.as_bytes().contains(&0),
        LengthLimit
    );
    Ok(())
}
