// Fills an anvil with agents and open feedback, and measures how the index and Ponder take it in: the same node, one after the other, each
// from its start to the newest block.
import assert from "node:assert/strict";
import fs from "node:fs";
import net from "node:net";
import path from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { encodeFunctionData, keccak256, toHex } from "viem";

import { ADDRESSES, startChain } from "../../clients/agent0/local_chain.mjs";
import { folder, measure, measureIndex, print } from "./measured.mjs";

const FEEDBACKS = Number(process.env.CONCORD_BACKFILL ?? 40_000);
/** Ponder answers out of the database that it indexes into, so that each question slows it down. */
const PONDER_MS = 2_000;
const PER_BLOCK = 100;
const AGENTS = 1_000;
const CLIENTS = 500;
/** Then the others are final, and as old as those of a chain of years are. */
const EMPTY_BLOCKS = 300;
const TAGS = ["quality", "uptime", "speed", "starred", ""];
const [WITHOUT_FILES, WITH_FILES] = ["none", "each"];
const HERE = path.dirname(fileURLToPath(import.meta.url));
const ABI = path.join(HERE, "../../../contracts/out/ReputationRegistry.sol/ReputationRegistry.json");

const client = (number) => `0x${(0xc1_0000 + number).toString(16).padStart(40, "0")}`;
const hex = (number) => `0x${number.toString(16)}`;

/** Many requests in one. */
async function ask(url, requests) {
  const body = requests.map(([method, params], id) => ({ jsonrpc: "2.0", id, method, params }));
  const answers = await (await fetch(url, { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) })).json();
  for (const { error } of answers) if (error) throw new Error(error.message);
}

/** Blocks with these transactions, sent by accounts that no key is kept of. */
async function mine(url, transactions) {
  for (let first = 0; first < transactions.length; first += PER_BLOCK) {
    const sent = transactions.slice(first, first + PER_BLOCK).map((it) => ["eth_sendTransaction", [{ gas: hex(600_000), ...it }]]);
    await ask(url, sent);
    await ask(url, [["evm_mine", []]]);
  }
}

function register(identity, number) {
  const data = encodeFunctionData({ abi: identity.abi, functionName: "register", args: [`https://agents.example/${number}.json`] });
  return { from: ADDRESSES.owner, to: identity.address, data };
}

/** Nine of the digits that CIDs have, others for each number. */
function base32(number) {
  const digits = number.toString(32).padStart(9, "0");
  return digits.replace(/[0189]/g, (digit) => ({ 0: "w", 1: "x", 8: "y", 9: "z" })[digit]);
}

function give(reputation, files, number) {
  const uri = files === WITH_FILES ? `ipfs://bafkreigh2akiscaildcqabsyg3dfr6chu3fgpregiymsck${base32(number)}` : "";
  const tags = [TAGS[number % TAGS.length], ""];
  const args = [BigInt((number % AGENTS) + 1), BigInt(number % 101), 0, ...tags, "https://agents.example/mcp", uri, keccak256(toHex(number))];
  const data = encodeFunctionData({ abi: reputation.abi, functionName: "giveFeedback", args });
  return { from: client((number * 7) % CLIENTS), to: reputation.address, data };
}

async function fill(chain, { identity, reputation }, files) {
  const numbers = (count) => Array.from({ length: count }, (_, number) => number);
  await ask(chain.url, [
    ["anvil_autoImpersonateAccount", [true]],
    ["evm_setAutomine", [false]],
    ["evm_setBlockGasLimit", [hex(1_000_000_000)]],
    ...numbers(CLIENTS).map((number) => ["anvil_setBalance", [client(number), hex(10n ** 20n)]]),
  ]);
  await mine(chain.url, numbers(AGENTS).map((number) => register(identity, number)));
  await mine(chain.url, numbers(FEEDBACKS).map((number) => give(reputation, files, number)));
  await ask(chain.url, [["anvil_mine", [hex(EMPTY_BLOCKS)]]]);
  return Number(await chain.reader.getBlockNumber({ cacheTime: 0 }));
}

async function freePort() {
  const server = net.createServer().listen(0, "127.0.0.1");
  await new Promise((resolve) => server.once("listening", resolve));
  const { port } = server.address();
  await new Promise((resolve) => server.close(resolve));
  return port;
}

async function measurePonder(chain, reputation) {
  const project = folder();
  fs.cpSync(path.join(HERE, "../ponder"), project, { recursive: true, filter: (from) => !from.includes("node_modules") });
  fs.symlinkSync(path.join(process.env.CONCORD_PONDER, "node_modules"), path.join(project, "node_modules"));
  const port = await freePort();
  const env = { ...process.env, CONCORD_RPC_URL: chain.url, CONCORD_REPUTATION: reputation.address, CONCORD_ABI: ABI, PONDER_TELEMETRY_DISABLED: "1" };
  const program = path.join(project, "node_modules/ponder/dist/esm/bin/ponder.js");
  const args = [program, "start", "--schema", "public", "--port", String(port), "--hostname", "127.0.0.1"];
  const get = (place) => fetch(`http://127.0.0.1:${port}/${place}`).catch(() => ({ ok: false }));
  return measure(process.execPath, args, { cwd: project, env }, async () => {
    if (!(await get("ready")).ok) return undefined;
    const { feedbacks } = await (await get("count")).json();
    return { events: feedbacks };
  }, PONDER_MS);
}

const rated = (run) => ({ ...run, eventsPerSecond: Math.round(run.events / run.seconds) });

for (const files of [WITHOUT_FILES, WITH_FILES]) {
  const chain = await startChain();
  const identity = await chain.deploy("IdentityRegistry");
  const reputation = await chain.deploy("ReputationRegistry", [identity.address]);
  const head = await fill(chain, { identity, reputation }, files);
  const what = { chain: "anvil", feedbacks: FEEDBACKS, agents: AGENTS, blocks: head, files };
  const options = ["--rpc", chain.url, "--identity", identity.address, "--reputation", reputation.address];
  const indexed = await measureIndex(options);
  assert.equal(indexed.events, FEEDBACKS + AGENTS);
  print({ program: "concord index", ...what, ...rated(indexed) });
  const byPonder = await measurePonder(chain, reputation);
  assert.equal(byPonder.events, FEEDBACKS);
  print({ program: "ponder", ...what, ...rated(byPonder) });
  await chain.stop();
}
