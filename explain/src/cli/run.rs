use super::{
    CliError, Explain,
    arguments::{ExplainOf, OfChain, OfSummary, Reading},
};
use crate::{
    Bundle, BundleError, Exchange, Query, ReputationBundle, ReviewerSet, Trust, complete,
    complete_reputation,
    offline::{Explanation, explain_text},
    online::{AgentName, EvmReader, FeedbackName, Online, SvmReader},
};
use concord_canonical::caip::EIP155;
use concord_chain::{
    EndpointOptions,
    evm::Node,
    fetch::{FetchOptions, Fetcher},
    svm::Cluster,
};
use concord_files::parse_reviewer_list;
use concord_registry::event::Profile;
use std::{fs, path::Path};

pub(super) async fn run(options: &Explain) -> Result<Explanation, CliError> {
    let reading = options.reading();
    let mut trust = trust(reading)?;
    if let Some(file) = &reading.from {
        return from_file(file, &trust);
    }
    let missing = || CliError::usage("name what to explain, or pass --from");
    let everyone = ReviewerSet::Everyone;
    let no_tags = [String::new(), String::new()];
    match &options.of {
        None => {
            let name = options.feedback.as_ref().ok_or_else(missing)?;
            feedback(options, name, &mut trust).await
        }
        Some(ExplainOf::Agent(of)) => {
            let agent = of.agent.as_ref().ok_or_else(missing)?;
            reputation(reading, agent, of.profile, (everyone, no_tags), &mut trust).await
        }
        Some(ExplainOf::Summary(of)) => {
            let agent = of.agent.as_ref().ok_or_else(missing)?;
            let tags = [of.tag1.clone(), of.tag2.clone()];
            let over = (reviewers(of, agent)?, tags);
            reputation(reading, agent, of.profile, over, &mut trust).await
        }
    }
}

fn from_file(file: &Path, trust: &Trust) -> Result<Explanation, CliError> {
    let explained = explain_text(&read_text(file)?, trust);
    explained.map_err(|error| CliError::usage(shown(file, &error)))
}

async fn feedback(
    options: &Explain,
    name: &FeedbackName,
    trust: &mut Trust,
) -> Result<Explanation, CliError> {
    let reading = &options.reading;
    let mut online = connect(reading).await?;
    let subject = online.subject(name, trust).await?;
    trust_nodes(reading, &online, trust);
    let mut bundle = Bundle::new(subject);
    bundle.exchange = exchange(options)?;
    let explained = complete(&mut bundle, trust, &mut online).await;
    let explained = explained.map_err(CliError::usage)?;
    if let Some(file) = &reading.bundle {
        write(file, bundle.to_canonical())?;
    }
    Ok(Explanation::Feedback(explained.report))
}

async fn reputation(
    reading: &Reading,
    agent: &AgentName,
    profile: Profile,
    (reviewers, [tag1, tag2]): (ReviewerSet, [String; 2]),
    trust: &mut Trust,
) -> Result<Explanation, CliError> {
    let mut online = connect(reading).await?;
    let all = online.feedback_of(agent, profile, trust).await?;
    trust_nodes(reading, &online, trust);
    let query = Query {
        agent_registry: all.agent_registry,
        reputation_registry: all.reputation_registry,
        profile: match profile {
            Profile::Open => "open".to_owned(),
            Profile::Authorized => "authorized".to_owned(),
        },
        agent_id: agent.agent.clone(),
        reviewers,
        tag1,
        tag2,
        at_block: all.at_block,
    };
    let mut subjects = all.subjects;
    subjects.retain(|it| query.has_reviewer(&it.client));
    let mut bundle = ReputationBundle::new(query, subjects);
    let explained = complete_reputation(&mut bundle, trust, &mut online).await;
    let explained = explained.map_err(CliError::usage)?;
    if let Some(file) = &reading.bundle {
        write(file, bundle.to_canonical())?;
    }
    Ok(Explanation::Reputation(explained.report))
}

