// Payment proofs, and the lists of facilitators and tokens (R13).
import assert from "node:assert/strict";
import { test } from "node:test";
import anchor from "@anchor-lang/core";
import { keccak256, paymentProofMessage, signedBy } from "../canonical_encoding.mjs";
import { CHAIN } from "../local_cluster.mjs";
import { HOUR, PROGRAM, addresses, base58, hex, refused } from "../registry_client.mjs";

const { BN, utils, web3 } = anchor;
const { Keypair } = web3;

const facilitator = Keypair.generate();
const token = Keypair.generate().publicKey;
const taskRef = (byte) => `${CHAIN}:${utils.bytes.bs58.encode(Buffer.alloc(64, byte))}`;

/** Both calls by which an authority lists the facilitator and the token, or takes them off. */
function listing({ methods }, authority, isListed = true) {
  const lists = [methods.setFacilitator(facilitator.publicKey, isListed), methods.setPaymentToken(token, isListed)];
  return lists.map((call) => call.accounts({ authority: authority.publicKey }).signers([authority]));
}

/** A payment for the reviewer's first feedback, with `changes`. */
async function payment(registry, { agent, reviewer }, changes = {}) {
  const now = await registry.clock();
  return {
    payer: reviewer.publicKey,
    payee: agent.owner.publicKey,
    token,
    amount: 1_000_000,
    taskRefHash: keccak256(taskRef(1)),
    paidAt: now - HOUR,
    expiry: now + HOUR,
    facilitator: facilitator.publicKey,
    ...changes,
  };
}

/** The proof of `paid`, signed by `signer`. */
function proof(registry, { agent, reviewer }, paid, { signer = facilitator, caller = reviewer } = {}) {
  const message = paymentProofMessage({ ...paid, agent: agent.mint, chain: CHAIN, program: PROGRAM });
  const [amount, paidAt, expiry] = [paid.amount, paid.paidAt, paid.expiry].map((integer) => new BN(integer));
  const call = registry.program.methods
    .attachPaymentProof(new BN(1), { ...paid, taskRefHash: [...paid.taskRefHash], amount, paidAt, expiry })
    .accounts({ caller: caller.publicKey, reviewer: reviewer.publicKey, nftMint: agent.mint })
    .preInstructions([signedBy(signer, message)])
    .signers([caller]);
  return registry.sponsored(call);
}

export function testPaymentProofs(registry) {
  testLists(registry);
  testRefused(registry);
  testAccepted(registry);
}

function testLists(registry) {
  test("the registry's authority lists a facilitator and a token, nobody else", async () => {
    const stranger = Keypair.generate();
    for (const call of listing(registry.program, stranger)) await refused(call, "NotAuthorized");
    const lists = () => registry.program.account.registry.fetch(addresses.registry);
    for (const isListed of [true, false, true]) {
      for (const call of listing(registry.program, registry.deployer, isListed)) await call.rpc();
      const { facilitators, paymentTokens } = await lists();
      const expected = isListed ? [[facilitator.publicKey], [token]] : [[], []];
      assert.deepEqual([facilitators, paymentTokens], expected);
    }
  });
}

function testRefused(registry) {
  test("refuses a proof that the facilitator did not sign, or of a payment that does not count", async () => {
    const purchase = await registry.reviewed();
    const { agent, reviewer } = purchase;
    const [now, stranger] = [await registry.clock(), Keypair.generate()];
    const changed = async (changes, by) => proof(registry, purchase, await payment(registry, purchase, changes), by);
    await refused(changed({}, { signer: stranger }), "AuthWrongSigner");
    await refused(changed({ facilitator: stranger.publicKey }, { signer: stranger }), "PaymentWrongFacilitator");
    await refused(changed({ token: stranger.publicKey }), "PaymentWrongToken");
    await refused(changed({ payer: stranger.publicKey }), "PaymentWrongPayer");
    await refused(changed({ amount: 0 }), "PaymentZeroAmount");
    await refused(changed({ expiry: now }), "AuthExpired");
    await refused(changed({ paidAt: now + HOUR }), "PaymentInFuture");
    await refused(changed({}, { caller: agent.owner }), "NotAuthorized");
    const call = await changed({});
    call._preInstructions = (await changed({ amount: 2_000_000 }))._preInstructions;
    await refused(call, "AuthWrongMessage");
    const unproven = { hasPaymentProof: false };
    const entry = addresses.entry("feedback", agent.mint, reviewer.publicKey, 1);
    assert.deepEqual(await registry.read("feedbackEntry", entry, "hasPaymentProof"), unproven);
  });
}

function testAccepted(registry) {
  test("proves a payment, once", async () => {
    const [purchase, other] = [await registry.reviewed(), await registry.reviewed()];
    const { agent, reviewer, entry } = purchase;
    const paid = await payment(registry, purchase);
    const call = proof(registry, purchase, paid);
    const { events, timestamp } = await registry.outcome(await call.rpc());
    const [nftMint, me, payee, mint] = base58(agent.mint, reviewer.publicKey, agent.owner.publicKey, token);
    const [{ data }] = call._preInstructions;
    const fields = {
      nftMint,
      reviewer: me,
      feedbackIndex: "1",
      payee,
      paymentToken: mint,
      paymentAmount: "1000000",
      taskRefHash: hex(paid.taskRefHash),
      paidAt: `${paid.paidAt}`,
      expiry: `${paid.expiry}`,
      facilitator: facilitator.publicKey.toBase58(),
      signature: hex(data.subarray(48, 112)), // R11: where the precompile's instruction has it
      timestamp,
    };
    assert.deepEqual(events, [{ name: "paymentProven", fields }]);
    const proven = { hasPaymentProof: true, paymentAmount: "1000000", paymentToken: mint };
    assert.deepEqual(await registry.read("feedbackEntry", entry, ...Object.keys(proven)), proven);
    const spent = { nftMint, reviewer: me, feedbackIndex: "1", version: 1 };
    const marker = addresses.spentPayment(paid.taskRefHash, reviewer.publicKey);
    assert.deepEqual(await registry.read("spentPayment", marker, ...Object.keys(spent)), spent);
    const counters = { verifiedFeedbackCount: "1", verifiedScoreSum: "80", unverifiedFeedbackCount: "0", unverifiedScoreSum: "0" };
    assert.deepEqual(await registry.identity(agent.mint, ...Object.keys(counters)), counters);

    const second = await payment(registry, purchase, { taskRefHash: keccak256(taskRef(2)) });
    await refused(proof(registry, purchase, second), "PaymentAlreadyProven");
    const elsewhere = await registry.reviewed(reviewer);
    await refused(proof(registry, elsewhere, await payment(registry, elsewhere)), "PaymentSpent");
    // R32: one transaction holds the payments of two payers, and each proves its own payer's feedback, once
    await proof(registry, other, await payment(registry, other)).rpc();
  });
}
