//! The Ed25519 precompile instruction that carries a signed statement, sound or tampered with.
use super::{Keyring, World};
use crate::{
    backend::secrets::secret_of,
    model::{Actor, Tamper},
};
use concord_canonical::{Word, caip::ChainId, sign};
use concord_registry::svm::ed25519;
use solana_instruction::Instruction;

/// The chain that a registry of the harness's own is initialized for.
pub const LOCALNET: &str = "solana:localnet";
/// Devnet.
const ANOTHER_CHAIN: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
/// The order of Ed25519's group, little-endian (RFC 8032, section 5.1).
const GROUP_ORDER: [u8; 32] = [
    0xed, 0xd3, 0xf5, 0x5c, 0x1a, 0x63, 0x12, 0x58, 0xd6, 0x9c, 0xf7, 0xa2, 0xde, 0xf9, 0xde, 0x14,
    0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x10,
];
/// Where the header says in which instruction the signature lies.
const SIGNATURE_INSTRUCTION: std::ops::Range<usize> = 4..6;
/// The precompile instruction is the first of its transaction.
const OWN_INSTRUCTION: u16 = 0;

/// The words of a statement that say which registry it is for.
pub struct Domain {
    /// keccak256 of the chain's CAIP-2 text.
    pub chain: Word,
    pub program_id: Word,
}

impl Domain {
    /// What the signed text names: the registry's own chain and program, unless tampered with.
    pub fn named(tamper: Option<&Tamper>, world: &World) -> Self {
        let chain = match tamper {
            Some(Tamper::WrongChain) if world.chain == ANOTHER_CHAIN => LOCALNET,
            Some(Tamper::WrongChain) => ANOTHER_CHAIN,
            _ => &world.chain,
        };
        Self {
            chain: ChainId::parse(chain)
                .expect("a CAIP-2 id of the solana namespace")
                .hash(),
            program_id: match tamper {
                Some(Tamper::WrongRegistry) => {
                    sign::ed25519_public_key(&secret_of("registry", "elsewhere"))
                }
                _ => world.program.id().to_bytes(),
            },
        }
    }
}

/// The precompile instruction that goes first in the transaction; none where nothing is sent.
pub fn instruction(
    signer: &Actor,
    tamper: Option<&Tamper>,
    message: &[u8],
    world: &World,
) -> Option<Instruction> {
    let signature = signature(signer, tamper, message, &world.keys);
    let signer = world.keys.actor(signer).to_bytes();
    let mut instruction =
        ed25519::verify(&signer, &signature, message).expect("statements are 56 or 64 bytes");
    let data = &mut instruction.data;
    match tamper {
        Some(Tamper::Empty) => return None,
        Some(Tamper::Truncated) => data.truncate(data.len() - 1),
        Some(Tamper::Extended) => data.push(0),
        // The precompile finds the same signature there; R11's template refuses another layout.
        Some(Tamper::Dirty) => {
            data[SIGNATURE_INSTRUCTION].copy_from_slice(&OWN_INSTRUCTION.to_le_bytes());
        }
        _ => (),
    }
    Some(instruction)
}

fn signature(signer: &Actor, tamper: Option<&Tamper>, message: &[u8], keys: &Keyring) -> [u8; 64] {
    let holder = match tamper {
        Some(Tamper::SignedBy(actor)) => actor,
        _ => signer,
    };
    let mut signature = sign::ed25519_sign(&keys.actor_secret(holder), message);
    match tamper {
        Some(Tamper::CorruptSignature) => signature[32] ^= 1, // the lowest bit of S
        Some(Tamper::MalleateSignature) => add_group_order(&mut signature[32..]), // R23
        _ => (),
    }
    signature
}

/// S + L, which still fits: S is below L, and L below 2^253.
fn add_group_order(scalar: &mut [u8]) {
    let mut carry = 0;
    for (digit, added) in scalar.iter_mut().zip(GROUP_ORDER) {
        let [low, high] = (u16::from(*digit) + u16::from(added) + carry).to_le_bytes();
        *digit = low;
        carry = high.into();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn r23_a_malleated_signature_is_another_and_does_not_verify() {
        let signer = Actor::from("signer");
        let key = sign::ed25519_public_key(&secret_of("actor", "signer"));
        let sound = signature(&signer, None, b"text", &Keyring::Public);
        let malleated = signature(
            &signer,
            Some(&Tamper::MalleateSignature),
            b"text",
            &Keyring::Public,
        );
        assert_eq!(sound[..32], malleated[..32]);
        assert_ne!(sound[32..], malleated[32..]);
        sign::ed25519_verify(&key, b"text", &sound).unwrap();
        sign::ed25519_verify(&key, b"text", &malleated).unwrap_err();
    }

    #[test]
    fn adding_the_group_order_carries() {
        let mut scalar = [0xff; 32];
        scalar[31] = 0;
        add_group_order(&mut scalar);
        // 2^248 - 1 + L, computed by hand: L - 1, with 1 in the highest digit added
        let mut sum = GROUP_ORDER;
        sum[0] -= 1;
        sum[31] += 1;
        assert_eq!(scalar, sum);
    }
}
