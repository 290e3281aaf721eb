//! The tables that events fold to: keys and rows. Their Borsh form is what a digest is over (R45).
mod agent;
mod feedback;
mod file;
mod rows;
mod validation;

pub use agent::{
    Agent, AgentKey, Metadata, MetadataKey, Setting, SettingKey, WalletChange, WalletKey,
};
pub use feedback::{
    Client, ClientKey, Feedback, FeedbackKey, Part, PartKey, Payment, Response, ResponseKey, Total,
    TotalKey, Transaction,
};
pub use file::{
    Evidence, Fetched, Fetching, File, FileKey, FileState, FileUse, Lines, Proof, Registration,
};
pub(crate) use rows::Digest;
pub use rows::{Rows, Tables};
pub use validation::{Answer, Validation, ValidationKey};

use borsh::BorshSerialize;

/// A table: what names a row, and what is in it.
pub trait Table {
    /// Names a row.
    type Key: Ord + Clone + BorshSerialize;
    /// The rest of it.
    type Row: Clone + PartialEq + BorshSerialize;
    /// In SQL.
    const NAME: &'static str;
}

macro_rules! tables {
    ($($table:ident: $key:ident, $row:ident, $name:literal;)+) => {$(
        #[doc = concat!("The table `", $name, "`.")]
        #[derive(Debug, Clone, Copy)]
        pub enum $table {}

        impl Table for $table {
            type Key = $key;
            type Row = $row;
            const NAME: &'static str = $name;
        }
    )+};
}

tables! {
    Agents: AgentKey, Agent, "agent";
    AllMetadata: MetadataKey, Metadata, "metadata";
    Wallets: WalletKey, WalletChange, "agent_wallet";
    Clients: ClientKey, Client, "client";
    Feedbacks: FeedbackKey, Feedback, "feedback";
    Responses: ResponseKey, Response, "response";
    Payments: FeedbackKey, Payment, "payment";
    Validations: ValidationKey, Validation, "validation";
    Parts: PartKey, Part, "part";
    Totals: TotalKey, Total, "total";
    Settings: SettingKey, Setting, "setting";
    Files: FileKey, File, "file";
    Registrations: AgentKey, Registration, "registration";
    AllEvidence: FeedbackKey, Evidence, "evidence";
}
