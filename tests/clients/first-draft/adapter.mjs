// The registries of ERC-8004's first draft (scores from 0 to 100, `feedbackAuth`) as they are in a published package, between
// `concord conform` and an anvil of their own. docs/ADAPTER.md has the protocol.
//   node adapter.mjs FOLDER     FOLDER has the package's artifacts
import { readFileSync } from "node:fs";
import { createInterface } from "node:readline";
import {
  concatHex, createWalletClient, decodeErrorResult, encodeAbiParameters, encodeDeployData, encodeFunctionData, hexToString, http, keccak256,
  padHex, parseAbi, parseEventLogs, size, slice, stringToHex, toHex, zeroAddress, zeroHash,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { startChain } from "../agent0/local_chain.mjs";
import { REFUSALS, classOf } from "./refusals.mjs";

const [folder] = process.argv.slice(2);
const artifact = (name) => JSON.parse(readFileSync(`${folder}/${name}.json`, "utf8"));
const ARTIFACTS = Object.fromEntries(["IdentityRegistry", "ReputationRegistry", "ValidationRegistry"].map((name) => [name, artifact(name)]));
const ERRORS = parseAbi(REFUSALS);
const GAS = 3_000_000n;
const NAME = "first-draft";
/** Integers that JSON.parse would round. */
const LONG_NUMBER = /(?<=":)\d{16,}(?=[,}])/g;

const chain = await startChain();
const rpc = (method, ...params) => chain.reader.request({ method, params });
const send = (from, to, data) => rpc("eth_sendTransaction", { from, ...(to && { to }), data, gas: toHex(GAS * 4n) });
const receiptOf = (hash) => chain.reader.waitForTransactionReceipt({ hash });

await rpc("anvil_autoImpersonateAccount", true);
async function deploy(name, ...args) {
  const { abi, bytecode } = ARTIFACTS[name];
  const account = privateKeyToAccount(keccak256(stringToHex("deployer"))).address;
  await rpc("anvil_setBalance", account, toHex(10n ** 20n));
  const { contractAddress } = await receiptOf(await send(account, null, encodeDeployData({ abi, bytecode, args })));
  return { address: contractAddress, abi };
}
const identity = await deploy("IdentityRegistry");
const reputation = await deploy("ReputationRegistry", identity.address);
const validation = await deploy("ValidationRegistry", identity.address);
const read = ({ address, abi }, functionName, ...args) => chain.reader.readContract({ address, abi, functionName, args });
let snapshot = await rpc("evm_snapshot");

/** Code that refuses every call, and code that answers each with the selector of `onERC721Received`. */
const REFUSES = "0x5f5ffd";
const TAKES = "0x63150b7a0260e01b5f5260205ff3";

/** Keys, and what the draft's views do not say. */
let world;
const account = (label) => (world.accounts[label] ??= privateKeyToAccount(keccak256(stringToHex(`actor ${label}`))));
const addressOf = (label) => (label === null ? zeroAddress : account(label).address);
const labelOf = (address) => Object.keys(world.accounts).find((it) => addressOf(it) === address) ?? `unlabelled:${address.toLowerCase()}`;
const idOf = (agent) => world.agents[agent]?.id ?? BigInt(keccak256(stringToHex(`agent ${agent}`)));
const agentOf = (id) => Object.keys(world.agents).find((it) => world.agents[it].id === id);
const padded = (tag) => (tag.startsWith("0x") && size(tag) === 32 ? tag : padHex(stringToHex(tag), { dir: "right", size: 32 }));
function text(tag) {
  const bytes = tag.replace(/(00)+$/, "");
  const read = hexToString(bytes);
  return stringToHex(read) === bytes && !read.includes("\0") ? read : tag;
}

async function signed({ signer, agent, client, index_limit: limit, expiry, tamper }) {
  const other = addressOf("another registry");
  const fields = [
    idOf(agent), addressOf(client), BigInt(limit), BigInt(world.start) + BigInt(expiry),
    BigInt(chain.chain.id) + (tamper === "wrong_chain" ? 1n : 0n), tamper === "wrong_registry" ? other : identity.address, addressOf(signer),
  ];
  if (tamper === "empty") return "0x";
  const types = ["uint256", "address", "uint64", "uint256", "uint256", "address", "address"].map((type) => ({ type }));
  let encoded = encodeAbiParameters(types, fields);
  let signature = await account(tamper?.signed_by ?? signer).signMessage({ message: { raw: keccak256(encoded) } });
  const last = (value, change) => concatHex([slice(value, 0, size(value) - 1), toHex(change(Number(slice(value, -1))), { size: 1 })]);
  if (tamper === "corrupt_signature") signature = concatHex([last(slice(signature, 0, 64), (byte) => byte ^ 1), slice(signature, 64)]);
  if (tamper === "malleate_signature") {
    const s = 0xfffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141n - BigInt(slice(signature, 32, 64));
    signature = concatHex([slice(signature, 0, 32), toHex(s, { size: 32 }), toHex(Number(slice(signature, 64)) ^ 27 ^ 28, { size: 1 })]);
  }
  if (tamper === "dirty") encoded = concatHex([slice(encoded, 0, 32), "0x01", slice(encoded, 33)]);
  const blob = concatHex([encoded, signature]);
  if (tamper === "truncated") return slice(blob, 0, size(blob) - 1);
  return tamper === "extended" ? concatHex([blob, "0x00"]) : blob;
}

const CALLS = {
  register: ({ uri, metadata = [] }) => [identity, "register", uri, metadata],
  set_agent_uri: ({ agent, uri }) => [identity, "setAgentUri", idOf(agent), uri],
  set_metadata: ({ agent, key, value }) => [identity, "setMetadata", idOf(agent), key, value],
  transfer: async ({ agent, to }) => {
    const owner = await read(identity, "ownerOf", idOf(agent)).catch(() => zeroAddress);
    return [identity, "transferFrom", owner, addressOf(to), idOf(agent)];
  },
  approve: ({ agent, operator }) => [identity, "approve", addressOf(operator), idOf(agent)],
  set_operator: ({ operator, approved }) => [identity, "setApprovalForAll", addressOf(operator), approved],
  give_feedback: async ({ agent, score, tag1 = "", tag2 = "", uri = "", hash = zeroHash, authorization }) => {
    const auth = authorization ? await signed(authorization) : "0x";
    return [reputation, "giveFeedback", idOf(agent), score, padded(tag1), padded(tag2), uri, hash, auth];
  },
  revoke_feedback: ({ agent, index }) => [reputation, "revokeFeedback", idOf(agent), BigInt(index)],
  append_response: ({ agent, client, index, uri, hash = zeroHash }) =>
    [reputation, "appendResponse", idOf(agent), addressOf(client), BigInt(index), uri, hash],
  validation_request: ({ agent, validator, request, uri = "" }) =>
    [validation, "validationRequest", addressOf(validator), idOf(agent), uri, request],
  validation_response: ({ request, score, uri = "", hash = zeroHash, tag = "" }) =>
    [validation, "validationResponse", request, score, uri, hash, padded(tag)],
};

/** Canonical events. The draft's have no index and no wallet: those are the caller's, and R3's. */
const EVENTS = {
  Registered: ({ agentId, tokenURI, owner }) => ({ AgentRegistered: { agent: agentOf(agentId), owner: labelOf(owner), uri: tokenURI } }),
  UriUpdated: ({ agentId, newUri, updatedBy }) => ({ AgentUriSet: { agent: agentOf(agentId), by: labelOf(updatedBy), uri: newUri } }),
  MetadataSet: ({ agentId, key, value }) => ({ MetadataSet: { agent: agentOf(agentId), key, value } }),
  NewFeedback: ({ agentId, clientAddress, score, tag1, tag2, feedbackUri, feedbackHash }, time, index) => ({
    AuthorizedFeedback: {
      agent: agentOf(agentId), client: labelOf(clientAddress), index, score, tag1: text(tag1), tag2: text(tag2), uri: feedbackUri,
      hash: feedbackHash, time,
    },
  }),
  FeedbackRevoked: ({ agentId, clientAddress, feedbackIndex }) =>
    ({ FeedbackRevoked: { profile: "authorized", agent: agentOf(agentId), client: labelOf(clientAddress), index: Number(feedbackIndex) } }),
  ResponseAppended: ({ agentId, clientAddress, feedbackIndex, responder, responseUri, responseHash }) => ({
    ResponseAppended: {
      profile: "authorized", agent: agentOf(agentId), client: labelOf(clientAddress), index: Number(feedbackIndex), responder: labelOf(responder),
      uri: responseUri, hash: responseHash,
    },
  }),
  ValidationRequest: ({ validatorAddress, agentId, requestUri, requestHash }) =>
    ({ ValidationRequested: { agent: agentOf(agentId), validator: labelOf(validatorAddress), request: requestHash, uri: requestUri } }),
  ValidationResponse: ({ validatorAddress, agentId, requestHash, response, responseUri, responseHash, tag }) => ({
    ValidationResponded: {
      agent: agentOf(agentId), validator: labelOf(validatorAddress), request: requestHash, score: response, uri: responseUri, hash: responseHash,
      tag: text(tag),
    },
  }),
};

async function execute(name, given, time) {
  const [{ address, abi }, functionName, ...args] = await CALLS[name](given);
  await rpc("evm_setNextBlockTimestamp", toHex(world.start + time));
  world.time = time;
  const receipt = await receiptOf(await send(addressOf(given.by), address, encodeFunctionData({ abi, functionName, args })));
  if (receipt.status !== "success") {
    const { output = "0x" } = await rpc("debug_traceTransaction", receipt.transactionHash, { tracer: "callTracer" });
    return refusal(name, output);
  }
  const logs = Object.values({ identity, reputation, validation }).flatMap((it) =>
    parseEventLogs({ abi: it.abi, logs: receipt.logs.filter((log) => log.address.toLowerCase() === it.address.toLowerCase()), strict: false }));
  if (name === "register") {
    const { agentId } = logs.find((it) => it.eventName === "Registered").args;
    world.agents[given.agent] = { id: agentId, wallet: given.by, keys: new Set(), times: {}, answered: new Set() };
  }
  const record = world.agents[given.agent];
  if (name === "set_metadata") record.keys.add(given.key);
  for (const { key } of given.metadata ?? []) record.keys.add(key);
  for (const { eventName, args } of logs) {
    if (eventName === "ValidationResponse") world.agents[agentOf(args.agentId)].answered.add(args.requestHash);
  }
  if (name === "give_feedback") (record.times[given.by] ??= []).push(time);
  const events = logs.filter((it) => it.eventName in EVENTS);
  const canonical = events.map((it) => EVENTS[it.eventName](it.args, time, record?.times[given.by]?.length));
  if (name === "transfer" && logs.some((it) => it.eventName === "Transfer" && it.args.from !== it.args.to)) {
    record.wallet = null;
    canonical.push({ AgentWalletSet: { agent: given.agent, wallet: null } });
  }
  return { outcome: "ok", events: canonical, cost: { gas: Number(receipt.gasUsed) } };
}

function refusal(name, data) {
  let words = "no data";
  if (data !== "0x") {
    try {
      const { errorName, args } = decodeErrorResult({ abi: ERRORS, data });
      words = errorName === "Error" ? args[0] : errorName;
    } catch {
      words = data;
    }
  }
  const outcome = classOf(name, words);
  if (outcome === undefined) throw new Error(`${name}: no class for: ${words}`);
  return { outcome, native_error: words };
}

async function authorized(id, record) {
  const clients = (await read(reputation, "getClients", id)).map(labelOf);
  const entries = {};
  for (const client of clients) {
    entries[client] = [];
    const last = await read(reputation, "getLastIndex", id, addressOf(client));
    for (let index = 1n; index <= last; index += 1n) {
      const [score, tag1, tag2, revoked] = await read(reputation, "readFeedback", id, addressOf(client), index);
      const responses = Number(await read(reputation, "getResponseCount", id, addressOf(client), index, []));
      const time = record.times[client][Number(index) - 1];
      entries[client].push({ score, tag1: text(tag1), tag2: text(tag2), time, revoked, responses });
    }
  }
  const [count, average] = await read(reputation, "getSummary", id, [], zeroHash, zeroHash);
  const standing = Object.values(entries).flat().filter((entry) => !entry.revoked);
  return { count: Number(count), sum: standing.reduce((sum, { score }) => sum + score, 0), average, clients, entries };
}

async function validations(id, record) {
  const requests = {};
  for (const request of await read(validation, "getAgentValidations", id)) {
    const [validator, , score, hash, tag, updated] = await read(validation, "getValidationStatus", request);
    const answer = record.answered.has(request) ? { score, hash, tag: text(tag) } : null;
    requests[request] = { [labelOf(validator)]: { time: Number(updated) - world.start, answer } };
  }
  return { answered: record.answered.size, requests };
}

async function agentState(label) {
  const record = world.agents[label];
  if (record === undefined) return null;
  const metadata = {};
  for (const key of [...record.keys].sort()) metadata[key] = await read(identity, "getMetadata", record.id, key);
  return {
    owner: labelOf(await read(identity, "ownerOf", record.id)), uri: await read(identity, "tokenURI", record.id), wallet: record.wallet, metadata,
    authorized: await authorized(record.id, record), open: { count: 0, sum: "0", clients: [], entries: {} },
    validations: await validations(record.id, record),
  };
}

const QUESTIONS = {
  hello: () => ({
    protocol: 1, name: NAME, operations: [...Object.keys(CALLS), "summary"], profiles: ["identity", "authorized", "validation"],
  }),
  async reset({ start, actors }) {
    await rpc("evm_revert", snapshot);
    snapshot = await rpc("evm_snapshot");
    world = { start, time: 0, accounts: {}, agents: {} };
    for (const actor of actors) {
      await rpc("anvil_setBalance", addressOf(actor), toHex(10n ** 20n));
      if (actor.startsWith("contract-")) await rpc("anvil_setCode", addressOf(actor), actor.startsWith("contract-closed-") ? REFUSES : TAKES);
    }
    return {};
  },
  async execute({ operation, time }) {
    const [[name, given]] = Object.entries(operation);
    if (name !== "summary") return execute(name, given, time);
    const [count, average] = await read(reputation, "getSummary", idOf(given.agent), [], zeroHash, zeroHash);
    return { outcome: "ok", summary: { count: Number(count), average } };
  },
  async state() {
    const agents = {};
    for (const label of Object.keys(world.agents)) agents[label] = await agentState(label);
    return { time: world.time, agents };
  },
  agent_state: async ({ agent }) => ({ agent: await agentState(agent) }),
};

for await (const line of createInterface({ input: process.stdin })) {
  const { id, ...asked } = JSON.parse(line.replace(LONG_NUMBER, '"$&"'));
  const [[name, given]] = Object.entries(asked);
  const failed = (fault) => ({ error: fault.message.split("\n")[0] });
  const answer = await Promise.resolve(given).then(QUESTIONS[name]).then((ok) => ({ ok }), failed);
  process.stdout.write(`${JSON.stringify({ id, ...answer })}\n`);
}
await chain.stop();
