//! URIs.
use crate::{
    fuzz::{random::Random, world::World},
    model::{Operation, Register, SetAgentUri, ValidationRequest},
};

pub(super) fn long_uri(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    set_uri(operation, &"é".repeat(101))
}

pub(super) fn nul_in_uri(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    set_uri(operation, "https://a.example/\0")
}

pub(super) fn empty_uri(operation: &mut Operation, _: &World, _: u64, _: &mut Random) -> bool {
    mutate!(operation, Operation::AppendResponse(response) | Operation::AppendOpenResponse(response) => {
        response.uri.clear();
    })
}

fn set_uri(operation: &mut Operation, to: &str) -> bool {
    match operation {
        Operation::Register(Register { uri, metadata, .. }) => {
            metadata.clear(); // so that it fits a packet
            *uri = to.to_owned();
        }
        Operation::SetAgentUri(SetAgentUri { uri, .. })
        | Operation::ValidationRequest(ValidationRequest { uri, .. }) => {
            *uri = to.to_owned();
        }
        Operation::GiveFeedback(feedback) => feedback.uri = to.to_owned(),
        Operation::GiveOpenFeedback(feedback) => feedback.uri = to.to_owned(),
        Operation::AppendResponse(response) | Operation::AppendOpenResponse(response) => {
            response.uri = to.to_owned();
        }
        Operation::ValidationResponse(answer) => answer.uri = to.to_owned(),
        _ => return false,
    }
    true
}
