// An index of a local cluster: the commands, and the explorer in a real browser. Ids and links are Solana's: a program, a mint, keys.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import process from "node:process";
import { after, before, test } from "node:test";

import { REGISTRATION_TYPE, startIndex } from "../clients/agent0/index_world.mjs";
import { CHAIN } from "../clients/anchor/local_cluster.mjs";
import { PROGRAM, RegistryClient, addresses } from "../clients/anchor/registry_client.mjs";
import { openFeedback } from "../clients/anchor/sending/open_feedback.mjs";
import { Chromium } from "../report/chromium.mjs";
import { cleanUp } from "../cleanup.mjs";

const ENTER = ["Enter", 13, "\r"];
const FILE = `data:application/json,{"type":"${REGISTRATION_TYPE}","name":"Tide Table","services":[]}`; // R17: 200 bytes

const registry = new RegistryClient();
const world = {};
let chromium;
let index;

/** Two agents. The first one has two feedbacks by one client, and one by another, who takes it back; and an authorized one. */
async function populate() {
  const { Keypair, BN } = RegistryClient;
  const [owner, first, second] = Array.from({ length: 3 }, () => Keypair.generate());
  const { nonce, mint } = registry.newMint();
  await registry.registration(owner, nonce, FILE).rpc();
  const agent = { owner, mint };
  const other = await registry.registered();
  await openFeedback(registry, agent, first, { index: 1, value: 875, decimals: 1 }).rpc();
  await openFeedback(registry, agent, first, { index: 2, value: -10, decimals: 0 }).rpc();
  await openFeedback(registry, agent, second, { index: 1, value: 60, decimals: 0 }).rpc();
  await registry.program.methods.revokeOpenFeedback(new BN(1)).accounts({ client: second.publicKey, nftMint: agent.mint }).signers([second]).rpc();
  await (await registry.feedback(agent, second)).rpc();
  const id = (key) => `${CHAIN}:${PROGRAM.toBase58()}:${key.toBase58()}`;
  Object.assign(world, { agent, one: id(agent.mint), two: id(other.mint), first: first.publicKey.toBase58(), second: second.publicKey.toBase58() });
}

before(async () => {
  await registry.start();
  await populate();
  const head = await registry.connection.getSlot("confirmed");
  index = await startIndex(["--rpc", registry.cluster.url, "--program", PROGRAM.toBase58(), "--confirmed"], head);
  chromium = await Chromium.start(process.env.CONCORD_CHROMIUM);
  await chromium.ask("Emulation.setScriptExecutionDisabled", { value: true });
});
after(async () => {
  await cleanUp(() => chromium?.end(), () => index?.stop(), () => registry.cluster?.stop());
});

const concord = (...args) => execFileSync(process.env.CONCORD_BINARY, [...args, "--index", index.url], { encoding: "utf8" });
const json = (...args) => JSON.parse(concord(...args, "--json"));
const ids = (answer) => answer.items.map((it) => it.id).sort();
const text = (selector) => chromium.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);
const all = (selector) => chromium.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((it) => it.innerText)`);
const count = (selector) => chromium.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`);

/** Follows the link with this text by keyboard. */
async function follow(selector, words) {
  const link = `[...document.querySelectorAll(${JSON.stringify(selector)})].find((it) => it.innerText === ${JSON.stringify(words)})`;
  await chromium.evaluate(`${link}.focus()`);
  const loaded = chromium.loaded();
  await chromium.press(...ENTER);
  await loaded;
}

test("agents are searched by chain, text, owner and reputation", () => {
  assert.deepEqual(ids(json("search", "--chain", CHAIN)), [world.one, world.two].sort());
  assert.deepEqual(ids(json("search", "tide")), [world.one]);
  assert.deepEqual(ids(json("search", "--owner", world.agent.owner.publicKey.toBase58())), [world.one]);
  assert.deepEqual(ids(json("search", "--reviewer", world.first, "--tag", "starred", "--min-count", "2", "--min-average", "38.75")), [world.one]);
  assert.deepEqual(ids(json("search", "--reviewer", world.first, "--min-average", "38.76")), []);
});

