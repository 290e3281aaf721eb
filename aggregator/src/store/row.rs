use super::{SignedReceipt, db::Cells};
use concord_chain::submission::Landing;
use concord_x402::feedback::Submission;

/// Without the file, which is much larger than all the rest.
pub(super) const COLUMNS: &str = "n, key, digest, accepted_at, previous, receipt, signature, lane, \
                                  settlement, body, state, reason, attempts, landing, \
                                  feedback_index, reverts";

/// How far a submission is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RowState {
    /// It has a receipt.
    Accepted,
    /// Its file is stored (R55).
    Stored,
    /// Its transaction is on disk.
    Signed,
    /// The chain has taken the transaction.
    Sent,
    /// The transaction was executed.
    Landed,
    /// It will stay.
    Final,
    /// The registry refuses it for good.
    Refused,
}

impl RowState {
    /// Every state.
    pub const ALL: [Self; 7] = [
        Self::Accepted,
        Self::Stored,
        Self::Signed,
        Self::Sent,
        Self::Landed,
        Self::Final,
        Self::Refused,
    ];

    /// Whether the file may be shown. Before the chain has its transaction, the agent could still keep out what
    /// they do not like (R53).
    #[must_use]
    pub const fn is_shown(self) -> bool {
        !matches!(self, Self::Accepted | Self::Stored | Self::Signed)
    }

    /// The state's stable name.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Accepted => "accepted",
            Self::Stored => "stored",
            Self::Signed => "signed",
            Self::Sent => "sent",
            Self::Landed => "landed",
            Self::Final => "final",
            Self::Refused => "refused",
        }
    }
}

impl RowState {
    /// The state with a name.
    pub(super) fn read(name: &str) -> Result<Self, String> {
        let mut all = Self::ALL.into_iter();
        let found = all.find(|it| it.name() == name);
        found.ok_or_else(|| format!("{name:?} is not a state"))
    }
}

/// An accepted submission.
#[derive(Clone, Debug)]
pub struct Row {
    /// Its receipt, whose number is the row's.
    pub receipt: SignedReceipt,
    /// Registry and account that submits.
    pub lane: String,
    /// The registry that records the feedback, CAIP-10.
    pub settlement: String,
    /// What the registry is sent.
    pub submission: Submission,
    /// How far it is.
    pub state: RowState,
    /// Why the last attempt failed, or why the registry refuses it.
    pub reason: Option<String>,
    /// Attempts that failed.
    pub attempts: u32,
    /// How many of the last ones the registry reverted.
    pub reverts: u32,
    pub(super) landing: Option<Landing>,
    /// Counts from 1, per agent and client; known once the entry was read back.
    pub index: Option<u64>,
}

impl Row {
    pub(super) fn read(row: &Cells<'_>) -> Result<Self, String> {
        let small = |column| Ok::<u32, String>(row.get::<u64>(column)? as u32);
        Ok(Self {
            receipt: SignedReceipt::read(row)?,
            lane: row.get(7)?,
            settlement: row.get(8)?,
            submission: row.json(9)?,
            state: RowState::read(&row.get::<String>(10)?)?,
            reason: row.get(11)?,
            attempts: small(12)?,
            reverts: small(15)?,
            landing: row.json_or_null(13)?,
            index: row.get(14)?,
        })
    }
}
