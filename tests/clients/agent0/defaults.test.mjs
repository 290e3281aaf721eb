// What agent0-sdk 1.7.1 does on a chain for which it has registries of its own (here 84532), if it is told to use ours:
// it writes to ours, and reads some things from its own. README and docs/DEPLOYING.md warn of it. If a test here fails
// after an update of the client, the warning may have become wrong.
import assert from "node:assert/strict";
import { once } from "node:events";
import http from "node:http";
import https from "node:https";
import { after, before, test } from "node:test";
import { SDK } from "agent0-sdk";
import { createWalletClient, http as rpc } from "viem";
import { privateKeyToAccount } from "viem/accounts";

import { ADDRESSES, KEYS, startChain } from "./local_chain.mjs";

const BASE_SEPOLIA = 84532;
// The canonical identity registry on every testnet (ERC-8004's README).
const CANONICAL = "0x8004A818BFB912233c491871b3d84c89A494BD9e";
const FIRST_ID = 1n;
const AGENT = `${BASE_SEPOLIA}:${FIRST_ID}`;
const SUBGRAPH_HOST = "gateway.thegraph.com";

let chain;
let identity;
let reputation;
let canonical;
let subgraph;
const asked = [];
const secureRequest = https.request;

function clientOf(name, options = {}) {
  const sdk = new SDK({
    chainId: BASE_SEPOLIA,
    rpcUrl: chain.url,
    privateKey: KEYS[name],
    registryOverrides: { [BASE_SEPOLIA]: { IDENTITY: identity.address, REPUTATION: reputation.address } },
    ...options,
  });
  sdk.reputationRegistryAddress(); // 1.7.1 looks the address up here, and not when it only reads feedback
  return sdk;
}

const fileOf = (name) => `data:application/json;base64,${Buffer.from(JSON.stringify({ name })).toString("base64")}`;

async function register(registry, name, file) {
  const account = privateKeyToAccount(KEYS[name]);
  const wallet = createWalletClient({ account, chain: chain.chain, transport: rpc(chain.url) });
  const hash = await wallet.writeContract({ ...registry, functionName: "register", args: [fileOf(file)] });
  assert.equal((await chain.reader.waitForTransactionReceipt({ hash })).status, "success");
}

/** Stands in for the client's own subgraph: keeps what it is asked, and knows one feedback of 1. */
async function startSubgraph() {
  const feedbacks = [{ id: `${AGENT}:${ADDRESSES.stranger}:1`, value: "1", isRevoked: false, agent: { id: AGENT } }];
  const server = http.createServer((request, response) => {
    asked.push(request.url);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify({ data: { feedbacks } }));
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  return server;
}

/** The client's GraphQL library asks with https.request; its host is the one that no test can reach. */
function requestFromSubgraph(options, ...rest) {
  if (options.hostname !== SUBGRAPH_HOST) return secureRequest(options, ...rest);
  const { port } = subgraph.address();
  return http.request({ ...options, protocol: "http:", host: "127.0.0.1", hostname: "127.0.0.1", port }, ...rest);
}

before(async () => {
  chain = await startChain(BASE_SEPOLIA);
  identity = await chain.deploy("IdentityRegistry");
  reputation = await chain.deploy("ReputationRegistry", [identity.address]);
  // Our own code stands in for the canonical registry: only the address matters to the client.
  canonical = await chain.place(await chain.deploy("IdentityRegistry"), CANONICAL);
  await register(identity, "owner", "ours");
  await register(canonical, "stranger", "somebody else's");
  subgraph = await startSubgraph();
  https.request = requestFromSubgraph;
});
after(() => {
  https.request = secureRequest;
  subgraph.closeAllConnections();
  subgraph.close();
  return chain.stop();
});

test("loads the agent of the canonical registry, although told to use ours", async () => {
  const loaded = await clientOf("owner").loadAgent(AGENT);
  assert.equal(loaded.getRegistrationFile().name, "somebody else's");
  assert.equal(clientOf("owner").identityRegistryAddress(), identity.address);
});

test("writes to ours: a transfer moves another agent than the one shown", async () => {
  const loaded = await clientOf("owner").loadAgent(AGENT);
  assert.equal(loaded.getRegistrationFile().name, "somebody else's");
  await (await loaded.transfer(ADDRESSES.client)).waitMined();
  assert.equal(await identity.read("ownerOf", [FIRST_ID]), ADDRESSES.client);
  assert.equal(await canonical.read("ownerOf", [FIRST_ID]), ADDRESSES.stranger);
});

test("gives feedback to ours, and sums up what its own subgraph knows", async () => {
  await (await clientOf("wallet").giveFeedback(AGENT, 90, "", "", "")).waitMined();
  assert.equal(await reputation.read("getLastIndex", [FIRST_ID, ADDRESSES.wallet]), 1n);
  asked.length = 0;
  assert.deepEqual(await clientOf("wallet").getReputationSummary(AGENT), { count: 1, averageValue: 1 });
  assert.equal(asked.length, 1);
});

test("sums up ours if its subgraph is overridden by nothing", async () => {
  asked.length = 0;
  const summary = await clientOf("wallet", { subgraphOverrides: { [BASE_SEPOLIA]: "" } }).getReputationSummary(AGENT);
  assert.deepEqual(summary, { count: 1, averageValue: 90 });
  assert.deepEqual(asked, []);
});

test("that workaround does not change which agent it loads", async () => {
  const loaded = await clientOf("owner", { subgraphOverrides: { [BASE_SEPOLIA]: "" } }).loadAgent(AGENT);
  assert.equal(loaded.getRegistrationFile().name, "somebody else's");
});

test("an agent that it registers itself is ours, changed and transferred too", async () => {
  const agent = clientOf("client").createAgent("registered", "Not loaded, so that nothing is read elsewhere");
  const { result } = await (await agent.registerOnChain()).waitMined();
  assert.equal(result.agentId, `${BASE_SEPOLIA}:2`);
  assert.equal(await identity.read("ownerOf", [2n]), ADDRESSES.client);
  await (await agent.setAgentURI("ipfs://second")).waitMined();
  assert.equal(await identity.read("tokenURI", [2n]), "ipfs://second");
  await (await agent.transfer(ADDRESSES.wallet)).waitMined();
  assert.equal(await identity.read("ownerOf", [2n]), ADDRESSES.wallet);
  await assert.rejects(canonical.read("ownerOf", [2n]), /ERC721NonexistentToken/);
});
