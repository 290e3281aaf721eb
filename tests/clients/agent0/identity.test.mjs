// agent0-sdk, which ERC-8004's users have, drives our IdentityRegistry. What it did is read back with viem.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import { SDK } from "agent0-sdk";
import { hexToString, zeroAddress } from "viem";
import { privateKeyToAccount } from "viem/accounts";

import { ADDRESSES, CHAIN_ID, KEYS, startChain } from "./local_chain.mjs";

const FIRST_ID = 1n;
const AGENT = `${CHAIN_ID}:${FIRST_ID}`;
// Selectors of what our contract answers, by `cast sig`.
const NOT_AUTHORIZED = /615e9ba0|NotAuthorized/;
const CONSENT_MISSING = /d08596c8|WalletConsentMissing/;
const CONSENT_USED = /2f09ebda|WalletConsentUsed/;

let chain;
let identity;

function clientOf(name) {
  return new SDK({
    chainId: CHAIN_ID,
    rpcUrl: chain.url,
    privateKey: KEYS[name],
    registryOverrides: { [CHAIN_ID]: { IDENTITY: identity.address } },
  });
}

async function consent(deadline, owner = ADDRESSES.owner) {
  return privateKeyToAccount(KEYS.wallet).signTypedData({
    domain: { name: "ERC8004IdentityRegistry", version: "1", chainId: CHAIN_ID, verifyingContract: identity.address },
    types: {
      AgentWalletSet: [
        { name: "agentId", type: "uint256" },
        { name: "newWallet", type: "address" },
        { name: "owner", type: "address" },
        { name: "deadline", type: "uint256" },
      ],
    },
    primaryType: "AgentWalletSet",
    message: { agentId: FIRST_ID, newWallet: ADDRESSES.wallet, owner, deadline: BigInt(deadline) },
  });
}

const walletOnChain = () => identity.read("getAgentWallet", [FIRST_ID]);
const now = async () => Number((await chain.reader.getBlock()).timestamp);

before(async () => {
  chain = await startChain();
  identity = await chain.deploy("IdentityRegistry");
});
after(() => chain.stop());

test("registers an agent with metadata, and reads it back", async () => {
  const agent = clientOf("owner").createAgent("Concord", "An agent that a foreign client registered");
  agent.setMetadata({ note: "first" });
  const { result } = await (await agent.registerOnChain()).waitMined();
  assert.equal(result.agentId, AGENT);

  assert.equal(await identity.read("ownerOf", [FIRST_ID]), ADDRESSES.owner);
  assert.equal(await walletOnChain(), ADDRESSES.owner);
  assert.equal(hexToString(await identity.read("getMetadata", [FIRST_ID, "note"])), "first");
  assert.match(await identity.read("tokenURI", [FIRST_ID]), /^data:application\/json;base64,/);
  const loaded = await clientOf("client").loadAgent(AGENT);
  assert.equal(loaded.getRegistrationFile().name, "Concord");
});

test("changes the URI", async () => {
  const agent = await clientOf("owner").loadAgent(AGENT);
  const before = await identity.read("tokenURI", [FIRST_ID]);
  agent.updateInfo("Concord, renamed");
  await (await agent.registerOnChain()).waitMined();
  assert.notEqual(await identity.read("tokenURI", [FIRST_ID]), before);
  const loaded = await clientOf("client").loadAgent(AGENT);
  assert.equal(loaded.getRegistrationFile().name, "Concord, renamed");
});

test("sets the wallet with the wallet's key", async () => {
  const agent = await clientOf("owner").loadAgent(AGENT);
  const transaction = await agent.setWallet(ADDRESSES.wallet, { newWalletPrivateKey: KEYS.wallet });
  await transaction.waitMined();
  assert.equal(await walletOnChain(), ADDRESSES.wallet);
  assert.equal(await (await clientOf("client").loadAgent(AGENT)).getWallet(), ADDRESSES.wallet);
});

test("unsets the wallet", async () => {
  const agent = await clientOf("owner").loadAgent(AGENT);
  await (await agent.unsetWallet()).waitMined();
  assert.equal(await walletOnChain(), zeroAddress);
  assert.equal(await (await clientOf("client").loadAgent(AGENT)).getWallet(), undefined);
});

test("is refused a consent that was signed for another owner", async () => {
  const deadline = (await now()) + 100;
  const signature = await consent(deadline, ADDRESSES.client);
  const agent = await clientOf("owner").loadAgent(AGENT);
  await assert.rejects(agent.setWallet(ADDRESSES.wallet, { deadline, signature }), CONSENT_MISSING);
  assert.equal(await walletOnChain(), zeroAddress);
});

test("is refused a consent that was used before (R3)", async () => {
  const deadline = (await now()) + 200;
  const signature = await consent(deadline);
  const agent = await clientOf("owner").loadAgent(AGENT);
  await (await agent.setWallet(ADDRESSES.wallet, { deadline, signature })).waitMined();
  assert.equal(await walletOnChain(), ADDRESSES.wallet);
  await (await agent.unsetWallet()).waitMined();
  await assert.rejects(agent.setWallet(ADDRESSES.wallet, { deadline, signature }), CONSENT_USED);
  assert.equal(await walletOnChain(), zeroAddress);
});

test("is refused what only the owner may do", async () => {
  const agent = await clientOf("stranger").loadAgent(AGENT);
  await assert.rejects(agent.setAgentURI("ipfs://stolen"), NOT_AUTHORIZED);
  await assert.rejects(
    agent.setWallet(ADDRESSES.stranger, { newWalletPrivateKey: KEYS.stranger }),
    NOT_AUTHORIZED,
  );
});

test("transfers the agent, which leaves it without a wallet (R3)", async () => {
  const agent = await clientOf("owner").loadAgent(AGENT);
  // Not the client's own deadline: in one second it would be that of the first consent, which is used (R3).
  const deadline = (await now()) + 250;
  await (await agent.setWallet(ADDRESSES.wallet, { deadline, newWalletPrivateKey: KEYS.wallet })).waitMined();
  assert.equal(await walletOnChain(), ADDRESSES.wallet);
  await (await agent.transfer(ADDRESSES.client)).waitMined();
  assert.equal(await identity.read("ownerOf", [FIRST_ID]), ADDRESSES.client);
  assert.equal(await walletOnChain(), zeroAddress);
});