test("a summary is what the feedback in it makes (R16, R48)", async () => {
  const { summary, facts } = json("summary", world.one, "--reviewer", world.first, "--reviewer", world.second);
  assert.equal(summary.count, 2); // the second client's is revoked
  assert.equal(facts.reviewers, 1);
  const authorized = json("summary", world.one, "--everyone", "--profile", "authorized");
  assert.equal(authorized.facts.reviewers, 1);
  assert.match(concord("summary", world.one, "--everyone"), /^count {6}2$/m);
  const stored = await registry.read("openClientIndex", addresses.clientIndex("open_client", world.agent.mint, RegistryClient.key(world.first)), "lastIndex");
  assert.equal(Number(stored.lastIndex), summary.count);
});

test("feedback is listed and shown by its client's key", () => {
  assert.deepEqual(json("feedback", "list", "--agent", world.one, "--profile", "open").items.map((it) => it.decimal), ["-10", "87.5"]);
  assert.deepEqual(json("feedback", "list", "--reviewer", world.second, "--profile", "open", "--revoked").items.map((it) => it.isRevoked), [true]);
  const one = json("feedback", "get", world.one, world.first, "1");
  assert.equal(one.decimal, "87.5");
  assert.equal(one.clientAddress, world.first);
  const authorized = json("feedback", "get", world.one, world.second, "1", "--profile", "authorized");
  assert.equal(authorized.value, "80");
  assert.match(concord("feedback", "get", world.one, world.first, "2"), /-10 {2}tag1 starred/);
});

test("from the list to an agent, its charts and a feedback's evidence, by links", async () => {
  await chromium.load(`${index.url}/?chain=${encodeURIComponent(CHAIN)}`);
  assert.equal(await count("ul.agents > li"), 2);
  await follow("ul.agents a", "Tide Table");
  assert.equal(await text("h1"), "Tide Table");
  assert.ok((await text("main")).includes(world.one));
  assert.ok((await text("main")).includes(world.agent.owner.publicKey.toBase58()));
  const drawn = await all("figure.chart .tag");
  assert.deepEqual(drawn.slice(0, 3), ["All tags", "starred", "All tags"]); // the last one is of scores, whose tags are hashes
  assert.deepEqual(drawn.slice(3).map((it) => it.length), [66, 66]);
  assert.match((await all("ul.feedback > li")).join("\n"), /revoked/);
  await follow("ul.feedback a", "87.5");
  assert.equal(await text("h1"), "Feedback: 87.5");
  assert.ok((await text("main")).includes(world.first));
  assert.match(await text("h3.good + ul"), /The chain has the value, the tags and who submitted them/);
  assert.match(await text("h3.warn + ul"), /The file was not read/); // ipfs://open is no CID
  await follow("main a", "Tide Table");
  assert.equal(await text("h1"), "Tide Table");
});

test("the charts of a reviewer list are that client's", async () => {
  await chromium.load(`${index.url}/agent/${encodeURIComponent(world.one)}?reviewers=${world.first}`);
  assert.deepEqual([await count("polyline.raw"), await count("polyline.listed")], [5, 5]); // of open feedback, and of scores
  assert.match(await text("figure.chart figcaption"), /2 feedbacks from .*\. 2 by the listed reviewers\./);
});

test("the status is in slots of the chain that the registry names (R9)", async () => {
  await chromium.load(`${index.url}/status`);
  assert.equal(await text("h2"), CHAIN);
  assert.ok((await text("main")).includes(PROGRAM.toBase58()));
  assert.match(await text("main"), /With missing events\s+none/);
  assert.match(await text("main"), /Reorganizations\s+none was seen/);
});
