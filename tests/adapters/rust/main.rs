//! A small identity registry in memory that speaks docs/ADAPTER.md: an example to start from.
//!
//! It keeps the rules of an EVM registry for the identity profile, and nothing else. schema.json has the form of every
//! line.
//!
//!     cargo build && concord adapter --chain evm target/debug/identity-adapter
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::{
    collections::{BTreeMap, BTreeSet},
    io::{self, BufRead, Write},
};

const PROTOCOL: u64 = 1;
const NAME: &str = "identity-rs";
const RESERVED_KEY: &str = "agentWallet";
/// How the labels of contracts begin that refuse tokens.
const REFUSES_TOKENS: &str = "contract-closed-";
/// What clients read. Each is asked at the end of a scenario.
const VIEWS: [&str; 9] = [
    "IdentityRegistry.balanceOf(address)",
    "IdentityRegistry.getAgentWallet(uint256)",
    "IdentityRegistry.getApproved(uint256)",
    "IdentityRegistry.getMetadata(uint256,string)",
    "IdentityRegistry.isApprovedForAll(address,address)",
    "IdentityRegistry.isAuthorizedOrOwner(address,uint256)",
    "IdentityRegistry.ownerOf(uint256)",
    "IdentityRegistry.supportsInterface(bytes4)",
    "IdentityRegistry.tokenURI(uint256)",
];
/// ERC-165, ERC-721, its metadata, ERC-4906.
const INTERFACES: [&str; 4] = ["0x01ffc9a7", "0x80ac58cd", "0x5b5e139f", "0x49064906"];
/// Seconds from now: the longest that a wallet's consent may be good for.
const DEADLINE_MAX: u64 = 300;

/// What the registry can do, in the form in which scenarios write it.
#[derive(Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
enum Operation {
    Register {
        agent: String,
        by: String,
        uri: String,
        #[serde(default)]
        metadata: Vec<Metadata>,
    },
    SetAgentUri {
        agent: String,
        by: String,
        uri: String,
    },
    SetMetadata {
        agent: String,
        by: String,
        key: String,
        value: String,
    },
    SetAgentWallet {
        agent: String,
        by: String,
        wallet: Option<String>,
        consent: Option<Consent>,
    },
    UnsetAgentWallet {
        agent: String,
        by: String,
    },
    Transfer {
        agent: String,
        by: String,
        to: String,
        /// On Solana only.
        #[serde(default, rename = "into_mutable_account")]
        _into_mutable_account: bool,
    },
    Approve {
        agent: String,
        by: String,
        operator: Option<String>,
    },
    SetOperator {
        by: String,
        operator: String,
        approved: bool,
    },
}

/// Their names, as `hello` declares them.
const OPERATIONS: [&str; 8] = [
    "register",
    "set_agent_uri",
    "set_metadata",
    "set_agent_wallet",
    "unset_agent_wallet",
    "transfer",
    "approve",
    "set_operator",
];

#[derive(Deserialize)]
struct Metadata {
    key: String,
    value: String,
}

/// What the holder of `wallet` signed, and whose key did.
#[derive(Deserialize)]
struct Consent {
    signer: String,
    #[serde(flatten)]
    signed: Signed,
}

#[derive(Clone, Deserialize, PartialEq, Eq, PartialOrd, Ord)]
struct Signed {
    agent: String,
    wallet: String,
    owner: String,
    deadline: u64,
}

/// The error class of the rule that was broken.
type Refused = &'static str;
type Done = Result<Vec<Value>, Refused>;

struct Agent {
    owner: String,
    uri: String,
    wallet: Option<String>,
    metadata: BTreeMap<String, String>,
}

#[derive(Default)]
struct Registry {
    time: u64,
    agents: BTreeMap<String, Agent>,
    /// By agent: the one who may act for this token.
    approved: BTreeMap<String, Option<String>>,
    /// An owner, and whoever may act for all of their tokens.
    operators: BTreeSet<(String, String)>,
    used_consents: BTreeSet<Signed>,
}

