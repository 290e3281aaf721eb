//! A local cluster with our program, an agent, and tokens of SPL Token and of Token-2022.
use base64::{Engine, engine::general_purpose::STANDARD};
use concord_canonical::hash::sha256;
use concord_chain::{ChainId, EndpointOptions, svm::Cluster as Rpc};
use concord_local_cluster::{LocalCluster, Options, Server};
use concord_registry::svm::{
    AccountMeta, Address, Instruction, Program,
    instructions::Consent,
    programs::{ASSOCIATED_TOKEN, LOADER_V3, SYSTEM, TOKEN_2022},
};
use concord_x402::verify::SvmChains;
use serde_json::{Value, json};
use solana_account::Account;
use solana_keypair::{Keypair, Signer};
use solana_message::{Message, VersionedMessage};
use solana_transaction::versioned::VersionedTransaction;
use std::{fs, path::Path, time::Duration};

/// Devnet's: x402's packages know three clusters only.
const GENESIS: &str = "EtWTRABZaYq6iMfeYKouRu166VU2xqa1wcaWoxPkrZBG";
pub const NETWORK: &str = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
pub const SPL_TOKEN: Address =
    Address::from_str_const("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
const SOL: u64 = 1_000_000_000;
/// What the payer has of each token at first.
pub const FUNDS: u64 = 10_000_000;
pub const DECIMALS: u8 = 6;

pub struct Cluster {
    server: Option<Server>,
    pub url: String,
    pub program: Program,
    /// Owner of the agents, and their wallet.
    pub owner: Keypair,
    pub payer: Keypair,
    pub facilitator: Keypair,
    pub spl: Address,
    pub token_2022: Address,
    pub reads: SvmChains,
}

fn key(name: &str) -> Keypair {
    Keypair::new_from_array(sha256(name.as_bytes()))
}

/// The upgradeable loader's accounts of our program, whose authority is `authority`.
fn program_accounts(program: &Program, authority: Address) -> Vec<(Address, Account)> {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/deploy/agent_registry.so");
    let elf = fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()));
    let account = |data, executable| Account {
        lamports: 10 * SOL,
        data,
        owner: LOADER_V3,
        executable,
        rent_epoch: u64::MAX,
    };
    // kind (u32 LE), slot (u64 LE), an authority (1 and 32 bytes), then the code
    let (kind, slot) = (3_u32.to_le_bytes(), 0_u64.to_le_bytes());
    let code = [&kind[..], &slot, &[1], authority.as_ref(), &elf].concat();
    let place = program.program_data();
    let head = [&2_u32.to_le_bytes()[..], place.as_ref()].concat();
    vec![
        (place, account(code, false)),
        (program.id(), account(head, true)),
    ]
}

impl Cluster {
    pub async fn start() -> Self {
        let [owner, payer, facilitator] = ["owner", "payer", "facilitator"].map(key);
        // the development id of programs/agent-registry
        let program = Program::new(key("concord localnet program").pubkey());
        let options = Options {
            genesis_hash: GENESIS.parse().unwrap(),
            slot_duration: Duration::from_millis(250),
            funded: [&owner, &facilitator]
                .map(|it| (it.pubkey(), 100 * SOL))
                .to_vec(),
            accounts: program_accounts(&program, owner.pubkey()),
            ..Options::default()
        };
        let server = Server::start(LocalCluster::new(options), 0).unwrap();
        let url = server.url();
        let mut reads = SvmChains::default();
        let rpc = Rpc::new(&EndpointOptions::new(&url)).unwrap();
        let chain = ChainId::parse(NETWORK).unwrap();
        reads.add(&chain, rpc).await.unwrap();
        let cluster = Self {
            server: Some(server),
            url,
            program,
            spl: key("spl mint").pubkey(),
            token_2022: key("token-2022 mint").pubkey(),
            owner,
            payer,
            facilitator,
            reads,
        };
        cluster.send(&[], &[program.initialize(cluster.owner.pubkey(), NETWORK)]);
        cluster.make_token(&key("spl mint"), &SPL_TOKEN);
        cluster.make_token(&key("token-2022 mint"), &TOKEN_2022);
        cluster
    }

    /// From then on no node answers.
    pub fn stop(&mut self) {
        self.server.take();
    }

    pub fn ask(&self, method: &str, params: Value) -> Value {
        let answer = self.server.as_ref().unwrap().answer(method, &params);
        answer.unwrap_or_else(|error| panic!("{method}: {error:?}"))
    }

    /// Lands a transaction, which the owner pays for.
    pub fn send(&self, signers: &[&Keypair], instructions: &[Instruction]) {
        let recent = self.ask("getLatestBlockhash", json!([{ "commitment": "processed" }]));
        let recent = recent["value"]["blockhash"]
            .as_str()
            .unwrap()
            .parse()
            .unwrap();
        let payer = self.owner.pubkey();
        let message = Message::new_with_blockhash(instructions, Some(&payer), &recent);
        let signers = [&[&self.owner], signers].concat();
        let message = VersionedMessage::Legacy(message);
        let sent = VersionedTransaction::try_new(message, &signers).unwrap();
        let raw = STANDARD.encode(wincode::serialize(&sent).unwrap());
        let config = json!({ "encoding": "base64", "preflightCommitment": "processed" });
        let name = self.ask("sendTransaction", json!([raw, config]));
        self.ask("local_advance", json!([1]));
        let status = self.ask("getSignatureStatuses", json!([[name]]));
        assert_eq!(status["value"][0]["err"], Value::Null, "{status}");
    }

