//! What a Solana program needs at run time when it is built with upstream rustc 1.96 and the
//! BPF backend of upstream LLVM 23: memory functions as system calls, and 128-bit arithmetic.
//!
//! LLVM's 128-bit library calls take (low, high) pairs in r1 to r4 and return their result in
//! r0 and r2. rustc 1.96 returns every aggregate and 128-bit integer through a hidden pointer
//! on BPF, so the functions here return by inline assembly.
//!
//! Solana's own toolchain has all this built in. There the crate is empty: the symbols exist
//! only under `--cfg sbf_runtime_by_concord`, which `scripts/build-program` passes.
#![cfg_attr(target_os = "solana", no_std)]
#![cfg_attr(sbf_runtime_by_concord, feature(asm_experimental_arch))]

#[cfg(sbf_runtime_by_concord)]
mod mem {
    unsafe extern "C" {
        fn sol_memcpy_(dst: *mut u8, src: *const u8, n: u64);
        fn sol_memmove_(dst: *mut u8, src: *const u8, n: u64);
        fn sol_memset_(s: *mut u8, c: u8, n: u64);
        fn sol_memcmp_(a: *const u8, b: *const u8, n: u64, result: *mut i32);
    }

    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn memcpy(dst: *mut u8, src: *const u8, n: usize) -> *mut u8 {
        unsafe { sol_memcpy_(dst, src, n as u64) };
        dst
    }

    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn memmove(dst: *mut u8, src: *const u8, n: usize) -> *mut u8 {
        unsafe { sol_memmove_(dst, src, n as u64) };
        dst
    }

    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn memset(s: *mut u8, c: i32, n: usize) -> *mut u8 {
        unsafe { sol_memset_(s, c as u8, n as u64) };
        s
    }

    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn memcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
        let mut r = 0i32;
        unsafe { sol_memcmp_(a, b, n as u64, &mut r) };
        r
    }

    #[unsafe(no_mangle)]
    pub unsafe extern "C" fn bcmp(a: *const u8, b: *const u8, n: usize) -> i32 {
        unsafe { memcmp(a, b, n) }
    }
}

/// 128-bit arithmetic on (low, high) pairs. Nothing here may use u128, or the compiler would
/// call these functions from themselves.
pub mod wide {
    #[inline(always)]
    pub fn mul64(a: u64, b: u64) -> (u64, u64) {
        let (al, ah) = (a & 0xffff_ffff, a >> 32);
        let (bl, bh) = (b & 0xffff_ffff, b >> 32);
        let ll = al.wrapping_mul(bl);
        let lh = al.wrapping_mul(bh);
        let hl = ah.wrapping_mul(bl);
        let hh = ah.wrapping_mul(bh);
        let mid = (ll >> 32)
            .wrapping_add(lh & 0xffff_ffff)
            .wrapping_add(hl & 0xffff_ffff);
        let lo = (ll & 0xffff_ffff) | (mid << 32);
        let hi = hh
            .wrapping_add(lh >> 32)
            .wrapping_add(hl >> 32)
            .wrapping_add(mid >> 32);
        (lo, hi)
    }

    #[inline(always)]
    pub fn mul128(al: u64, ah: u64, bl: u64, bh: u64) -> (u64, u64) {
        let (lo, hi) = mul64(al, bl);
        (
            lo,
            hi.wrapping_add(al.wrapping_mul(bh))
                .wrapping_add(ah.wrapping_mul(bl)),
        )
    }

    /// (quotient lo, quotient hi, remainder lo, remainder hi)
    #[inline(never)]
    pub fn udivmod(nl: u64, nh: u64, dl: u64, dh: u64, out: &mut [u64; 4]) {
        if nh == 0 && dh == 0 {
            // 64-bit operands
            let (q, r) = (nl.checked_div(dl), nl.checked_rem(dl));
            *out = match (q, r) {
                (Some(q), Some(r)) => [q, 0, r, 0],
                _ => [0; 4],
            };
            return;
        }
        if (dl | dh) == 0 {
            *out = [0; 4];
            return;
        }
        // restoring shift-subtract, starting at the numerator's top set bit
        let (mut ql, mut qh, mut rl, mut rh) = (0u64, 0u64, 0u64, 0u64);
        let mut bits: u32 = if nh != 0 {
            128 - nh.leading_zeros()
        } else {
            64 - nl.leading_zeros()
        };
        while bits > 0 {
            bits = bits.wrapping_sub(1);
            let bit = if bits >= 64 {
                (nh >> (bits & 63)) & 1
            } else {
                (nl >> (bits & 63)) & 1
            };
            let carry = rh >> 63;
            rh = (rh << 1) | (rl >> 63);
            rl = (rl << 1) | bit;
            qh = (qh << 1) | (ql >> 63);
            ql <<= 1;
            if carry != 0 || rh > dh || (rh == dh && rl >= dl) {
                let borrow = (rl < dl) as u64;
                rl = rl.wrapping_sub(dl);
                rh = rh.wrapping_sub(dh).wrapping_sub(borrow);
                ql |= 1;
            }
        }
        *out = [ql, qh, rl, rh];
    }

