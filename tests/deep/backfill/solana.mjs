// Fills a local cluster with agents and open feedback, and measures how the index takes it in, and how fast the node delivers the same
// transactions to a program that does nothing with them.
import assert from "node:assert/strict";
import { performance } from "node:perf_hooks";
import process from "node:process";

import { PROGRAM, RegistryClient } from "../../clients/anchor/registry_client.mjs";
import { openFeedback } from "../../clients/anchor/sending/open_feedback.mjs";
import { each, measureIndex, print } from "./measured.mjs";

const FEEDBACKS = Number(process.env.CONCORD_BACKFILL_SOLANA ?? 1_000);
const AGENTS = 20;
const SENT_AT_ONCE = 16;
/** As many as the index has on their way. */
const ASKED_AT_ONCE = 32;
const PAGE = 1_000;

const registry = new RegistryClient();

async function ask(method, params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  const answer = await fetch(registry.cluster.url, { method: "POST", headers: { "content-type": "application/json" }, body });
  return answer.text();
}

async function send(call, blockhash, signers) {
  const transaction = await call.transaction();
  transaction.feePayer = registry.feePayer.publicKey;
  transaction.recentBlockhash = blockhash;
  transaction.sign(registry.feePayer, registry.sponsor, ...signers);
  const options = { skipPreflight: true, maxRetries: 0 };
  return registry.connection.sendRawTransaction(transaction.serialize(), options);
}

async function fill() {
  const agents = [];
  for (let number = 0; number < AGENTS; number += 1) agents.push(await registry.registered());
  let last;
  await each(FEEDBACKS, SENT_AT_ONCE, async (number) => {
    const client = RegistryClient.Keypair.generate();
    const { blockhash } = await registry.connection.getLatestBlockhash("confirmed");
    last = await send(openFeedback(registry, agents[number % AGENTS], client), blockhash, [client]);
  });
  await registry.provider.connection.confirmTransaction(last, "confirmed");
  return registry.connection.getSlot("confirmed");
}

/** Every signature of the program's event authority, newest first. */
async function signatures() {
  const [authority] = PROGRAM.constructor.findProgramAddressSync([Buffer.from("__event_authority")], PROGRAM);
  const all = [];
  for (let before; ; before = all.at(-1)) {
    const { result } = JSON.parse(await ask("getSignaturesForAddress", [authority, { limit: PAGE, commitment: "confirmed", ...(before && { before }) }]));
    all.push(...result.map(({ signature }) => signature));
    if (result.length < PAGE) return all;
  }
}

/** Seconds that the node takes to deliver every transaction once, and how many there are. */
async function measureNode() {
  const begun = performance.now();
  const all = await signatures();
  const params = { encoding: "base64", commitment: "confirmed", maxSupportedTransactionVersion: 0 };
  await each(all.length, ASKED_AT_ONCE, (number) => ask("getTransaction", [all[number], params]));
  return { transactions: all.length, seconds: Math.round((performance.now() - begun) / 10) / 100 };
}

const rated = (run) => ({ ...run, transactionsPerSecond: Math.round(run.transactions / run.seconds) });

await registry.start();
const head = await fill();
const node = await measureNode();
assert.ok(node.transactions >= FEEDBACKS, `the node has ${node.transactions} transactions, fewer than ${FEEDBACKS} feedbacks: give fewer, or slower`);
const what = { chain: "local cluster", feedbacks: FEEDBACKS, agents: AGENTS, slots: head };
print({ program: "the node alone", ...what, ...rated(node) });
const options = ["--rpc", registry.cluster.url, "--program", PROGRAM.toBase58(), "--confirmed"];
const run = await measureIndex(options);
print({ program: "concord index", ...what, ...rated({ ...run, transactions: node.transactions }) });
await registry.stop();
