//! The views that a registry behind an adapter can be asked, with the form of their arguments and
//! answers.
use super::{AUTHORIZED, IDENTITY, OPEN, VALIDATION, ViewName, shape::Shape};
use crate::model::Chain;
use std::collections::BTreeSet;

/// A view in canonical terms.
#[derive(Clone, Copy, Debug)]
pub struct AskedView {
    pub view: ViewName,
    /// The members of its arguments.
    pub arguments: Shape,
    /// What it returns, unless it refuses.
    pub returns: Shape,
}

use Shape::{Actor, Agent, Bytes, Digits, Flag, Many, MaybeActor, Number, Record, Tag, Text, Word};

type Members = &'static [(&'static str, Shape)];
type Row = (&'static str, Members, Shape);

const ACTORS: Shape = Many(&Actor);
const OF_AGENT: Members = &[("agent", Agent)];
const OF_CLIENT: Members = &[("agent", Agent), ("client", Actor)];
const OF_ENTRY: Members = &[("agent", Agent), ("client", Actor), ("index", Number)];
const OF_WINDOW: Members = &[("agent", Agent), ("start", Number), ("limit", Number)];
const OF_CLIENT_WINDOW: Members = &[
    ("agent", Agent),
    ("client", Actor),
    ("start", Number),
    ("limit", Number),
];
const OF_RESPONSES: Members = &[
    ("agent", Agent),
    ("client", MaybeActor),
    ("index", Number),
    ("responders", ACTORS),
];
const OF_TEXT_TAGS: Members = &[
    ("agent", Agent),
    ("clients", ACTORS),
    ("tag1", Text),
    ("tag2", Text),
];
const OF_TAGS: Members = &[
    ("agent", Agent),
    ("clients", ACTORS),
    ("tag1", Tag),
    ("tag2", Tag),
];
const OPEN_SUMMARY: Shape = Record(&[("count", Number), ("value", Digits), ("decimals", Number)]);
const OPEN_PART: Shape = Record(&[
    ("sum", Digits),
    ("count", Number),
    ("histogram", Many(&Number)),
]);
const AVERAGE: Shape = Record(&[("count", Number), ("average", Number)]);
const TOTALS: Shape = Record(&[("count", Number), ("sum", Number)]);
const VALIDATION_PART: Shape = Record(&[("count", Number), ("sum", Digits)]);
const REQUESTS: Shape = Many(&Word);
const PAGE: Shape = Record(&[("requests", REQUESTS), ("total", Digits)]);

const IDENTITY_ROWS: &[Row] = &[
    ("balanceOf(address)", &[("owner", Actor)], Digits),
    ("getAgentWallet(uint256)", OF_AGENT, MaybeActor),
    ("getApproved(uint256)", OF_AGENT, MaybeActor),
    (
        "getMetadata(uint256,string)",
        &[("agent", Agent), ("key", Text)],
        Bytes,
    ),
    (
        "isApprovedForAll(address,address)",
        &[("owner", Actor), ("operator", Actor)],
        Flag,
    ),
    (
        "isAuthorizedOrOwner(address,uint256)",
        &[("agent", Agent), ("spender", Actor)],
        Flag,
    ),
    ("ownerOf(uint256)", OF_AGENT, Actor),
    ("supportsInterface(bytes4)", &[("interface", Bytes)], Flag),
    ("tokenURI(uint256)", OF_AGENT, Text),
];

const OPEN_ROWS: &[Row] = &[
    (
        "finishSummary((int256,uint64,uint64[19])[])",
        &[("parts", Many(&OPEN_PART))],
        OPEN_SUMMARY,
    ),
    ("getClientCount(uint256)", OF_AGENT, Digits),
    ("getClients(uint256)", OF_AGENT, ACTORS),
    (
        "getClientsWindow(uint256,uint256,uint256)",
        OF_WINDOW,
        ACTORS,
    ),
    ("getLastIndex(uint256,address)", OF_CLIENT, Number),
    (
        "getResponseCount(uint256,address,uint64,address[])",
        OF_RESPONSES,
        Number,
    ),
    (
        "getSummary(uint256,address[],string,string)",
        OF_TEXT_TAGS,
        OPEN_SUMMARY,
    ),
    (
        "getSummaryPart(uint256,address[],string,string)",
        OF_TEXT_TAGS,
        OPEN_PART,
    ),
    (
        "getSummaryPartOfClients(uint256,uint256,uint256,string,string)",
        &[
            ("agent", Agent),
            ("start", Number),
            ("limit", Number),
            ("tag1", Text),
            ("tag2", Text),
        ],
        OPEN_PART,
    ),
    (
        "getSummaryPartOfIndices(uint256,address,uint64,uint64,string,string)",
        &[
            ("agent", Agent),
            ("client", Actor),
            ("start", Number),
            ("limit", Number),
            ("tag1", Text),
            ("tag2", Text),
        ],
        OPEN_PART,
    ),
    (
        "readAllFeedback(uint256,address[],string,string,bool)",
        &[
            ("agent", Agent),
            ("clients", ACTORS),
            ("tag1", Text),
            ("tag2", Text),
            ("include_revoked", Flag),
        ],
        Record(&[
            ("clients", ACTORS),
            ("indices", Many(&Number)),
            ("values", Many(&Digits)),
            ("decimals", Many(&Number)),
            ("tag1s", Many(&Text)),
            ("tag2s", Many(&Text)),
            ("revoked", Many(&Flag)),
        ]),
    ),
    (
        "readFeedback(uint256,address,uint64)",
        OF_ENTRY,
        Record(&[
            ("value", Digits),
            ("decimals", Number),
            ("tag1", Text),
            ("tag2", Text),
            ("revoked", Flag),
        ]),
    ),
    (
        "readFeedbackWindow(uint256,address,uint64,uint64)",
        OF_CLIENT_WINDOW,
        Many(&Record(&[
            ("index", Number),
            ("value", Digits),
            ("decimals", Number),
            ("tag1", Text),
            ("tag2", Text),
            ("revoked", Flag),
            ("responses", Number),
        ])),
    ),
];

const AUTHORIZED_ROWS: &[Row] = &[
    ("acceptsDraftV1()", &[], Flag),
    ("getClientCount(uint256)", OF_AGENT, Digits),
    ("getClients(uint256)", OF_AGENT, ACTORS),
    (
        "getClientsWindow(uint256,uint256,uint256)",
        OF_WINDOW,
        ACTORS,
    ),
    ("getLastIndex(uint256,address)", OF_CLIENT, Number),
    (
        "getResponseCount(uint256,address,uint64,address[])",
        OF_RESPONSES,
        Number,
    ),
    ("getSummary(uint256)", OF_AGENT, AVERAGE),
    (
        "getSummary(uint256,address[],bytes32,bytes32)",
        OF_TAGS,
        AVERAGE,
    ),
    ("getTotals(uint256)", OF_AGENT, TOTALS),
    (
        "getTotals(uint256,address[],bytes32,bytes32)",
        OF_TAGS,
        TOTALS,
    ),
    (
        "getTotalsOfClients(uint256,uint256,uint256,bytes32,bytes32)",
        &[
            ("agent", Agent),
            ("start", Number),
            ("limit", Number),
            ("tag1", Tag),
            ("tag2", Tag),
        ],
        TOTALS,
    ),
    (
        "getTotalsOfIndices(uint256,address,uint64,uint64,bytes32,bytes32)",
        &[
            ("agent", Agent),
            ("client", Actor),
            ("start", Number),
            ("limit", Number),
            ("tag1", Tag),
            ("tag2", Tag),
        ],
        TOTALS,
    ),
    (
        "readAllFeedback(uint256,address[],bytes32,bytes32,bool)",
        &[
            ("agent", Agent),
            ("clients", ACTORS),
            ("tag1", Tag),
            ("tag2", Tag),
            ("include_revoked", Flag),
        ],
        Record(&[
            ("clients", ACTORS),
            ("scores", Many(&Number)),
            ("tag1s", Many(&Tag)),
            ("tag2s", Many(&Tag)),
            ("revoked", Many(&Flag)),
        ]),
    ),
    (
        "readFeedback(uint256,address,uint64)",
        OF_ENTRY,
        Record(&[
            ("score", Number),
            ("tag1", Tag),
            ("tag2", Tag),
            ("revoked", Flag),
            ("time", Number),
        ]),
    ),
    (
        "readFeedbackWindow(uint256,address,uint64,uint64)",
        OF_CLIENT_WINDOW,
        Many(&Record(&[
            ("index", Number),
            ("score", Number),
            ("tag1", Tag),
            ("tag2", Tag),
            ("revoked", Flag),
            ("time", Number),
            ("responses", Number),
        ])),
    ),
];

const VALIDATION_ROWS: &[Row] = &[
    (
        "finishSummary((uint256,uint64)[])",
        &[("parts", Many(&VALIDATION_PART))],
        AVERAGE,
    ),
    ("getAgentValidations(uint256)", OF_AGENT, REQUESTS),
    (
        "getAgentValidationsPage(uint256,uint256,uint256)",
        &[("agent", Agent), ("offset", Number), ("limit", Number)],
        PAGE,
    ),
    (
        "getSummary(uint256,address[],string)",
        &[("agent", Agent), ("validators", ACTORS), ("tag", Tag)],
        AVERAGE,
    ),
    (
        "getSummaryPart(uint256,address[],string,uint256,uint256)",
        &[
            ("agent", Agent),
            ("validators", ACTORS),
            ("tag", Tag),
            ("offset", Number),
            ("limit", Number),
        ],
        VALIDATION_PART,
    ),
    ("getValidationCount(uint256)", OF_AGENT, Number),
    (
        "getValidationStatus(bytes32)",
        &[("request", Word)],
        Record(&[
            ("agent", Agent),
            ("validator", Actor),
            ("time", Number),
            ("score", Number),
            ("hash", Word),
            ("tag", Tag),
        ]),
    ),
    (
        "getValidatorRequests(address)",
        &[("validator", Actor)],
        REQUESTS,
    ),
    (
        "getValidatorRequestsPage(address,uint256,uint256)",
        &[("validator", Actor), ("offset", Number), ("limit", Number)],
        PAGE,
    ),
    ("hasResponse(bytes32)", &[("request", Word)], Flag),
];

const INSTRUCTION_ROWS: &[Row] = &[
    ("open_summary", OF_TEXT_TAGS, OPEN_SUMMARY),
    ("open_summary_part", OF_TEXT_TAGS, OPEN_PART),
];

/// Every view that an adapter for this kind of chain may declare: all but those of the deployment
/// itself (addresses, domains, names, versions), and the accounts of Concord's own program.
pub fn asked_of_adapters(chain: Chain) -> Vec<AskedView> {
    let interfaces: &[(&'static str, &'static [Row])] = match chain {
        Chain::Evm => &[
            (IDENTITY, IDENTITY_ROWS),
            (OPEN, OPEN_ROWS),
            (AUTHORIZED, AUTHORIZED_ROWS),
            (VALIDATION, VALIDATION_ROWS),
        ],
        Chain::Svm => &[("instruction", INSTRUCTION_ROWS)],
    };
    let of_interface = |(interface, rows): &(&'static str, &'static [Row])| {
        let interface = *interface;
        rows.iter()
            .map(move |(signature, arguments, returns)| AskedView {
                view: ViewName {
                    interface,
                    signature,
                },
                arguments: Record(arguments),
                returns: *returns,
            })
    };
    interfaces.iter().flat_map(of_interface).collect()
}

/// The views of [`asked_of_adapters`] with these names.
///
/// # Errors
/// The unknown name.
pub fn asked_by_name(chain: Chain, names: &BTreeSet<String>) -> Result<BTreeSet<ViewName>, String> {
    let all = asked_of_adapters(chain);
    let find = |name: &String| {
        let found = all.iter().find(|it| it.view.to_string() == *name);
        found.map(|it| it.view).ok_or_else(|| name.clone())
    };
    names.iter().map(find).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::backend::views;

    /// What only a deployment can answer.
    const OF_DEPLOYMENTS: [&str; 5] = [
        "eip712Domain()",
        "getIdentityRegistry()",
        "getVersion()",
        "name()",
        "symbol()",
    ];

    #[test]
    fn every_view_but_those_of_a_deployment_can_be_asked() {
        for chain in Chain::ALL {
            let asked: BTreeSet<_> = asked_of_adapters(chain).iter().map(|it| it.view).collect();
            let left_out =
                |it: &ViewName| it.interface == "account" || OF_DEPLOYMENTS.contains(&it.signature);
            let mut expected = views::of(chain);
            expected.retain(|it| !left_out(it));
            assert_eq!(asked, expected, "{chain:?}");
        }
    }
}
