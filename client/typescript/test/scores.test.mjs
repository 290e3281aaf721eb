// How authorized feedback is weighted, with payment proofs that no scenario of client.test.mjs has.
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import anchor from "@anchor-lang/core";
import { CHAIN, PollingConnection, clock } from "../../../tests/clients/anchor/local_cluster.mjs";
import { ClientError, startProgram } from "./chains.mjs";

const from = (name) => import(pathToFileURL(`${process.env.CONCORD_EXAMPLES}/node_modules/@concord/${name}`));
const [{ NO_FEEDBACK, scoresOf }, { agentRegistryIdl }, { load }] = await Promise.all([
  from("client/dist/scores.js"),
  from("registries/dist/index.js"),
  from("canonical/dist/index.js"),
]);
const { AnchorProvider, BN, Program, Wallet, web3 } = anchor;
const { Ed25519Program, Keypair } = web3;
const canonical = await load();
const tally = (count, sum) => ({ count: BigInt(count), sum: BigInt(sum) });
const score = (...given) => scoresOf(canonical, ...given).score;

test("X84: a payment proof weighs three times, and each feedback has its own weight", () => {
  // By hand: (90 + 50) / 2, (3·90 + 50) / 4, and (3·200 + 100) / (3·2 + 3) = 77.7…
  assert.equal(score("equal", tally(1, 90), tally(1, 50)), 70n);
  assert.equal(score("payment-proof", tally(1, 90), tally(1, 50)), 80n);
  assert.equal(score("payment-proof", tally(2, 200), tally(3, 100)), 77n);
  assert.equal(score("payment-proof", NO_FEEDBACK, NO_FEEDBACK), 0n);
  assert.deepEqual(scoresOf(canonical, "payment-proof", tally(2, 101), NO_FEEDBACK), {
    weighting: "payment-proof",
    count: 2n,
    verifiedCount: 2n,
    score: 50n,
  });
});

test("a weighting that is none is refused by its name", () => {
  const given = () => scoresOf(canonical, "stars", tally(1, 90), NO_FEEDBACK);
  assert.throws(given, (fault) => fault instanceof ClientError && fault.message.includes("weighting: stars"));
});

/** Proves the payment of a reviewer's feedback by a facilitator whom the registry lists (R13). */
async function prove({ cluster, program, deployer, reviewer, owner, agent }, index) {
  const connection = new PollingConnection(cluster.url, "confirmed");
  const provider = new AnchorProvider(connection, new Wallet(deployer), { commitment: "confirmed", preflightCommitment: "confirmed" });
  const { methods } = new Program({ ...agentRegistryIdl, address: program }, provider);
  const [facilitator, token] = [Keypair.generate(), Keypair.generate().publicKey];
  const authority = deployer.publicKey;
  const lists = [methods.setFacilitator(facilitator.publicKey, true), methods.setPaymentToken(token, true)];
  for (const listed of lists) await listed.accounts({ authority }).rpc();

  const [now, taskRef] = [await clock(connection), `${CHAIN}:${anchor.utils.bytes.bs58.encode(Buffer.alloc(64, 1))}`];
  const keys = { payer: reviewer.publicKey, payee: owner.publicKey, token, facilitator: facilitator.publicKey };
  const numbers = { amount: 1_000_000, paidAt: now - 60, expiry: now + 3600 };
  const named = Object.fromEntries(Object.entries(keys).map(([name, key]) => [name, key.toBase58()]));
  const { message } = canonical.paymentProof({ agentId: agent, taskRef, chainId: CHAIN, programId: program, ...named, ...numbers });
  const bytes = (hex) => Buffer.from(hex.slice(2), "hex");
  const signed = Ed25519Program.createInstructionWithPrivateKey({ privateKey: facilitator.secretKey, message: bytes(message) });
  const taskRefHash = [...bytes(canonical.keccak256({ data: Buffer.from(canonical.taskRef({ text: taskRef }).dedupeKey) }))];
  const [amount, paidAt, expiry] = Object.values(numbers).map((number) => new BN(number));
  const attach = methods.attachPaymentProof(new BN(`${index}`), { ...keys, taskRefHash, amount, paidAt, expiry });
  const accounts = { caller: reviewer.publicKey, reviewer: reviewer.publicKey, nftMint: agent };
  await attach.accounts(accounts).preInstructions([signed]).signers([reviewer]).rpc();
}

test("X84: over a chain, an entry with a payment proof weighs three times", async () => {
  const world = await startProgram();
  try {
    const { agent } = world;
    const [owner, reviewer] = await Promise.all([world.owner, world.reviewer].map((key) => world.client(key)));
    const auth = owner.authorize(world.owner, { agent, client: reviewer.address, indexLimit: 2n, expiry: BigInt(2 ** 40) });
    const [proven, other] = [await reviewer.give({ agent, score: 90, auth }), await reviewer.give({ agent, score: 50, auth })];
    await prove(world, proven.index);
    assert.deepEqual([(await reviewer.get(proven)).hasPaymentProof, (await reviewer.get(other)).hasPaymentProof], [true, false]);
    for (const reviewers of ["everyone", { listed: [reviewer.address] }]) {
      const figures = async (weighting) => {
        const { count, verifiedCount, score: mean } = await owner.scores(agent, reviewers, weighting);
        return [count, verifiedCount, mean];
      };
      assert.deepEqual(await figures("equal"), [2n, 1n, 70n]); // (90 + 50) / 2
      assert.deepEqual(await figures("payment-proof"), [2n, 1n, 80n]); // (3·90 + 50) / 4
    }
  } finally {
    await world.stop();
  }
});
