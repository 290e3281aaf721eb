//! Responses to feedback of either profile, byte by byte.

use super::{
    instructions::{event_authority, feedback_entry, readonly, signer, text, writable},
    open_feedback::open_feedback,
    program_id,
};
use solana_address::Address;
use solana_instruction::Instruction;

/// The arguments of `append_response` and `append_open_response`, and whom they concern.
#[derive(Clone)]
pub struct Respond {
    pub responder: Address,
    pub mint: Address,
    pub client: Address,
    pub feedback_index: u64,
    pub response_uri: Vec<u8>,
    pub response_hash: [u8; 32],
}

impl Respond {
    /// To a client's first feedback.
    pub fn new(responder: &Address, mint: &Address, client: &Address) -> Self {
        Self {
            responder: *responder,
            mint: *mint,
            client: *client,
            feedback_index: 1,
            response_uri: b"https://responses.example/1.json".to_vec(),
            response_hash: [0x55; 32],
        }
    }

    pub fn to_authorized(&self) -> Instruction {
        let entry = feedback_entry(&self.mint, &self.client, self.feedback_index);
        self.instruction([162, 210, 186, 50, 180, 4, 47, 104], entry)
    }

    pub fn to_open(&self) -> Instruction {
        let entry = open_feedback(&self.mint, &self.client, self.feedback_index);
        self.instruction([62, 181, 244, 165, 168, 111, 205, 68], entry)
    }

    fn instruction(&self, discriminator: [u8; 8], entry: Address) -> Instruction {
        let data = [
            &discriminator[..],
            self.client.as_ref(),
            &self.feedback_index.to_le_bytes(),
            &text(&self.response_uri),
            &self.response_hash,
        ]
        .concat();
        Instruction {
            program_id: program_id(),
            accounts: vec![
                signer(self.responder),
                readonly(self.mint),
                writable(entry),
                readonly(event_authority()),
                readonly(program_id()),
            ],
            data,
        }
    }
}
