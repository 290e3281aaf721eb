use super::call;
use crate::{
    backend::svm::addresses::{
        SYSTEM, event_authority, identity, key, program, validation_request, validation_response,
    },
    model::{Bytes32, ValidationAnswer},
};
use agent_registry::{accounts, instruction};
use solana_address::Address;
use solana_instruction::Instruction;

/// Canonical requests have no tag: zeros.
pub fn request(
    owner: Address,
    mint: Address,
    validator: Address,
    request: &Bytes32,
    uri: &str,
) -> Instruction {
    call(
        &accounts::RequestValidation {
            owner: key(owner),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            validation_request: key(validation_request(&mint, &validator, &request.0)),
            system_program: key(SYSTEM),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::ValidationRequest {
            validator: key(validator),
            request_hash: request.0,
            tag: [0; 32],
            request_uri: uri.to_owned(),
        },
    )
}

/// `caller`'s answer to the request that `validator` was sent.
pub fn response(
    caller: Address,
    mint: Address,
    validator: Address,
    answer: &ValidationAnswer,
) -> Instruction {
    let hash = &answer.request.0;
    call(
        &accounts::RespondToValidation {
            validator: key(caller),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            validation_request: key(validation_request(&mint, &validator, hash)),
            validation_response: key(validation_response(&mint, &validator, hash)),
            system_program: key(SYSTEM),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::ValidationResponse {
            request_hash: *hash,
            score: answer.score,
            tag: answer.tag.0,
            evidence_uri: answer.uri.clone(),
            evidence_hash: answer.hash.0,
        },
    )
}
