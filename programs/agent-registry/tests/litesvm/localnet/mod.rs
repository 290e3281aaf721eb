//! A cluster in process with the program deployed, and what it takes to use it.

pub mod accounts;
pub mod authorization;
pub mod calls;
pub mod instructions;
pub mod payment;
pub mod refusal;
pub mod registry;
pub mod sale;
pub mod settings;
pub mod stage;
pub mod token_2022;

pub mod open_feedback;
pub mod open_summary;
pub mod responses;
pub mod swaps;
pub mod validation;

use authorization::Authorization;
use instructions::{GiveFeedback, agent_mint, initialize, register_agent};
use litesvm::{
    LiteSVM,
    types::{FailedTransactionMetadata, TransactionMetadata},
};
use sha2::{Digest, Sha256};
use solana_account::Account;
use solana_address::Address;
use solana_clock::Clock;
use solana_instruction::Instruction;
use solana_keypair::Keypair;
use solana_message::Message;
use solana_signer::Signer;
use solana_transaction::Transaction;
use token_2022::token_account;

pub const CHAIN: &str = "solana:localnet";
/// The clock of a new localnet, seconds.
pub const NOW: i64 = 1_800_000_000;
pub const URI: &str = "https://agents.example/registration.json";

pub type Sent = Result<TransactionMetadata, Box<FailedTransactionMetadata>>;

pub fn program_id() -> Address {
    Address::from_str_const("4dqu3YHQaBRRG7MPP4KRapDWK2XoAcHuAjTRwTuZCxbB")
}

/// The stranger's program of programs/test-caller.
pub fn stranger_id() -> Address {
    Address::from([0x57; 32])
}

pub fn upgradeable_loader() -> Address {
    Address::from_str_const("BPFLoaderUpgradeab1e11111111111111111111111")
}

pub fn pda(seeds: &[&[u8]]) -> Address {
    Address::find_program_address(seeds, &program_id()).0
}

pub fn program_data() -> Address {
    Address::find_program_address(&[program_id().as_ref()], &upgradeable_loader()).0
}

/// An agent and its first owner.
pub struct Agent {
    pub owner: Keypair,
    pub mint: Address,
}

pub struct Localnet {
    pub svm: LiteSVM,
    pub upgrade_authority: Keypair,
    keys: u32,
}

impl Localnet {
    /// Deployed and initialized for [`CHAIN`].
    pub fn new() -> Self {
        let mut net = Self::uninitialized();
        let authority = net.upgrade_authority.insecure_clone();
        net.send(&[&authority], &[initialize(&authority.pubkey(), CHAIN)])
            .expect("the upgrade authority initializes the registry");
        net
    }

    /// Deployed under an upgrade authority.
    pub fn uninitialized() -> Self {
        let mut svm = LiteSVM::new();
        // scripts/deep rust-mutation tests other builds
        let changed = std::env::var("CONCORD_PROGRAM_FILE").ok();
        let built = changed.unwrap_or_else(|| deployed("agent_registry"));
        deploy(&mut svm, program_id(), &built);
        deploy(&mut svm, stranger_id(), &deployed("test_caller"));
        let mut net = Self {
            svm,
            upgrade_authority: Keypair::new(),
            keys: 0,
        };
        net.upgrade_authority = net.actor();
        let authority = net.upgrade_authority.pubkey();
        net.set_upgrade_authority(Some(authority));
        net.set_clock(NOW);
        net
    }

    /// litesvm deploys without an authority; this writes one where the loader keeps it.
    pub fn set_upgrade_authority(&mut self, authority: Option<Address>) {
        let mut account = self.account(&program_data());
        account.data[12] = authority.is_some().into();
        account.data[13..45].copy_from_slice(authority.unwrap_or_default().as_ref());
        self.svm.set_account(program_data(), account).unwrap();
    }

    /// A keypair without lamports; the same sequence in every localnet.
    pub fn key(&mut self) -> Keypair {
        self.keys += 1;
        let seed = Sha256::digest(format!("localnet key {}", self.keys));
        Keypair::new_from_array(seed.into())
    }

