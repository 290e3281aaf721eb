use crate::{
    Step,
    proof::{account::AccountFault, rlp::RlpMalformed, trie::ProofBroken},
};

/// Why a step has no answer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Gap {
    /// The evidence is missing, or says nothing about it (R36).
    CannotCheck(String),
    /// The evidence is there and does not prove what it should.
    Broken(String),
    /// Another step is refuted on which this one rests.
    Needs(Step),
}

impl Gap {
    pub(crate) fn cannot_check(reason: impl ToString) -> Self {
        Self::CannotCheck(reason.to_string())
    }

    pub(crate) fn broken(reason: impl ToString) -> Self {
        Self::Broken(reason.to_string())
    }
}

impl From<ProofBroken> for Gap {
    fn from(fault: ProofBroken) -> Self {
        Self::broken(fault)
    }
}

impl From<AccountFault> for Gap {
    fn from(fault: AccountFault) -> Self {
        Self::broken(fault)
    }
}

impl From<RlpMalformed> for Gap {
    fn from(fault: RlpMalformed) -> Self {
        Self::broken(fault)
    }
}
