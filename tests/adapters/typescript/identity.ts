// A small identity registry in memory that speaks docs/ADAPTER.md: an example to start from, for Node.js 20 and newer.
// It keeps the rules of an EVM registry for the identity profile, and nothing else. schema.json has the form of every line.
//
//   tsc --target es2022 --module nodenext identity.ts && concord adapter --chain evm 'node identity.js'
import { createInterface } from "node:readline";

type Label = string;
type Event = Record<string, unknown>;

interface Agent {
  owner: Label;
  uri: string;
  wallet: Label | null;
  metadata: Record<string, string>;
  authorized: object;
  open: object;
  validations: object;
}

interface Metadata { key: string; value: string }
interface ByAgent { agent: Label; by: Label }
/** What the holder of `wallet` signed, and whose key did. */
interface Consent { signer: Label; agent: Label; wallet: Label; owner: Label; deadline: number }

const PROTOCOL = 1;
const NAME = "identity-ts";
const RESERVED_KEY = "agentWallet";
/** How the labels of contracts begin that refuse tokens. */
const REFUSES_TOKENS = "contract-closed-";
/** ERC-165, ERC-721, its metadata, ERC-4906. */
const INTERFACES = ["0x01ffc9a7", "0x80ac58cd", "0x5b5e139f", "0x49064906"];
/** Seconds from now: the longest that a wallet's consent may be good for. */
const DEADLINE_MAX = 300;

/** A rule was broken; the message is the error class. */
class Refused extends Error {}

class Registry {
  time = 0;
  readonly agents = new Map<Label, Agent>();
  /** By agent: the one who may act for this token. */
  readonly #approved = new Map<Label, Label | null>();
  /** An owner, a space, and whoever may act for all of their tokens. */
  readonly #operators = new Set<string>();
  readonly #usedConsents = new Set<string>();

  register({ agent, by, uri, metadata = [] }: ByAgent & { uri: string; metadata?: Metadata[] }): Event[] {
    if (metadata.some((entry) => entry.key === RESERVED_KEY)) throw new Refused("ReservedKey");
    if (by.startsWith(REFUSES_TOKENS)) throw new Refused("ReceiverRefused");
    this.agents.set(agent, registered(by, uri));
    const entries = metadata.flatMap((entry) => this.set_metadata({ agent, by, ...entry }));
    return [{ AgentRegistered: { agent, owner: by, uri } }, ...entries];
  }

  set_agent_uri({ agent, by, uri }: ByAgent & { uri: string }): Event[] {
    this.#managed(agent, by).uri = uri;
    return [{ AgentUriSet: { agent, by, uri } }];
  }

  set_metadata({ agent, by, key, value }: ByAgent & Metadata): Event[] {
    const known = this.#managed(agent, by);
    if (key === RESERVED_KEY) throw new Refused("ReservedKey");
    known.metadata[key] = value;
    return [{ MetadataSet: { agent, key, value } }];
  }

