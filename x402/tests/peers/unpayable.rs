//! Offers on Solana that cannot be paid, each beside what can.
use crate::peers::{
    cluster::{FUNDS, NETWORK, associated},
    world::World,
};
use concord_registry::svm::{AccountMeta, Address, Instruction, programs::TOKEN_2022};
use concord_x402::{
    pay::{Authorizations, OfferUnpayable, PayFault},
    wire::PaymentRequired,
};
use serde_json::{Value, json};
use solana_keypair::{Keypair, Signer};

fn offer(fields: &Value) -> concord_x402::wire::Offer {
    let required = json!({ "x402Version": 2, "accepts": [fields] });
    let required = PaymentRequired::parse(&required.to_string()).unwrap();
    assert_eq!(required.unreadable, []);
    required.accepts[0].clone()
}

/// Token-2022's extensions, as `spl-token-2022` documents their instructions.
fn transfer_fee(mint: &Address, points: u16) -> Instruction {
    const TRANSFER_FEE: u8 = 26;
    Instruction {
        program_id: TOKEN_2022,
        accounts: vec![AccountMeta::new(*mint, false)],
        // no authorities; basis points; the most
        data: [
            &[TRANSFER_FEE, 0, 0, 0],
            &points.to_le_bytes()[..],
            &u64::MAX.to_le_bytes(),
        ]
        .concat(),
    }
}

fn transfer_hook(mint: &Address, authority: &Address, program: Address) -> Instruction {
    const TRANSFER_HOOK: u8 = 36;
    Instruction {
        program_id: TOKEN_2022,
        accounts: vec![AccountMeta::new(*mint, false)],
        data: [&[TRANSFER_HOOK, 0], authority.as_ref(), program.as_ref()].concat(),
    }
}

#[tokio::test]
async fn an_offer_that_cannot_be_paid_is_refused_unsigned() {
    let world = World::start().await;
    let solana = &world.solana;
    let (owner, payer) = (solana.owner.pubkey(), solana.payer.pubkey());
    let base = json!({
        "scheme": "exact", "network": NETWORK, "asset": solana.spl.to_string(), "amount": "10",
        "payTo": owner.to_string(), "maxTimeoutSeconds": 60,
        "extra": { "feePayer": solana.facilitator.pubkey().to_string() },
    });
    let change = |key: &str, value: Value| {
        let mut changed = base.clone();
        changed[key] = value;
        changed
    };
    let prepare = async |fields: &Value| {
        let payer = payer.to_string();
        world.reads.prepare(&offer(fields), &payer, 1).await
    };
    let prepared = prepare(&base).await.unwrap();
    assert_eq!(prepared.authorization.amount().to::<u64>(), 10);

    let field = |fault: &PayFault| match fault {
        PayFault::Unpayable(unpayable) => OfferUnpayable::field(unpayable),
        other => panic!("{other}"),
    };
    let stranger = Keypair::new().pubkey().to_string();
    for (fields, expected) in [
        (change("scheme", "upto".into()), "scheme"),
        (change("asset", stranger.as_str().into()), "asset"),
        (change("asset", owner.to_string().into()), "asset"),
        (change("amount", (FUNDS + 1).to_string().into()), "amount"),
        (change("amount", "18446744073709551616".into()), "amount"),
        (change("payTo", stranger.as_str().into()), "payTo"),
        (change("extra", json!({})), "extra.feePayer"),
        (
            change("extra", json!({ "feePayer": "me" })),
            "extra.feePayer",
        ),
        // the payer's own signature would pay fees
        (
            change("extra", json!({ "feePayer": payer.to_string() })),
            "extra.feePayer",
        ),
        (
            change(
                "extra",
                json!({ "feePayer": stranger, "memo": "m".repeat(257) }),
            ),
            "extra.memo",
        ),
    ] {
        let fault = prepare(&fields).await.unwrap_err();
        assert_eq!(field(&fault), expected, "{fault}");
    }
    let longest = json!({ "feePayer": stranger, "memo": "m".repeat(256) });
    prepare(&change("extra", longest)).await.unwrap();

    // tokens whose transfer is not all: 82 bytes, padding to 165, the kind, then the extension
    let space = |extension: u64| 166 + 4 + extension;
    for (name, points, hook, is_payable) in [
        ("a fee of nothing", Some(0), None, true),
        ("a fee", Some(1), None, false),
        (
            "a hook without a program",
            None,
            Some(Address::default()),
            true,
        ),
        ("a hook", None, Some(owner), false),
    ] {
        let mint = Keypair::new();
        let address = mint.pubkey();
        let (extension, length) = match (points, hook) {
            (Some(points), _) => (transfer_fee(&address, points), 108),
            (_, Some(program)) => (transfer_hook(&address, &owner, program), 64),
            _ => unreachable!(),
        };
        solana.make_mint(&mint, &TOKEN_2022, &[extension], space(length));
        for account in [&owner, &payer] {
            solana.open(account, &address, &TOKEN_2022);
        }
        let to = associated(&payer, &address, &TOKEN_2022);
        solana.send(&[], &[solana.mint_to(&address, to, &TOKEN_2022, FUNDS)]);
        let made = prepare(&change("asset", address.to_string().into())).await;
        if is_payable {
            assert!(made.is_ok(), "{name}: {}", made.unwrap_err())
        } else {
            assert_eq!(field(&made.unwrap_err()), "asset", "{name}")
        }
    }
}

