// Authorized feedback, its revocation and responses to it.
import assert from "node:assert/strict";
import { test } from "node:test";
import anchor from "@anchor-lang/core";
import { REVIEW, addresses, base58, hex, refused, sha256 } from "../registry_client.mjs";

const { BN, web3 } = anchor;
const { Keypair } = web3;

export function testFeedback(registry) {
  testAccepted(registry);
  testRefused(registry);
  testRevocation(registry);
  testResponse(registry);
}

function testAccepted(registry) {
  test("gives authorized feedback", async () => {
    const [{ mint, owner }, reviewer] = [await registry.registered(), Keypair.generate()];
    const [nftMint, me] = base58(mint, reviewer.publicKey);
    const call = await registry.feedback({ mint, owner }, reviewer);
    const { events, timestamp } = await registry.outcome(await call.rpc());

    const review = { nftMint, reviewer: me, score: 80, tag1: hex(REVIEW.tag1), tag2: hex(REVIEW.tag2), feedbackIndex: "1" };
    const unpaid = { hasPaymentProof: false, paymentAmount: "0", authScheme: 2 };
    const detail = { detailUri: REVIEW.uri, detailHash: hex(REVIEW.hash) };
    const [{ data }] = call._preInstructions;
    const feedbackAuth = hex(data.subarray(48, 112)); // R11: where the precompile's instruction has the signature
    const fields = { ...review, ...unpaid, ...detail, feedbackAuth, timestamp };
    assert.deepEqual(events, [{ name: "feedbackGiven", fields }]);

    const fresh = { authVerified: true, revoked: false, createdAt: timestamp, responseCount: "0", version: 1 };
    const entry = { ...review, ...unpaid, ...fresh };
    const place = addresses.entry("feedback", mint, reviewer.publicKey, 1);
    assert.deepEqual(await registry.read("feedbackEntry", place, ...Object.keys(entry)), entry);
    const index = { agent: nftMint, client: me, lastIndex: "1", ordinal: "1", version: 1 };
    const at = addresses.clientIndex("client", mint, reviewer.publicKey);
    assert.deepEqual(await registry.read("clientIndex", at, ...Object.keys(index)), index);
    const counters = { unverifiedFeedbackCount: "1", unverifiedScoreSum: "80", clientCount: "1" };
    assert.deepEqual(await registry.identity(mint, ...Object.keys(counters)), counters);
    assert.equal(await registry.connection.getBalance(reviewer.publicKey), 0);
  });
}

function testRefused(registry) {
  test("refuses feedback at every index but the next (R8)", async () => {
    const { agent, reviewer } = await registry.reviewed();
    for (const index of [1, 3]) await refused(registry.feedback(agent, reviewer, { index }), "FeedbackIndexStale");
    const second = await registry.feedback(agent, reviewer, { index: 2 });
    const elsewhere = { feedbackEntry: addresses.entry("feedback", agent.mint, reviewer.publicKey, 3) };
    await refused(second.accountsPartial(elsewhere), "AccountMismatch");
    await (await registry.feedback(agent, reviewer, { index: 2 })).rpc();
  });

  test("refuses feedback without an authorization that holds", async () => {
    const { agent, reviewer } = await registry.reviewed();
    const next = (change) => registry.feedback(agent, reviewer, { index: 2, ...change });
    const stranger = Keypair.generate();
    await refused(next({ signer: stranger }), "AuthWrongSigner");
    await refused(next({ grant: { client: stranger.publicKey } }), "AuthWrongMessage");
    await refused(next({ grant: { agent: stranger.publicKey } }), "AuthWrongMessage");
    await refused(next({ grant: { indexLimit: 6 } }), "AuthWrongMessage");
    await refused(next({ grant: { chain: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp" } }), "AuthWrongMessage");
    await refused(next({ terms: { expiry: await registry.clock() } }), "AuthExpired");
    await refused(next({ terms: { indexLimit: 1 } }), "AuthIndexLimit");
    const bare = await next({});
    bare._preInstructions = [];
    await refused(bare, "AuthMissing");
    await refused(registry.feedback(agent, agent.owner), "SelfFeedback"); // R18
  });
}

function testRevocation(registry) {
  test("revokes feedback", async () => {
    const { agent, reviewer, entry } = await registry.reviewed();
    const revoke = (who, index = 1) =>
      registry.program.methods
        .revokeFeedback(new BN(index))
        .accounts({ reviewer: who.publicKey, nftMint: agent.mint })
        .signers([who]);
    await refused(revoke(agent.owner), "FeedbackNotFound");
    await refused(revoke(agent.owner).accountsPartial({ feedbackEntry: entry }), "AccountMismatch");
    await refused(revoke(reviewer, 2), "FeedbackNotFound");

    const { events, timestamp } = await registry.outcome(await revoke(reviewer).rpc());
    const [nftMint, me] = base58(agent.mint, reviewer.publicKey);
    assert.deepEqual(events, [{ name: "feedbackRevoked", fields: { nftMint, reviewer: me, feedbackIndex: "1", timestamp } }]);
    assert.deepEqual(await registry.read("feedbackEntry", entry, "revoked", "score"), { revoked: true, score: 80 });
    const counters = { unverifiedFeedbackCount: "0", unverifiedScoreSum: "0", clientCount: "1" };
    assert.deepEqual(await registry.identity(agent.mint, ...Object.keys(counters)), counters);
    await refused(revoke(reviewer), "AlreadyRevoked");
  });
}

function testResponse(registry) {
  test("appends a response", async () => {
    const { agent, reviewer, entry } = await registry.reviewed();
    const respond = (index, uri) =>
      registry.program.methods
        .appendResponse(reviewer.publicKey, new BN(index), uri, [...sha256("response")])
        .accounts({ responder: agent.owner.publicKey, nftMint: agent.mint })
        .signers([agent.owner]);
    const { events, timestamp } = await registry.outcome(await respond(1, "ipfs://response").rpc());
    const [nftMint, client, responder] = base58(agent.mint, reviewer.publicKey, agent.owner.publicKey);
    const response = { responder, responseUri: "ipfs://response", responseHash: hex(sha256("response")), timestamp };
    assert.deepEqual(events, [{ name: "responseAppended", fields: { nftMint, client, feedbackIndex: "1", ...response } }]);
    assert.deepEqual(await registry.read("feedbackEntry", entry, "responseCount"), { responseCount: "1" });
    await refused(respond(2, "ipfs://response"), "FeedbackNotFound");
    await refused(respond(1, ""), "EmptyUri"); // R19
  });
}
