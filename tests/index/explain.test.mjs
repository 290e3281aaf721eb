// From the explorer to a verified feedback: the command that a feedback's page shows writes a bundle, and the page that the index serves
// verifies it while the browser has no network.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";

import { REGISTRATION_TYPE, dataUri, keccak256, startWorld, toHex, write } from "../clients/agent0/index_world.mjs";
import { ADDRESSES, CHAIN_ID } from "../clients/agent0/local_chain.mjs";
import { Chromium } from "../report/chromium.mjs";
import { cleanUp, remove } from "../cleanup.mjs";

const CHAIN = `eip155:${CHAIN_ID}`;
/** Behind those of every world. */
const AGENT = 4;
const FEEDBACK = `/feedback/${CHAIN_ID}%3A${AGENT}/open/${ADDRESSES.client}/1`;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "concord-index-explain-"));
const bundle = path.join(folder, "feedback.json");
const book = path.join(folder, "addresses.json");

let world;
let chromium;

/** An agent whose file lists it, and a feedback with a file whose hash is on chain. */
async function rated(chain, { identity, reputation }) {
  const agentRegistry = `${CHAIN}:${identity.address}`;
  const listed = { type: REGISTRATION_TYPE, name: "Listed", description: "", image: "", services: [], registrations: [{ agentId: AGENT, agentRegistry }] };
  await write(chain, "owner", identity, "register", [dataUri(listed)]);
  const rating = { agentRegistry, agentId: AGENT, clientAddress: `${CHAIN}:${ADDRESSES.client}`, createdAt: "2026-01-02T03:04:05Z", value: 95, valueDecimals: 0, tag1: "starred" };
  const args = [BigInt(AGENT), 95n, 0, "starred", "", "", dataUri(rating), keccak256(toHex(JSON.stringify(rating)))];
  await write(chain, "client", reputation, "giveFeedback", args);
}

/** The registries of the test, with the hashes of the code that the chain has. */
async function addressBook() {
  const contracts = {};
  for (const [name, { address }] of [["IdentityRegistry", world.identity], ["ReputationRegistry", world.reputation]]) {
    contracts[name] = { address, codeHash: keccak256(await world.chain.reader.getCode({ address })) };
  }
  return JSON.stringify({ chains: { [CHAIN]: { contracts } } });
}

/** The command in the page's words, with the reader's own node and address book. */
function run(words) {
  const [program, ...args] = words.split(" ");
  assert.equal(program, "concord");
  const own = args.map((it) => it.replace("=URL", `=${world.chain.url}`).replace("feedback.json", bundle));
  return spawnSync(process.env.CONCORD_BINARY, [...own, "--address-book", book, "--json"], { encoding: "utf8" });
}

before(async () => {
  world = await startWorld(rated, ["--explain-page", process.env.CONCORD_EXPLAIN_PAGE]);
  fs.writeFileSync(book, await addressBook());
  chromium = await Chromium.start(process.env.CONCORD_CHROMIUM);
  await chromium.ask("Network.enable");
});
after(async () => {
  await cleanUp(() => chromium?.end(), () => world?.stop(), () => remove(folder));
});

async function choose(id, file) {
  const { root } = await chromium.ask("DOM.getDocument");
  const { nodeId } = await chromium.ask("DOM.querySelector", { nodeId: root.nodeId, selector: `#${id}` });
  await chromium.ask("DOM.setFileInputFiles", { nodeId, files: [file] });
}

/** Drops a text on the page as a file, and resolves to what the page then shows. */
async function drop(text) {
  await chromium.evaluate(`{
    document.getElementById("result").replaceChildren();
    const data = new DataTransfer();
    data.items.add(new File([${JSON.stringify(text)}], "bundle.json"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }`);
  return chromium.evaluate(`new Promise((resolve) => {
    const look = () => {
      const result = document.getElementById("result");
      if (!result.querySelector("h2, .fault")) return requestAnimationFrame(look);
      const rows = [...result.querySelectorAll("tbody tr")];
      resolve({ text: result.innerText, steps: rows.map((row) => [row.cells[1].textContent, row.cells[0].textContent]) });
    };
    requestAnimationFrame(look);
  })`);
}

test("the command that a feedback's page shows writes a bundle that verifies", async () => {
  await chromium.load(world.index + FEEDBACK);
  const words = await chromium.evaluate("document.querySelector('pre').textContent");
  const [online, offline] = words.split("\n");
  const read = run(online);
  assert.equal(read.status, 0, read.stderr + read.stdout);
  const { anchor } = JSON.parse(fs.readFileSync(bundle, "utf8")).evm[CHAIN];
  const again = run(offline.replace("=HASH", `=${anchor}`));
  assert.equal(again.status, 0, again.stderr);
  assert.equal(again.stdout, read.stdout);
});

test("a bundle dropped on the page that the index serves is verified without a network, and a changed one is refuted", async () => {
  await chromium.load(world.index + FEEDBACK);
  const loaded = chromium.loaded();
  await chromium.evaluate("document.querySelector('main a[href=\"/explain\"]').click()");
  await loaded;
  assert.equal(await chromium.evaluate("location.pathname"), "/explain");
  await chromium.ask("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 });
  const text = fs.readFileSync(bundle, "utf8");
  const { anchor } = JSON.parse(text).evm[CHAIN];
  await chromium.evaluate(`document.getElementById("blocks").value = ${JSON.stringify(`${CHAIN}=${anchor}`)}`);
  await choose("books", book);
  const sound = await drop(text);
  assert.deepEqual(new Set(sound.steps.map(([, state]) => state)), new Set(["VERIFIED"]), sound.text);
  assert.ok(sound.steps.length >= 8, sound.text);
  const other = JSON.parse(text);
  const [transaction] = Object.values(other.evm[CHAIN].transactions);
  transaction.receipt = transaction.receipt.slice(0, -1) + (Number.parseInt(transaction.receipt.at(-1), 16) ^ 1).toString(16);
  const changed = await drop(JSON.stringify(other));
  assert.deepEqual(changed.steps.filter(([, state]) => state === "REFUTED"), [["event", "REFUTED"]], changed.text);
  await chromium.ask("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
});

test("the page may reach nothing, and no other page may hold it", async () => {
  const answer = await fetch(`${world.index}/explain`);
  const policy = answer.headers.get("content-security-policy");
  for (const part of ["default-src 'none'", "frame-ancestors 'none'", "form-action 'none'"]) assert.ok(policy.includes(part), policy);
  assert.ok(!/unsafe-inline|'unsafe-eval'|https?:/.test(policy), policy);
  await chromium.load(`${world.index}/explain`);
  const attempt = (url) => chromium.evaluate(`fetch(${JSON.stringify(url)}).then(() => "answered", (fault) => fault.name)`);
  assert.equal(await attempt("/v1/status"), "TypeError");
  assert.equal(await attempt("data:text/plain,x"), "TypeError");
});
