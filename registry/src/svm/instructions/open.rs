use super::{AppendResponse, discriminators as d, readonly, signer, signer_writable, writable};
use crate::svm::{Program, programs::SYSTEM};
use alloc::vec::Vec;
use solana_address::Address;
use solana_instruction::Instruction;

/// An open feedback (R16 to R18).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GiveOpenFeedback<'a> {
    /// The client's last open index for this agent plus 1 (R12).
    pub index: u64,
    /// At most 1e38 in magnitude; it means `value / 10^decimals`.
    pub value: i128,
    /// 0 to 18.
    pub decimals: u8,
    /// At most 32 bytes (R17).
    pub tag1: &'a str,
    /// At most 32 bytes (R17).
    pub tag2: &'a str,
    /// At most 200 bytes (R17); in the event only.
    pub endpoint: &'a str,
    /// At most 200 bytes (R17); in the event only.
    pub uri: &'a str,
    /// Hash of the feedback file; opaque (R21), in the event only.
    pub hash: [u8; 32],
}

/// A client, and the entries 1 to `last` that a summary reads of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct ClientEntries {
    /// The client.
    pub client: Address,
    /// The client's last open index; 0 if there is none.
    pub last: u64,
}

/// Accounts that a summary's clients may take up: a transaction locks 64, without payer, program
/// and mint.
pub const SUMMARY_ACCOUNTS_MAX: u64 = 64 - 3;

/// How many accounts a summary over these clients reads: each client's index and entries.
pub fn accounts_of_summary(clients: &[ClientEntries]) -> u64 {
    let each = clients.iter().map(|it| it.last.saturating_add(1));
    each.fold(0, u64::saturating_add)
}

impl Program {
    /// Gives open feedback about the agent. `client` signs and pays.
    pub fn give_open_feedback(
        &self,
        client: Address,
        mint: Address,
        feedback: &GiveOpenFeedback<'_>,
    ) -> Instruction {
        let accounts = [
            signer(client),
            signer_writable(client),
            writable(self.agent(&mint)),
            readonly(mint),
            writable(self.open_client_index(&mint, &client)),
            writable(self.open_feedback(&mint, &client, feedback.index)),
            readonly(SYSTEM),
        ];
        let arguments = (
            feedback.index,
            feedback.value,
            feedback.decimals,
            (feedback.tag1, feedback.tag2),
            (feedback.endpoint, feedback.uri),
            feedback.hash,
        );
        self.emitting(d::GIVE_OPEN_FEEDBACK, &accounts, &arguments)
    }

    /// Revokes the client's own open feedback. `client` signs.
    pub fn revoke_open_feedback(&self, client: Address, mint: Address, index: u64) -> Instruction {
        let entry = self.open_feedback(&mint, &client, index);
        let accounts = [signer(client), readonly(mint), writable(entry)];
        self.emitting(d::REVOKE_OPEN_FEEDBACK, &accounts, &index)
    }

    /// Responds to an open feedback (R19). `responder`, who may be anyone, signs.
    pub fn append_open_response(
        &self,
        responder: Address,
        mint: Address,
        response: &AppendResponse<'_>,
    ) -> Instruction {
        let entry = self.open_feedback(&mint, &response.client, response.index);
        let accounts = [signer(responder), readonly(mint), writable(entry)];
        let arguments = (response.client, response.index, response.uri, response.hash);
        self.emitting(d::APPEND_OPEN_RESPONSE, &accounts, &arguments)
    }

    /// Asks for the summary of the listed clients' open feedback (R16), which a simulation answers
    /// as [`OpenSummary`](crate::svm::views::OpenSummary). An empty tag matches all.
    pub fn open_summary(
        &self,
        mint: Address,
        clients: &[ClientEntries],
        tag1: &str,
        tag2: &str,
    ) -> Instruction {
        self.over_entries(d::OPEN_SUMMARY, mint, clients, (tag1, tag2))
    }

    /// As [`Self::open_summary`], for the mergeable form
    /// [`OpenSummaryPart`](crate::svm::views::OpenSummaryPart). For a client with more entries than
    /// one transaction can read, see [`Self::open_summary_range`].
    pub fn open_summary_part(
        &self,
        mint: Address,
        clients: &[ClientEntries],
        tag1: &str,
        tag2: &str,
    ) -> Instruction {
        let mut instruction = self.over_entries(d::OPEN_SUMMARY_PART, mint, clients, (tag1, tag2));
        instruction.data.push(0); // no range
        instruction
    }

    /// The part over the entries `range` of one client, both ends included (R16). Parts over ranges
    /// that do not overlap add up.
    pub fn open_summary_range(
        &self,
        mint: Address,
        client: Address,
        range: core::ops::RangeInclusive<u64>,
        tag1: &str,
        tag2: &str,
    ) -> Instruction {
        let mut accounts = Vec::from([
            readonly(mint),
            readonly(self.open_client_index(&mint, &client)),
        ]);
        let entries = range
            .clone()
            .map(|index| self.open_feedback(&mint, &client, index));
        accounts.extend(entries.map(readonly));
        let bounds = Some((*range.start(), *range.end()));
        let arguments = (Vec::from([client]), tag1, tag2, bounds);
        self.instruction(d::OPEN_SUMMARY_PART, accounts, &arguments)
    }

    /// For each client as listed: the client's index, then the entries 1 to last (R16).
    fn over_entries(
        &self,
        discriminator: [u8; 8],
        mint: Address,
        clients: &[ClientEntries],
        tags: (&str, &str),
    ) -> Instruction {
        let mut accounts = Vec::from([readonly(mint)]);
        for ClientEntries { client, last } in clients {
            accounts.push(readonly(self.open_client_index(&mint, client)));
            let entries = (1..=*last).map(|index| self.open_feedback(&mint, client, index));
            accounts.extend(entries.map(readonly));
        }
        let listed: Vec<Address> = clients.iter().map(|it| it.client).collect();
        self.instruction(discriminator, accounts, &(listed, tags))
    }
}
