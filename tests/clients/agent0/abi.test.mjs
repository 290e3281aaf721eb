// The published ABIs and selectors (contracts/abi): those of the build, and enough for viem to decode every error.
// CONCORD_BLESS=1 writes selectors.json anew; the ABIs are written by forge's AbiTest.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import { after, before, test } from "node:test";
import {
  concat, createWalletClient, decodeErrorResult, encodeAbiParameters, http, keccak256, maxUint64, toEventSelector,
  toFunctionSelector, toHex, zeroAddress, zeroHash,
} from "viem";
import { formatAbiItem } from "viem/utils";
import { privateKeyToAccount } from "viem/accounts";

import { ADDRESSES, KEYS, startChain } from "./local_chain.mjs";

const ROOT = new URL("../../../", import.meta.url);
const SELECTORS = new URL("contracts/abi/selectors.json", ROOT);
const NAMES = ["IdentityRegistry", "ReputationRegistry", "AuthorizedReputationRegistry", "ValidationRegistry"];
const UNKNOWN = 99n;
const AGENT = 1n;
const REQUEST = keccak256(toHex("request"));
// A value of each type that errors carry, and how it reads when it is decoded.
const SAMPLES = {
  address: ADDRESSES.client,
  bytes32: REQUEST,
  int128: -7n,
  string: "a text",
  uint256: 2n ** 200n,
  uint64: maxUint64,
  uint8: 101,
};

const abis = Object.fromEntries(NAMES.map((name) => [name, readJson(`contracts/abi/${name}.json`)]));
let chain;
let registries;

function readJson(path) {
  return JSON.parse(fs.readFileSync(new URL(path, ROOT), "utf8"));
}

const itemsOf = (abi, type) => abi.filter((item) => item.type === type);

/** By kind, from the selector (of an event: its topic) to the signature. */
function selectors() {
  const list = { errors: {}, events: {}, functions: {} };
  const add = (kind, selector, item) => {
    const signature = formatAbiItem(item);
    assert.equal(list[kind][selector] ?? signature, signature, "two signatures with one selector");
    list[kind][selector] = signature;
  };
  for (const abi of Object.values(abis)) {
    for (const item of itemsOf(abi, "error")) add("errors", toFunctionSelector({ ...item, type: "function" }), item);
    for (const item of itemsOf(abi, "event")) add("events", toEventSelector(item), item);
    for (const item of itemsOf(abi, "function")) add("functions", toFunctionSelector(item), item);
  }
  const sorted = (entries) => Object.fromEntries(Object.entries(entries).sort(([, a], [, b]) => (a < b ? -1 : 1)));
  return Object.fromEntries(Object.entries(list).map(([kind, entries]) => [kind, sorted(entries)]));
}

test("the published ABIs are those of the build", () => {
  for (const name of NAMES) assert.deepEqual(abis[name], readJson(`contracts/out/${name}.sol/${name}.json`).abi);
});

test("the published selectors are viem's of those ABIs", () => {
  const actual = selectors();
  if (process.env.CONCORD_BLESS) fs.writeFileSync(SELECTORS, `${JSON.stringify(actual, null, 2)}\n`);
  assert.deepEqual(readJson("contracts/abi/selectors.json"), actual);
});

test("forge and cast have the same selectors", () => {
  const { errors, functions } = readJson("contracts/abi/selectors.json");
  for (const [selector, signature] of Object.entries(errors)) {
    assert.equal(execFileSync("cast", ["sig", signature], { encoding: "utf8" }).trim(), selector);
  }
  const forge = NAMES.map((name) => readJson(`contracts/out/${name}.sol/${name}.json`).methodIdentifiers);
  const pairs = Object.entries(Object.assign({}, ...forge)).map(([signature, selector]) => [`0x${selector}`, signature]);
  assert.deepEqual(functions, Object.fromEntries(pairs.sort(([, a], [, b]) => (a < b ? -1 : 1))));
});

test("viem decodes every error of every registry", () => {
  const { errors } = readJson("contracts/abi/selectors.json");
  const bySignature = Object.fromEntries(Object.entries(errors).map(([selector, signature]) => [signature, selector]));
  const decoded = new Set();
  for (const abi of Object.values(abis)) {
    for (const item of itemsOf(abi, "error")) {
      const values = item.inputs.map(({ type }) => SAMPLES[type]);
      const selector = bySignature[formatAbiItem(item)];
      const data = concat([selector, encodeAbiParameters(item.inputs, values)]);
      const { errorName, args } = decodeErrorResult({ abi, data });
      assert.equal(errorName, item.name);
      assert.deepEqual(args ?? [], values);
      decoded.add(selector);
    }
  }
  assert.deepEqual([...decoded].sort(), Object.keys(errors).sort());
});

before(async () => {
  chain = await startChain();
  const identity = await chain.deploy("IdentityRegistry");
  const at = async (name, args) => ({ address: (await chain.deploy(name, args)).address, abi: abis[name] });
  registries = {
    identity: { address: identity.address, abi: abis.IdentityRegistry },
    open: await at("ReputationRegistry", [identity.address]),
    authorized: await at("AuthorizedReputationRegistry", [identity.address, false]),
    validation: await at("ValidationRegistry", [identity.address]),
  };
  await send("identity", "owner", "register", ["ipfs://agent"]);
  await send("validation", "owner", "validationRequest", [ADDRESSES.client, AGENT, "ipfs://request", REQUEST]);
});
after(() => chain.stop());

