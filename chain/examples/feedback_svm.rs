//! Registers an agent on a Solana cluster, lets a new client give one authorized feedback, and reads
//! it back. `feedback_svm URL CAIP-2 PROGRAM KEYPAIR-FILE`.
use concord_chain::{
    Blocking, ChainId, EndpointOptions, Signer, Svm,
    keys::{Keypair, read_keypair},
    svm::{Cluster, compute_budget, land, sign},
};
use concord_registry::{
    canonical::{auth::SvmFeedbackAuth, caip, sign::ed25519_sign},
    svm::{
        AccountMeta, Instruction, Program,
        accounts::{AccountType, AgentIdentity, ClientIndex, FeedbackEntry},
        ed25519,
        instructions::{FeedbackAuthorization, GiveFeedback},
        programs,
    },
};
use std::{error::Error, path::Path, time::Duration};

async fn run(arguments: &[String]) -> Result<(), Box<dyn Error>> {
    let [url, chain, program, keypair] = arguments else {
        return Err("feedback_svm URL CAIP-2 PROGRAM KEYPAIR-FILE".into());
    };
    let cluster = Cluster::new(&EndpointOptions::new(url))?;
    cluster.require_chain(&ChainId::parse(chain)?).await?;
    let program = Program::new(program.parse()?);
    let owner = read_keypair(Path::new(keypair))?;
    let client = Keypair::new();

    // any number that the owner has not used: the time, in seconds
    let nonce = u64::try_from(cluster.unix_time().await?)?;
    let mint = program.agent_mint(&owner.address(), nonce);
    let register = program.register_agent(owner.address(), owner.address(), nonce, "");
    send(&cluster, vec![register], &[&owner]).await?;
    let index_limit = 1;
    let expiry = u64::try_from(cluster.unix_time().await?)? + 3_600;
    let message = SvmFeedbackAuth {
        agent_mint: mint.to_bytes(),
        client: client.address().to_bytes(),
        index_limit,
        expiry,
        chain: caip::ChainId::parse(chain)?.hash(),
        program_id: program.id().to_bytes(),
        signer: owner.address().to_bytes(),
    }
    .message();
    let signature = ed25519_sign(owner.secret_bytes(), &message);
    let feedback = GiveFeedback {
        index: 1,
        score: 87,
        tag1: [0; 32],
        tag2: [0; 32],
        uri: "",
        hash: [0; 32],
        authorization: FeedbackAuthorization::Bounded {
            index_limit,
            expiry,
        },
    };
    let rent = cluster.rent(ClientIndex::SPACE).await? + cluster.rent(FeedbackEntry::SPACE).await?;
    let instructions = vec![
        transfer(&owner, &client, rent),
        ed25519::verify(owner.address().as_array(), &signature, &message)?,
        program.give_feedback(client.address(), mint, &feedback),
    ];
    send(&cluster, instructions, &[&owner, &client]).await?;

    let agent = cluster
        .account(&program.agent(&mint))
        .await?
        .ok_or("no agent")?;
    let agent: AgentIdentity = program.decode(&agent.owner, &agent.data)?;
    let (count, sum) = agent.totals().ok_or("beyond 64 bits")?;
    println!("agent {}: {count} feedback, sum {sum}", mint);
    Ok(())
}

/// Lands the instructions in one transaction, which the first signer pays for.
async fn send(
    cluster: &Cluster,
    instructions: Vec<Instruction>,
    signers: &[&dyn Signer<Svm>],
) -> Result<(), Box<dyn Error>> {
    let instructions = [compute_budget(200_000, 0), instructions].concat();
    let recent = cluster.recent_blockhash().await?;
    let transaction = sign(&instructions, signers, &recent).await?;
    let executed = land(cluster, &transaction, Duration::from_secs(60)).await?;
    if executed.meta.err.is_null() {
        Ok(())
    } else {
        Err(executed.meta.err.to_string().into())
    }
}

/// The system program's transfer: u32 LE 2, then the lamports.
fn transfer(from: &Keypair, to: &Keypair, lamports: u64) -> Instruction {
    let accounts = vec![
        AccountMeta::new(from.address(), true),
        AccountMeta::new(to.address(), false),
    ];
    let data = [&2u32.to_le_bytes()[..], &lamports.to_le_bytes()].concat();
    Instruction {
        program_id: programs::SYSTEM,
        accounts,
        data,
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    Blocking::new()?.wait(run(&arguments))
}
