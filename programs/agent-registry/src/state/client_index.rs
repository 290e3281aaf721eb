use super::{VERSION, raised};
use crate::{
    account_data::{Derived, Placed, Record, Slot, find, store},
    error::require,
};
use anchor_lang::prelude::*;
use concord_canonical::pda::Account as Place;

/// The index of one profile, whose addresses are those of `Place::$place`. Two types, because an index of one profile must
/// never pass for one of the other.
macro_rules! client_index {
    ($(#[$attribute:meta])* pub struct $name:ident at $place:ident;) => {
        $(#[$attribute])*
        #[derive(InitSpace, Debug)]
        pub struct $name {
            /// The agent's mint.
            pub agent: Pubkey,
            pub client: Pubkey,
            /// The index of the client's latest entry; the first entry has index 1.
            pub last_index: u64,
            /// 1 for the agent's first client, 2 for its second…: whoever lists the agent's clients has all of them
            /// when it has the ordinals 1 to the agent's count of this profile's clients.
            pub ordinal: u64,
            pub bump: u8,
            pub version: u8,
        }

        impl Record for $name {}

        impl Placed for $name {
            fn place(&self) -> Place<'_> {
                Self::place_of(&self.agent, &self.client)
            }
        }

        impl $name {
            pub fn place_of(agent: &Pubkey, client: &Pubkey) -> Place<'static> {
                let (mint, client) = (agent.to_bytes(), client.to_bytes());
                Place::$place { mint, client }
            }

            /// `client`'s index, which `feedback_index` must follow: the next one is named, so that each entry's address
            /// is known in advance (R8, R12). With `last_index` 0 before the first feedback.
            /// Errors: `AccountMismatch`, `FeedbackIndexStale`.
            pub fn before(
                account: &AccountInfo,
                agent: &Pubkey,
                client: &Pubkey,
                feedback_index: u64,
            ) -> Result<Self> {
                let index = match find(account, &Self::place_of(agent, client))? {
                    Slot::Held(index) => index,
                    Slot::Vacant(derived) => Self {
                        agent: *agent,
                        client: *client,
                        last_index: 0,
                        ordinal: 0,
                        bump: derived.bump(),
                        version: VERSION,
                    },
                };
                let next = raised(index.last_index, 1)?;
                require!(feedback_index == next, FeedbackIndexStale);
                Ok(index)
            }

            /// Counts one more entry. R8: indices are 1-based and never decrease. A new client becomes the last of
            /// the agent's `clients`, and its index gets the account.
            pub fn advance<'info>(
                &mut self,
                account: &AccountInfo<'info>,
                payer: &AccountInfo<'info>,
                clients: &mut u64,
            ) -> Result<()> {
                self.last_index = raised(self.last_index, 1)?;
                if self.last_index > 1 {
                    return store(account, self);
                }
                *clients = raised(*clients, 1)?;
                self.ordinal = *clients;
                Derived::known(&self.place(), self.bump).create(payer, account, self)
            }
        }
    };
}

client_index! {
    /// How far one client's authorized feedback about one agent has counted, `["client", mint, client]`. Never closed, so the index never resets (R8).
    #[account]
    pub struct ClientIndex at Client;
}

client_index! {
    /// How far one client's open feedback about one agent has counted, `["open_client", mint, client]`. Never closed, so the index never resets (R8).
    #[account]
    pub struct OpenClientIndex at OpenClient;
}
