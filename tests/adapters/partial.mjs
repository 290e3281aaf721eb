// A registry with two of the four profiles, identity and open, written from docs/ADAPTER.md, schema.json and, for limits and
// burning on Solana, docs/SPECIFICATION.md. It has the rules of the chain that the run names, EVM or Solana. It is sound, so a
// run has nothing to say against it but that the other two profiles are not declared. With a fault's name as its argument it
// has that fault, which a run must name.
import { createInterface } from "node:readline";

const [fault] = process.argv.slice(2);
const FAULTS = [
  "revoked-counts", "ties-to-the-most-decimals", "self-feedback", "approval-survives", "consent-again", "window-from-the-start",
  "longer-tags", "any-index", "burned-ones-move", "part-without-tags", // these on Solana
];
if (fault !== undefined && !FAULTS.includes(fault)) throw new Error(`no such fault: ${fault}`);

const ONLY_ON = { approve: "evm", set_operator: "evm", burn: "svm" };
/** In bytes, on Solana. */
const LIMITS = { tag: fault === "longer-tags" ? 33 : 32, endpoint: 200, uri: 200, key: 32, value: 256 };
const VALUE_MAX = 10n ** 38n;
const DECIMALS_MAX = 18;
const INT128 = [-(2n ** 127n), 2n ** 127n - 1n];
const ZEROS = `0x${"00".repeat(32)}`;

class Refused extends Error {}
const refuse = (errorClass) => { throw new Refused(errorClass); };

let chain = "evm";
let registry;
function reset() {
  registry = { time: 0, agents: new Map(), approved: new Map(), operators: new Set(), consents: new Set(), burned: new Set() };
}
reset();

const find = (label) => registry.agents.get(label) ?? refuse("AgentNotFound");
const isOperator = (owner, by) => registry.operators.has(`${owner}/${by}`);
function mayAct(label, by) {
  const { owner } = find(label);
  return by === owner || registry.approved.get(label) === by || isOperator(owner, by);
}
function managed(label, by) {
  if (!mayAct(label, by)) refuse("NotAuthorized");
  return find(label);
}

function checkBytes(bytes, limit) {
  if (chain === "svm" && bytes > limit) refuse("LengthLimit");
}
function checkText(text, limit) {
  checkBytes(text.includes("\0") ? Infinity : Buffer.byteLength(text), limit);
}
function checkMetadata(key, value) {
  if (key === "agentWallet") refuse("ReservedKey");
  checkText(key, LIMITS.key);
  checkBytes(value.length / 2 - 1, LIMITS.value); // hexadecimal, after 0x
}

const wad = (entry) => BigInt(entry.value) * 10n ** BigInt(DECIMALS_MAX - entry.decimals);
const counts = (entry) => !entry.revoked || fault === "revoked-counts";
function recount(open) {
  const standing = Object.values(open.entries).flat().filter((entry) => !entry.revoked);
  open.count = standing.length;
  open.sum = standing.reduce((sum, entry) => sum + wad(entry), 0n).toString();
}
function checkDeadline(agent, wallet, owner, { deadline }) {
  if (deadline < registry.time) refuse("DeadlinePassed");
  if (deadline > registry.time + 300) refuse("DeadlineTooFar");
  const isUsed = registry.consents.has(JSON.stringify([agent, wallet, owner, deadline]));
  if (isUsed && fault !== "consent-again") refuse("WalletConsentUsed");
}
function entryOf({ agent, client, index }) {
  return registry.agents.get(agent)?.open.entries[client]?.[index - 1] ?? refuse("FeedbackNotFound");
}
/** The average at the decimals that most entries have, ties to the fewest; fewer if 128 bits hold no more. */
function summarize(entries) {
  if (entries.length === 0) return { count: 0, value: "0", decimals: 0 };
  const times = Array.from({ length: DECIMALS_MAX + 1 }, (_, at) => entries.filter((entry) => entry.decimals === at).length);
  const most = Math.max(...times);
  const decimals = fault === "ties-to-the-most-decimals" ? times.lastIndexOf(most) : times.indexOf(most);
  const average = entries.reduce((sum, entry) => sum + wad(entry), 0n) / BigInt(entries.length);
  return rounded(entries.length, average, decimals);
}
function rounded(count, average, most) {
  for (let decimals = most; ; decimals -= 1) {
    const value = average / 10n ** BigInt(DECIMALS_MAX - decimals);
    if (value >= INT128[0] && value <= INT128[1]) return { count, value: value.toString(), decimals };
  }
}

