//! `concord-oracle` for WebAssembly.
#![cfg(target_arch = "wasm32")]
#![no_std]

#[global_allocator]
static ALLOCATOR: dlmalloc::GlobalDlmalloc = dlmalloc::GlobalDlmalloc;

concord_wasm_exchange::exchange!(concord_oracle::answer_bytes);

#[panic_handler]
fn panicked(_: &core::panic::PanicInfo<'_>) -> ! {
    core::arch::wasm32::unreachable()
}
