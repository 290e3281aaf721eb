use super::call;
use crate::{
    backend::svm::addresses::{
        INSTRUCTIONS_SYSVAR, SYSTEM, event_authority, feedback_entry, identity, key, program,
        registry, spent_payment,
    },
    model::Feedback,
};
use agent_registry::{FeedbackAuthorization, accounts, attach_payment_proof::Payment, instruction};
use concord_deploy::svm::instructions;
use solana_address::Address;
use solana_instruction::Instruction;

pub fn give_feedback(
    reviewer: Address,
    mint: Address,
    index: u64,
    feedback: &Feedback,
    auth: FeedbackAuthorization,
) -> Instruction {
    let arguments = instruction::GiveFeedback {
        feedback_index: index,
        score: feedback.score,
        tag1: feedback.tag1.0,
        tag2: feedback.tag2.0,
        detail_uri: feedback.uri.clone(),
        detail_hash: feedback.hash.0,
        auth,
    };
    instructions::give_feedback(reviewer, mint, &arguments)
}

pub fn revoke_feedback(reviewer: Address, mint: Address, index: u64) -> Instruction {
    call(
        &accounts::RevokeFeedback {
            reviewer: key(reviewer),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            feedback_entry: key(feedback_entry(&mint, &reviewer, index)),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::RevokeFeedback {
            feedback_index: index,
        },
    )
}

pub fn append_response(
    responder: Address,
    mint: Address,
    client: Address,
    response: &crate::model::Response,
) -> Instruction {
    call(
        &accounts::AppendResponse {
            responder: key(responder),
            nft_mint: key(mint),
            feedback_entry: key(feedback_entry(&mint, &client, response.index)),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::AppendResponse {
            client: key(client),
            feedback_index: response.index,
            response_uri: response.uri.clone(),
            response_hash: response.hash.0,
        },
    )
}

pub fn attach_payment_proof(
    caller: Address,
    mint: Address,
    reviewer: Address,
    index: u64,
    payment: Payment,
) -> Instruction {
    call(
        &accounts::AttachPaymentProof {
            caller: key(caller),
            reviewer: key(reviewer),
            registry: key(registry()),
            agent: key(identity(&mint)),
            nft_mint: key(mint),
            feedback_entry: key(feedback_entry(&mint, &reviewer, index)),
            spent_payment: key(spent_payment(&payment.task_ref_hash)),
            instructions_sysvar: key(INSTRUCTIONS_SYSVAR),
            system_program: key(SYSTEM),
            event_authority: key(event_authority()),
            program: key(program()),
        },
        &instruction::AttachPaymentProof {
            feedback_index: index,
            payment,
        },
    )
}
