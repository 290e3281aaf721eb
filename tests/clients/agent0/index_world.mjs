// An anvil with our registries, agents and feedback, and `concord index run` beside it, which serves agent0's subgraph.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { setTimeout as pause } from "node:timers/promises";
import { createWalletClient, http, keccak256, toHex, zeroHash } from "viem";
import { privateKeyToAccount } from "viem/accounts";

import { ADDRESSES, CHAIN_ID, KEYS, startChain } from "./local_chain.mjs";
import { cleanUp, remove } from "../../cleanup.mjs";

export { keccak256, toHex }; // of viem, for tests in folders without packages

const START_LIMIT_MS = 60_000;
const DAY = 86_400; // between two feedbacks

export const dataUri = (file) => `data:application/json;base64,${Buffer.from(JSON.stringify(file)).toString("base64")}`;

export const REGISTRATION_TYPE = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";

/** Agent 1's file has all that the subgraph knows of; agent 2's has a name; agent 3 has none. */
export const FILES = {
  1: {
    type: REGISTRATION_TYPE,
    name: "Weather Oracle",
    description: "Says what the weather will be",
    image: "https://weather.example/icon.png",
    services: [
      { name: "MCP", endpoint: "https://weather.example/mcp", version: "2025-06-18", mcpTools: ["forecast", "history"], mcpPrompts: ["plan"], mcpResources: ["map"] },
      { name: "A2A", endpoint: "https://weather.example/a2a", version: "0.30", a2aSkills: ["predict"] },
      { name: "OASF", endpoint: "https://weather.example/oasf", version: "0.8", skills: ["data/forecasting"], domains: ["science/weather"] },
      { name: "web", endpoint: "https://weather.example" },
      { name: "ENS", endpoint: "weather.eth" },
      { name: "DID", endpoint: "did:example:weather" },
      { name: "email", endpoint: "hello@weather.example" },
    ],
    x402Support: true,
    active: true,
    registrations: [],
    supportedTrust: ["reputation", "tee-attestation"],
  },
  2: { type: REGISTRATION_TYPE, name: "Plain", description: "Nothing else", image: "https://plain.example/i.png", services: [], registrations: [], active: false },
};

/** Every feedback: agent, client, value, decimals, tags, revoked. */
export const GIVEN = [
  { agent: 1, client: "client", index: 1, value: 875n, decimals: 1, number: 87.5, tags: ["quality", "speed"], endpoint: "https://weather.example/mcp" },
  { agent: 1, client: "client", index: 2, value: -10n, decimals: 0, number: -10, tags: ["quality", ""], endpoint: "" },
  { agent: 1, client: "stranger", index: 1, value: 60n, decimals: 0, number: 60, tags: ["speed", ""], endpoint: "", revoked: true },
  { agent: 2, client: "wallet", index: 1, value: 100n, decimals: 0, number: 100, tags: ["", "uptime"], endpoint: "https://plain.example" },
];

export const REVIEW = "Right on three days of four";

/** Sends one transaction as one of anvil's accounts. */
export async function write(chain, name, registry, functionName, args) {
  const account = privateKeyToAccount(KEYS[name]);
  const wallet = createWalletClient({ account, chain: chain.chain, transport: http(chain.url) });
  const hash = await wallet.writeContract({ ...registry, functionName, args });
  const { status } = await chain.reader.waitForTransactionReceipt({ hash });
  if (status !== "success") throw new Error(`${functionName} failed`);
}

function feedbackFile(identity, { agent, client, value, decimals }) {
  return {
    agentRegistry: `eip155:${CHAIN_ID}:${identity.address}`,
    agentId: agent,
    clientAddress: `eip155:${CHAIN_ID}:${ADDRESSES[client]}`,
    createdAt: "2026-01-02T03:04:05Z",
    value: Number(value),
    valueDecimals: decimals,
    text: REVIEW,
    mcpTool: "forecast",
    a2aSkills: ["predict"],
  };
}