    fn make_token(&self, mint: &Keypair, program: &Address) {
        self.make_mint(mint, program, &[], 82);
        self.open(&self.payer.pubkey(), &mint.pubkey(), program);
        self.open(&self.owner.pubkey(), &mint.pubkey(), program);
        let to = associated(&self.payer.pubkey(), &mint.pubkey(), program);
        self.send(&[], &[self.mint_to(&mint.pubkey(), to, program, FUNDS)]);
    }

    /// Creates a mint of so many bytes; `extensions` initializes them.
    pub fn make_mint(
        &self,
        mint: &Keypair,
        program: &Address,
        extensions: &[Instruction],
        space: u64,
    ) {
        const CREATE_ACCOUNT: [u8; 4] = [0; 4];
        const INITIALIZE_MINT_2: u8 = 20;
        let owner = self.owner.pubkey();
        let create = Instruction {
            program_id: SYSTEM,
            accounts: vec![
                AccountMeta::new(owner, true),
                AccountMeta::new(mint.pubkey(), true),
            ],
            data: [
                &CREATE_ACCOUNT[..],
                &SOL.to_le_bytes(),
                &space.to_le_bytes(),
                program.as_ref(),
            ]
            .concat(),
        };
        let initialize = Instruction {
            program_id: *program,
            accounts: vec![AccountMeta::new(mint.pubkey(), false)],
            // who mints, then who freezes
            data: [
                &[INITIALIZE_MINT_2, DECIMALS],
                owner.as_ref(),
                &[1],
                owner.as_ref(),
            ]
            .concat(),
        };
        let instructions = [&[create], extensions, &[initialize]].concat();
        self.send(&[mint], &instructions);
    }

    /// Opens an associated token account.
    pub fn open(&self, owner: &Address, mint: &Address, program: &Address) {
        const CREATE: u8 = 0;
        let open = Instruction {
            program_id: ASSOCIATED_TOKEN,
            accounts: vec![
                AccountMeta::new(self.owner.pubkey(), true),
                AccountMeta::new(associated(owner, mint, program), false),
                AccountMeta::new_readonly(*owner, false),
                AccountMeta::new_readonly(*mint, false),
                AccountMeta::new_readonly(SYSTEM, false),
                AccountMeta::new_readonly(*program, false),
            ],
            data: vec![CREATE],
        };
        self.send(&[], &[open]);
    }

    pub fn mint_to(
        &self,
        mint: &Address,
        to: Address,
        program: &Address,
        amount: u64,
    ) -> Instruction {
        const MINT_TO: u8 = 7;
        Instruction {
            program_id: *program,
            accounts: vec![
                AccountMeta::new(*mint, false),
                AccountMeta::new(to, false),
                AccountMeta::new_readonly(self.owner.pubkey(), true),
            ],
            data: [&[MINT_TO], &amount.to_le_bytes()[..]].concat(),
        }
    }

    /// The owner gives somebody lamports.
    pub fn fund(&self, to: &Address, lamports: u64) {
        const TRANSFER: [u8; 4] = 2_u32.to_le_bytes();
        let give = Instruction {
            program_id: SYSTEM,
            accounts: vec![
                AccountMeta::new(self.owner.pubkey(), true),
                AccountMeta::new(*to, false),
            ],
            data: [&TRANSFER[..], &lamports.to_le_bytes()].concat(),
        };
        self.send(&[], &[give]);
    }

    /// The payer gives all of a token to the owner.
    pub fn spend_all(&self, mint: &Address) {
        const TRANSFER: u8 = 3;
        let (payer, owner) = (self.payer.pubkey(), self.owner.pubkey());
        let program = self.token_program(mint);
        let all = self.balance(&payer, mint);
        let spend = Instruction {
            program_id: program,
            accounts: vec![
                AccountMeta::new(associated(&payer, mint, &program), false),
                AccountMeta::new(associated(&owner, mint, &program), false),
                AccountMeta::new_readonly(payer, true),
            ],
            data: [&[TRANSFER], &all.to_le_bytes()[..]].concat(),
        };
        self.send(&[&self.payer], &[spend]);
    }

    /// Registers an agent whose wallet is the owner.
    pub fn register(&self, nonce: u64, uri: &str) -> Address {
        let owner = self.owner.pubkey();
        let mint = self.program.agent_mint(&owner, nonce);
        let register = self.program.register_agent(owner, owner, nonce, uri);
        self.send(&[], &[register]);
        let consent = Consent::Signs;
        let wallet = (self.program).set_agent_wallet(owner, mint, owner, consent);
        self.send(&[], &[wallet]);
        mint
    }

    pub fn registry_account(&self) -> String {
        format!("{NETWORK}:{}", self.program.id())
    }

    pub fn token_program(&self, mint: &Address) -> Address {
        if *mint == self.spl {
            SPL_TOKEN
        } else {
            TOKEN_2022
        }
    }

    /// What an account has of a token.
    pub fn balance(&self, owner: &Address, mint: &Address) -> u64 {
        let account = associated(owner, mint, &self.token_program(mint));
        let config = json!({ "encoding": "base64", "commitment": "processed" });
        let found = self.ask("getAccountInfo", json!([account.to_string(), config]));
        let data = found["value"]["data"][0].as_str().unwrap();
        let data = STANDARD.decode(data).unwrap();
        u64::from_le_bytes(data[64..72].try_into().unwrap())
    }
}

/// The associated token account, as the program of that name documents its seeds.
pub fn associated(owner: &Address, mint: &Address, program: &Address) -> Address {
    let seeds = [owner.as_ref(), program.as_ref(), mint.as_ref()];
    Address::find_program_address(&seeds, &ASSOCIATED_TOKEN).0
}
