//! The commands of the system around the registries: payments, files, index, aggregator, watchtower. Without the feature
//! `services` they are not compiled, and what is left builds in half the time.
use super::{
    embedded::{Embedded, Part},
    error::CliError,
};
use clap::{Args, Subcommand};
use concord_x402::cli::options::{Agent, Feedback, X402};

#[derive(Debug, Subcommand)]
pub enum Service {
    X402(Box<X402>),
    Feedback(Box<OfFeedback>),
    Search(Box<concord_index::cli::Search>),
    Summary(Box<concord_index::cli::Summary>),
    Agent(Box<Agent>),
    Explain(Box<concord_explain::cli::Explain>),
    Index(Box<concord_index::cli::Index>),
    Aggregator(Box<concord_aggregator::cli::Aggregator>),
    Watchtower(Box<concord_watchtower::cli::Watchtower>),
}

/// Gives feedback on a purchase, and reads feedback from an index.
#[derive(Debug, Args)]
#[command(after_help = "The help of each command has its exit codes.")]
pub struct OfFeedback {
    #[command(subcommand)]
    pub command: FeedbackCommand,
}

#[derive(Debug, Subcommand)]
pub enum FeedbackCommand {
    #[command(flatten)]
    Rate(Feedback),
    #[command(flatten)]
    Read(concord_index::cli::Feedback),
}

/// The exit code.
pub(super) fn run(service: &Service) -> Result<u8, CliError> {
    Ok(match service {
        Service::X402(options) => concord_x402::cli::x402(options)?,
        Service::Feedback(options) => match &options.command {
            FeedbackCommand::Rate(options) => concord_x402::cli::feedback(options)?,
            FeedbackCommand::Read(options) => concord_index::cli::feedback(options),
        },
        Service::Search(options) => concord_index::cli::search(options),
        Service::Summary(options) => concord_index::cli::summary(options),
        Service::Agent(options) => concord_x402::cli::agent(options)?,
        Service::Explain(options) => concord_explain::cli::execute(options),
        Service::Index(options) => {
            let page = Embedded::installed().of(Part::Page).next();
            concord_index::cli::execute(&options.command, page.map(|(_, html)| html))
        }
        Service::Aggregator(options) => concord_aggregator::cli::execute(&options.command),
        Service::Watchtower(options) => concord_watchtower::cli::execute(&options.command),
    })
}
