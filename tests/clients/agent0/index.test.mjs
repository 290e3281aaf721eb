// agent0-sdk, in TypeScript and in Python, unchanged, with `concord index` in its subgraph's place: each query that it sends. What it
// must find is what was written to the chain.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath } from "node:url";
import { SDK, SubgraphClient } from "agent0-sdk";

import { FILES, GIVEN, REVIEW, startWorld } from "./index_world.mjs";
import { ADDRESSES, CHAIN_ID } from "./local_chain.mjs";

const ONE = `${CHAIN_ID}:1`;
const TWO = `${CHAIN_ID}:2`;
const THREE = `${CHAIN_ID}:3`;
const chains = [CHAIN_ID];

let world;
let sdk;

before(async () => {
  world = await startWorld();
  sdk = new SDK({
    chainId: CHAIN_ID,
    rpcUrl: world.chain.url,
    registryOverrides: { [CHAIN_ID]: { IDENTITY: world.identity.address, REPUTATION: world.reputation.address } },
    subgraphOverrides: { [CHAIN_ID]: world.subgraph },
  });
  sdk.reputationRegistryAddress();
});
after(() => world?.stop());

const found = async (filters, options) => (await sdk.searchAgents({ chains, ...filters }, options)).map((it) => it.agentId).sort();
const lower = (text) => text.toLowerCase();

test("an agent has what the chain and its file say", async () => {
  const agent = await sdk.getAgent(ONE);
  const file = FILES[1];
  assert.equal(agent.agentId, ONE);
  assert.equal(agent.chainId, CHAIN_ID);
  assert.equal(agent.name, file.name);
  assert.equal(agent.description, file.description);
  assert.equal(agent.image, file.image);
  assert.deepEqual(agent.owners.map(lower), [lower(ADDRESSES.owner)]);
  assert.deepEqual(agent.operators.map(lower), [lower(ADDRESSES.wallet)]);
  assert.equal(agent.mcp, "https://weather.example/mcp");
  assert.equal(agent.a2a, "https://weather.example/a2a");
  assert.equal(agent.web, "https://weather.example");
  assert.equal(agent.email, "hello@weather.example");
  assert.equal(agent.ens, "weather.eth");
  assert.equal(agent.did, "did:example:weather");
  assert.deepEqual(agent.supportedTrusts, file.supportedTrust);
  assert.deepEqual(agent.mcpTools, ["forecast", "history"]);
  assert.deepEqual(agent.mcpPrompts, ["plan"]);
  assert.deepEqual(agent.mcpResources, ["map"]);
  assert.deepEqual(agent.a2aSkills, ["predict"]);
  assert.deepEqual(agent.oasfSkills, ["data/forecasting"]);
  assert.deepEqual(agent.oasfDomains, ["science/weather"]);
  assert.equal(agent.active, true);
  assert.equal(agent.x402support, true);
  assert.equal(agent.feedbackCount, 3);
  assert.equal(agent.agentURIType, "data");
  await assert.rejects(async () => {
    if ((await sdk.getAgent(`${CHAIN_ID}:99`)) === null) throw new Error("there is none");
  });
});

test("agents are searched by each filter", async () => {
  const all = {
    name: "WEATHER",
    description: "weather will",
    ensContains: "weather",
    didContains: "example",
    mcpContains: "/MCP",
    a2aContains: "a2a",
    webContains: "weather",
    active: true,
    x402support: true,
    hasMCP: true,
    hasA2A: true,
    hasWeb: true,
    hasOASF: true,
    hasEndpoints: true,
    hasRegistrationFile: true,
    owners: [ADDRESSES.owner],
    operators: [ADDRESSES.wallet],
    supportedTrust: ["tee-attestation", "zk"],
    a2aSkills: ["predict"],
    mcpTools: ["history"],
    mcpPrompts: ["plan"],
    mcpResources: ["map"],
    oasfSkills: ["data/forecasting"],
    oasfDomains: ["science/weather"],
    hasMetadataKey: "category",
    metadataValue: { key: "category", value: "weather" },
    agentIds: [ONE, TWO],
    registeredAtFrom: 1,
    updatedAtFrom: 1,
    feedback: { hasFeedback: true },
  };
  for (const [name, value] of Object.entries(all)) assert.ok((await found({ [name]: value })).includes(ONE), name);
  assert.deepEqual(await found(all), [ONE]);
  assert.deepEqual(await found({ hasRegistrationFile: false }), [THREE]);
  const without = { hasRegistrationFile: false }; // or the SDK leaves out agent 3
  assert.deepEqual(await found({ owners: [ADDRESSES.client], ...without }), [THREE]);
  assert.deepEqual(await found({ walletAddress: ADDRESSES.client.toUpperCase().replace("0X", "0x"), ...without }), [THREE]);
  assert.deepEqual(await found({ active: false }), [TWO]);
  assert.deepEqual(await found({ hasEndpoints: false }), [TWO]);
  assert.deepEqual(await found({ mcpTools: ["forecas"] }), []);
  assert.deepEqual(await found({ registeredAtTo: 1 }), []);
  assert.deepEqual(await found({ metadataValue: { key: "category", value: "other" } }), []);
  assert.deepEqual(await found({}), [ONE, TWO]);
});

test("thousands of agents are asked for at once", async () => {
  const agentIds = Array.from({ length: 5_000 }, (_, at) => `${CHAIN_ID}:${at + 1}`);
  assert.deepEqual(await found({ agentIds }), [ONE, TWO]);
  assert.deepEqual(await found({ agentIds, feedback: { minCount: 2 } }), [ONE]);
});

