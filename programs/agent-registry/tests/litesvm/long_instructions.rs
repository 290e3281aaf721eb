//! R11, R3: the instructions sysvar holds offsets of 16 bits. In one longer than 65,535 bytes they
//! wrap, and "the instruction before ours" can be bytes that the sender placed in another one's data.
//! A transaction of 1,232 bytes cannot reach that. Larger ones are on their way to clusters, and not
//! every runtime refuses a sysvar that wraps: so the program does.

use crate::localnet::{
    Localnet,
    authorization::{Authorization, ed25519_program, layout},
    instructions::{GiveFeedback, instructions_sysvar},
    refusal::*,
    stranger_id,
};
use agent_registry::{
    AgentAccounts, AgentIdentity, ConcordError, EVENT_AUTHORITY_AND_BUMP, SetAgentWallet,
    ed25519::VerifiedMessage, event_emission::EventAccounts,
};
use anchor_lang::{
    AccountSerialize,
    prelude::{AccountInfo, Pubkey, Signer, UncheckedAccount},
};
use solana_instruction::Instruction;
use solana_signer::Signer as _;
use solana_transaction::TransactionError;

/// Bytes of an instruction without accounts in the sysvar, beside its data: the number of accounts,
/// the program, the length.
const FRAME: usize = 2 + 32 + 2;

/// An instruction without accounts, as the sysvar holds it.
fn framed(program: &[u8; 32], data: &[u8]) -> Vec<u8> {
    let length = (data.len() as u16).to_le_bytes();
    [&[0, 0], &program[..], &length, data].concat()
}

/// The sysvar as a runtime writes it that casts offsets to u16; the last instruction is the current.
fn sysvar(instructions: &[Vec<u8>]) -> Vec<u8> {
    let count = instructions.len();
    let mut bytes = (count as u16).to_le_bytes().to_vec();
    let mut offset = 2 + 2 * count;
    for instruction in instructions {
        bytes.extend_from_slice(&(offset as u16).to_le_bytes());
        offset += instruction.len();
    }
    bytes.extend(instructions.concat());
    bytes.extend_from_slice(&(count as u16 - 1).to_le_bytes());
    bytes
}

/// Two instructions that move the offset of a third by 65,536 bytes, so that it points to the first
/// one's data, which begins with `fake`. `count` instructions are in the transaction.
fn wrapping(fake: &[u8], count: usize) -> [Vec<u8>; 2] {
    const FIRST: usize = 40_000;
    let mut data = fake.to_vec();
    data.resize(FIRST, 0);
    let start_of_data = 2 + 2 * count + FRAME;
    let second = 65_536 + start_of_data - (2 + 2 * count + FRAME + FIRST + FRAME);
    let program = stranger_id().to_bytes();
    [framed(&program, &data), framed(&program, &vec![0; second])]
}

/// Runs `act` on an account that holds `data`, at the sysvar's address.
fn at_sysvar<T>(data: &mut [u8], act: impl FnOnce(&AccountInfo) -> T) -> T {
    let (key, owner) = (
        Pubkey::from(instructions_sysvar().to_bytes()),
        Pubkey::default(),
    );
    let mut lamports = 1;
    act(&AccountInfo::new(
        &key,
        false,
        false,
        &mut lamports,
        data,
        &owner,
        false,
    ))
}

fn is_too_long<T>(result: anchor_lang::Result<T>) -> bool {
    result.is_err_and(|error| error == ConcordError::InstructionsTooLong.into())
}

/// What the precompile would be asked: but nobody signed it, and nobody asks.
fn forged_call() -> (Pubkey, [u8; 56], Vec<u8>) {
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let owner = agent.owner.pubkey();
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let message = Authorization::of(&feedback, &owner).message();
    let call = layout(owner.as_ref(), &[7; 64], &message);
    (owner.to_bytes().into(), message.try_into().unwrap(), call)
}

#[test]
fn refuses_a_forged_precompile_call_behind_a_wrapped_offset() {
    let (owner, message, call) = forged_call();
    let fake = framed(&ed25519_program().to_bytes(), &call);
    let [first, second] = wrapping(&fake, 4);
    let ours = framed(&agent_registry::ID.to_bytes(), &[]);
    let mut attack = sysvar(&[first, second, framed(&stranger_id().to_bytes(), &[]), ours]);
    at_sysvar(&mut attack, |account| {
        // the sysvar's own reader is deceived: this is what it finds before the current instruction
        let found = solana_instructions_sysvar::load_instruction_at_checked(2, account).unwrap();
        assert_eq!(
            (found.program_id.to_bytes(), found.data),
            (ed25519_program().to_bytes(), call)
        );
        assert!(is_too_long(VerifiedMessage::<56>::preceding(account)));
    });
    // the same call in its place, in a sysvar of 65,535 bytes, is read
    let fake = framed(&ed25519_program().to_bytes(), &forged_call().2);
    let ours = framed(&agent_registry::ID.to_bytes(), &[]);
    let short = sysvar(&[vec![], fake.clone(), ours.clone()]).len();
    let filler = framed(&stranger_id().to_bytes(), &vec![0; 65_535 - short - FRAME]);
    let mut longest = sysvar(&[filler, fake, ours]);
    assert_eq!(longest.len(), 65_535);
    at_sysvar(&mut longest, |account| {
        let verified = VerifiedMessage::<56>::preceding(account).unwrap();
        assert_eq!(verified.signature_over(&owner, &message).unwrap(), [7; 64]);
    });
    longest.insert(2, 0);
    at_sysvar(&mut longest, |account| {
        assert!(is_too_long(VerifiedMessage::<56>::preceding(account)));
    });
}

