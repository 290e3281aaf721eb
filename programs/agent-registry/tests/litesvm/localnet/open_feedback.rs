//! Open feedback: instructions, accounts and return data, byte by byte.

use super::{
    Localnet, Sent,
    accounts::Fields,
    instructions::{
        agent_identity, event_authority, readonly, signer, signer_and_payer, system_program, text,
        writable,
    },
    pda, program_id,
};
use solana_address::Address;
use solana_instruction::Instruction;
use solana_keypair::Keypair;

pub fn open_client_index(mint: &Address, client: &Address) -> Address {
    pda(&[b"open_client", mint.as_ref(), client.as_ref()])
}

pub fn open_feedback(mint: &Address, client: &Address, index: u64) -> Address {
    let index = index.to_le_bytes();
    pda(&[b"open_feedback", mint.as_ref(), client.as_ref(), &index])
}

/// The arguments of `give_open_feedback`, and whom they concern.
#[derive(Clone)]
pub struct GiveOpenFeedback {
    pub mint: Address,
    pub client: Address,
    pub feedback_index: u64,
    pub value: i128,
    pub value_decimals: u8,
    pub tag1: Vec<u8>,
    pub tag2: Vec<u8>,
    pub endpoint: Vec<u8>,
    pub feedback_uri: Vec<u8>,
    pub feedback_hash: [u8; 32],
}

impl GiveOpenFeedback {
    /// A client's first feedback: 99.77.
    pub fn new(mint: &Address, client: &Address) -> Self {
        Self {
            mint: *mint,
            client: *client,
            feedback_index: 1,
            value: 9977,
            value_decimals: 2,
            tag1: b"uptime".to_vec(),
            tag2: b"week".to_vec(),
            endpoint: b"https://agent.example/mcp".to_vec(),
            feedback_uri: b"https://feedback.example/1.json".to_vec(),
            feedback_hash: [0x44; 32],
        }
    }

    /// Every text at its limit.
    pub fn longest(mint: &Address, client: &Address) -> Self {
        Self {
            tag1: vec![b'a'; 32],
            tag2: vec![b'b'; 32],
            endpoint: vec![b'c'; 200],
            feedback_uri: vec![b'd'; 200],
            ..Self::new(mint, client)
        }
    }

    pub fn instruction(&self) -> Instruction {
        let (mint, client) = (&self.mint, &self.client);
        let data = [
            &[235, 80, 158, 19, 205, 54, 156, 5][..],
            &self.feedback_index.to_le_bytes(),
            &self.value.to_le_bytes(),
            &[self.value_decimals],
            &text(&self.tag1),
            &text(&self.tag2),
            &text(&self.endpoint),
            &text(&self.feedback_uri),
            &self.feedback_hash,
        ]
        .concat();
        let accounts = vec![
            signer(*client),
            signer_and_payer(*client),
            writable(agent_identity(mint)),
            readonly(*mint),
            writable(open_client_index(mint, client)),
            writable(open_feedback(mint, client, self.feedback_index)),
            readonly(system_program()),
            readonly(event_authority()),
            readonly(program_id()),
        ];
        Instruction {
            program_id: program_id(),
            accounts,
            data,
        }
    }
}

pub fn revoke_open_feedback(client: &Address, mint: &Address, index: u64) -> Instruction {
    let discriminator = [33, 227, 102, 71, 184, 135, 16, 15];
    Instruction {
        program_id: program_id(),
        accounts: vec![
            signer(*client),
            readonly(*mint),
            writable(open_feedback(mint, client, index)),
            readonly(event_authority()),
            readonly(program_id()),
        ],
        data: [&discriminator[..], &index.to_le_bytes()].concat(),
    }
}

pub const OPEN_SUMMARY: [u8; 8] = [96, 145, 100, 69, 126, 222, 146, 95];
pub const OPEN_SUMMARY_PART: [u8; 8] = [143, 136, 30, 105, 227, 116, 199, 95];

