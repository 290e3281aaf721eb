//! Every account of every instruction, with the classes that fit the refusal of another one there.
use crate::backend::impostor::Impostor;
use concord_canonical::{
    ErrorClass::{self, *},
    hash::sha256,
};
use concord_registry::svm::{Program, programs::TOKEN_2022};
use solana_instruction::Instruction;

/// One account of an instruction.
#[derive(Clone, Copy)]
pub struct Place {
    pub instruction: &'static str,
    pub account: &'static str,
    pub refusals: &'static [ErrorClass],
    /// As [`Trial::may_do_as_well`](crate::backend::impostor::Trial).
    pub may_do_as_well: bool,
}

/// What refuses an account, by its part in an instruction.
#[derive(Clone, Copy)]
enum Part {
    /// Whoever pays for new accounts: anybody who signs, is written and has lamports.
    Payer,
    /// Anybody who signs.
    Anyone,
    /// A key that may be anybody's who signs, and otherwise lacks this.
    Consenting(&'static [ErrorClass]),
    /// A signer, who is somebody else here.
    Signer(&'static [ErrorClass]),
    /// The one account that the arguments and the others derive, or a constant.
    Derived,
    /// The same, which Token-2022 passes on to the hook. It does not call the hook if the token stays where it is.
    PassedOn,
    /// An account whose refusal has other classes too.
    Other(&'static [ErrorClass]),
}

type Accounts = &'static [(&'static str, Part)];

const MISMATCH: &[ErrorClass] = &[AccountMismatch];
const PAYER: &[ErrorClass] = &[AccountMismatch, SignatureMissing];
const OWNER: &[ErrorClass] = &[NotAuthorized, SignatureMissing];
/// Their own entries and indices are derived from them.
const CLIENT: &[ErrorClass] = &[AccountMismatch, SignatureMissing];
const VALIDATOR: &[ErrorClass] = &[AccountMismatch, NotValidator, SignatureMissing];
const WALLET: &[ErrorClass] = &[WalletConsentMissing];
const AUTHORITY: &[ErrorClass] = &[AuthorityConsentMissing];
/// R4: it must be vacant.
const NEW_AGENT: &[ErrorClass] = &[AccountMismatch, AlreadyInitialized];
const SUMMARY: &[ErrorClass] = &[AccountMismatch, SummaryGap];
pub const HOOK: &[ErrorClass] = &[NotInTransfer, AccountMismatch];
/// Token-2022 asks first. What it does not own is no agent's.
const TOKEN: &[ErrorClass] = &[
    AccountMismatch,
    AgentNotFound,
    TransferNotAllowed,
    SignatureMissing,
];

use Part::{Anyone, Consenting, Derived, Other, PassedOn, Payer, Signer};

const EVENTS: [(&str, Part); 2] = [("event_authority", Derived), ("program", Derived)];
const OWN_SETTING: Accounts = &[
    ("owner", Signer(OWNER)),
    ("agent", Derived),
    ("nft_mint", Derived),
    EVENTS[0],
    EVENTS[1],
];
const REGISTRY_CHANGE: Accounts = &[
    ("authority", Signer(OWNER)),
    ("registry", Derived),
    EVENTS[0],
    EVENTS[1],
];

/// The hook's accounts, which Token-2022 passes on, and anybody can pass by calling it.
pub const HOOK_ACCOUNTS: &[&str] = &[
    "source",
    "mint",
    "destination",
    "authority",
    "extra_account_metas",
    "agent",
    "event_authority",
    "program",
];
pub const TRANSFER_HOOK: &str = "transfer_hook";
/// Token-2022's TransferChecked with the hook's accounts.
const TRANSFER: &str = "token_2022_transfer";
const TRANSFER_CHECKED: u8 = 12;
const TRANSFER_ACCOUNTS: Accounts = &[
    ("source", Other(TOKEN)),
    ("mint", Other(TOKEN)),
    ("destination", Other(TOKEN)),
    ("authority", Signer(TOKEN)),
    ("agent", PassedOn),
    ("event_authority", PassedOn),
    ("program", PassedOn),
    ("extra_account_metas", PassedOn),
];

/// The program's instructions that operations are played with. `initialize` is none of them: each deployment has it once.
const INSTRUCTIONS: &[(&str, Accounts)] = &[
    (
        "register_agent",
        &[
            ("owner", Signer(CLIENT)),
            ("payer", Signer(PAYER)), // R4: the mint is derived from it
            ("nft_mint", Derived),
            ("agent", Other(NEW_AGENT)),
            ("token_account", Derived),
            ("extra_account_metas", Derived),
            ("token_program", Derived),
            ("associated_token_program", Derived),
            ("system_program", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "set_agent_uri",
        &[
            ("owner", Signer(OWNER)),
            ("payer", Payer),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("token_program", Derived),
            ("system_program", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "set_metadata",
        &[
            ("owner", Signer(OWNER)),
            ("payer", Payer),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("metadata_entry", Derived),
            ("system_program", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "set_agent_wallet",
        &[
            ("owner", Signer(OWNER)),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("new_wallet", Consenting(WALLET)),
            ("instructions_sysvar", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    ("unset_agent_wallet", OWN_SETTING),
    (
        "set_feedback_authority",
        &[
            ("owner", Signer(OWNER)),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("new_authority", Consenting(AUTHORITY)),
            ("instructions_sysvar", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    ("set_auth_schemes", OWN_SETTING),
    ("propose_registry_authority", REGISTRY_CHANGE),
    ("accept_registry_authority", REGISTRY_CHANGE),
    ("set_payment_token", REGISTRY_CHANGE),
    ("set_facilitator", REGISTRY_CHANGE),
    (
        "give_feedback",
        &[
            ("reviewer", Signer(CLIENT)),
            ("payer", Payer),
            ("registry", Derived),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("client_index", Derived),
            ("feedback_entry", Derived),
            ("instructions_sysvar", Derived),
            ("system_program", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "revoke_feedback",
        &[
            ("reviewer", Signer(CLIENT)),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("feedback_entry", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "append_response",
        &[
            ("responder", Anyone), // R19
            ("nft_mint", Derived),
            ("feedback_entry", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "attach_payment_proof",
        &[
            ("caller", Signer(OWNER)),
            ("payer", Payer),
            ("reviewer", Derived),
            ("registry", Derived),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("feedback_entry", Derived),
            ("spent_payment", Derived),
            ("instructions_sysvar", Derived),
            ("system_program", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "give_open_feedback",
        &[
            ("client", Signer(CLIENT)),
            ("payer", Payer),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("open_client_index", Derived),
            ("open_feedback", Derived),
            ("system_program", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "revoke_open_feedback",
        &[
            ("client", Signer(CLIENT)),
            ("nft_mint", Derived),
            ("open_feedback", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "append_open_response",
        &[
            ("responder", Anyone), // R19
            ("nft_mint", Derived),
            ("open_feedback", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "validation_request",
        &[
            ("owner", Signer(OWNER)),
            ("payer", Payer),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("validation_request", Derived),
            ("system_program", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    (
        "validation_response",
        &[
            ("validator", Signer(VALIDATOR)),
            ("payer", Payer),
            ("agent", Derived),
            ("nft_mint", Derived),
            ("validation_request", Derived),
            ("validation_response", Derived),
            ("system_program", Derived),
            EVENTS[0],
            EVENTS[1],
        ],
    ),
    ("open_summary", &[("nft_mint", Other(SUMMARY))]),
];
/// What follows the named accounts of `open_summary`: each client's index and entries.
const REMAINING: (&str, Part) = ("remaining_accounts", Other(SUMMARY));

/// The places of an instruction's accounts, in their order; none for one that is not in the tables.
pub fn of(instruction: &Instruction, program: &Program) -> Vec<Place> {
    if instruction.program_id == TOKEN_2022 && instruction.data.first() == Some(&TRANSFER_CHECKED) {
        return places(TRANSFER, TRANSFER_ACCOUNTS).collect();
    }
    if instruction.program_id != program.id() {
        return Vec::new();
    }
    let called = |(name, _): &&(&str, Accounts)| {
        let hash = sha256(format!("global:{name}").as_bytes());
        instruction.data.starts_with(&hash[..8])
    };
    let Some((name, accounts)) = INSTRUCTIONS.iter().find(called) else {
        return Vec::new();
    };
    let remaining = std::iter::repeat(place(name, REMAINING));
    let all = places(name, accounts).chain(remaining);
    all.take(instruction.accounts.len()).collect()
}

/// The places of a direct call of the hook.
pub fn of_hook() -> Vec<Place> {
    let accounts = HOOK_ACCOUNTS.iter();
    let places = accounts.map(|account| place(TRANSFER_HOOK, (*account, Other(HOOK))));
    places.collect()
}

/// Every place there is.
pub fn all() -> impl Iterator<Item = Impostor> {
    let named = INSTRUCTIONS.iter().chain(&[(TRANSFER, TRANSFER_ACCOUNTS)]);
    let named = named.flat_map(|(name, accounts)| places(name, accounts));
    let remaining = place("open_summary", REMAINING);
    let all = named.chain([remaining]).chain(of_hook());
    all.map(|it| it.named())
}

fn places(name: &'static str, accounts: Accounts) -> impl Iterator<Item = Place> {
    accounts.iter().map(move |account| place(name, *account))
}

const fn place(instruction: &'static str, (account, part): (&'static str, Part)) -> Place {
    let (refusals, may_do_as_well) = match part {
        Payer => (PAYER, true),
        Anyone => (&[SignatureMissing] as &[_], true),
        Consenting(refusals) => (refusals, true),
        Signer(refusals) | Other(refusals) => (refusals, false),
        Derived => (MISMATCH, false),
        PassedOn => (MISMATCH, true),
    };
    Place {
        instruction,
        account,
        refusals,
        may_do_as_well,
    }
}

impl Place {
    pub const fn named(&self) -> Impostor {
        Impostor::Place {
            instruction: self.instruction,
            account: self.account,
        }
    }

    /// Whether the account is one that Token-2022 keeps tokens in.
    pub fn is_token_account(&self) -> bool {
        matches!(self.account, "source" | "destination" | "token_account")
    }
}
