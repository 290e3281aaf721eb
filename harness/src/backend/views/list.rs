//! Every view, by interface. `harness/tests/views.rs` holds the lists equal to the published ABIs and
//! to the program's interface description.

/// The interfaces' names, as their ABIs are called.
pub const IDENTITY: &str = "IdentityRegistry";
pub const OPEN: &str = "ReputationRegistry";
pub const AUTHORIZED: &str = "AuthorizedReputationRegistry";
pub const VALIDATION: &str = "ValidationRegistry";

/// Ours and the canonical ones.
const IDENTITY_VIEWS: &[&str] = &[
    "balanceOf(address)",
    "eip712Domain()",
    "getAgentWallet(uint256)",
    "getApproved(uint256)",
    "getMetadata(uint256,string)",
    "getVersion()",
    "isApprovedForAll(address,address)",
    "isAuthorizedOrOwner(address,uint256)",
    "name()",
    "ownerOf(uint256)",
    "supportsInterface(bytes4)",
    "symbol()",
    "tokenURI(uint256)",
];

/// Interfaces by name, each with the signatures of its views.
pub type Interfaces = &'static [(&'static str, &'static [&'static str])];

/// The views of Concord's contracts (`contracts/abi`).
pub const EVM: Interfaces = &[
    (IDENTITY, IDENTITY_VIEWS),
    (
        OPEN,
        &[
            "finishSummary((int256,uint64,uint64[19])[])",
            "getClientCount(uint256)",
            "getClients(uint256)",
            "getClientsWindow(uint256,uint256,uint256)",
            "getIdentityRegistry()",
            "getLastIndex(uint256,address)",
            "getResponseCount(uint256,address,uint64,address[])",
            "getSummary(uint256,address[],string,string)",
            "getSummaryPart(uint256,address[],string,string)",
            "getSummaryPartOfClients(uint256,uint256,uint256,string,string)",
            "getSummaryPartOfIndices(uint256,address,uint64,uint64,string,string)",
            "getVersion()",
            "readAllFeedback(uint256,address[],string,string,bool)",
            "readFeedback(uint256,address,uint64)",
            "readFeedbackWindow(uint256,address,uint64,uint64)",
        ],
    ),
    (
        AUTHORIZED,
        &[
            "acceptsDraftV1()",
            "eip712Domain()",
            "getClientCount(uint256)",
            "getClients(uint256)",
            "getClientsWindow(uint256,uint256,uint256)",
            "getIdentityRegistry()",
            "getLastIndex(uint256,address)",
            "getResponseCount(uint256,address,uint64,address[])",
            "getSummary(uint256)",
            "getSummary(uint256,address[],bytes32,bytes32)",
            "getTotals(uint256)",
            "getTotals(uint256,address[],bytes32,bytes32)",
            "getTotalsOfClients(uint256,uint256,uint256,bytes32,bytes32)",
            "getTotalsOfIndices(uint256,address,uint64,uint64,bytes32,bytes32)",
            "getVersion()",
            "readAllFeedback(uint256,address[],bytes32,bytes32,bool)",
            "readFeedback(uint256,address,uint64)",
            "readFeedbackWindow(uint256,address,uint64,uint64)",
        ],
    ),
    (
        VALIDATION,
        &[
            "finishSummary((uint256,uint64)[])",
            "getAgentValidations(uint256)",
            "getAgentValidationsPage(uint256,uint256,uint256)",
            "getIdentityRegistry()",
            "getSummary(uint256,address[],string)",
            "getSummaryPart(uint256,address[],string,uint256,uint256)",
            "getValidationCount(uint256)",
            "getValidationStatus(bytes32)",
            "getValidatorRequests(address)",
            "getValidatorRequestsPage(address,uint256,uint256)",
            "getVersion()",
            "hasResponse(bytes32)",
        ],
    ),
];

/// The views of the canonical ERC-8004 contracts 2.0.0 (`registry/tests/canonical_abi`), without those
/// of their proxies: an owner and upgrades, which say nothing of agents.
pub const CANONICAL: Interfaces = &[
    (IDENTITY, IDENTITY_VIEWS),
    (
        OPEN,
        &[
            "getClients(uint256)",
            "getIdentityRegistry()",
            "getLastIndex(uint256,address)",
            "getResponseCount(uint256,address,uint64,address[])",
            "getSummary(uint256,address[],string,string)",
            "getVersion()",
            "readAllFeedback(uint256,address[],string,string,bool)",
            "readFeedback(uint256,address,uint64)",
        ],
    ),
    (
        VALIDATION,
        &[
            "getAgentValidations(uint256)",
            "getIdentityRegistry()",
            "getSummary(uint256,address[],string)",
            "getValidationStatus(bytes32)",
            "getValidatorRequests(address)",
            "getVersion()",
        ],
    ),
];

/// The read instructions and the accounts of the Solana program.
pub const SVM: Interfaces = &[
    ("instruction", &["open_summary", "open_summary_part"]),
    (
        "account",
        &[
            "AgentIdentity",
            "ClientIndex",
            "FeedbackEntry",
            "MetadataEntry",
            "OpenClientIndex",
            "OpenFeedback",
            "Registry",
            "SpentPayment",
            "ValidationRequest",
            "ValidationResponse",
        ],
    ),
];
