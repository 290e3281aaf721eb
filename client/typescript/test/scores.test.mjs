// How authorized feedback is weighted, with payment proofs that no scenario of client.test.mjs has.
import assert from "node:assert/strict";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";

const from = (name) => import(pathToFileURL(`${process.env.CONCORD_EXAMPLES}/node_modules/@concord/${name}`));
const [{ NO_FEEDBACK, scoresOf }, { ClientError }, { load }] = await Promise.all([
  from("client/dist/scores.js"),
  from("client/dist/index.js"),
  from("canonical/dist/index.js"),
]);
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
