use crate::backend::StepFault;
use concord_chain::ChainError;

/// Why a live run does not begin, or does not end as it should.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum LiveFault {
    #[error(transparent)]
    Chain(#[from] ChainError),
    #[error("--chain {0}: live runs are for chains of the namespaces eip155 and solana")]
    ChainUnplayable(String),
    #[error("the address book has no IdentityRegistry on this chain")]
    NoIdentityRegistry,
    #[error("--budget {value}: not a number of {coin} with at most {decimals} decimals")]
    BudgetMalformed {
        value: String,
        coin: &'static str,
        decimals: u32,
    },
    #[error("the run can cost up to {needed}, --budget allows {limit}: nothing was sent")]
    BudgetTooLow { needed: String, limit: String },
    #[error("{funder} has {balance}, the run needs up to {needed}: nothing was sent")]
    FunderTooPoor {
        funder: String,
        balance: String,
        needed: String,
    },
    #[error(
        "{record} is of a run that {recorded} paid for and that did not end: conform --live with that key takes back what is left, {now} cannot"
    )]
    AnotherFunder {
        record: String,
        recorded: String,
        now: String,
    },
    #[error("scenario {0} is not flagged `live`: it cannot be played on a live chain")]
    NotLive(String),
    #[error(
        "the address book's {contract} has the address {address}, which is none of the chain's"
    )]
    AddressMalformed { contract: String, address: String },
    #[error("{contract}: no code at {address}, where the address book has it")]
    NoCode { contract: String, address: String },
    #[error(
        "accounts of this run still have what they were given: conform --live with the same key takes it back"
    )]
    NotGivenBack,
    #[error("rehearsing {scenario} to know its cost: {fault}")]
    Rehearsal { scenario: String, fault: StepFault },
}

impl LiveFault {
    /// Is it on the way that the run failed, rather than refused before anything was sent?
    pub const fn is_interruption(&self) -> bool {
        match self {
            Self::Chain(error) => error.is_from_the_chain(),
            Self::Rehearsal { .. } | Self::NotGivenBack => true,
            _ => false,
        }
    }
}