impl Registry {
    fn execute(&mut self, operation: Operation) -> Done {
        match operation {
            Operation::Register {
                agent,
                by,
                uri,
                metadata,
            } => self.register(&agent, &by, &uri, metadata),
            Operation::SetAgentUri { agent, by, uri } => {
                self.managed(&agent, &by)?.uri.clone_from(&uri);
                Ok(vec![
                    json!({"AgentUriSet": {"agent": agent, "by": by, "uri": uri}}),
                ])
            }
            Operation::SetMetadata {
                agent,
                by,
                key,
                value,
            } => self.set_metadata(&agent, &by, key, value),
            Operation::SetAgentWallet {
                agent,
                by,
                wallet,
                consent,
            } => self.set_agent_wallet(&agent, &by, wallet, consent),
            Operation::UnsetAgentWallet { agent, by } => {
                self.managed(&agent, &by)?.wallet = None;
                Ok(vec![wallet_set(&agent, None)])
            }
            Operation::Transfer { agent, by, to, .. } => self.transfer(&agent, &by, to),
            Operation::Approve {
                agent,
                by,
                operator,
            } => self.approve(agent, by, operator),
            Operation::SetOperator {
                by,
                operator,
                approved,
            } => {
                if approved {
                    self.operators.insert((by, operator))
                } else {
                    self.operators.remove(&(by, operator))
                };
                Ok(vec![])
            }
        }
    }

    fn register(&mut self, agent: &str, by: &str, uri: &str, metadata: Vec<Metadata>) -> Done {
        if metadata.iter().any(|entry| entry.key == RESERVED_KEY) {
            return Err("ReservedKey");
        }
        if by.starts_with(REFUSES_TOKENS) {
            return Err("ReceiverRefused");
        }
        let registered = Agent {
            owner: by.to_owned(),
            uri: uri.to_owned(),
            wallet: Some(by.to_owned()),
            metadata: BTreeMap::new(),
        };
        self.agents.insert(agent.to_owned(), registered);
        let mut events =
            vec![json!({"AgentRegistered": {"agent": agent, "owner": by, "uri": uri}})];
        for Metadata { key, value } in metadata {
            events.extend(self.set_metadata(agent, by, key, value)?);
        }
        Ok(events)
    }

    fn set_metadata(&mut self, agent: &str, by: &str, key: String, value: String) -> Done {
        let known = self.managed(agent, by)?;
        if key == RESERVED_KEY {
            return Err("ReservedKey");
        }
        let event = json!({"MetadataSet": {"agent": agent, "key": key, "value": value}});
        known.metadata.insert(key, value);
        Ok(vec![event])
    }

    fn set_agent_wallet(
        &mut self,
        agent: &str,
        by: &str,
        wallet: Option<String>,
        consent: Option<Consent>,
    ) -> Done {
        let owner = self.managed(agent, by)?.owner.clone();
        let wallet = wallet.ok_or("WalletZero")?;
        let Consent { signer, signed } = consent.ok_or("WalletConsentMissing")?;
        if signed.deadline < self.time {
            return Err("DeadlinePassed");
        }
        if signed.deadline > self.time + DEADLINE_MAX {
            return Err("DeadlineTooFar");
        }
        // What the wallet's holder must have signed, and whose key must have done it.
        let wanted = Signed {
            agent: agent.to_owned(),
            wallet: wallet.clone(),
            owner,
            deadline: signed.deadline,
        };
        if self.used_consents.contains(&wanted) {
            return Err("WalletConsentUsed");
        }
        if signed != wanted || signer != wallet {
            return Err("WalletConsentMissing");
        }
        self.used_consents.insert(wanted);
        let event = wallet_set(agent, Some(&wallet));
        self.managed(agent, by)?.wallet = Some(wallet);
        Ok(vec![event])
    }

    fn transfer(&mut self, agent: &str, by: &str, to: String) -> Done {
        if !self.may_act(agent, by)? {
            return Err("TransferNotAllowed");
        }
        self.approved.remove(agent);
        let known = self.agents.get_mut(agent).ok_or("AgentNotFound")?;
        if known.owner == to {
            return Ok(vec![]);
        }
        known.owner = to;
        known.wallet = None;
        Ok(vec![wallet_set(agent, None)])
    }

    fn approve(&mut self, agent: String, by: String, operator: Option<String>) -> Done {
        let owner = self.agent(&agent)?.owner.clone();
        if by != owner && !self.operators.contains(&(owner, by)) {
            return Err("TransferNotAllowed");
        }
        self.approved.insert(agent, operator);
        Ok(vec![])
    }

    fn agent(&self, agent: &str) -> Result<&Agent, Refused> {
        self.agents.get(agent).ok_or("AgentNotFound")
    }

    /// The owner, and those whom the owner approved.
    fn may_act(&self, agent: &str, by: &str) -> Result<bool, Refused> {
        let owner = &self.agent(agent)?.owner;
        let approved = self.approved.get(agent).and_then(Option::as_deref);
        let operator = (owner.clone(), by.to_owned());
        Ok(by == owner || approved == Some(by) || self.operators.contains(&operator))
    }

