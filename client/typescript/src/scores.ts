import type { Canonical } from "@concord/canonical";
import { ClientError } from "./errors.js";
import type { Weighting } from "./types.js";

/** Authorized feedback that counts alike: how much there is, and the sum of its scores. */
export interface Tally {
  readonly count: bigint;
  readonly sum: bigint;
}

export const NO_FEEDBACK: Tally = { count: 0n, sum: 0n };

/** The score of `proven`, which has payment proofs, and `others`: their mean, rounded down (R15), or X84's. 0 if there is no feedback. */
export function scoresOf(canonical: Canonical, weighting: Weighting, proven: Tally, others: Tally) {
  const all = { count: proven.count + others.count, sum: proven.sum + others.sum };
  const [verified, unverified] = groups(weighting, all, proven, others);
  const score = canonical.weightedScore({
    verifiedCount: verified.count,
    verifiedScoreSum: verified.sum,
    unverifiedCount: unverified.count,
    unverifiedScoreSum: unverified.sum,
  });
  return { weighting, count: all.count, verifiedCount: proven.count, score };
}

/** What weighs three times, and what once. */
function groups(weighting: Weighting, all: Tally, proven: Tally, others: Tally): [Tally, Tally] {
  if (weighting === "equal") return [NO_FEEDBACK, all];
  if (weighting === "payment-proof") return [proven, others];
  throw new ClientError(`weighting: ${String(weighting)} is neither "equal" nor "payment-proof"`);
}
