// `concord search`, `summary` and `feedback`, asked of an index of anvil. What they must print is what was written to the chain.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";

import { startWorld } from "../clients/agent0/index_world.mjs";
import { ADDRESSES, CHAIN_ID } from "../clients/agent0/local_chain.mjs";
import { remove } from "../cleanup.mjs";

const FOUND = 0;
const NOT_INDEXED = 1;
const USAGE = 2;
const SILENT = 3;
const ONE = `${CHAIN_ID}:1`;

let world;
before(async () => (world = await startWorld()));
after(() => world?.stop());

/** Runs `concord`, and resolves to its exit code and what it printed. */
function concord(args, env = {}) {
  const child = spawn(process.env.CONCORD_BINARY, args, { env: { ...process.env, CONCORD_INDEX_URL: world.index, ...env } });
  const printed = { stdout: "", stderr: "" };
  for (const name of ["stdout", "stderr"]) child[name].setEncoding("utf8").on("data", (piece) => (printed[name] += piece));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => resolve({ code, ...printed }));
  });
}

async function json(args) {
  const { code, stdout, stderr } = await concord([...args, "--json"]);
  assert.equal(code, FOUND, stderr);
  return JSON.parse(stdout);
}

const numbers = (answer) => answer.items.map((it) => it.agentId).sort();

test("agents are searched", async () => {
  assert.deepEqual(numbers(await json(["search"])), ["1", "2", "3"]);
  assert.deepEqual(numbers(await json(["search", "WEATHER", "--has", "mcp", "--has", "oasf", "--chain", String(CHAIN_ID)])), ["1"]);
  assert.deepEqual(numbers(await json(["search", "--owner", ADDRESSES.client])), ["3"]);
  assert.deepEqual(numbers(await json(["search", "--everyone", "--tag", "uptime", "--min-average", "90"])), ["2"]);
  assert.deepEqual(numbers(await json(["search", "--reviewer", ADDRESSES.client, "--min-count", "2", "--sort", "averageValue:desc"])), ["1"]);
  assert.deepEqual(numbers(await json(["search", "--filter", '{"mcpTools":["history"]}'])), ["1"]);
  const first = await json(["search", "--limit", "2", "--sort", "createdAt:asc"]);
  assert.deepEqual(numbers(first), ["1", "2"]);
  const second = await json(["search", "--limit", "2", "--sort", "createdAt:asc", "--cursor", first.nextCursor]);
  assert.deepEqual(numbers(second), ["3"]);
});

test("options and --filter are taken together, and never one instead of the other", async () => {
  const rated = ["search", "--everyone", "--min-count", "1"];
  assert.deepEqual(numbers(await json([...rated, "--filter", '{"feedback":{"minValue":"80"}}'])), ["2"]);
  assert.deepEqual(numbers(await json(["search", "--min-count", "2", "--filter", '{"feedback":{"fromReviewers":"everyone"}}'])), ["1"]);
  assert.deepEqual(numbers(await json(["search", "weather", "--has", "mcp", "--has", "mcp", "--filter", '{"hasA2A":true}'])), ["1"]);
  const cases = [
    [[...rated, "--filter", '{"feedback":{"minCount":5}}'], /--min-count and "minCount" in --filter/],
    [[...rated, "--filter", '{"feedback":{"fromReviewers":["0x12"]}}'], /--everyone and "fromReviewers" in --filter/],
    [[...rated, "--tag", "a", "--filter", '{"feedback":{"tag":"b"}}'], /--tag and "tag" in --filter/],
    [[...rated, "--filter", '{"feedback":5}'], /--filter: feedback: expected an object/],
    [["search", "--filter", '{"feedback":{}}'], /feedback of whom\?/],
    [["search", "--owner", ADDRESSES.client, "--filter", '{"owners":[]}'], /--owner and "owners" in --filter/],
    [["search", "--chain", "1", "--filter", '{"chains":null}'], /--chain and "chains" in --filter/],
    [["search", "weather", "--filter", '{"keyword":"plain"}'], /TEXT and "keyword" in --filter/],
    [["search", "--has", "mcp", "--filter", '{"hasMCP":false}'], /--has mcp and "hasMCP" in --filter/],
    [["search", "--filter", '{"active":true,"active":false}'], /--filter: .*active/],
    [["search", "--filter", '{"feedback":{"fromReviewers":"everyone","minValue":79.666666666666666666}}'], /--filter: feedback\.minValue: 79\.666666666666666666 is not exact/],
  ];
  for (const [args, words] of cases) {
    const { code, stdout, stderr } = await concord(args);
    assert.deepEqual([code, stdout], [USAGE, ""], `${args.join(" ")}: ${stderr}`);
    assert.match(stderr, words);
  }
});

test("agents are lines for people", async () => {
  const { code, stdout } = await concord(["search", "weather", "--index", world.index]);
  assert.equal(code, FOUND);
  assert.match(stdout, /^eip155:31337:0x[0-9a-f]{40}:1 {2}Weather Oracle {2}3 feedback\n$/);
  const none = await concord(["search", "nothing is called so"]);
  assert.deepEqual([none.code, none.stdout], [FOUND, "no agent is like that\n"]);
});