    #[inline(always)]
    pub fn neg(l: u64, h: u64) -> (u64, u64) {
        let lo = (!l).wrapping_add(1);
        let hi = (!h).wrapping_add((lo == 0) as u64);
        (lo, hi)
    }
}

#[cfg(sbf_runtime_by_concord)]
mod int128 {
    use super::wide::*;
    use core::arch::asm;

    /// Return a 128-bit value the way LLVM's BPF backend expects a libcall to:
    /// low half in r0, high half in r2. The VM restores r6-r10 on `exit`.
    macro_rules! ret128 {
        ($v:expr) => {{
            let (lo, hi): (u64, u64) = $v;
            unsafe { asm!("exit", in("r0") lo, in("r2") hi, options(noreturn)) }
        }};
    }

    #[unsafe(no_mangle)]
    pub extern "C" fn __multi3(al: u64, ah: u64, bl: u64, bh: u64) -> ! {
        ret128!(mul128(al, ah, bl, bh))
    }

    #[unsafe(no_mangle)]
    pub extern "C" fn __udivti3(nl: u64, nh: u64, dl: u64, dh: u64) -> ! {
        let mut o = [0u64; 4];
        udivmod(nl, nh, dl, dh, &mut o);
        ret128!((o[0], o[1]))
    }

    #[unsafe(no_mangle)]
    pub extern "C" fn __umodti3(nl: u64, nh: u64, dl: u64, dh: u64) -> ! {
        let mut o = [0u64; 4];
        udivmod(nl, nh, dl, dh, &mut o);
        ret128!((o[2], o[3]))
    }

    #[unsafe(no_mangle)]
    pub extern "C" fn __divti3(nl: u64, nh: u64, dl: u64, dh: u64) -> ! {
        let (nn, dn) = ((nh as i64) < 0, (dh as i64) < 0);
        let (nl, nh) = if nn { neg(nl, nh) } else { (nl, nh) };
        let (dl, dh) = if dn { neg(dl, dh) } else { (dl, dh) };
        let mut o = [0u64; 4];
        udivmod(nl, nh, dl, dh, &mut o);
        ret128!(if nn != dn {
            neg(o[0], o[1])
        } else {
            (o[0], o[1])
        })
    }

    #[unsafe(no_mangle)]
    pub extern "C" fn __modti3(nl: u64, nh: u64, dl: u64, dh: u64) -> ! {
        let nn = (nh as i64) < 0;
        let (nl, nh) = if nn { neg(nl, nh) } else { (nl, nh) };
        let (dl, dh) = if (dh as i64) < 0 {
            neg(dl, dh)
        } else {
            (dl, dh)
        };
        let mut o = [0u64; 4];
        udivmod(nl, nh, dl, dh, &mut o);
        ret128!(if nn { neg(o[2], o[3]) } else { (o[2], o[3]) })
    }
}

#[cfg(test)]
mod tests {
    use super::wide::*;

    fn split(x: u128) -> (u64, u64) {
        (x as u64, (x >> 64) as u64)
    }

    #[test]
    fn equals_native_128_bit_arithmetic() {
        let mut s = 0x9e37_79b9_7f4a_7c15_f39c_c060_5ced_c834u128;
        let mut next = |mask: u32| {
            s ^= s << 13;
            s ^= s >> 7;
            s ^= s << 17;
            s >> mask
        };
        for i in 0..200_000u32 {
            let a = next(i % 128);
            let b = next((i / 128) % 128) | 1;
            let ((al, ah), (bl, bh)) = (split(a), split(b));
            assert_eq!(mul128(al, ah, bl, bh), split(a.wrapping_mul(b)));
            let mut o = [0; 4];
            udivmod(al, ah, bl, bh, &mut o);
            assert_eq!((o[0], o[1]), split(a / b));
            assert_eq!((o[2], o[3]), split(a % b));
            assert_eq!(neg(al, ah), split(a.wrapping_neg()));
        }
    }
}
