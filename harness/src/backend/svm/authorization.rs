use super::addresses::{ED25519, actor, mint, program};
use crate::{
    backend::secrets::secret_of,
    model::{Authorization, Tamper},
};
use agent_registry::FeedbackAuthorization;
use concord_canonical::{auth::SvmFeedbackAuth, caip::ChainId, sign};
use solana_instruction::Instruction;

/// The chain that the registry under test is initialized for.
pub const CHAIN: &str = "solana:localnet";
/// Devnet.
const ANOTHER_CHAIN: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";

/// The precompile instruction that goes before the feedback; none where nothing is sent.
pub fn precompile(authorization: &Authorization, start: u64) -> Option<Instruction> {
    if authorization.tamper == Some(Tamper::Empty) {
        return None;
    }
    let message = message(authorization, start);
    let signer = actor(&authorization.signer).to_bytes();
    let mut data = template(&signer, &signature(authorization, &message), &message);
    match authorization.tamper {
        Some(Tamper::Truncated) => data.truncate(data.len() - 1),
        Some(Tamper::Extended) => data.push(0),
        _ => (),
    }
    Some(Instruction {
        program_id: ED25519,
        accounts: Vec::new(),
        data,
    })
}

/// What the feedback instruction is told of the authorization. Without one, the widest claim.
pub fn claim(authorization: Option<&Authorization>, start: u64) -> FeedbackAuthorization {
    FeedbackAuthorization::Bounded {
        index_limit: authorization.map_or(u64::MAX, |sent| sent.index_limit),
        expiry: authorization.map_or(u64::MAX, |sent| start.saturating_add(sent.expiry)),
    }
}

/// The 56 bytes of R9.
fn message(authorization: &Authorization, start: u64) -> [u8; 56] {
    let chain = match authorization.tamper {
        Some(Tamper::WrongChain) => ANOTHER_CHAIN,
        _ => CHAIN,
    };
    let program_id = match authorization.tamper {
        Some(Tamper::WrongRegistry) => {
            sign::ed25519_public_key(&secret_of("registry", "elsewhere"))
        }
        _ => program().to_bytes(),
    };
    SvmFeedbackAuth {
        agent_mint: mint(&authorization.agent).to_bytes(),
        client: actor(&authorization.client).to_bytes(),
        index_limit: authorization.index_limit,
        expiry: start.saturating_add(authorization.expiry),
        chain: ChainId::parse(chain)
            .expect("a CAIP-2 id of the solana namespace")
            .hash(),
        program_id,
        signer: actor(&authorization.signer).to_bytes(),
    }
    .message()
}

fn signature(authorization: &Authorization, message: &[u8; 56]) -> [u8; 64] {
    let signer = match &authorization.tamper {
        Some(Tamper::SignedBy(actor)) => actor,
        _ => &authorization.signer,
    };
    let mut signature = sign::ed25519_sign(&secret_of("actor", &signer.0), message);
    if authorization.tamper == Some(Tamper::CorruptSignature) {
        signature[32] ^= 1; // the lowest bit of S
    }
    signature
}

/// R11's one layout: 16 header bytes, then key, signature and message.
fn template(signer: &[u8; 32], signature: &[u8; 64], message: &[u8; 56]) -> Vec<u8> {
    const HERE: [u8; 2] = u16::MAX.to_le_bytes();
    let offset = u16::to_le_bytes;
    let header = [
        [1, 0],
        offset(48),
        HERE,
        offset(16),
        HERE,
        offset(112),
        offset(56),
        HERE,
    ];
    [header.as_flattened(), signer, signature, message].concat()
}
