//! R27: registered on one chain, paid on the other.
use crate::peers::{
    customer::Customer,
    shop::Shop,
    states,
    world::{PRICE, Registered, Token, World},
};
use concord_x402::{
    pay::Money,
    quote::{PreClass, WalletState},
    verify::{State, Step},
};
use serde_json::json;

#[tokio::test]
async fn r27_a_wallet_on_another_chain_is_claimed_both_ways() {
    let world = World::start().await;
    let folder = tempfile::tempdir().unwrap();
    let customer = Customer::new(&world, folder.path());
    for (registered, token) in [
        (Registered::Evm, Token::Spl),
        (Registered::Evm, Token::Token2022),
        (Registered::Solana, Token::Usdc),
    ] {
        let shop = Shop::open(&world, registered).await;
        let offered = customer.quote(&shop.url(token)).await.unwrap();
        assert_eq!(offered.quote().wallet, WalletState::Claimed, "{token:?}");
        let before = world.received(token).await;
        let id = token.route().trim_start_matches('/');
        let purchase = customer.buyer().pay(id, offered).await.unwrap();
        let [(Step::S11, State::Claimed, _)] = states(&purchase.report)[..] else {
            panic!("{token:?}: {:?}", states(&purchase.report));
        };
        assert_eq!(purchase.report.state(), State::Claimed, "never Verified");
        assert!(matches!(purchase.money, Money::Settled { .. }));
        assert_eq!(world.received(token).await, before + PRICE);
    }

    // a file without a wallet on the payment chain
    let mut file = json!({ "registrations": world.registrations(Registered::Evm), "services": [] });
    world.files.publish("evm.json", file.clone());
    let shop = Shop::open(&world, Registered::Evm).await;
    let fresh = World::fetcher();
    let refusal = customer.refusal(&shop.url(Token::Spl), &fresh).await;
    assert_eq!(refusal.class, Some(PreClass::WalletUndeclared), "{refusal}");
    // a file with another one
    file["services"] = json!([{
        "name": concord_files::AGENT_WALLET,
        "endpoint": format!("{}:{}", Token::Spl.network(), world.payer(Token::Spl)),
    }]);
    world.files.publish("evm.json", file);
    let fresh = World::fetcher();
    let refusal = customer.refusal(&shop.url(Token::Spl), &fresh).await;
    assert_eq!(refusal.class, Some(PreClass::PayToMismatch), "{refusal}");
    assert_eq!(
        customer.hand.signed(),
        2,
        "nothing was signed for a refused offer"
    );
}