test("agents are searched by their feedback", async () => {
  assert.deepEqual(await found({ feedback: { hasFeedback: true } }), [ONE, TWO]);
  assert.deepEqual(await found({ feedback: { hasNoFeedback: true } }), []);
  assert.deepEqual(await found({ feedback: { hasNoFeedback: true }, hasRegistrationFile: false }), [THREE]);
  assert.deepEqual(await found({ feedback: { minCount: 2 } }), [ONE]);
  assert.deepEqual(await found({ feedback: { minCount: 3 } }), []);
  assert.deepEqual(await found({ feedback: { minCount: 3, includeRevoked: true } }), [ONE]);
  assert.deepEqual(await found({ feedback: { minValue: 90 } }), [TWO]);
  assert.deepEqual(await found({ feedback: { fromReviewers: [ADDRESSES.client] } }), [ONE]);
  assert.deepEqual(await found({ feedback: { tag: "uptime" } }), [TWO]);
  assert.deepEqual(await found({ feedback: { tag1: "uptime" } }), []);
  assert.deepEqual(await found({ feedback: { endpoint: "PLAIN.example" } }), [TWO]);
  assert.deepEqual(await found({ feedback: { hasResponse: true } }), [ONE]);
});

test("agents come in the order that is asked for", async () => {
  const ordered = async (sort) => (await sdk.searchAgents({ chains }, { sort: [sort] })).map((it) => it.agentId);
  assert.deepEqual(await ordered("createdAt:asc"), [ONE, TWO]);
  assert.deepEqual(await ordered("createdAt:desc"), [TWO, ONE]);
  assert.deepEqual((await ordered("chainId:asc")).sort(), [ONE, TWO]);
});

test("feedback is searched by each filter", async () => {
  const values = async (filters, options) => (await sdk.searchFeedback(filters, options)).map((it) => it.value).sort((a, b) => a - b);
  assert.deepEqual(await values({ agentId: ONE }), [-10, 87.5]);
  assert.deepEqual(await values({ agentId: ONE, includeRevoked: true }), [-10, 60, 87.5]);
  assert.deepEqual(await values({ agents: [ONE, TWO] }), [-10, 87.5, 100]);
  assert.deepEqual(await values({ reviewers: [ADDRESSES.client] }), [-10, 87.5]);
  assert.deepEqual(await values({ tags: ["speed", "uptime"] }), [87.5, 100]);
  assert.deepEqual(await values({ agentId: ONE }, { minValue: 1.5 }), [87.5]);
  assert.deepEqual(await values({ agentId: ONE }, { maxValue: 1e21, minValue: -1e21 }), [-10, 87.5]);
});

test("a feedback has its file, its responses and what the chain has of it", async () => {
  const all = await sdk.searchFeedback({ agentId: ONE, reviewers: [ADDRESSES.client], tags: ["speed"] });
  assert.equal(all.length, 1);
  const [feedback] = all;
  assert.deepEqual(feedback.id, [ONE, lower(ADDRESSES.client), GIVEN[0].index]);
  assert.equal(lower(feedback.reviewer), lower(ADDRESSES.client));
  assert.equal(feedback.value, GIVEN[0].number);
  assert.deepEqual(feedback.tags, GIVEN[0].tags);
  assert.equal(feedback.endpoint, GIVEN[0].endpoint);
  assert.equal(feedback.text, REVIEW);
  assert.equal(feedback.isRevoked, false);
  assert.equal(feedback.answers?.length, 1);
});

test("a summary is that of the feedback which is not revoked", async () => {
  const summary = await sdk.getReputationSummary(ONE);
  assert.equal(summary.count, 2);
  assert.equal(summary.averageValue, (87.5 - 10) / 2);
  assert.equal((await sdk.getReputationSummary(ONE, "speed")).count, 1);
});

test("the client's own queries: agents, metadata, feedbacks and responses", async () => {
  const client = new SubgraphClient(world.subgraph);
  const agents = await client.getAgents({ where: { owner: lower(ADDRESSES.owner), registrationFile: { active: true } } });
  assert.deepEqual(agents.map((it) => it.agentId), [ONE]);
  const responses = await client.queryFeedbackResponses({ feedback: `${ONE}:${lower(ADDRESSES.client)}:1` }, 10, 0);
  assert.equal(responses.length, 1);
  const metadata = await client.queryAgentMetadata({ key: "category" }, 10, 0);
  assert.deepEqual(metadata.map((it) => [it.agent.id, it.value]), [[ONE, "0x77656174686572"]]);
  const page = await client.queryFeedbacks({ isRevoked: false }, 2, 1);
  assert.equal(page.length, 2);
  await assert.rejects(client.query("{ agents { stars } }"), /has no field `stars`/);
  await assert.rejects(client.getAgents({ orderBy: "name" }), /Agent_orderBy.* has no field `name`/);
});

test("the Python SDK finds the same", () => {
  const script = fileURLToPath(new URL("index_test.py", import.meta.url));
  const names = { rpc: world.chain.url, subgraph: world.subgraph, identity: world.identity.address, reputation: world.reputation.address };
  const env = { ...process.env, WORLD: JSON.stringify({ ...names, chain: CHAIN_ID, addresses: ADDRESSES, review: REVIEW }) };
  const run = spawnSync(process.env.CONCORD_AGENT0_PYTHON, ["-m", "unittest", "--verbose", script], { env, encoding: "utf8" });
  assert.equal(run.status, 0, run.stderr);
  assert.match(run.stderr, /Ran 9 tests[^]*\nOK\n/);
});