test("a summary is the chain's, of the reviewers that are named (R48)", async () => {
  const of = [ADDRESSES.client, ADDRESSES.stranger];
  const [count, value, decimals] = await world.reputation.read("getSummary", [1n, of, "", ""]);
  const { summary, facts } = await json(["summary", ONE, ...of.flatMap((it) => ["--reviewer", it])]);
  assert.deepEqual([summary.count, summary.summaryValue, summary.summaryValueDecimals], [Number(count), String(value), decimals]);
  assert.equal(facts.reviewers, 1); // the stranger's is revoked
  const file = path.join(fs.mkdtempSync(path.join(os.tmpdir(), "concord-reviewers-")), "list.json");
  const accounts = [`eip155:${CHAIN_ID}:${ADDRESSES.client}`, `eip155:1:${ADDRESSES.stranger}`]; // the second one counts on its chain only
  const made = await concord(["reviewers", "new", "--name", "trusted", ...accounts.flatMap((it) => ["--reviewer", it])]);
  assert.equal(made.code, FOUND, made.stderr);
  fs.writeFileSync(file, made.stdout);
  const listed = await json(["summary", ONE, "--reviewers", file, "--tag", "quality"]);
  const rated = ["search", "--reviewers", file, "--min-count", "1"];
  assert.deepEqual(numbers(await json([...rated, "--chain", String(CHAIN_ID)])), ["1"]);
  const several = await concord([...rated, "--chain", String(CHAIN_ID), "--chain", "1"]);
  assert.equal(several.code, USAGE);
  assert.match(several.stderr, /--reviewers needs one --chain/);
  remove(path.dirname(file));
  assert.equal(listed.summary.count, 2);
  const lines = await concord(["summary", ONE, "--everyone"]);
  assert.match(lines.stdout, /^reviewers {2}everyone: anyone can make accounts$/m);
  assert.match(lines.stdout, /^count {6}2$/m);
  const nobody = await concord(["summary", ONE]);
  assert.equal(nobody.code, USAGE);
  assert.match(nobody.stderr, /--everyone/);
});

test("feedback is listed, and one is shown with its evidence", async () => {
  const decimals = (answer) => answer.items.map((it) => it.decimal);
  assert.deepEqual(decimals(await json(["feedback", "list", "--agent", ONE])), ["-10", "87.5"]);
  assert.deepEqual(decimals(await json(["feedback", "list", "--agent", ONE, "--revoked"])), ["60", "-10", "87.5"]);
  assert.deepEqual(decimals(await json(["feedback", "list", "--reviewer", ADDRESSES.wallet, "--tag2", "uptime"])), ["100"]);
  const one = await json(["feedback", "get", ONE, ADDRESSES.client, "1"]);
  assert.equal(one.decimal, "87.5");
  assert.equal(one.responses[0].responseURI, "ipfs://response");
  const { code, stdout } = await concord(["feedback", "get", ONE, ADDRESSES.client, "1"]);
  assert.equal(code, FOUND);
  assert.match(stdout, /^eip155:31337:0x\w{40}:1 open 0x\w{40} 1 {2}87\.5 {2}tag1 quality {2}tag2 speed$/m);
  assert.match(stdout, /^evidence {3}read, proven by the chain$/m);
  assert.match(stdout, /^response {3}0x\w{40} {2}ipfs:\/\/response$/m);
});

test("what cannot be answered is said in a line, with an exit code", async () => {
  const cases = [
    [["feedback", "get", ONE, ADDRESSES.client, "9"], NOT_INDEXED, /feedback 9 by 0x\w+ about 31337:1 is not indexed here/],
    [["summary", `${CHAIN_ID}:99`, "--everyone"], NOT_INDEXED, /the agent .* is not indexed here/],
    [["search", "--filter", '{"stars":1}'], USAGE, /filters\.stars is not known/],
    [["search", "--filter", "[]"], USAGE, /--filter: expected a JSON object/],
    [["search", "--sort", "stars:up"], USAGE, /options\.sort/],
    [["search", "--tag", "x"], USAGE, /feedback of whom\?/],
    [["search", "--index", "http://127.0.0.1:1"], SILENT, /http:\/\/127\.0\.0\.1:1 does not answer/],
    [["search", "--index", world.chain.url], SILENT, /is this an index\?/],
    [["search", "--index", "http://user:secret@127.0.0.1:1"], USAGE, /has a user or a password/],
  ];
  for (const [args, expected, words] of cases) {
    const { code, stdout, stderr } = await concord(args);
    assert.equal(code, expected, `${args.join(" ")}: ${stderr}`);
    assert.match(stderr, words);
    assert.equal(stdout, "");
    assert.ok(!stderr.includes("secret") && !stderr.includes("panicked"), stderr);
  }
});