/// Either summary; `clients` with the number of entries that each has.
pub fn open_summary(
    discriminator: [u8; 8],
    mint: &Address,
    clients: &[(Address, u64)],
    tag1: &str,
    tag2: &str,
) -> Instruction {
    let mut data = discriminator.to_vec();
    data.extend_from_slice(&(clients.len() as u32).to_le_bytes());
    let mut accounts = vec![readonly(*mint)];
    for (client, last) in clients {
        data.extend_from_slice(client.as_ref());
        accounts.push(readonly(open_client_index(mint, client)));
        accounts.extend((1..=*last).map(|index| readonly(open_feedback(mint, client, index))));
    }
    data.extend([text(tag1.as_bytes()), text(tag2.as_bytes())].concat());
    if discriminator == OPEN_SUMMARY_PART {
        data.push(0); // no range
    }
    Instruction {
        program_id: program_id(),
        accounts,
        data,
    }
}

/// The part over the entries `first` to `last` of one client, without tags.
pub fn open_summary_range(
    mint: &Address,
    client: &Address,
    (first, last): (u64, u64),
) -> Instruction {
    let mut data = OPEN_SUMMARY_PART.to_vec();
    data.extend_from_slice(&1u32.to_le_bytes());
    data.extend_from_slice(client.as_ref());
    data.extend([text(b""), text(b""), vec![1]].concat());
    data.extend([first.to_le_bytes(), last.to_le_bytes()].concat());
    let mut accounts = vec![readonly(*mint), readonly(open_client_index(mint, client))];
    accounts.extend((first..=last).map(|index| readonly(open_feedback(mint, client, index))));
    Instruction {
        program_id: program_id(),
        accounts,
        data,
    }
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenFeedback {
    pub nft_mint: Address,
    pub client: Address,
    pub feedback_index: u64,
    pub value: i128,
    pub value_decimals: u8,
    pub revoked: bool,
    pub created_at: i64,
    pub response_count: u64,
    pub tags: [String; 2],
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpenClientIndex {
    pub agent: Address,
    pub client: Address,
    pub last_index: u64,
    pub ordinal: u64,
}

impl Localnet {
    pub fn open_entry(&self, mint: &Address, client: &Address, index: u64) -> OpenFeedback {
        let bytes = index.to_le_bytes();
        let seeds: &[&[u8]] = &[b"open_feedback", mint.as_ref(), client.as_ref(), &bytes];
        let (at, bump) = Address::find_program_address(seeds, &program_id());
        let account = self.account(&at);
        assert_eq!(account.owner, program_id());
        let mut fields = Fields::of(&account.data, [141, 237, 192, 62, 31, 77, 132, 246]);
        let (nft_mint, client, feedback_index) = (fields.key(), fields.key(), fields.u64());
        let (value, value_decimals, revoked) = (fields.i128(), fields.u8(), fields.flag());
        let (created_at, response_count) = (fields.i64(), fields.u64());
        assert_eq!((fields.u8(), fields.u8()), (bump, 1)); // R12: version
        let tags = [fields.text(), fields.text()];
        fields.end();
        OpenFeedback {
            nft_mint,
            client,
            feedback_index,
            value,
            value_decimals,
            revoked,
            created_at,
            response_count,
            tags,
        }
    }

    pub fn open_client_index(&self, mint: &Address, client: &Address) -> OpenClientIndex {
        let seeds: &[&[u8]] = &[b"open_client", mint.as_ref(), client.as_ref()];
        let (at, bump) = Address::find_program_address(seeds, &program_id());
        let account = self.account(&at);
        assert_eq!(account.owner, program_id());
        let mut fields = Fields::of(&account.data, [173, 118, 236, 175, 216, 69, 4, 212]);
        let index = OpenClientIndex {
            agent: fields.key(),
            client: fields.key(),
            last_index: fields.u64(),
            ordinal: fields.u64(),
        };
        assert_eq!((fields.u8(), fields.u8()), (bump, 1)); // R12: version
        fields.end();
        index
    }

    /// Sends `feedback`, signed and paid by `client`.
    pub fn give_open(&mut self, client: &Keypair, feedback: &GiveOpenFeedback) -> Sent {
        self.send(&[client], &[feedback.instruction()])
    }

    /// Feedback number `index`, and what must come of it: success.
    pub fn given_open(&mut self, mint: &Address, client: &Keypair, index: u64) {
        use solana_signer::Signer;
        let feedback = GiveOpenFeedback {
            feedback_index: index,
            ..GiveOpenFeedback::new(mint, &client.pubkey())
        };
        self.give_open(client, &feedback)
            .expect("open feedback is accepted");
    }
}
