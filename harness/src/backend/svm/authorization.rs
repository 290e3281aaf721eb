use super::{
    World,
    precompile::{self, Domain},
};
use crate::model::{Authorization, Form};
use concord_canonical::auth::{SvmFeedbackAuth, x84_message};
use concord_registry::svm::instructions::FeedbackAuthorization;
use solana_instruction::Instruction;

/// The precompile instruction that goes before the feedback; none where nothing is sent.
pub fn precompile(authorization: &Authorization, world: &World) -> Option<Instruction> {
    let message = match authorization.form {
        Form::Bounded | Form::DraftV1 => bounded_message(authorization, world).to_vec(),
        // R10
        Form::X84 => x84_message(
            &world.keys.actor(&authorization.client).to_bytes(),
            &world.mint(&authorization.agent).to_bytes(),
        )
        .to_vec(),
    };
    let tamper = authorization.tamper.as_ref();
    precompile::instruction(&authorization.signer, tamper, &message, world)
}

/// Returns the feedback instruction's argument for the authorization. Without one, the widest claim.
pub fn claim(authorization: Option<&Authorization>, world: &World) -> FeedbackAuthorization {
    match authorization {
        Some(sent) if sent.form == Form::X84 => FeedbackAuthorization::X84,
        sent => FeedbackAuthorization::Bounded {
            index_limit: sent.map_or(u64::MAX, |sent| sent.index_limit),
            expiry: sent.map_or(u64::MAX, |sent| world.start.saturating_add(sent.expiry)),
        },
    }
}

/// The 56 bytes of R9.
fn bounded_message(authorization: &Authorization, world: &World) -> [u8; 56] {
    let domain = Domain::named(authorization.tamper.as_ref(), world);
    SvmFeedbackAuth {
        agent_mint: world.mint(&authorization.agent).to_bytes(),
        client: world.keys.actor(&authorization.client).to_bytes(),
        index_limit: authorization.index_limit,
        expiry: world.start.saturating_add(authorization.expiry),
        chain: domain.chain,
        program_id: domain.program_id,
        signer: world.keys.actor(&authorization.signer).to_bytes(),
    }
    .message()
}
