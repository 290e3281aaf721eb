//! Solana's own bump allocator, out of line: inlined, it is 20 instructions at each of the hundreds
//! of allocations, most of them in the making of errors.
use anchor_lang::solana_program::entrypoint::{BumpAllocator, HEAP_LENGTH, HEAP_START_ADDRESS};
use std::alloc::{GlobalAlloc, Layout};

struct OutOfLine(BumpAllocator);

// SAFETY: passes every call on, unchanged, to an allocator.
unsafe impl GlobalAlloc for OutOfLine {
    #[inline(never)]
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        unsafe { self.0.alloc(layout) }
    }

    #[inline]
    unsafe fn dealloc(&self, memory: *mut u8, layout: Layout) {
        unsafe { self.0.dealloc(memory, layout) }
    }
}

// SAFETY: the heap that the VM maps for each call, and nothing else uses.
#[global_allocator]
static ALLOCATOR: OutOfLine = OutOfLine(unsafe {
    BumpAllocator::with_fixed_address_range(HEAP_START_ADDRESS as usize, HEAP_LENGTH)
});
