// agent0-sdk, which ERC-8004's users have, drives our open ReputationRegistry. What it did is read back with viem.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SDK } from "agent0-sdk";

import { ADDRESSES, CHAIN_ID, KEYS, startChain } from "./local_chain.mjs";

const FIRST_ID = 1n;
const AGENT = `${CHAIN_ID}:${FIRST_ID}`;
const ENDPOINT = "https://agent.example/mcp";

let chain;
let identity;
let reputation;

function clientOf(name) {
  const sdk = new SDK({
    chainId: CHAIN_ID,
    rpcUrl: chain.url,
    privateKey: KEYS[name],
    registryOverrides: { [CHAIN_ID]: { IDENTITY: identity.address, REPUTATION: reputation.address } },
  });
  sdk.reputationRegistryAddress(); // 1.7.1 looks the address up here, and not when it only reads feedback
  return sdk;
}

async function give(name, value, tag1, tag2) {
  const transaction = await clientOf(name).giveFeedback(AGENT, value, tag1, tag2, ENDPOINT);
  return (await transaction.waitMined()).result;
}

before(async () => {
  chain = await startChain();
  identity = await chain.deploy("IdentityRegistry");
  reputation = await chain.deploy("ReputationRegistry", [identity.address]);
  const agent = clientOf("owner").createAgent("Concord", "An agent that is rated");
  await (await agent.registerOnChain()).waitMined();
});
after(() => chain.stop());

test("gives feedback, and reads it back", async () => {
  const given = await give("client", 87.5, "quality", "speed");
  assert.equal(given.id[2], 1);
  const read = await clientOf("stranger").getFeedback(AGENT, ADDRESSES.client, 1);
  assert.equal(read.value, 87.5);
  assert.deepEqual(read.tags, ["quality", "speed"]);
  assert.equal(read.endpoint, ENDPOINT);
  assert.equal(read.isRevoked, false);

  assert.equal(await reputation.read("getLastIndex", [FIRST_ID, ADDRESSES.client]), 1n);
  const stored = await reputation.read("readFeedback", [FIRST_ID, ADDRESSES.client, 1n]);
  assert.deepEqual(stored, [875n, 1, "quality", "speed", false]);
});

test("gives a second, and another client a third", async () => {
  assert.equal((await give("client", 90, "quality", "")).id[2], 2);
  assert.equal((await give("wallet", -10, "", "")).id[2], 1);
  assert.deepEqual(await reputation.read("getClients", [FIRST_ID]), [ADDRESSES.client, ADDRESSES.wallet]);
});

test("sums up", async () => {
  const all = await clientOf("stranger").getReputationSummary(AGENT);
  assert.deepEqual(all, { count: 3, averageValue: 55 }); // (87.5 + 90 - 10) / 3 = 55.83…, to no decimals
  const quality = await clientOf("stranger").getReputationSummary(AGENT, "quality");
  assert.equal(quality.count, 2);
});

test("revokes its own feedback, once", async () => {
  const client = clientOf("client");
  const { result } = await (await client.revokeFeedback(AGENT, 1)).waitMined();
  assert.equal(result.isRevoked, true);
  assert.equal((await reputation.read("readFeedback", [FIRST_ID, ADDRESSES.client, 1n]))[4], true);
  await assert.rejects(client.revokeFeedback(AGENT, 1));
  assert.equal((await client.getReputationSummary(AGENT)).count, 2);
});

test("appends a response", async () => {
  const response = { uri: "ipfs://response", hash: `0x${"11".repeat(32)}` };
  await (await clientOf("owner").appendResponse(AGENT, ADDRESSES.client, 2, response)).waitMined();
  assert.equal(await reputation.read("getResponseCount", [FIRST_ID, ADDRESSES.client, 2n, []]), 1n);
});

test("is refused feedback on its own agent (R18)", async () => {
  await assert.rejects(async () => {
    const transaction = await clientOf("owner").giveFeedback(AGENT, 100, "", "", "");
    await transaction.waitMined();
  });
  assert.equal(await reputation.read("getLastIndex", [FIRST_ID, ADDRESSES.owner]), 0n);
});