const OPERATIONS = {
  register({ agent, by, uri, metadata = [] }) {
    checkText(uri, LIMITS.uri);
    for (const { key, value } of metadata) checkMetadata(key, value);
    if (chain === "evm" && by.startsWith("contract-closed-")) refuse("ReceiverRefused"); // a contract that takes no tokens
    registry.agents.set(agent, {
      owner: by, uri, wallet: by, metadata: Object.fromEntries(metadata.map(({ key, value }) => [key, value])),
      authorized: { count: 0, sum: 0, average: 0, clients: [], entries: {} },
      open: { count: 0, sum: "0", clients: [], entries: {} },
      validations: { answered: 0, requests: {} },
    });
    const set = metadata.map((entry) => ({ MetadataSet: { agent, ...entry } }));
    return [{ AgentRegistered: { agent, owner: by, uri } }, ...set];
  },
  set_agent_uri({ agent, by, uri }) {
    const known = managed(agent, by);
    checkText(uri, LIMITS.uri);
    known.uri = uri;
    return [{ AgentUriSet: { agent, by, uri } }];
  },
  set_metadata({ agent, by, key, value }) {
    const { metadata } = managed(agent, by);
    checkMetadata(key, value);
    metadata[key] = value;
    return [{ MetadataSet: { agent, key, value } }];
  },
  set_agent_wallet({ agent, by, wallet, consent }) {
    const known = managed(agent, by);
    if (wallet === null) refuse("WalletZero");
    if (chain === "evm" && consent) checkDeadline(agent, wallet, known.owner, consent);
    const isSigned = chain === "svm" && wallet === known.owner; // who signs the transaction
    const fits = consent && consent.agent === agent && consent.owner === known.owner && consent.wallet === wallet && consent.signer === wallet;
    if (!fits && !isSigned) refuse("WalletConsentMissing");
    if (fits) registry.consents.add(JSON.stringify([agent, wallet, known.owner, consent.deadline]));
    known.wallet = wallet;
    return [{ AgentWalletSet: { agent, wallet } }];
  },
  unset_agent_wallet({ agent, by }) {
    managed(agent, by).wallet = null;
    return [{ AgentWalletSet: { agent, wallet: null } }];
  },
  transfer({ agent, by, to, into_mutable_account: isMutable = false }) {
    if (!mayAct(agent, by) || registry.burned.has(agent)) refuse("TransferNotAllowed");
    if (chain === "svm" && isMutable) refuse("TransferRefused");
    if (fault !== "approval-survives") registry.approved.delete(agent);
    const known = find(agent);
    if (known.owner === to) return [];
    Object.assign(known, { owner: to, wallet: null });
    return [{ AgentWalletSet: { agent, wallet: null } }];
  },
  burn({ agent, by }) {
    if (by !== find(agent).owner || registry.burned.has(agent)) refuse("TransferNotAllowed");
    if (fault !== "burned-ones-move") registry.burned.add(agent);
    return [];
  },
  approve({ agent, by, operator }) {
    const { owner } = find(agent);
    if (by !== owner && !isOperator(owner, by)) refuse("TransferNotAllowed");
    registry.approved.set(agent, operator);
    return [];
  },
  set_operator({ by, operator, approved }) {
    registry.operators[approved ? "add" : "delete"](`${by}/${operator}`);
    return [];
  },
  give_open_feedback({ agent, by, value, decimals, tag1 = "", tag2 = "", endpoint = "", uri = "", hash = ZEROS, index }) {
    if (decimals > DECIMALS_MAX) refuse("DecimalsOutOfRange");
    if (BigInt(value) > VALUE_MAX || BigInt(value) < -VALUE_MAX) refuse("ValueOutOfRange");
    if (mayAct(agent, by) && fault !== "self-feedback") refuse("SelfFeedback");
    const { open } = find(agent);
    for (const tag of [tag1, tag2]) checkText(tag, LIMITS.tag);
    checkText(endpoint, LIMITS.endpoint);
    checkText(uri, LIMITS.uri);
    const isStale = chain === "svm" && index !== undefined && index !== lastIndex(agent, by) + 1;
    if (isStale && fault !== "any-index") refuse("FeedbackIndexStale");
    if (!(by in open.entries)) open.clients.push(by);
    const own = (open.entries[by] ??= []);
    own.push({ value, decimals, tag1, tag2, revoked: false, responses: 0 });
    recount(open);
    return [{ OpenFeedback: { agent, client: by, index: own.length, value, decimals, tag1, tag2, endpoint, uri, hash } }];
  },
  revoke_open_feedback({ agent, by, index }) {
    const entry = entryOf({ agent, client: by, index });
    if (entry.revoked) refuse("AlreadyRevoked");
    entry.revoked = true;
    recount(find(agent).open);
    return [{ FeedbackRevoked: { profile: "open", agent, client: by, index } }];
  },
  append_open_response({ agent, by, client, index, uri, hash = ZEROS }) {
    if (index === 0) refuse("FeedbackNotFound");
    if (uri === "") refuse("EmptyUri");
    const entry = entryOf({ agent, client, index });
    checkText(uri, LIMITS.uri);
    entry.responses += 1;
    return [{ ResponseAppended: { profile: "open", agent, client, index, responder: by, uri, hash } }];
  },
  open_summary({ agent, clients, tag1 = "", tag2 = "" }) {
    if (clients.length === 0) refuse("EmptyClients");
    const { entries = {} } = registry.agents.get(agent)?.open ?? {};
    const found = clients.flatMap((client) => entries[client] ?? []).filter(counts);
    return summarize(found.filter(hasTags({ tag1, tag2 })));
  },
};

