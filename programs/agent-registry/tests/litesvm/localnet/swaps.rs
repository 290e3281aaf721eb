//! An instruction with one account exchanged for another that is valid elsewhere.

use super::{
    Localnet,
    refusal::{mismatch_of, refusal},
};
use solana_address::Address;
use solana_instruction::{Instruction, error::InstructionError};
use solana_keypair::Keypair;

/// Puts every account of `pool` into every place that needs no signature, unless it is there
/// already: each such transaction is refused as [`mismatch_of`] says. Then the instruction itself passes,
/// so that nothing else was wrong with it.
#[track_caller]
pub fn assert_swaps_refused(
    net: &mut Localnet,
    sender: &Keypair,
    instruction: &Instruction,
    pool: &[Address],
) {
    let signs = |place: &usize| instruction.accounts[*place].is_signer;
    for place in (1..instruction.accounts.len()).filter(|place| !signs(place)) {
        for account in pool {
            let mut swapped = instruction.clone();
            let genuine = swapped.accounts[place].pubkey;
            if genuine == *account {
                continue;
            }
            swapped.accounts[place].pubkey = *account;
            let sent = net.send(&[sender], &[swapped]);
            let expected = (0, InstructionError::Custom(mismatch_of(&genuine)));
            assert_eq!(refusal(&sent), expected, "{account} in place {place}");
        }
    }
    net.send(&[sender], std::slice::from_ref(instruction))
        .expect("the instruction itself is accepted");
}

/// The same for a forged account: a copy of the right one that a stranger's program owns.
#[track_caller]
pub fn assert_forgeries_refused(
    net: &mut Localnet,
    sender: &Keypair,
    instruction: &Instruction,
    places: &[usize],
    code: u32,
) {
    for place in places {
        let mut forged = net.account(&instruction.accounts[*place].pubkey);
        forged.owner = super::stranger_id();
        let at = Address::from([*place as u8 + 200; 32]);
        net.svm.set_account(at, forged).unwrap();
        let mut swapped = instruction.clone();
        swapped.accounts[*place].pubkey = at;
        let sent = net.send(&[sender], &[swapped]);
        let expected = (0, InstructionError::Custom(code));
        assert_eq!(refusal(&sent), expected, "a forgery in place {place}");
    }
}
