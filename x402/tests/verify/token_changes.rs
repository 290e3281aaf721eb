//! R27, R32: which transfers count as a payment on Solana. The transactions here move tokens without paying anyone.
use concord_canonical::word;
use concord_registry::svm::Address;
use concord_x402::verify::{TokenBalance, TokenChanges, TokenHolder, TokenMove, Transfer};

const USDC: Address = Address::new_from_array([1; 32]);
const WORTHLESS: Address = Address::new_from_array([2; 32]);
const PAYER: Address = Address::new_from_array([3; 32]);
const WALLET: Address = Address::new_from_array([4; 32]);
const A: Address = Address::new_from_array([5; 32]);
const B: Address = Address::new_from_array([6; 32]);
const C: Address = Address::new_from_array([7; 32]);

fn has(account: Address, mint: Address, owner: Address, amount: u64) -> TokenBalance {
    let holder = TokenHolder { mint, owner };
    TokenBalance {
        account,
        holder,
        amount,
    }
}

fn moved(source: Address, destination: Address, amount: u64) -> TokenMove {
    TokenMove {
        source,
        destination,
        amount,
    }
}

fn paid(asset: Address, amount: u64) -> Transfer {
    Transfer {
        asset: asset.to_string(),
        from: PAYER.to_string(),
        to: WALLET.to_string(),
        amount: word::from_u64(amount),
    }
}

/// R27, R32: what arrived was paid, to an account that is new as to one that was there.
#[test]
fn a_payment_that_arrived_counts() {
    let before = [has(A, USDC, PAYER, 1_000), has(B, USDC, WALLET, 5)];
    let after = [has(A, USDC, PAYER, 0), has(B, USDC, WALLET, 1_005)];
    let moves = [moved(A, B, 1_000)];
    let changes = TokenChanges::recorded(&before, &after);
    assert_eq!(changes.transfers(&moves), [paid(USDC, 1_000)]);
    let after = [has(B, USDC, WALLET, 1_000)];
    let changes = TokenChanges::recorded(&before[..1], &after);
    assert_eq!(changes.transfers(&moves), [paid(USDC, 1_000)]);
}

/// Of a transfer with a fee (Token-2022), what arrived.
#[test]
fn a_fee_was_not_paid() {
    let before = [has(A, USDC, PAYER, 1_000), has(B, USDC, WALLET, 0)];
    let after = [has(A, USDC, PAYER, 0), has(B, USDC, WALLET, 990)];
    let changes = TokenChanges::recorded(&before, &after);
    assert_eq!(changes.transfers(&[moved(A, B, 1_000)]), [paid(USDC, 990)]);
}

/// R32: a worthless token moves; then the payer's account is opened again for USDC.
#[test]
fn an_account_opened_again_for_another_token_paid_nothing() {
    let before = [has(B, WORTHLESS, WALLET, 0)];
    let after = [has(A, USDC, PAYER, 0), has(B, WORTHLESS, WALLET, 1_000)];
    let moves = [moved(A, B, 1_000)];
    assert_eq!(
        TokenChanges::recorded(&before, &after).transfers(&moves),
        []
    );
    let before = [has(A, WORTHLESS, PAYER, 1_000), has(B, USDC, WALLET, 0)];
    let after = [has(A, USDC, PAYER, 0), has(B, USDC, WALLET, 1_000)];
    assert_eq!(
        TokenChanges::recorded(&before, &after).transfers(&moves),
        []
    );
    let now = TokenChanges::now(after.map(|it| (it.account, it.holder)));
    assert_eq!(now.transfers(&moves), [paid(USDC, 1_000)]);
    let other = TokenHolder {
        mint: WORTHLESS,
        owner: WALLET,
    };
    let payer = TokenHolder {
        mint: USDC,
        owner: PAYER,
    };
    let now = TokenChanges::now([(A, payer), (B, other)]);
    assert_eq!(now.transfers(&moves), []);
}

/// R32: there and back, and then the emptied account is given to the wallet.
#[test]
fn a_round_trip_paid_nothing() {
    let moves = [moved(A, B, 1_000), moved(B, A, 1_000)];
    let after = [has(A, USDC, PAYER, 1_000), has(B, USDC, WALLET, 0)];
    for before in [
        vec![has(A, USDC, PAYER, 1_000), has(B, USDC, PAYER, 0)],
        vec![has(A, USDC, PAYER, 1_000)],
    ] {
        assert_eq!(
            TokenChanges::recorded(&before, &after).transfers(&moves),
            []
        );
    }
    // what another paid is not the payer's
    let before = [has(A, USDC, PAYER, 1_000), has(C, USDC, WORTHLESS, 1_000)];
    let after = [has(A, USDC, PAYER, 1_000), has(B, USDC, WALLET, 1_000)];
    let moves = [moves[0], moves[1], moved(C, B, 1_000)];
    assert_eq!(
        TokenChanges::recorded(&before, &after).transfers(&moves),
        []
    );
}

/// R32: an account that was opened and closed within the transaction has no known owner.
#[test]
fn an_account_in_neither_list_was_not_paid() {
    let both = [has(A, USDC, PAYER, 1_000)];
    let moves = [moved(A, B, 1_000), moved(B, A, 1_000)];
    assert_eq!(TokenChanges::recorded(&both, &both).transfers(&moves), []);
    let to_itself = [moved(A, A, 1_000)];
    assert_eq!(
        TokenChanges::recorded(&both, &both).transfers(&to_itself),
        []
    );
}
