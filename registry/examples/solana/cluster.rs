//! A local cluster in this process: what a client's RPC library would do.
use base64::{Engine, engine::general_purpose::STANDARD as BASE64};
use concord_local_cluster::{LocalCluster, Options};
use concord_registry::{
    event::Block,
    svm::{
        Address, Instruction, Program,
        events::{Call, TopLevel, Transaction},
    },
};
use serde_json::{Value, json};
use solana_keypair::{Keypair, Signer};
use solana_loader_v3_interface::instruction as loader;
use solana_message::{Message, VersionedMessage};
use solana_transaction::versioned::VersionedTransaction;
use std::{error::Error, fs, path::Path};

type Answer<T> = Result<T, Box<dyn Error>>;

/// What a transaction leaves for a write to a buffer.
const PIECE: usize = 900;
const BUFFER_HEAD: usize = 37;
const PROGRAM_SPACE: usize = 36;

pub(crate) struct Cluster(LocalCluster);

impl Cluster {
    pub(crate) fn start(funded: &[Address]) -> Self {
        let funded = funded.iter().map(|it| (*it, 100_000_000_000)).collect();
        Self(LocalCluster::new(Options {
            funded,
            ..Options::default()
        }))
    }

    /// Deploys the program that `scripts/build-program` left, and initializes its registry.
    pub(crate) fn deploy_program(&mut self, payer: &Keypair, chain: &str) -> Answer<Program> {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/deploy/agent_registry.so");
        let elf = fs::read(file)?;
        let (buffer, from) = (Keypair::new(), payer.pubkey());
        let rent = self.rent(BUFFER_HEAD + elf.len())?;
        let open = loader::create_buffer(&from, &buffer.pubkey(), &from, rent, elf.len())?;
        self.send(&[payer, &buffer], &open)?;
        for (at, piece) in (0..).step_by(PIECE).zip(elf.chunks(PIECE)) {
            let write = loader::write(&buffer.pubkey(), &from, at, piece.to_vec());
            self.send(&[payer], &[write])?;
        }
        let key = development_key();
        let rent = self.rent(PROGRAM_SPACE)?;
        let (program, buffer) = (key.pubkey(), buffer.pubkey());
        let deploy = loader::deploy_with_max_program_len(
            &from,
            &program,
            &buffer,
            &from,
            rent,
            elf.len(),
            true,
        )?;
        self.send(&[payer, &key], &deploy)?;
        let program = Program::new(program);
        self.send(&[payer], &[program.initialize(from, chain)])?;
        Ok(program)
    }

    /// Sends a transaction, paid by the first signer, and returns it with what it did.
    pub(crate) fn send(
        &mut self,
        signers: &[&Keypair],
        instructions: &[Instruction],
    ) -> Answer<Transaction> {
        let recent = self.ask("getLatestBlockhash", json!([{"commitment": "processed"}]))?;
        let recent = text(&recent["value"]["blockhash"])?.parse()?;
        let payer = signers[0].pubkey();
        let message = Message::new_with_blockhash(instructions, Some(&payer), &recent);
        let sent =
            VersionedTransaction::try_new(VersionedMessage::Legacy(message.clone()), signers)?;
        let raw = BASE64.encode(wincode::serialize(&sent)?);
        let name = self.ask(
            "sendTransaction",
            json!([raw, {"encoding": "base64", "preflightCommitment": "processed"}]),
        )?;
        self.ask("local_advance", json!([1]))?;
        let params = json!([name, {"encoding": "json", "commitment": "confirmed", "maxSupportedTransactionVersion": 0}]);
        let found = self.ask("getTransaction", params)?;
        if !found["meta"]["err"].is_null() {
            return Err(format!("the transaction failed: {}", found["meta"]["err"]).into());
        }
        carried(&sent, &message, &found)
    }

    /// Returns an account's owner and data.
    pub(crate) fn account(&mut self, address: &Address) -> Answer<(Address, Vec<u8>)> {
        let params =
            json!([address.to_string(), {"encoding": "base64", "commitment": "processed"}]);
        let found = self.ask("getAccountInfo", params)?;
        let account = &found["value"];
        let data = BASE64.decode(text(&account["data"][0])?)?;
        Ok((text(&account["owner"])?.parse()?, data))
    }

    fn rent(&mut self, bytes: usize) -> Answer<u64> {
        let rent = self.ask("getMinimumBalanceForRentExemption", json!([bytes]))?;
        Ok(rent.as_u64().ok_or("no rent")?)
    }

    fn ask(&mut self, method: &str, params: Value) -> Answer<Value> {
        let answer = self.0.answer(method, &params);
        answer.map_err(|fault| format!("{method}: {fault:?}").into())
    }
}

/// What the events are decoded from.
fn carried(sent: &VersionedTransaction, message: &Message, found: &Value) -> Answer<Transaction> {
    let keys = &message.account_keys;
    let mut instructions: Vec<_> = message
        .instructions
        .iter()
        .map(|it| TopLevel {
            program: keys[usize::from(it.program_id_index)],
            calls: Vec::new(),
        })
        .collect();
    for list in found["meta"]["innerInstructions"]
        .as_array()
        .into_iter()
        .flatten()
    {
        let index = usize::try_from(list["index"].as_u64().ok_or("no index")?)?;
        for call in list["instructions"].as_array().into_iter().flatten() {
            let accounts: Vec<u8> = serde_json::from_value(call["accounts"].clone())?;
            let program = serde_json::from_value(call["programIdIndex"].clone())?;
            let data = bs58::decode(text(&call["data"])?).into_vec()?;
            let call = Call::resolve(keys, program, &accounts, data).ok_or("no such account")?;
            instructions[index].calls.push(call);
        }
    }
    Ok(Transaction {
        signature: sent.signatures[0].into(),
        block: Block {
            number: found["slot"].as_u64().ok_or("no slot")?,
            hash: None,
        },
        instructions,
        logs: serde_json::from_value(found["meta"]["logMessages"].clone())?,
    })
}

fn text(value: &Value) -> Answer<&str> {
    Ok(value.as_str().ok_or("not a text")?)
}

/// The key of the development id (`programs/agent-registry/build.rs`), which everybody has.
fn development_key() -> Keypair {
    let seed = concord_registry::canonical::hash::sha256(b"concord localnet program");
    Keypair::new_from_array(seed)
}
