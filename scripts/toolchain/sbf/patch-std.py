#!/usr/bin/env python3
"""Copies Debian's Rust standard library and teaches the copy target_os = "solana".

usage: patch-std.py SOURCE DESTINATION

Every edit names the text that it replaces and fails where that is gone, so a changed library
is noticed here and not in a program that misbehaves.
"""

import shutil
import sys
from pathlib import Path

source, destination = map(Path, sys.argv[1:3])
if destination.exists():
    shutil.rmtree(destination)
shutil.copytree(source, destination, symlinks=True)


def edit(path, old, new, count=1):
    """Replaces `old`, which must occur exactly `count` times in `path`."""
    file = destination / path
    text = file.read_text()
    found = text.count(old)
    if found != count:
        sys.exit(f"patch-std: {path} holds {old!r} {found} times, not {count}")
    file.write_text(text.replace(old, new))


# The allocator: a program installs its own, so `System` is never asked.
edit(
    "std/src/sys/alloc/mod.rs",
    '    target_arch = "riscv32",\n    target_arch = "xtensa",\n',
    '    target_arch = "riscv32",\n    target_arch = "xtensa",\n    target_arch = "bpf",\n',
)
edit(
    "std/src/sys/alloc/mod.rs",
    '    target_os = "zkvm" => {\n        mod zkvm;\n    }\n',
    '    target_os = "zkvm" => {\n        mod zkvm;\n    }\n'
    '    target_os = "solana" => {\n        mod solana;\n    }\n',
)
(destination / "std/src/sys/alloc/solana.rs").write_text(
    """\
use crate::alloc::{GlobalAlloc, Layout, System};

#[stable(feature = "alloc_system_type", since = "1.28.0")]
unsafe impl GlobalAlloc for System {
    #[inline]
    unsafe fn alloc(&self, _layout: Layout) -> *mut u8 {
        crate::ptr::null_mut()
    }

    #[inline]
    unsafe fn dealloc(&self, _ptr: *mut u8, _layout: Layout) {}
}
"""
)

# No operating system: the same stubs as zkvm's.
ZKVM = '        target_os = "zkvm",\n'
edit("std/src/sys/io/error/mod.rs", ZKVM, ZKVM + '        target_os = "solana",\n')
edit("std/src/sys/thread_local/mod.rs", ZKVM, ZKVM + '        target_os = "solana",\n', 2)
edit(
    "std/src/sys/random/mod.rs",
    '        target_os = "xous",\n        target_os = "vexos",\n    ) => {',
    '        target_os = "xous",\n        target_os = "vexos",\n        target_os = "solana",\n    ) => {',
)
edit(
    "std/src/sys/random/mod.rs",
    '    target_os = "xous",\n    target_os = "vexos",\n)))]',
    '    target_os = "xous",\n    target_os = "vexos",\n    target_os = "solana",\n)))]',
)

# A panic goes to the program's custom_panic(), which its entrypoint defines, as in Solana's
# own fork of the library.
edit(
    "std/src/panicking.rs",
    "pub fn panic_handler(info: &core::panic::PanicInfo<'_>) -> ! {\n",
    """\
pub fn panic_handler(info: &core::panic::PanicInfo<'_>) -> ! {
    #[cfg(target_os = "solana")]
    {
        unsafe extern "Rust" {
            fn custom_panic(info: &core::panic::PanicInfo<'_>);
        }
        unsafe { custom_panic(info) };
        crate::process::abort();
    }
    #[cfg(not(target_os = "solana"))]
    panic_handler_impl(info)
}

#[cfg(not(target_os = "solana"))]
fn panic_handler_impl(info: &core::panic::PanicInfo<'_>) -> ! {
""",
)

# panic!() of the 2015 and 2018 editions comes by another way, whose hook and counters are
# writable statics; SBF has none.
edit(
    "std/src/panicking.rs",
    "#[optimize(size)]\nfn panic_with_hook(\n",
    """\
#[cfg(target_os = "solana")]
fn panic_with_hook(
    payload: &mut dyn PanicPayload,
    location: &Location<'_>,
    _can_unwind: bool,
    _force_no_backtrace: bool,
) -> ! {
    unsafe extern "C" {
        fn sol_log_(msg: *const u8, len: u64);
        fn sol_panic_(file: *const u8, len: u64, line: u64, column: u64) -> !;
    }
    if let Some(s) = payload.as_str() {
        unsafe { sol_log_(s.as_ptr(), s.len() as u64) };
    }
    let file = location.file();
    unsafe {
        sol_panic_(
            file.as_ptr(),
            file.len() as u64,
            location.line() as u64,
            location.column() as u64,
        )
    }
}

#[cfg(not(target_os = "solana"))]
fn panic_with_hook(
""",
)

# Out of memory: log and abort, again without statics.
edit(
    "std/src/alloc.rs",
    "pub fn rust_oom(layout: Layout) -> ! {\n",
    """\
pub fn rust_oom(layout: Layout) -> ! {
    #[cfg(target_os = "solana")]
    {
        let _ = layout;
        unsafe extern "C" {
            fn sol_log_(msg: *const u8, len: u64);
        }
        const MSG: &str = "Error: memory allocation failed, out of memory";
        unsafe { sol_log_(MSG.as_ptr(), MSG.len() as u64) };
        crate::process::abort();
    }
    #[cfg(not(target_os = "solana"))]
""",
)

# The stable sort's scratch buffer of 4,096 bytes would be the whole SBF stack frame.
edit(
    "core/src/slice/sort/stable/mod.rs",
    "AlignedStorage::<T, 4096>",
    "AlignedStorage::<T, 512>",
    2,
)

# HashMap seeds: constants instead of a thread-local.
edit(
    "std/src/hash/random.rs",
    "    pub fn new() -> RandomState {\n",
    """\
    pub fn new() -> RandomState {
        #[cfg(target_os = "solana")]
        return RandomState { k0: 0x5bd1_e995_9e37_79b9, k1: 0x7f4a_7c15_85eb_ca6b };
        #[cfg(not(target_os = "solana"))]
        {
""",
)
edit(
    "std/src/hash/random.rs",
    "            RandomState { k0, k1 }\n        })\n    }\n",
    "            RandomState { k0, k1 }\n        })\n        }\n    }\n",
)