async function populate(chain, { identity, reputation, validation }) {
  await write(chain, "owner", identity, "register", [dataUri(FILES[1])]);
  await write(chain, "owner", identity, "register", [dataUri(FILES[2])]);
  await write(chain, "client", identity, "register", []);
  await write(chain, "owner", identity, "setMetadata", [1n, "category", toHex("weather")]);
  await write(chain, "owner", identity, "approve", [ADDRESSES.wallet, 1n]);
  for (const given of GIVEN) {
    const uri = given === GIVEN[0] ? dataUri(feedbackFile(identity, given)) : "";
    const args = [BigInt(given.agent), given.value, given.decimals, ...given.tags, given.endpoint, uri, zeroHash];
    await chain.reader.request({ method: "evm_increaseTime", params: [DAY] });
    await write(chain, given.client, reputation, "giveFeedback", args);
    if (given.revoked) await write(chain, given.client, reputation, "revokeFeedback", [BigInt(given.agent), BigInt(given.index)]);
  }
  await write(chain, "owner", reputation, "appendResponse", [1n, ADDRESSES.client, 1n, "ipfs://response", zeroHash]);
  const request = keccak256(toHex("request"));
  await write(chain, "owner", validation, "validationRequest", [ADDRESSES.wallet, 1n, "ipfs://request", request]);
  await write(chain, "wallet", validation, "validationResponse", [request, 91, "ipfs://answer", zeroHash, "zk"]);
}

/** Starts an index with these options of `index run`, and resolves to its URL when it has this block. */
export async function startIndex(options, head) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "concord-subgraph-"));
  const store = path.join(folder, "index.sqlite");
  const args = ["index", "run", ...options, "--store", store, "--listen", "127.0.0.1:0"];
  const index = spawn(process.env.CONCORD_BINARY, args, { stdio: ["ignore", "ignore", "pipe"] });
  const kill = () => index.kill("SIGKILL");
  process.once("exit", kill);
  let words = "";
  const url = await new Promise((resolve, reject) => {
    const limit = setTimeout(() => reject(new Error(`the index does not listen: ${words}`)), START_LIMIT_MS);
    index.stderr.on("data", (chunk) => {
      words += chunk;
      const listening = /listening on (http:\S+)\n/.exec(words); // it arrives in pieces
      if (!listening) return;
      clearTimeout(limit);
      resolve(listening[1]);
    });
    index.once("error", reject);
    index.once("exit", (code) => reject(new Error(`the index ended with ${code}: ${words}`)));
  });
  const ended = new Promise((resolve) => index.once("exit", resolve));
  const stop = async () => {
    kill();
    await ended;
    remove(folder);
  };
  const begun = Date.now();
  for (let block; !(block >= head); await pause(50)) {
    const answer = await fetch(`${url}/v1/status`).catch((error) => error);
    block = answer.ok ? (await answer.json()).deployments?.[0]?.block : undefined;
    if (Date.now() - begun < START_LIMIT_MS && index.exitCode === null) continue;
    await stop();
    throw new Error(`the index is at ${block} of ${head} (${answer.status ?? answer}): ${words}`);
  }
  return { url, store, stop };
}

/** Everything, started: the chain, its registries with whatever `more` writes to them, and the index's subgraph of it. */
export async function startWorld(more = async () => {}, options = []) {
  const chain = await startChain();
  try {
    const identity = await chain.deploy("IdentityRegistry");
    const reputation = await chain.deploy("ReputationRegistry", [identity.address]);
    const validation = await chain.deploy("ValidationRegistry", [identity.address]);
    const registries = { identity, reputation, validation };
    await populate(chain, registries);
    await more(chain, registries);
    const contracts = Object.entries(registries).flatMap(([name, { address }]) => [`--${name}`, address]);
    const head = Number(await chain.reader.getBlockNumber());
    const index = await startIndex(["--rpc", chain.url, ...contracts, ...options], head);
    const stop = () => cleanUp(() => index.stop(), () => chain.stop());
    return { chain, ...registries, index: index.url, store: index.store, subgraph: `${index.url}/subgraphs/${CHAIN_ID}/graphql`, stop };
  } catch (error) {
    await chain.stop(); // or its process would keep the test's
    throw error;
  }
}
