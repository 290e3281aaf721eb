// Open feedback, its revocation, responses to it, and its summary.
import assert from "node:assert/strict";
import { test } from "node:test";
import anchor from "@anchor-lang/core";
import { fieldsOf } from "../decoding.mjs";
import { addresses, base58, hex, refused, sha256 } from "../registry_client.mjs";

const { BN, web3 } = anchor;
const { Keypair } = web3;
const ENDPOINT = "https://agent.example/a2a";

export function openFeedback(registry, { mint }, client, { index = 1, value = -875, decimals = 2 } = {}) {
  const call = registry.program.methods
    .giveOpenFeedback(new BN(index), new BN(value), decimals, "starred", "", ENDPOINT, "ipfs://open", [...sha256("open")])
    .accounts({ client: client.publicKey, nftMint: mint })
    .signers([client]);
  return registry.sponsored(call);
}

export function testOpenFeedback(registry) {
  testGiving(registry);
  testAnswering(registry);
  testSummary(registry);
}

function testGiving(registry) {
  test("gives open feedback", async () => {
    const [agent, client] = [await registry.registered(), Keypair.generate()];
    const { events, timestamp } = await registry.outcome(await openFeedback(registry, agent, client).rpc());
    const [nftMint, me] = base58(agent.mint, client.publicKey);
    const review = { nftMint, client: me, feedbackIndex: "1", value: "-875", valueDecimals: 2, tag1: "starred", tag2: "" };
    const file = { endpoint: ENDPOINT, feedbackUri: "ipfs://open", feedbackHash: hex(sha256("open")) };
    assert.deepEqual(events, [{ name: "openFeedbackGiven", fields: { ...review, ...file, timestamp } }]);
    const stored = { ...review, revoked: false, createdAt: timestamp, responseCount: "0", version: 1 };
    const entry = addresses.entry("open_feedback", agent.mint, client.publicKey, 1);
    assert.deepEqual(await registry.read("openFeedback", entry, ...Object.keys(stored)), stored);
    const index = { agent: nftMint, client: me, lastIndex: "1", ordinal: "1", version: 1 };
    const at = addresses.clientIndex("open_client", agent.mint, client.publicKey);
    assert.deepEqual(await registry.read("openClientIndex", at, ...Object.keys(index)), index);
    assert.equal(await registry.connection.getBalance(client.publicKey), 0);

    await refused(openFeedback(registry, agent, client), "FeedbackIndexStale"); // R8
    await refused(openFeedback(registry, agent, client, { index: 2, decimals: 19 }), "DecimalsOutOfRange"); // R16
    await refused(openFeedback(registry, agent, agent.owner), "SelfFeedback"); // R18
  });
}

function testAnswering(registry) {
  test("responds to open feedback and revokes it", async () => {
    const [agent, client, other] = [await registry.registered(), Keypair.generate(), Keypair.generate()];
    const { methods } = registry.program;
    const entry = addresses.entry("open_feedback", agent.mint, client.publicKey, 1);
    await openFeedback(registry, agent, client).rpc();
    const respond = (index) =>
      methods
        .appendOpenResponse(client.publicKey, new BN(index), "ipfs://response", [...sha256("response")])
        .accounts({ responder: other.publicKey, nftMint: agent.mint })
        .signers([other]);
    await respond(1).rpc();
    assert.deepEqual(await registry.read("openFeedback", entry, "responseCount"), { responseCount: "1" });
    await refused(respond(2), "FeedbackNotFound");

    const revoke = (who) =>
      methods.revokeOpenFeedback(new BN(1)).accounts({ client: who.publicKey, nftMint: agent.mint }).signers([who]);
    await refused(revoke(other), "FeedbackNotFound");
    await revoke(client).rpc();
    assert.deepEqual(await registry.read("openFeedback", entry, "revoked"), { revoked: true });
    await refused(revoke(client), "AlreadyRevoked");
  });
}

function testSummary(registry) {
  test("summarizes open feedback in a simulation, whole and in part (R16)", async () => {
    const [{ mint, owner }, client] = [await registry.registered(), Keypair.generate()];
    await openFeedback(registry, { mint, owner }, client, { index: 1, value: -875 }).rpc();
    await openFeedback(registry, { mint, owner }, client, { index: 2, value: -876 }).rpc();
    const listed = addresses.clientIndex("open_client", mint, client.publicKey);
    const entries = [1, 2].map((index) => addresses.entry("open_feedback", mint, client.publicKey, index));
    const over = (call, read) =>
      call.accounts({ nftMint: mint }).remainingAccounts(
        [listed, ...read].map((pubkey) => ({ pubkey, isSigner: false, isWritable: false })),
      );
    const { methods } = registry.program;
    const summary = (read) => over(methods.openSummary([client.publicKey], "starred", ""), read);
    // the average, -875.5, truncated toward zero
    assert.deepEqual(fieldsOf(await summary(entries).view()), { count: "2", value: "-875", decimals: 2 });
    await refused(summary(entries.slice(1)), "SummaryGap");

    const part = (first, last) => {
      const range = { first: new BN(first), last: new BN(last) };
      return over(methods.openSummaryPart([client.publicKey], "", "", range), entries.slice(first - 1));
    };
    const { count, sum } = fieldsOf(await part(2, 2).view());
    const scaled = BigInt.asUintN(256, -876n * 10n ** 16n);
    assert.deepEqual([count, sum], ["1", scaled.toString(16)]);
    await refused(part(2, 3), "SummaryRange");
  });
}