fn freeze(tag: u8, account: Address, mint: &Address, program: Address, by: Address) -> Instruction {
    Instruction {
        program_id: program,
        accounts: vec![
            AccountMeta::new(account, false),
            AccountMeta::new_readonly(*mint, false),
            AccountMeta::new_readonly(by, true),
        ],
        data: vec![tag],
    }
}

#[tokio::test]
async fn an_account_that_cannot_send_or_receive_is_not_paid_from_or_to() {
    const FREEZE: u8 = 10;
    const THAW: u8 = 11;
    let world = World::start().await;
    let solana = &world.solana;
    let (owner, payer) = (solana.owner.pubkey(), solana.payer.pubkey());
    let prepare = async |mint: &Address| {
        let fields = json!({
            "scheme": "exact", "network": NETWORK, "asset": mint.to_string(), "amount": "10",
            "payTo": owner.to_string(), "maxTimeoutSeconds": 60,
            "extra": { "feePayer": solana.facilitator.pubkey().to_string() },
        });
        let made = world
            .reads
            .prepare(&offer(&fields), &payer.to_string(), 1)
            .await;
        match made {
            Ok(_) => "payable".to_owned(),
            Err(PayFault::Unpayable(fault)) => format!("{}: {fault}", fault.field()),
            Err(other) => panic!("{other}"),
        }
    };
    for mint in [solana.spl, solana.token_2022] {
        let program = solana.token_program(&mint);
        for (whose, field) in [(owner, "payTo"), (payer, "asset")] {
            let account = associated(&whose, &mint, &program);
            let send = |tag| solana.send(&[], &[freeze(tag, account, &mint, program, owner)]);
            send(FREEZE);
            let found = prepare(&mint).await;
            assert!(
                found.starts_with(field) && found.contains("frozen"),
                "{found}"
            );
            send(THAW);
            assert_eq!(prepare(&mint).await, "payable");
        }
    }

    // SetAuthority of the kind AccountOwner, which SPL Token allows for an associated account too
    let heir = Keypair::new().pubkey();
    let mint = solana.spl;
    let give_away = Instruction {
        program_id: solana.token_program(&mint),
        accounts: vec![
            AccountMeta::new(
                associated(&owner, &mint, &solana.token_program(&mint)),
                false,
            ),
            AccountMeta::new_readonly(owner, true),
        ],
        data: [&[6, 2, 1][..], heir.as_ref()].concat(),
    };
    solana.send(&[], &[give_away]);
    let found = prepare(&mint).await;
    assert!(found.starts_with("payTo"), "{found}");
}