    /// What one of [`VIEWS`] returns.
    fn view(&self, view: &str, given: &Value) -> Result<Value, Refused> {
        let of = |name: &str| given[name].as_str().unwrap_or_default();
        let agent = of("agent");
        let (_, signature) = view.split_once('.').unwrap_or_default();
        let (name, _) = signature.split_once('(').unwrap_or_default();
        Ok(match name {
            "balanceOf" => {
                let held = self.agents.values().filter(|it| it.owner == of("owner"));
                json!(held.count().to_string())
            }
            "getAgentWallet" => json!(self.agents.get(agent).and_then(|it| it.wallet.as_ref())),
            "getApproved" => self.agent(agent).map(|_| json!(self.approved.get(agent)))?,
            "getMetadata" => {
                let known = self.agent(agent)?.metadata.get(of("key"));
                json!(known.map_or("0x", String::as_str))
            }
            "isApprovedForAll" => {
                let pair = (of("owner").to_owned(), of("operator").to_owned());
                json!(self.operators.contains(&pair))
            }
            "isAuthorizedOrOwner" => json!(self.may_act(agent, of("spender"))?),
            "ownerOf" => json!(self.agent(agent)?.owner),
            "supportsInterface" => json!(INTERFACES.contains(&of("interface"))),
            _ => json!(self.agent(agent)?.uri), // tokenURI
        })
    }

    fn managed(&mut self, agent: &str, by: &str) -> Result<&mut Agent, Refused> {
        if self.may_act(agent, by)? {
            self.agents.get_mut(agent).ok_or("AgentNotFound")
        } else {
            Err("NotAuthorized")
        }
    }
}

fn wallet_set(agent: &str, wallet: Option<&str>) -> Value {
    json!({"AgentWalletSet": {"agent": agent, "wallet": wallet}})
}

/// An agent as the canonical state has it; of feedback and validations this registry knows none.
fn state_of(agent: &Agent) -> Value {
    json!({
        "owner": agent.owner,
        "uri": agent.uri,
        "wallet": agent.wallet,
        "metadata": agent.metadata,
        "authorized": {"count": 0, "sum": 0, "average": 0, "clients": [], "entries": {}},
        "open": {"count": 0, "sum": "0", "clients": [], "entries": {}},
        "validations": {"answered": 0, "requests": {}},
    })
}

/// Answers what stands beside the question's id.
///
/// # Errors
/// What has no error class: the harness reports the step as inconclusive.
fn answer(registry: &mut Registry, asked: &Map<String, Value>) -> Result<Value, String> {
    let (question, arguments) = asked.iter().next().ok_or("nothing is asked")?;
    match question.as_str() {
        "hello" => Ok(json!({
            "protocol": PROTOCOL, "name": NAME, "operations": OPERATIONS, "profiles": ["identity"],
            "views": VIEWS,
        })),
        "reset" => {
            *registry = Registry::default();
            Ok(json!({}))
        }
        "execute" => {
            let time = arguments["time"].as_u64().ok_or("time is not an integer")?;
            registry.time = time; // a refused transaction takes its time, too
            let operation = Operation::deserialize(&arguments["operation"]);
            let operation = operation.map_err(|fault| fault.to_string())?;
            Ok(match registry.execute(operation) {
                Ok(events) => json!({"outcome": "ok", "events": events}),
                Err(class) => {
                    json!({"outcome": class, "native_error": format!("Refused({class})")})
                }
            })
        }
        "state" => {
            let agents = registry.agents.iter();
            let agents: Map<_, _> = agents
                .map(|(label, it)| (label.clone(), state_of(it)))
                .collect();
            Ok(json!({"time": registry.time, "agents": agents}))
        }
        "agent_state" => {
            let agent = arguments["agent"].as_str().ok_or("agent is not text")?;
            Ok(json!({"agent": registry.agents.get(agent).map(state_of)}))
        }
        "view" => {
            let name = arguments["view"].as_str().ok_or("view is not text")?;
            Ok(match registry.view(name, &arguments["arguments"]) {
                Ok(value) => json!({"returns": value}),
                Err(class) => json!({"refused": class}),
            })
        }
        other => Err(format!("no such question: {other}")),
    }
}

fn main() -> io::Result<()> {
    let mut registry = Registry::default();
    let mut out = io::stdout();
    for line in io::stdin().lock().lines() {
        let mut asked: Map<String, Value> = serde_json::from_str(&line?)?;
        let id = asked.remove("id").unwrap_or_default();
        let line = match answer(&mut registry, &asked) {
            Ok(result) => json!({"id": id, "ok": result}),
            Err(reason) => json!({"id": id, "error": reason}),
        };
        writeln!(out, "{line}")?;
        out.flush()?;
    }
    Ok(())
}