/// The user's own node is believed about the hash, unless they say another one.
fn trust_nodes(reading: &Reading, online: &Online, trust: &mut Trust) {
    let said = |chain: &str| reading.block.iter().any(|it| it.chain.to_string() == chain);
    for (chain, _, hash) in online.anchors() {
        if !said(chain) {
            trust.add_block(chain, hash);
        }
    }
}

fn reviewers(of: &OfSummary, agent: &AgentName) -> Result<ReviewerSet, CliError> {
    let listed = match &of.reviewers {
        _ if of.everyone => return Ok(ReviewerSet::Everyone),
        None => of.reviewer.clone(),
        Some(file) => listed_in(file, agent)?,
    };
    if listed.is_empty() {
        Err(CliError::usage(
            "no reviewer is listed: name some, or pass --everyone (R48)",
        ))
    } else {
        Ok(ReviewerSet::Listed(listed))
    }
}

/// Those of the agent's chain. A signature that is there must hold.
fn listed_in(file: &Path, agent: &AgentName) -> Result<Vec<String>, CliError> {
    let wrong = |error: concord_files::Error| CliError::usage(shown(file, &error));
    let list = parse_reviewer_list(read_text(file)?.as_bytes()).map_err(wrong)?;
    list.view().signer().map_err(wrong)?;
    let network = agent.registry.rsplit_once(':').map_or("", |(it, _)| it);
    let addresses = list.view().addresses_on(network).into_iter();
    Ok(addresses.map(str::to_owned).collect())
}

fn write(file: &Path, text: Result<String, BundleError>) -> Result<(), CliError> {
    let text = text.map_err(CliError::usage)?;
    fs::write(file, text).map_err(|fault| CliError::File {
        path: file.display().to_string(),
        fault,
    })
}

async fn connect(options: &Reading) -> Result<Online, CliError> {
    let fetcher = Fetcher::new(FetchOptions {
        allow_http: options.allow_http,
        allow_private: options.allow_private,
        gateway: options.gateway.clone(),
        ..FetchOptions::default()
    })?;
    let mut online = Online::new(fetcher);
    for OfChain { chain, value } in &options.endpoints()? {
        let endpoint = EndpointOptions::new(value);
        match chain.namespace() {
            EIP155 => {
                let node = Node::new(&endpoint)?;
                online.add_evm(EvmReader::new(node, chain, options.at).await?);
            }
            _ => online.add_svm(SvmReader::new(Cluster::new(&endpoint)?, chain).await?),
        }
    }
    Ok(online)
}

fn exchange(options: &Explain) -> Result<Option<Exchange>, CliError> {
    let Some(target) = &options.target else {
        return Ok(None);
    };
    let body = |file: &Option<_>| file.as_deref().map_or(Ok(Vec::new()), read);
    Ok(Some(Exchange {
        target: target.clone(),
        request: body(&options.request)?.into(),
        response: body(&options.response)?.into(),
    }))
}

fn trust(options: &Reading) -> Result<Trust, CliError> {
    let mut trust = Trust::canonical();
    for file in &options.address_book {
        let added = trust.add_address_book(&read_text(file)?);
        added.map_err(|error| CliError::usage(shown(file, &error)))?;
    }
    for named in &options.trust {
        let added = trust.add_named(named);
        added.map_err(|error| CliError::usage(format!("--trust {named}: {error}")))?;
    }
    for OfChain { chain, value } in &options.block {
        trust.add_block(&chain.to_string(), value.0);
    }
    Ok(trust)
}

fn read(file: &Path) -> Result<Vec<u8>, CliError> {
    fs::read(file).map_err(|error| CliError::usage(shown(file, &error)))
}

fn read_text(file: &Path) -> Result<String, CliError> {
    String::from_utf8(read(file)?).map_err(|error| CliError::usage(shown(file, &error)))
}

fn shown(file: &Path, error: &dyn ToString) -> String {
    format!("{}: {}", file.display(), error.to_string())
}
