//! Texts on EVM chains, whose contracts take any bytes as one (R17, EVM-31).
use alloc::{string::String, vec::Vec};
use alloy_sol_types::{SolCall, SolType, abi::TokenSeq};

/// Added to a byte from 0x80 to 0xFF, this is the private-use character for that byte.
const STAND_INS: u32 = 0x10_FE00;
const WORD: usize = 32;

/// Returns the text of what a contract has as one: the bytes themselves, if they are UTF-8. EVM-31: each byte that
/// is not, from 0x80 to 0xFF, is one of the characters U+10FE80 to U+10FEFF. So are the four bytes of such a
/// character, so that no two values have the same text.
pub fn text_of(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(bytes.len());
    for chunk in bytes.utf8_chunks() {
        for character in chunk.valid().chars() {
            match byte_of(character) {
                None => text.push(character),
                Some(_) => text.extend(character.encode_utf8(&mut [0; 4]).bytes().map(stand_in)),
            }
        }
        text.extend(chunk.invalid().iter().copied().map(stand_in));
    }
    text
}

/// Returns the bytes of which [`text_of`] made `text`.
pub fn bytes_of(text: &str) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(text.len());
    for character in text.chars() {
        match byte_of(character) {
            None => bytes.extend_from_slice(character.encode_utf8(&mut [0; 4]).as_bytes()),
            Some(byte) => bytes.push(byte),
        }
    }
    bytes
}

fn stand_in(byte: u8) -> char {
    // every number from 0x10FE80 to 0x10FEFF is a character
    char::from_u32(STAND_INS + u32::from(byte)).unwrap_or(char::REPLACEMENT_CHARACTER)
}

/// Returns the byte that a private-use character represents, if it represents one.
fn byte_of(character: char) -> Option<u8> {
    let byte = u32::from(character).checked_sub(STAND_INS)?;
    u8::try_from(byte).ok().filter(|it| !it.is_ascii())
}

/// Decodes what a view returned, with texts as [`text_of`] has them.
///
/// # Errors
/// As [`SolCall::abi_decode_returns_validate`].
pub fn decode_returns<C: SolCall>(answer: &[u8]) -> alloy_sol_types::Result<C::Return> {
    match with_texts::<C::ReturnTuple<'_>>(answer) {
        Some(answer) => C::abi_decode_returns_validate(&answer),
        None => C::abi_decode_returns_validate(answer),
    }
}

/// Returns the encoded `T` with the text of each string that differs from its bytes; `None` if there is none. `T` is a
/// tuple without fixed arrays and structs, so that each member has one word in the head. What is not encoded
/// as a `T` stays so, and the decoder says it.
pub(super) fn with_texts<'a, T>(encoded: &'a [u8]) -> Option<Vec<u8>>
where
    T: SolType,
    T::Token<'a>: TokenSeq<'a>,
{
    let members = T::SOL_NAME.strip_prefix('(')?.strip_suffix(')')?;
    let mut changed = None;
    for (position, member) in members.split(',').enumerate() {
        if member != "string" {
            continue;
        }
        let head = position * WORD;
        let bytes = string_at(encoded, head)?;
        let text = text_of(bytes);
        if text.as_bytes() != bytes {
            let changed = changed.get_or_insert_with(|| encoded.to_vec());
            append(changed, head, &text)?;
        }
    }
    // what is cut off must not go on in what was put behind it
    changed.filter(|_| T::abi_decode_sequence(encoded).is_ok())
}

/// The string whose offset is the word at `head`.
fn string_at(encoded: &[u8], head: usize) -> Option<&[u8]> {
    let start = number_at(encoded, head)?;
    let length = number_at(encoded, start)?;
    encoded.get(start.checked_add(WORD)?..)?.get(..length)
}

fn number_at(encoded: &[u8], at: usize) -> Option<usize> {
    let word: &[u8; WORD] = encoded.get(at..)?.first_chunk()?;
    let (zeros, number) = word.split_last_chunk()?;
    let is_short = zeros.iter().all(|byte| *byte == 0);
    usize::try_from(u64::from_be_bytes(*number))
        .ok()
        .filter(|_| is_short)
}

/// Puts the string behind everything else, where nothing else moves.
fn append(encoded: &mut Vec<u8>, head: usize, text: &str) -> Option<()> {
    let start = word(encoded.len());
    encoded
        .get_mut(head..)?
        .first_chunk_mut()
        .map(|it| *it = start)?;
    encoded.extend_from_slice(&word(text.len()));
    encoded.extend_from_slice(text.as_bytes());
    Some(())
}

fn word(number: usize) -> [u8; WORD] {
    alloy_primitives::U256::from(number).to_be_bytes()
}
