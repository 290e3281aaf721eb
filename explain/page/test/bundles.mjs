// The recorded bundles, and whom their reader trusts.
import fs from "node:fs";

export const CHAIN = "eip155:31337";
export const FIXTURES = new URL("../../tests/fixtures/", import.meta.url);
/** Bundles with nothing wrong in them. */
export const SOUND = ["open", "hosted", "cid", "tree", "authorized"];

export const text = (name) => fs.readFileSync(new URL(`${name}.json`, FIXTURES), "utf8");

export const anchor = (bundle) => JSON.parse(bundle).evm[CHAIN].anchor;

/** The recorded address book, and the anchor of a bundle as the trusted block. */
export const trust = (bundle) => ({ addressBooks: [text("addresses")], blocks: { [CHAIN]: anchor(bundle) } });

/** A bundle in which the last digit of a transaction's receipt is another one. */
export function withOtherReceipt(bundle) {
  const other = JSON.parse(bundle);
  const [transaction] = Object.values(other.evm[CHAIN].transactions);
  const digit = (Number.parseInt(transaction.receipt.at(-1), 16) ^ 1).toString(16);
  transaction.receipt = transaction.receipt.slice(0, -1) + digit;
  return JSON.stringify(other);
}

/** The number over the one client of a recorded bundle, whose only feedback it is. */
export function numberOf(bundle) {
  const read = JSON.parse(bundle);
  const { agentRegistry, reputationRegistry, profile, agentId, client, atBlock } = read.feedback;
  const query = { agentRegistry, reputationRegistry, profile, agentId, reviewers: { listed: [client] }, tag1: "", tag2: "", atBlock };
  return { format: "concord-explain-reputation/1", query, feedbacks: [read.feedback], read };
}
