use super::{CliError, Explain, arguments::OfChain};
use crate::{
    Bundle, Exchange, Explained, Report, Trust, complete, explain,
    online::{EvmReader, FeedbackName, Online, SvmReader},
};
use concord_canonical::caip::EIP155;
use concord_chain::{
    EndpointOptions,
    evm::Node,
    fetch::{FetchOptions, Fetcher},
    svm::Cluster,
};
use std::{fs, path::Path};

pub(super) async fn run(options: &Explain) -> Result<Report, CliError> {
    let mut trust = trust(options)?;
    let explained = match (&options.from, &options.feedback) {
        (Some(file), _) => from_file(file, &trust)?,
        (None, Some(name)) => online(options, name, &mut trust).await?,
        (None, None) => return Err(CliError::usage("name a feedback, or pass --from")),
    };
    Ok(explained.report)
}

fn from_file(file: &Path, trust: &Trust) -> Result<Explained, CliError> {
    let bundle = Bundle::parse(&read_text(file)?);
    let bundle = bundle.map_err(|error| CliError::usage(shown(file, &error)))?;
    explain(&bundle, trust).map_err(|error| CliError::usage(shown(file, &error)))
}

async fn online(
    options: &Explain,
    name: &FeedbackName,
    trust: &mut Trust,
) -> Result<Explained, CliError> {
    let mut online = connect(options).await?;
    let subject = online.subject(name, trust).await?;
    // the user's own node is believed about the hash, unless they say another one
    let said = |chain: &str| options.block.iter().any(|it| it.chain.to_string() == chain);
    for (chain, _, hash) in online.anchors() {
        if !said(chain) {
            trust.add_block(chain, hash);
        }
    }
    let mut bundle = Bundle::new(subject);
    bundle.exchange = exchange(options)?;
    let explained = complete(&mut bundle, trust, &mut online).await;
    let explained = explained.map_err(CliError::usage)?;
    if let Some(file) = &options.bundle {
        write(file, &bundle)?;
    }
    Ok(explained)
}

fn write(file: &Path, bundle: &Bundle) -> Result<(), CliError> {
    let text = bundle.to_canonical().map_err(CliError::usage)?;
    fs::write(file, text).map_err(|fault| CliError::File {
        path: file.display().to_string(),
        fault,
    })
}

async fn connect(options: &Explain) -> Result<Online, CliError> {
    let fetcher = Fetcher::new(FetchOptions {
        allow_http: options.allow_http,
        allow_private: options.allow_private,
        gateway: options.gateway.clone(),
        ..FetchOptions::default()
    })?;
    let mut online = Online::new(fetcher);
    for OfChain { chain, value } in &options.rpc {
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

fn trust(options: &Explain) -> Result<Trust, CliError> {
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
