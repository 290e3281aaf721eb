//! A WebAssembly module that answers text with text, with three exports and no import.
//!
//! A caller asks for `reserve(length)` bytes, writes a request's UTF-8 there, calls `answer`, and reads
//! the answer's bytes, whose length precedes them as a little-endian `u32`. `release` ends the exchange
//! and overwrites both, because a request can hold a secret key. [`exchange!`] exports the three.
#![no_std]

extern crate alloc;

use alloc::{boxed::Box, string::String, vec, vec::Vec};
use core::slice;

/// Bytes before the text of an answer: its length.
const HEADER: usize = 4;

/// Exports `reserve`, `answer` and `release`; `$answer` is the function from a request's bytes to the answer's text.
#[macro_export]
macro_rules! exchange {
    ($answer:path) => {
        /// Reserves `length` bytes for a request.
        #[unsafe(no_mangle)]
        pub extern "C" fn reserve(length: usize) -> *mut u8 {
            $crate::reserve(length)
        }

        /// Answers the request of `length` bytes at `request`.
        ///
        /// # Safety
        /// `reserve(length)` returned `request`, and it was not released.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn answer(request: *const u8, length: usize) -> *mut u8 {
            // SAFETY: the caller's promise.
            unsafe { $crate::answer(request, length, $answer) }
        }

        /// Overwrites and frees `length` bytes at `bytes`: a request, or an answer with its header.
        ///
        /// # Safety
        /// `reserve(length)` or `answer` returned `bytes`, and the caller does not use them again.
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn release(bytes: *mut u8, length: usize) {
            // SAFETY: the caller's promise.
            unsafe { $crate::release(bytes, length) }
        }
    };
}

/// Reserves `length` bytes.
#[must_use]
pub fn reserve(length: usize) -> *mut u8 {
    Box::leak(vec![0; length].into_boxed_slice()).as_mut_ptr()
}

/// The answer to the `length` bytes at `request`, after its length.
///
/// # Safety
/// `reserve(length)` returned `request`, and it was not released.
#[must_use]
pub unsafe fn answer(
    request: *const u8,
    length: usize,
    answer: impl Fn(&[u8]) -> String,
) -> *mut u8 {
    // SAFETY: the caller's promise.
    let text = answer(unsafe { slice::from_raw_parts(request, length) });
    let mut framed = Vec::with_capacity(HEADER + text.len());
    framed.extend_from_slice(&(text.len() as u32).to_le_bytes()); // memory is addressed by 32 bits there
    framed.extend_from_slice(text.as_bytes());
    Box::leak(framed.into_boxed_slice()).as_mut_ptr()
}

/// Overwrites and frees `length` bytes at `bytes`.
///
/// # Safety
/// `reserve(length)` or `answer` returned `bytes`, and the caller does not use them again.
pub unsafe fn release(bytes: *mut u8, length: usize) {
    // SAFETY: the caller's promise; the slice was leaked with this length.
    let mut bytes = unsafe { Box::from_raw(core::ptr::slice_from_raw_parts_mut(bytes, length)) };
    for byte in &mut bytes {
        // SAFETY: a valid byte. Volatile, so that it is not optimized away before the memory is freed.
        unsafe { core::ptr::write_volatile(byte, 0) };
    }
}