async function send(registry, name, functionName, args) {
  const account = privateKeyToAccount(KEYS[name]);
  const wallet = createWalletClient({ account, chain: chain.chain, transport: http(chain.url) });
  const hash = await wallet.writeContract({ ...registries[registry], functionName, args });
  assert.equal((await chain.reader.waitForTransactionReceipt({ hash })).status, "success");
}

/** What viem makes of a refusal: the error's name, with the published ABI and nothing else. */
async function refusal(registry, name, functionName, args) {
  try {
    await chain.reader.simulateContract({ ...registries[registry], functionName, args, account: ADDRESSES[name] });
    return null;
  } catch (error) {
    return error.walk((cause) => cause.data?.errorName)?.data.errorName ?? error.shortMessage;
  }
}

test("viem names what a registry refuses", async () => {
  const { timestamp } = await chain.reader.getBlock();
  const past = [AGENT, ADDRESSES.wallet, timestamp - 9n, "0x"];
  const far = [AGENT, ADDRESSES.wallet, timestamp + 9999n, "0x"];
  const soon = [AGENT, ADDRESSES.wallet, timestamp + 99n, "0x"];
  const open = (agent, value, decimals) => [agent, value, decimals, "", "", "", "", zeroHash];
  const granted = (score, blob) => [AGENT, score, zeroHash, zeroHash, "", zeroHash, blob];
  const cases = [
    ["identity", "owner", "setMetadata", [AGENT, "agentWallet", "0x"], "ReservedKey"],
    ["identity", "stranger", "setAgentURI", [AGENT, ""], "NotAuthorized"],
    ["identity", "owner", "setAgentURI", [UNKNOWN, ""], "ERC721NonexistentToken"],
    ["identity", "owner", "setAgentWallet", [AGENT, zeroAddress, 0n, "0x"], "WalletZero"],
    ["identity", "owner", "setAgentWallet", past, "DeadlinePassed"],
    ["identity", "owner", "setAgentWallet", far, "DeadlineTooFar"],
    ["identity", "owner", "setAgentWallet", soon, "WalletConsentMissing"],
    ["identity", "stranger", "transferFrom", [ADDRESSES.owner, ADDRESSES.wallet, AGENT], "ERC721InsufficientApproval"],
    ["identity", "owner", "transferFrom", [ADDRESSES.wallet, ADDRESSES.client, AGENT], "ERC721IncorrectOwner"],
    ["identity", "owner", "transferFrom", [ADDRESSES.owner, zeroAddress, AGENT], "ERC721InvalidReceiver"],
    ["open", "client", "giveFeedback", open(AGENT, 1n, 19), "DecimalsOutOfRange"],
    ["open", "client", "giveFeedback", open(AGENT, 10n ** 38n + 1n, 0), "ValueOutOfRange"],
    ["open", "client", "giveFeedback", open(UNKNOWN, 1n, 0), "ERC721NonexistentToken"], // the identity registry's own
    ["open", "owner", "giveFeedback", open(AGENT, 1n, 0), "SelfFeedback"],
    ["open", "client", "revokeFeedback", [AGENT, 1n], "FeedbackNotFound"],
    ["open", "client", "getSummary", [AGENT, [], "", ""], "EmptyClients"],
    ["open", "client", "appendResponse", [AGENT, ADDRESSES.client, 1n, "", zeroHash], "EmptyUri"],
    ["open", "client", "finishSummary", [[{ sum: 1n, count: 0n, histogram: Array(19).fill(0n) }]], "SummaryPartMismatch"],
    ["authorized", "client", "giveFeedback", granted(101, "0x"), "ScoreOutOfRange"],
    ["authorized", "client", "giveFeedback", granted(1, "0x"), "AuthMissing"],
    ["authorized", "client", "giveFeedback", granted(1, "0x00"), "AuthLength"],
    ["authorized", "client", "giveFeedback", granted(1, `0x${"ff".repeat(289)}`), "AuthDirtyWord"],
    ["authorized", "client", "giveFeedback", granted(1, `0x${"00".repeat(289)}`), "AuthExpired"],
    ["validation", "owner", "validationRequest", [zeroAddress, AGENT, "", zeroHash], "ValidatorZero"],
    ["validation", "owner", "validationRequest", [ADDRESSES.client, AGENT, "", REQUEST], "RequestExists"],
    ["validation", "stranger", "validationRequest", [ADDRESSES.client, AGENT, "", zeroHash], "NotAuthorized"],
    ["validation", "client", "validationResponse", [zeroHash, 1, "", zeroHash, ""], "RequestNotFound"],
    ["validation", "stranger", "validationResponse", [REQUEST, 1, "", zeroHash, ""], "NotValidator"],
    ["validation", "client", "validationResponse", [REQUEST, 101, "", zeroHash, ""], "ScoreOutOfRange"],
    ["validation", "client", "finishSummary", [[{ sum: 101n, count: 1n }]], "SummaryPartMismatch"],
  ];
  for (const [registry, name, functionName, args, expected] of cases) {
    assert.equal(await refusal(registry, name, functionName, args), expected, `${functionName} by ${name}`);
  }
});
