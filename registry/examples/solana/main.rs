//! Registers an agent on a local cluster, lets a client give it one feedback, and reads both back.
//!
//! `cargo run -p concord-registry --example solana`, with the program built.
mod cluster;

use cluster::Cluster;
use concord_registry::{
    canonical::{auth::SvmFeedbackAuth, caip::ChainId},
    svm::{
        accounts::AgentIdentity,
        ed25519,
        instructions::{FeedbackAuthorization, GiveFeedback},
        token::Mint,
    },
};
use solana_keypair::{Keypair, Signer};
use std::error::Error;

const CHAIN: &str = "solana:localnet";

fn main() -> Result<(), Box<dyn Error>> {
    let (owner, client) = (Keypair::new(), Keypair::new());
    let mut cluster = Cluster::start(&[owner.pubkey(), client.pubkey()]);
    let program = cluster.deploy_program(&owner, CHAIN)?;

    // The owner registers an agent, whose mint is derived from who pays and a number.
    let nonce = 0;
    let mint = program.agent_mint(&owner.pubkey(), nonce);
    let register = program.register_agent(owner.pubkey(), owner.pubkey(), nonce, "ipfs://agent");
    let registered = cluster.send(&[&owner], &[register])?;
    println!("{:#?}", program.events(CHAIN, &registered).events);

    // The owner authorizes one feedback by the client (R8, R9).
    let (index_limit, expiry) = (1, u64::MAX);
    let message = SvmFeedbackAuth {
        agent_mint: mint.to_bytes(),
        client: client.pubkey().to_bytes(),
        index_limit,
        expiry,
        chain: ChainId::parse(CHAIN)?.hash(),
        program_id: program.id().to_bytes(),
        signer: owner.pubkey().to_bytes(),
    }
    .message();
    let signature = owner.sign_message(&message);

    // The client gives it, in one transaction with the precompile's instruction (R11).
    let feedback = GiveFeedback {
        index: 1,
        score: 87,
        tag1: [0; 32],
        tag2: [0; 32],
        uri: "ipfs://feedback",
        hash: [0; 32],
        authorization: FeedbackAuthorization::Bounded {
            index_limit,
            expiry,
        },
    };
    let key = owner.pubkey().to_bytes();
    let instructions = [
        ed25519::verify(&key, signature.as_array(), &message)?,
        program.give_feedback(client.pubkey(), mint, &feedback),
    ];
    let given = cluster.send(&[&client], &instructions)?;
    println!("{:#?}", program.events(CHAIN, &given).events);

    // Anyone reads the counters and the URI.
    let (holder, data) = cluster.account(&program.agent(&mint))?;
    let agent: AgentIdentity = program.decode(&holder, &data)?;
    let (count, sum) = agent.totals().ok_or("counters beyond u64")?;
    let (holder, data) = cluster.account(&mint)?;
    let token = Mint::read(&holder, &data).ok_or("not an agent's mint")?;
    println!("{}: count {count}, sum {sum}", token.uri);
    assert_eq!((count, sum, &*token.uri), (1, 87, "ipfs://agent"));
    Ok(())
}
