//! An agent about to change hands.

use super::{
    Agent, Localnet, Sent, token_2022,
    token_2022::{balance, token_account, transfer},
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_signer::Signer;

/// An agent whose authority is set, its buyer with an empty token account, and a stranger.
pub struct Sale {
    pub net: Localnet,
    pub agent: Agent,
    pub buyer: Keypair,
    pub stranger: Keypair,
    pub authority: Address,
}

impl Sale {
    pub fn new() -> Self {
        let mut net = Localnet::new();
        let (agent, buyer, stranger) = (net.agent(), net.actor(), net.actor());
        let authority = net.key().pubkey();
        net.set_feedback_authority(&agent.mint, &authority);
        let mut sale = Self {
            net,
            agent,
            buyer,
            stranger,
            authority,
        };
        sale.create_account(&sale.buyer.pubkey());
        sale
    }

    pub fn create_account(&mut self, owner: &Address) {
        let payer = &self.stranger;
        let create = token_2022::create_associated(&payer.pubkey(), owner, &self.agent.mint);
        self.net.send(&[payer], &[create]).unwrap();
    }

    pub fn held_by(&self, owner: &Keypair) -> Address {
        token_account(&owner.pubkey(), &self.agent.mint)
    }

    pub fn sale(&self, amount: u64) -> Instruction {
        transfer(
            &self.held_by(&self.agent.owner),
            &self.agent.mint,
            &self.held_by(&self.buyer),
            &self.agent.owner.pubkey(),
            amount,
        )
    }

    pub fn send_as_owner(&mut self, instructions: &[Instruction]) -> Sent {
        self.net.send(&[&self.agent.owner], instructions)
    }

    #[track_caller]
    pub fn assert_nothing_changed(&self) {
        let identity = self.net.identity(&self.agent.mint);
        assert_eq!(identity.owner, self.agent.owner.pubkey());
        assert_eq!(identity.owner_version, 1);
        assert_eq!(identity.feedback_authority, self.authority);
        assert_eq!(identity.agent_wallet, self.agent.owner.pubkey());
    }

    #[track_caller]
    pub fn assert_sold(&self) {
        let identity = self.net.identity(&self.agent.mint);
        assert_eq!(identity.owner, self.buyer.pubkey());
        assert_eq!(identity.owner_version, 2);
        assert_eq!(identity.feedback_authority, Address::default());
        assert_eq!(identity.agent_wallet, Address::default());
        assert_eq!(identity.auth_schemes, 2);
        assert_eq!(balance(&self.net, &self.held_by(&self.buyer)), 1);
    }
}
