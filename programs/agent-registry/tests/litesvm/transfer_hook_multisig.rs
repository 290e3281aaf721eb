//! R4: Token-2022's multisignature accounts belong to Token-2022 too, and whoever makes one chooses most of
//! its bytes. Where an agent's mint begins with the bytes of such an account, they can spell a token account
//! in the middle of a transfer of that mint.

use crate::{
    calls_by_programs::relay,
    localnet::{
        Localnet, URI,
        instructions::{agent_mint, readonly, register_agent, writable},
        refusal::*,
        settings::set_agent_uri,
        token_2022::{self, balance, create_account, token_account},
    },
    transfer_hook_attacks::direct_call,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

const SPACE: usize = 355;
/// Three bytes before the signers: how many must sign, how many there are, 1 for initialized.
const SIGNERS: usize = 3;

/// A seller's key and the nonce with which the seller's mint begins with such bytes; each nonce does with a chance of
/// 66 in 2^24.
const SELLER: [u8; 32] = [0x5E; 32];
const NONCE: u64 = 773_695;

/// A sold agent, whose mint the seller chose.
struct Sold {
    net: Localnet,
    mint: Address,
    seller: Keypair,
    buyer: Keypair,
}

impl Sold {
    fn new() -> Self {
        let mut net = Localnet::new();
        let (seller, buyer) = (Keypair::new_from_array(SELLER), net.actor());
        let me = seller.pubkey();
        net.svm.airdrop(&me, 10_000_000_000).unwrap();
        net.send(&[&seller], &[register_agent(&me, NONCE, URI)])
            .unwrap();
        let mint = agent_mint(&me, NONCE);
        net.transfer(&mint, &seller, &buyer.pubkey()).unwrap();
        Self {
            net,
            mint,
            seller,
            buyer,
        }
    }

    /// A token account of the agent's mint that `owner` holds the agent with, in mid-transfer, as bytes.
    fn spelled(&self, owner: &Address) -> Vec<u8> {
        let mut bytes = token_2022::in_transfer(&self.mint, owner, token_2022::program()).data;
        bytes.resize(SPACE, 0);
        bytes
    }

    /// Has `thief` make the multisignature account, by nothing but ordinary instructions.
    fn forge(&mut self, thief: &Keypair) -> Address {
        let bytes = self.spelled(&thief.pubkey());
        let account = self.net.key();
        let at = account.pubkey();
        let signers = bytes[SIGNERS..].chunks_exact(32);
        let count = usize::from(bytes[1]);
        let signers = signers.map(|key| readonly(<[u8; 32]>::try_from(key).unwrap().into()));
        let accounts = [writable(at)].into_iter().chain(signers.take(count));
        let required = bytes[0];
        let initialize = token_2022::instruction(vec![19, required], accounts.collect());
        let create = create_account(&self.net, &thief.pubkey(), &at, SPACE);
        self.net
            .send(&[thief, &account], &[create, initialize])
            .unwrap();
        let made = self.net.account(&at);
        assert_eq!(made.owner, token_2022::program());
        assert_eq!(made.data, bytes);
        at
    }

    #[track_caller]
    fn assert_refused_to(&mut self, thief: &Keypair) {
        let forged = self.forge(thief);
        let genuine = token_account(&self.buyer.pubkey(), &self.mint);
        for (from, to) in [(forged, forged), (genuine, forged), (forged, genuine)] {
            let call = direct_call(&self.mint, from, to, 1);
            for call in [call.clone(), relay(&[call])] {
                let sent = self.net.send(&[thief], &[call]);
                self.assert_still_the_buyers(thief);
                assert_refused(&sent, 0, NOT_IN_TRANSFER);
            }
        }
    }

    #[track_caller]
    fn assert_still_the_buyers(&mut self, thief: &Keypair) {
        let (mint, buyer) = (self.mint, self.buyer.insecure_clone());
        assert_eq!(self.net.identity(&mint).owner, buyer.pubkey());
        let held = token_account(&buyer.pubkey(), &mint);
        assert_eq!(balance(&self.net, &held), 1);
        let set = |who: &Keypair| -> Instruction { set_agent_uri(&who.pubkey(), &mint, b"mine") };
        self.net.send(&[&buyer], &[set(&buyer)]).unwrap();
        assert_refused(&self.net.send(&[thief], &[set(thief)]), 0, NOT_AUTHORIZED);
    }
}

#[test]
fn the_chosen_mint_begins_like_a_multisignature_that_reaches_byte_165() {
    let mint = Sold::new().mint.to_bytes();
    let [required, count, initialized, ..] = mint;
    assert!((1..=11).contains(&required) && (6..=11).contains(&count) && initialized == 1);
    // the account type and both extensions lie within the sixth signer
    assert!((SIGNERS + 5 * 32..SIGNERS + 6 * 32 - 9).contains(&165));
}

#[test]
fn a_former_owner_does_not_take_the_agent_back() {
    let mut sold = Sold::new();
    let seller = sold.seller.insecure_clone();
    sold.assert_refused_to(&seller);
}

#[test]
fn a_stranger_does_not_take_the_agent() {
    let mut sold = Sold::new();
    let stranger = sold.net.actor();
    sold.assert_refused_to(&stranger);
}