  set_agent_wallet({ agent, by, wallet, consent }: ByAgent & { wallet: Label | null; consent?: Consent }): Event[] {
    const known = this.#managed(agent, by);
    if (wallet === null) throw new Refused("WalletZero");
    if (consent === undefined) throw new Refused("WalletConsentMissing");
    if (consent.deadline < this.time) throw new Refused("DeadlinePassed");
    if (consent.deadline > this.time + DEADLINE_MAX) throw new Refused("DeadlineTooFar");
    const digest = [agent, wallet, known.owner, consent.deadline].join(" ");
    if (this.#usedConsents.has(digest)) throw new Refused("WalletConsentUsed");
    const signed = [consent.agent, consent.wallet, consent.owner, consent.deadline].join(" ");
    if (signed !== digest || consent.signer !== wallet) throw new Refused("WalletConsentMissing");
    this.#usedConsents.add(digest);
    known.wallet = wallet;
    return [{ AgentWalletSet: { agent, wallet } }];
  }

  unset_agent_wallet({ agent, by }: ByAgent): Event[] {
    this.#managed(agent, by).wallet = null;
    return [{ AgentWalletSet: { agent, wallet: null } }];
  }

  transfer({ agent, by, to }: ByAgent & { to: Label }): Event[] {
    const known = this.#agent(agent);
    if (!this.#mayAct(agent, by)) throw new Refused("TransferNotAllowed");
    this.#approved.delete(agent);
    if (to === known.owner) return [];
    known.owner = to;
    known.wallet = null;
    return [{ AgentWalletSet: { agent, wallet: null } }];
  }

  approve({ agent, by, operator }: ByAgent & { operator: Label | null }): Event[] {
    const { owner } = this.#agent(agent);
    if (by !== owner && !this.#operators.has(`${owner} ${by}`)) throw new Refused("TransferNotAllowed");
    this.#approved.set(agent, operator);
    return [];
  }

  set_operator({ by, operator, approved }: { by: Label; operator: Label; approved: boolean }): Event[] {
    if (approved) this.#operators.add(`${by} ${operator}`);
    else this.#operators.delete(`${by} ${operator}`);
    return [];
  }

  /** What clients read. Each is asked at the end of a scenario. */
  readonly views: Record<string, (given: any) => unknown> = {
    "balanceOf(address)": ({ owner }) => `${[...this.agents.values()].filter((known) => known.owner === owner).length}`,
    "getAgentWallet(uint256)": ({ agent }) => this.agents.get(agent)?.wallet ?? null,
    "getApproved(uint256)": ({ agent }) => this.#agent(agent) && (this.#approved.get(agent) ?? null),
    "getMetadata(uint256,string)": ({ agent, key }) => this.#agent(agent).metadata[key] ?? "0x",
    "isApprovedForAll(address,address)": ({ owner, operator }) => this.#operators.has(`${owner} ${operator}`),
    "isAuthorizedOrOwner(address,uint256)": ({ agent, spender }) => this.#mayAct(agent, spender),
    "ownerOf(uint256)": ({ agent }) => this.#agent(agent).owner,
    "supportsInterface(bytes4)": ({ interface: id }) => INTERFACES.includes(id),
    "tokenURI(uint256)": ({ agent }) => this.#agent(agent).uri,
  };

  #agent(label: Label): Agent {
    const known = this.agents.get(label);
    if (known === undefined) throw new Refused("AgentNotFound");
    return known;
  }

  /** The owner, and those whom the owner approved. */
  #mayAct(label: Label, by: Label): boolean {
    const { owner } = this.#agent(label);
    return by === owner || this.#approved.get(label) === by || this.#operators.has(`${owner} ${by}`);
  }

  #managed(label: Label, by: Label): Agent {
    if (!this.#mayAct(label, by)) throw new Refused("NotAuthorized");
    return this.#agent(label);
  }
}

/** An agent as the canonical state has it; of feedback and validations this registry knows none. */
function registered(owner: Label, uri: string): Agent {
  return {
    owner,
    uri,
    wallet: owner,
    metadata: {},
    authorized: { count: 0, sum: 0, average: 0, clients: [], entries: {} },
    open: { count: 0, sum: "0", clients: [], entries: {} },
    validations: { answered: 0, requests: {} },
  };
}

const OPERATIONS = [
  "register", "set_agent_uri", "set_metadata", "set_agent_wallet", "unset_agent_wallet", "transfer", "approve", "set_operator",
] as const;
type Name = (typeof OPERATIONS)[number];

let registry = new Registry();

function execute(operation: Record<string, unknown>, time: number): object {
  registry.time = time; // a refused transaction takes its time, too
  const [name, given] = Object.entries(operation)[0] as [Name, unknown];
  if (!OPERATIONS.includes(name)) throw new Error(`operation ${name} was not declared`);
  try {
    const method = registry[name] as (given: unknown) => Event[];
    return { outcome: "ok", events: method.call(registry, given) };
  } catch (refusal) {
    if (!(refusal instanceof Refused)) throw refusal;
    return { outcome: refusal.message, native_error: `Refused(${refusal.message})` };
  }
}

const CONTRACT = "IdentityRegistry.";

function view(name: string, given: unknown): object {
  try {
    return { returns: registry.views[name.slice(CONTRACT.length)](given) };
  } catch (refusal) {
    if (!(refusal instanceof Refused)) throw refusal;
    return { refused: refusal.message };
  }
}

function hello(): object {
  const views = Object.keys(registry.views).map((signature) => CONTRACT + signature);
  return { protocol: PROTOCOL, name: NAME, operations: OPERATIONS, profiles: ["identity"], views };
}

/** Answers what stands beside the question's id. */
function answer(asked: Record<string, any>): object {
  if ("hello" in asked) return hello();
  if ("reset" in asked) {
    registry = new Registry();
    return {};
  }
  if ("execute" in asked) return execute(asked.execute.operation, asked.execute.time);
  if ("state" in asked) return { time: registry.time, agents: Object.fromEntries(registry.agents) };
  if ("agent_state" in asked) return { agent: registry.agents.get(asked.agent_state.agent) ?? null };
  if ("view" in asked) return view(asked.view.view, asked.view.arguments);
  throw new Error(`no such question: ${Object.keys(asked)}`);
}

for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...asked } = JSON.parse(line);
  let result: object;
  try {
    result = { ok: answer(asked) };
  } catch (fault) {
    result = { error: String(fault) };
  }
  process.stdout.write(`${JSON.stringify({ id, ...result })}\n`);
}