    /// A keypair with lamports to pay with.
    pub fn actor(&mut self) -> Keypair {
        let keypair = self.key();
        self.svm
            .airdrop(&keypair.pubkey(), 10_000_000_000)
            .expect("the airdrop arrives");
        keypair
    }

    /// A nonce that no agent has; the same sequence in every localnet.
    pub fn nonce(&mut self) -> u64 {
        self.keys += 1;
        self.keys.into()
    }

    pub fn set_clock(&mut self, unix_timestamp: i64) {
        let mut clock: Clock = self.svm.get_sysvar();
        clock.unix_timestamp = unix_timestamp;
        self.svm.set_sysvar(&clock);
    }

    /// A new agent with [`URI`].
    pub fn agent(&mut self) -> Agent {
        let owner = self.actor();
        let nonce = self.nonce();
        self.send(&[&owner], &[register_agent(&owner.pubkey(), nonce, URI)])
            .expect("the agent is registered");
        let mint = agent_mint(&owner.pubkey(), nonce);
        Agent { owner, mint }
    }

    /// Sends one transaction; the first signer pays.
    pub fn send(&mut self, signers: &[&Keypair], instructions: &[Instruction]) -> Sent {
        self.svm.expire_blockhash();
        let message = Message::new(instructions, Some(&signers[0].pubkey()));
        let transaction = Transaction::new(signers, message, self.svm.latest_blockhash());
        self.svm.send_transaction(transaction).map_err(Box::new)
    }

    /// Feedback by `client` as its arguments say, authorized by `signer` for exactly them.
    pub fn give(&mut self, client: &Keypair, signer: &Keypair, feedback: &GiveFeedback) -> Sent {
        let authorization = Authorization::of(feedback, &signer.pubkey());
        self.send(
            &[client],
            &[authorization.signed_by(signer), feedback.instruction()],
        )
    }

    /// Feedback number `index` with a limit above it, and what must come of it: success.
    pub fn given(&mut self, agent: &Agent, client: &Keypair, index: u64, score: u8) {
        let feedback = GiveFeedback {
            feedback_index: index,
            score,
            index_limit: index,
            ..GiveFeedback::new(&agent.mint, &client.pubkey())
        };
        self.give(client, &agent.owner, &feedback)
            .expect("authorized feedback is accepted");
    }

    /// Moves the agent's token from one owner to another, whose token account it creates.
    pub fn transfer(&mut self, mint: &Address, from: &Keypair, to: &Address) -> Sent {
        let create = token_2022::create_associated(&from.pubkey(), to, mint);
        self.send(&[from], &[create])
            .expect("the token account is created");
        let (source, destination) = (token_account(&from.pubkey(), mint), token_account(to, mint));
        self.send(
            &[from],
            &[token_2022::transfer(
                &source,
                mint,
                &destination,
                &from.pubkey(),
                1,
            )],
        )
    }

    pub fn account(&self, address: &Address) -> Account {
        self.svm
            .get_account(address)
            .unwrap_or_else(|| panic!("{address} exists"))
    }

    /// Whether an account is there: litesvm keeps empty ones.
    pub fn exists(&self, address: &Address) -> bool {
        self.svm
            .get_account(address)
            .is_some_and(|account| account.lamports > 0)
    }
}

/// The events that a transaction emitted by self-CPI: discriminator and fields.
pub fn events(sent: &TransactionMetadata) -> Vec<Vec<u8>> {
    const TAG: [u8; 8] = 0x1d9a_cb51_2ea5_45e4_u64.to_le_bytes();
    sent.inner_instructions
        .iter()
        .flatten()
        .filter_map(|inner| inner.instruction.data.strip_prefix(&TAG))
        .map(<[u8]>::to_vec)
        .collect()
}

fn deployed(library: &str) -> String {
    let root = concat!(env!("CARGO_MANIFEST_DIR"), "/../..");
    format!("{root}/target/deploy/{library}.so")
}

fn deploy(svm: &mut LiteSVM, id: Address, file: &str) {
    let elf = std::fs::read(file)
        .unwrap_or_else(|_| panic!("{file} is missing: run scripts/build-program"));
    svm.add_program(id, &elf)
        .expect("the VM accepts the program");
}
