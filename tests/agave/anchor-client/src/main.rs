//! Anchor's Rust client drives the program on a running cluster, with types that `declare_program!` makes from the committed
//! interface description alone: an agent, metadata, open feedback, its revocation, and the refusals of each.
//!
//! usage: anchor-client-run URL KEYPAIR    the cluster's JSON-RPC; a keypair file whose account pays
use anchor_client::{Client, ClientError, Cluster, CommitmentConfig, Program};
use anchor_lang::{
    self, InstructionData, ToAccountMetas,
    prelude::{Pubkey, pubkey},
};
use solana_keypair::{Keypair, read_keypair_file};
use solana_signer::Signer;
use std::{env, error::Error, rc::Rc};

anchor_lang::declare_program!(agent_registry);
use agent_registry::{
    accounts::{AgentIdentity, MetadataEntry, OpenClientIndex, OpenFeedback},
    client::{accounts, args},
};

const TOKEN_2022: Pubkey = pubkey!("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");
const ASSOCIATED_TOKEN: Pubkey = pubkey!("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
const SYSTEM: Pubkey = Pubkey::new_from_array([0; 32]);
const URI: &str = "https://agent.example/registration.json";
const ENDPOINT: &str = "https://agent.example/a2a";

/// SHA-256 of the metadata key `k`.
const HASH_OF_K: [u8; 32] = [
    0x82, 0x54, 0xc3, 0x29, 0xa9, 0x28, 0x50, 0xf6, 0xd5, 0x39, 0xdd, 0x37, 0x6f, 0x48, 0x16, 0xee,
    0x27, 0x64, 0x51, 0x7d, 0xa5, 0xe0, 0x23, 0x55, 0x14, 0xaf, 0x43, 0x31, 0x64, 0x48, 0x0d, 0x7a,
];
// The program's error codes, as the description has them.
const SELF_FEEDBACK: u32 = 6002;
const FEEDBACK_INDEX_STALE: u32 = 6004;
const ALREADY_REVOKED: u32 = 6012;
const NOT_AUTHORIZED: u32 = 6014;

/// Which of the payer's registrations this is.
const NONCE: u64 = 258;

type Outcome<T = ()> = Result<T, Box<dyn Error>>;

/// An account of the program (SPEC 3b).
fn account(seeds: &[&[u8]]) -> Pubkey {
    Pubkey::find_program_address(seeds, &agent_registry::ID).0
}

/// One cluster, and who pays for everything.
struct Registry {
    program: Program<Rc<Keypair>>,
    payer: Rc<Keypair>,
}

impl Registry {
    fn connect(url: &str, payer: Keypair) -> Outcome<Self> {
        let payer = Rc::new(payer);
        let events = url.replacen("http", "ws", 1);
        let cluster = Cluster::Custom(url.to_owned(), events);
        let client =
            Client::new_with_options(cluster, payer.clone(), CommitmentConfig::confirmed());
        Ok(Self {
            program: client.program(agent_registry::ID)?,
            payer,
        })
    }

    fn send(
        &self,
        accounts: impl ToAccountMetas,
        arguments: impl InstructionData,
        signers: &[&Keypair],
    ) -> Result<(), ClientError> {
        let request = self.program.request().accounts(accounts).args(arguments);
        let request = signers
            .iter()
            .fold(request, |it, signer| it.signer(*signer));
        request.send().map(drop)
    }

    /// The first agent that the payer pays for.
    fn mint(&self) -> Pubkey {
        let nonce = NONCE.to_le_bytes();
        account(&[b"mint", self.payer.pubkey().as_ref(), &nonce])
    }

    fn register(&self, owner: &Keypair) -> Result<(), ClientError> {
        let (owner_key, key) = (owner.pubkey(), self.mint());
        let holder = [owner_key.as_ref(), TOKEN_2022.as_ref(), key.as_ref()];
        let accounts = accounts::RegisterAgent {
            owner: owner_key,
            payer: self.payer.pubkey(),
            nft_mint: key,
            agent: account(&[b"agent", key.as_ref()]),
            token_account: Pubkey::find_program_address(&holder, &ASSOCIATED_TOKEN).0,
            extra_account_metas: account(&[b"extra-account-metas", key.as_ref()]),
            token_program: TOKEN_2022,
            associated_token_program: ASSOCIATED_TOKEN,
            system_program: SYSTEM,
            event_authority: account(&[b"__event_authority"]),
            program: agent_registry::ID,
        };
        let arguments = args::RegisterAgent {
            nonce: NONCE,
            uri: URI.into(),
        };
        self.send(accounts, arguments, &[owner])
    }

    /// `entry` is `["metadata", mint, sha256(key)]`, which the description has no seeds for.
    fn set_metadata(
        &self,
        owner: &Keypair,
        mint: Pubkey,
        entry: Pubkey,
    ) -> Result<(), ClientError> {
        let accounts = accounts::SetMetadata {
            owner: owner.pubkey(),
            payer: self.payer.pubkey(),
            agent: account(&[b"agent", mint.as_ref()]),
            nft_mint: mint,
            metadata_entry: entry,
            system_program: SYSTEM,
            event_authority: account(&[b"__event_authority"]),
            program: agent_registry::ID,
        };
        let arguments = args::SetMetadata {
            key: "k".into(),
            value: vec![1, 2, 3],
        };
        self.send(accounts, arguments, &[owner])
    }

    fn give(&self, client: &Keypair, mint: Pubkey, index: u64) -> Result<(), ClientError> {
        let key = client.pubkey();
        let accounts = accounts::GiveOpenFeedback {
            client: key,
            payer: self.payer.pubkey(),
            agent: account(&[b"agent", mint.as_ref()]),
            nft_mint: mint,
            open_client_index: account(&[b"open_client", mint.as_ref(), key.as_ref()]),
            open_feedback: entry(mint, key, index),
            system_program: SYSTEM,
            event_authority: account(&[b"__event_authority"]),
            program: agent_registry::ID,
        };
        let arguments = args::GiveOpenFeedback {
            feedback_index: index,
            value: -875,
            value_decimals: 2,
            tag1: "starred".into(),
            tag2: String::new(),
            endpoint: ENDPOINT.into(),
            feedback_uri: "ipfs://open".into(),
            feedback_hash: [7; 32],
        };
        self.send(accounts, arguments, &[client])
    }

    fn revoke(&self, client: &Keypair, mint: Pubkey, index: u64) -> Result<(), ClientError> {
        let accounts = accounts::RevokeOpenFeedback {
            client: client.pubkey(),
            nft_mint: mint,
            open_feedback: entry(mint, client.pubkey(), index),
            event_authority: account(&[b"__event_authority"]),
            program: agent_registry::ID,
        };
        let arguments = args::RevokeOpenFeedback {
            feedback_index: index,
        };
        self.send(accounts, arguments, &[client])
    }
}

fn entry(mint: Pubkey, client: Pubkey, index: u64) -> Pubkey {
    let number = index.to_le_bytes();
    account(&[b"open_feedback", mint.as_ref(), client.as_ref(), &number])
}

/// The program's own error code, in the words of a node that refuses a transaction.
fn assert_refused(outcome: Result<(), ClientError>, code: u32) {
    let error = outcome.expect_err("refused").to_string();
    let words = format!("custom program error: {code:#x}");
    assert!(error.contains(&words), "{words} expected: {error}");
}

/// Registers an agent, and reads its account.
fn registers(registry: &Registry, owner: &Keypair) -> Outcome {
    let agent = registry.mint();
    registry.register(owner)?;
    let identity: AgentIdentity = registry
        .program
        .account(account(&[b"agent", agent.as_ref()]))?;
    assert_eq!((identity.nft_mint, identity.owner), (agent, owner.pubkey()));
    assert_eq!((identity.owner_version, identity.version), (1, 1));
    println!("registered agent {agent}");
    Ok(())
}

fn sets_metadata(registry: &Registry, owner: &Keypair, agent: Pubkey) -> Outcome {
    let place = account(&[b"metadata", agent.as_ref(), &HASH_OF_K]);
    let stranger = Keypair::new();
    assert_refused(
        registry.set_metadata(&stranger, agent, place),
        NOT_AUTHORIZED,
    );
    registry.set_metadata(owner, agent, place)?;
    let metadata: MetadataEntry = registry.program.account(place)?;
    assert_eq!(
        (&metadata.key[..], &metadata.value[..]),
        ("k", &[1, 2, 3][..])
    );
    println!("set its metadata");
    Ok(())
}

fn gives_feedback(
    registry: &Registry,
    owner: &Keypair,
    client: &Keypair,
    agent: Pubkey,
) -> Outcome {
    let key = client.pubkey();
    assert_refused(registry.give(owner, agent, 1), SELF_FEEDBACK); // R18
    registry.give(client, agent, 1)?;
    assert_refused(registry.give(client, agent, 3), FEEDBACK_INDEX_STALE); // R8
    let feedback: OpenFeedback = registry.program.account(entry(agent, key, 1))?;
    assert_eq!(
        (feedback.value, feedback.value_decimals, feedback.revoked),
        (-875, 2, false)
    );
    assert_eq!((&feedback.tag1[..], &feedback.tag2[..]), ("starred", ""));
    let counted = account(&[b"open_client", agent.as_ref(), key.as_ref()]);
    let counted: OpenClientIndex = registry.program.account(counted)?;
    assert_eq!((counted.last_index, counted.ordinal), (1, 1));
    println!("gave it open feedback");
    Ok(())
}

fn revokes(registry: &Registry, client: &Keypair, agent: Pubkey) -> Outcome {
    registry.revoke(client, agent, 1)?;
    let place = entry(agent, client.pubkey(), 1);
    let feedback: OpenFeedback = registry.program.account(place)?;
    assert!(feedback.revoked);
    assert_refused(registry.revoke(client, agent, 1), ALREADY_REVOKED);
    println!("revoked it");
    Ok(())
}

fn main() -> Outcome {
    let words: Vec<String> = env::args().skip(1).collect();
    let [url, keypair] = &words[..] else {
        return Err("usage: anchor-client-run URL KEYPAIR".into());
    };
    let registry = Registry::connect(url, read_keypair_file(keypair)?)?;
    let (owner, client, mint) = (Keypair::new(), Keypair::new(), registry.mint());
    registers(&registry, &owner)?;
    sets_metadata(&registry, &owner, mint)?;
    gives_feedback(&registry, &owner, &client, mint)?;
    revokes(&registry, &client, mint)
}
