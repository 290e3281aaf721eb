// A second EVM node: what docs/DEPLOYING.md does on anvil, done on Hardhat's.
import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { remove } from "../../cleanup.mjs";

const HERE = path.dirname(fileURLToPath(import.meta.url));
const ROOT = path.join(HERE, "../../..");
const CHAIN = "eip155:84532";
// The first of Hardhat's own accounts, whose key everybody knows.
const DEPLOYER = "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266";
const KEY = "ac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80";
const PROXY = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

let node;
let url;
const deployments = fs.mkdtempSync(path.join(os.tmpdir(), "concord-hardhat."));

before(async () => {
  const hardhat = path.join(HERE, "node_modules/hardhat/internal/cli/bootstrap.js");
  const words = ["--config", "hardhat.config.cjs", "node", "--hostname", "127.0.0.1", "--port", "0"];
  node = spawn(process.execPath, [hardhat, ...words], { cwd: HERE, stdio: ["ignore", "pipe", "inherit"] });
  for await (const line of createInterface(node.stdout)) {
    const started = /at (http:\/\/127\.0\.0\.1:\d+)/.exec(line);
    if (!started) continue;
    url = started[1];
    node.stdout.resume();
    return;
  }
  throw new Error("Hardhat's node did not start");
});

after(async () => {
  node.kill();
  if (node.exitCode === null && node.signalCode === null) await once(node, "exit");
  remove(deployments);
});

async function ask(method, params) {
  const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method, params });
  // A connection that is kept may be closed by the node while a command of ours blocks this process.
  const headers = { "content-type": "application/json", connection: "close" };
  const answer = await (await fetch(url, { method: "POST", headers, body })).json();
  assert.ok(!answer.error, `${method}: ${JSON.stringify(answer.error)}`);
  return answer.result;
}

function concord(...words) {
  const ran = spawnSync(process.env.CONCORD_BINARY, [...words, "--chain", CHAIN], {
    cwd: ROOT,
    encoding: "utf8",
    env: { ...process.env, CONCORD_RPC_URL: url, CONCORD_DEPLOYMENTS: deployments, CONCORD_EVM_PRIVATE_KEY: KEY },
  });
  assert.equal(ran.status, 0, `concord ${words.join(" ")}: ${ran.stdout}${ran.stderr}`);
  return ran.stdout;
}

const balance = async () => BigInt(await ask("eth_getBalance", [DEPLOYER, "latest"]));

test("it is Hardhat's node, without the deployment proxy", async () => {
  assert.match(await ask("web3_clientVersion", []), /^HardhatNetwork\/2\.29\.1\//);
  assert.equal(await ask("eth_chainId", []), "0x14a34");
  assert.equal(await ask("eth_getCode", [PROXY, "latest"]), "0x");
});

test("a plan is made although eth_estimateGas takes no state override, and apply keeps to it", async () => {
  const plan = JSON.parse(concord("deploy", "plan", "--json"));
  const note = plan.notes.find((words) => words.startsWith("gas is measured in this program"));
  assert.match(note, /eth_estimateGas: trailing characters at line 1 column \d+/);
  const before = await balance();
  concord("deploy", "apply", "--yes", "--confirmations", "1", "--accepts-draft-v1", "true");
  assert.ok(before - (await balance()) <= BigInt(plan.total), "more was spent than planned");
  // The proxy's funds and the four registries; the proxy itself is signed by another.
  assert.equal(await ask("eth_getTransactionCount", [DEPLOYER, "latest"]), "0x5");
});

test("verify, status and smoke pass", () => {
  concord("deploy", "verify");
  concord("deploy", "status");
  assert.equal(JSON.parse(concord("smoke", "--yes", "--json")).agree, true);
});

test("every live scenario agrees", () => {
  const report = JSON.parse(concord("conform", "--live", "--yes", "--json"));
  assert.equal(report.agree, true);
  const { "evm-live": live, model } = report.totals;
  assert.ok(model.passed > 0);
  assert.equal(live.passed, model.passed);
});