/// An account of `owner` at `key`, with `data`.
struct Held {
    key: Pubkey,
    owner: Pubkey,
    lamports: u64,
    data: Vec<u8>,
    flags: (bool, bool),
}

impl Held {
    fn new(key: Pubkey, owner: Pubkey, data: Vec<u8>, flags: (bool, bool)) -> Self {
        Self {
            key,
            owner,
            lamports: 1,
            data,
            flags,
        }
    }

    fn info(&mut self) -> AccountInfo<'_> {
        let (signer, writable) = self.flags;
        let lamports = &mut self.lamports;
        AccountInfo::new(
            &self.key,
            signer,
            writable,
            lamports,
            &mut self.data,
            &self.owner,
            false,
        )
    }
}

#[test]
fn refuses_a_fee_payer_as_wallet_behind_a_wrapped_offset() {
    // R3: the forged top-level instruction does not name the wallet as writable
    let (owner, mint, sponsor) = ([1; 32].into(), [2; 32].into(), [3; 32].into());
    let [first, second] = wrapping(&framed(&stranger_id().to_bytes(), &[]), 3);
    let ours = framed(&agent_registry::ID.to_bytes(), &[]);
    let attack = sysvar(&[first, second, ours]);
    let mut identity = vec![];
    AgentIdentity::registered(mint, owner, 0, 255)
        .try_serialize(&mut identity)
        .unwrap();
    let (nobody, program) = (Pubkey::default(), agent_registry::ID);
    let read = (false, false);
    let mut held = [
        Held::new(owner, nobody, vec![], (true, false)),
        Held::new([9; 32].into(), program, identity, (false, true)),
        Held::new(mint, nobody, vec![], read),
        Held::new(sponsor, nobody, vec![], (true, true)),
        Held::new(
            instructions_sysvar().to_bytes().into(),
            nobody,
            attack,
            read,
        ),
        Held::new(EVENT_AUTHORITY_AND_BUMP.0, nobody, vec![], read),
        Held::new(program, nobody, vec![], read),
    ];
    let infos: Vec<AccountInfo> = held.iter_mut().map(Held::info).collect();
    let place = |at: usize| UncheckedAccount::try_from(&infos[at]);
    let set = SetAgentWallet {
        owner: Signer::try_from(&infos[0]).unwrap(),
        agent: AgentAccounts {
            agent: place(1),
            nft_mint: place(2),
        },
        new_wallet: place(3),
        instructions_sysvar: place(4),
        events: EventAccounts {
            event_authority: place(5),
            program: place(6),
        },
    };
    assert!(is_too_long(set.set_agent_wallet()));
}

/// An instruction of a program that takes anything.
fn junk(data: Vec<u8>) -> Instruction {
    Instruction {
        program_id: stranger_id(),
        accounts: vec![],
        data,
    }
}

#[test]
fn this_runtime_refuses_the_whole_transaction_itself() {
    // litesvm takes transactions of any length; Agave 4.2 writes no sysvar whose offsets wrap
    let mut net = Localnet::new();
    let (agent, client) = (net.agent(), net.actor());
    let feedback = GiveFeedback::new(&agent.mint, &client.pubkey());
    let owner = agent.owner.pubkey();
    let message = Authorization::of(&feedback, &owner).message();
    let call = layout(owner.as_ref(), &[7; 64], &message);
    let fake = framed(&ed25519_program().to_bytes(), &call);
    let [first, second] = wrapping(&fake, 4).map(|framed| junk(framed[FRAME..][..].to_vec()));
    let attack = [first, second, junk(vec![]), feedback.instruction()];
    let failed = net.send(&[&client], &attack).unwrap_err();
    assert_eq!(failed.err, TransactionError::SanitizeFailure);
    // in a shorter one the program finds no precompile call
    let short = [junk(fake), feedback.instruction()];
    assert_refused(&net.send(&[&client], &short), 1, AUTH_MISSING);
}