const openOf = (agent) => registry.agents.get(agent)?.open ?? { clients: [], entries: {} };
const lastIndex = (agent, client) => openOf(agent).entries[client]?.length ?? 0;
/** Bounds of up to 64 bits, of which JavaScript need not have every digit. */
const window = (list, start, limit) => list.slice(fault === "window-from-the-start" ? 0 : start, start + limit);
const hasTags = ({ tag1 = "", tag2 = "" }) => (entry) => [entry.tag1, ""].includes(tag1) && [entry.tag2, ""].includes(tag2);
/** Every entry of these clients, with its client and index. */
const entriesOf = (agent, clients) => clients.flatMap((client) =>
  (openOf(agent).entries[client] ?? []).map((entry, at) => ({ client, index: at + 1, ...entry })));
const matching = (agent, clients, tags) => entriesOf(agent, clients).filter((entry) => !entry.revoked).filter(hasTags(tags));
function partOf(entries) {
  const histogram = Array.from({ length: DECIMALS_MAX + 1 }, (_, at) => entries.filter((entry) => entry.decimals === at).length);
  return { sum: entries.reduce((sum, entry) => sum + wad(entry), 0n).toString(), count: entries.length, histogram };
}
/** The average of parts that feedback can have made. */
function finish(parts) {
  const count = parts.reduce((all, part) => all + part.count, 0);
  for (const part of parts) {
    const sum = BigInt(part.sum);
    const units = part.histogram.map((_, decimals) => 10n ** BigInt(DECIMALS_MAX - decimals));
    const bound = units.reduce((all, unit, decimals) => all + BigInt(part.histogram[decimals]) * VALUE_MAX * unit, 0n);
    const counted = part.histogram.reduce((all, times) => all + times, 0);
    const smallest = units[part.histogram.findLastIndex((times) => times > 0)] ?? 1n;
    if (counted !== part.count || sum > bound || sum < -bound || sum % smallest !== 0n) refuse("BadRequest");
  }
  if (count === 0) return { count, value: "0", decimals: 0 };
  const times = Array.from({ length: DECIMALS_MAX + 1 }, (_, at) => parts.reduce((all, part) => all + part.histogram[at], 0));
  const average = parts.reduce((sum, part) => sum + BigInt(part.sum), 0n) / BigInt(count);
  return rounded(count, average, times.indexOf(Math.max(...times)));
}

