//! The registry account and what its authority may do, byte by byte.

use super::{
    Localnet,
    accounts::Fields,
    instructions::{event_authority, readonly, registry, signer, writable},
    program_id,
};
use solana_address::Address;
use solana_instruction::Instruction;

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Registry {
    pub chain_hash: [u8; 32],
    pub authority: Address,
    pub proposed_authority: Address,
    pub chain: String,
    pub payment_tokens: Vec<Address>,
    pub facilitators: Vec<Address>,
}

impl Localnet {
    /// Nothing but zeros follows the last facilitator.
    pub fn registry(&self) -> Registry {
        let (_, bump) = Address::find_program_address(&[b"registry"], &program_id());
        let mut fields = Fields::of(
            &self.account(&registry()).data,
            [47, 174, 110, 246, 184, 182, 252, 218],
        );
        let chain_hash = fields.bytes32();
        assert_eq!((fields.u8(), fields.u8()), (bump, 1)); // R12: version
        let registry = Registry {
            chain_hash,
            authority: fields.key(),
            proposed_authority: fields.key(),
            chain: fields.text(),
            payment_tokens: fields.keys(),
            facilitators: fields.keys(),
        };
        fields.end_in_zeros();
        registry
    }
}

fn of_authority(authority: &Address, discriminator: [u8; 8], argument: &[u8]) -> Instruction {
    Instruction {
        program_id: program_id(),
        accounts: vec![
            signer(*authority),
            writable(registry()),
            readonly(event_authority()),
            readonly(program_id()),
        ],
        data: [&discriminator[..], argument].concat(),
    }
}

pub fn propose_authority(authority: &Address, successor: &Address) -> Instruction {
    let discriminator = [125, 119, 150, 86, 165, 76, 48, 8];
    of_authority(authority, discriminator, successor.as_ref())
}

pub fn accept_authority(successor: &Address) -> Instruction {
    of_authority(successor, [228, 112, 232, 244, 155, 68, 83, 87], &[])
}

pub fn set_payment_token(authority: &Address, token: &Address, listed: bool) -> Instruction {
    let discriminator = [155, 213, 140, 249, 53, 59, 20, 5];
    let argument = [token.as_ref(), &[listed.into()]].concat();
    of_authority(authority, discriminator, &argument)
}

pub fn set_facilitator(authority: &Address, facilitator: &Address, listed: bool) -> Instruction {
    let discriminator = [214, 70, 98, 0, 7, 100, 42, 242];
    let argument = [facilitator.as_ref(), &[listed.into()]].concat();
    of_authority(authority, discriminator, &argument)
}