const openPart = ({ agent, clients, ...tags }) =>
  (clients.length === 0 ? refuse("EmptyClients") : partOf(matching(agent, clients, fault === "part-without-tags" ? {} : tags)));

/** What clients read. Each is asked at the end of a scenario. */
const VIEWS = {
  evm: {
    "IdentityRegistry.balanceOf(address)": ({ owner }) => `${[...registry.agents.values()].filter((known) => known.owner === owner).length}`,
    "IdentityRegistry.getAgentWallet(uint256)": ({ agent }) => registry.agents.get(agent)?.wallet ?? null,
    "IdentityRegistry.getApproved(uint256)": ({ agent }) => find(agent) && (registry.approved.get(agent) ?? null),
    "IdentityRegistry.isApprovedForAll(address,address)": ({ owner, operator }) => isOperator(owner, operator),
    "IdentityRegistry.isAuthorizedOrOwner(address,uint256)": ({ agent, spender }) => mayAct(agent, spender),
    "IdentityRegistry.ownerOf(uint256)": ({ agent }) => find(agent).owner,
    "IdentityRegistry.tokenURI(uint256)": ({ agent }) => find(agent).uri,
    "ReputationRegistry.finishSummary((int256,uint64,uint64[19])[])": ({ parts }) => finish(parts),
    "ReputationRegistry.getClientCount(uint256)": ({ agent }) => `${openOf(agent).clients.length}`,
    "ReputationRegistry.getClients(uint256)": ({ agent }) => openOf(agent).clients,
    "ReputationRegistry.getClientsWindow(uint256,uint256,uint256)": ({ agent, start, limit }) => window(openOf(agent).clients, start, limit),
    "ReputationRegistry.getLastIndex(uint256,address)": ({ agent, client }) => lastIndex(agent, client),
    "ReputationRegistry.getSummary(uint256,address[],string,string)": (query) => OPERATIONS.open_summary(query),
    "ReputationRegistry.getSummaryPart(uint256,address[],string,string)": openPart,
    "ReputationRegistry.readFeedback(uint256,address,uint64)": (place) => {
      const { value, decimals, tag1, tag2, revoked } = entryOf(place);
      return { value, decimals, tag1, tag2, revoked };
    },
    "ReputationRegistry.readFeedbackWindow(uint256,address,uint64,uint64)": ({ agent, client, start, limit }) =>
      entriesOf(agent, [client]).filter(({ index }) => index >= start && index - start < limit)
        .map(({ index, value, decimals, tag1, tag2, revoked, responses }) => ({ index, value, decimals, tag1, tag2, revoked, responses })),
  },
  svm: {
    "instruction open_summary": (query) => OPERATIONS.open_summary(query),
    "instruction open_summary_part": openPart,
  },
};

const QUESTIONS = {
  hello({ chain: named }) {
    chain = named;
    const operations = Object.keys(OPERATIONS).filter((name) => (ONLY_ON[name] ?? chain) === chain);
    return { protocol: 1, name: "partial-node", operations, profiles: ["identity", "open"], views: Object.keys(VIEWS[chain]) };
  },
  reset() {
    reset();
    return {};
  },
  execute({ operation, time }) {
    const [[name, given]] = Object.entries(operation);
    if (name !== "open_summary") registry.time = time; // a refused transaction takes its time, too
    try {
      const result = OPERATIONS[name](given);
      return { outcome: "ok", ...(Array.isArray(result) ? { events: result } : { summary: result }) };
    } catch (refusal) {
      if (refusal instanceof Refused) return { outcome: refusal.message };
      throw refusal;
    }
  },
  state: () => ({ time: registry.time, agents: Object.fromEntries(registry.agents) }),
  agent_state: ({ agent }) => ({ agent: registry.agents.get(agent) ?? null }),
  view({ view, arguments: given }) {
    try {
      return { returns: VIEWS[chain][view](given) };
    } catch (refusal) {
      if (refusal instanceof Refused) return { refused: refusal.message };
      throw refusal;
    }
  },
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...asked } = JSON.parse(line);
  const [[name, given]] = Object.entries(asked);
  process.stdout.write(`${JSON.stringify({ id, ok: QUESTIONS[name](given) })}\n`);
}
