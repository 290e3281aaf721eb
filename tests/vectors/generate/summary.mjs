// The open summary (R16), in BigInt. Two results were measured on the canonical contract; where that contract
// would wrap, the rule differs and says how.
import assert from "node:assert/strict";
import { block } from "./bytes.mjs";
import { VectorFile } from "./vector_file.mjs";

const file = new VectorFile("summary", { description: "Count, average and decimals of the open feedbacks that a query matches (R16).", packages: [] });
const INT128 = { min: -(2n ** 127n), max: 2n ** 127n - 1n };
const fits = (value) => value >= INT128.min && value <= INT128.max;

function matched({ feedback, query }) {
  const wanted = (f) => !f.revoked && (query.tag1 === "" || f.tag1 === query.tag1) && (query.tag2 === "" || f.tag2 === query.tag2);
  // a client listed twice counts twice
  return query.clients.flatMap((client) => feedback.filter((f) => f.client === client && wanted(f)));
}

function summarize(args) {
  const found = matched(args);
  if (found.length === 0) return { count: 0, value: "0", value_decimals: 0 };
  const sum = found.reduce((total, f) => total + BigInt(f.value) * 10n ** BigInt(18 - f.value_decimals), 0n);
  const counts = Array.from({ length: 19 }, (_, d) => found.filter((f) => f.value_decimals === d).length);
  const mode = counts.indexOf(Math.max(...counts));
  const average = sum / BigInt(found.length);
  // the largest number of decimals, not above the mode, at which the average fits
  for (let decimals = mode; ; decimals -= 1) {
    const value = average / 10n ** BigInt(18 - decimals);
    if (fits(value)) return { count: found.length, value: value.toString(), value_decimals: decimals };
  }
}

const entry = (client, value, value_decimals = 0, tag1 = "", tag2 = "", revoked = false) => ({ client, value, value_decimals, tag1, tag2, revoked });
const all = (clients, tag1 = "", tag2 = "") => ({ clients, tag1, tag2 });
const add = (id, comment, flags, feedback, query) => {
  const args = { feedback, query };
  file.ok(id, comment, flags, args, summarize(args));
  return file.vectors.at(-1).ok;
};

add("one", "one feedback is its own average", ["Typical"], [entry("alice", 95)], all(["alice"]));
assert.deepEqual(add("negative-truncation", "-3.2 and -3.1: toward zero", ["Measured", "Rounding"], [entry("a", -32, 1), entry("b", -31, 1)], all(["a", "b"])), { count: 2, value: "-31", value_decimals: 1 });
assert.deepEqual(add("mode-tie", "99.77 and 100: one each, so the fewest decimals", ["Measured", "Rounding"], [entry("a", 9977, 2), entry("b", 100, 0)], all(["a", "b"])), { count: 2, value: "99", value_decimals: 0 });
assert.equal(add("client-twice", "a client listed twice counts twice", ["Measured"], [entry("a", 10), entry("b", 40)], all(["a", "b", "a"])).count, 3);
add("mode", "two of 2 decimals outweigh one of 0", ["Typical"], [entry("a", 9977, 2), entry("b", 9950, 2), entry("c", 100, 0)], all(["a", "b", "c"]));
add("revoked", "revoked feedback does not count", ["Typical"], [entry("a", 100), entry("a", 0, 0, "", "", true), entry("b", 50)], all(["a", "b"]));
add("all-revoked", "none left: zeros", ["Empty"], [entry("a", 100, 3, "", "", true)], all(["a"]));
add("no-feedback", "none at all: zeros", ["Empty"], [], all(["a"]));
add("unlisted-client", "only the clients listed", ["Typical"], [entry("a", 100), entry("b", 0)], all(["a", "c"]));
add("case-of-client", "clients are compared exactly", ["CaseSensitive"], [entry("Alice", 100), entry("alice", 0)], all(["alice"]));
const tagged = [entry("a", 10, 0, "uptime", "high"), entry("a", 20, 0, "uptime", "low"), entry("a", 30, 0, "", "high"), entry("a", 40, 0, "Uptime", "high")];
add("tag1", "one tag given", ["Typical"], tagged, all(["a"], "uptime"));
add("tag2", "the other tag given", ["Typical"], tagged, all(["a"], "", "high"));
add("both-tags", "both given", ["Typical"], tagged, all(["a"], "uptime", "high"));
add("no-tags", "the empty tag matches all", ["Empty"], tagged, all(["a"]));
add("tag-prefix", "tags are compared whole", ["Boundary"], [entry("a", 1, 0, "up"), entry("a", 2, 0, "uptime")], all(["a"], "up"));
add("decimals-0-and-18", "the ends of the range", ["Boundary"], [entry("a", 1, 0), entry("b", 1, 18), entry("c", 1, 18)], all(["a", "b", "c"]));
add("truncates-to-zero", "0.999… of 18 decimals among two of 0", ["Rounding"], [entry("a", "999999999999999999", 18), entry("b", 0), entry("c", 0)], all(["a", "b", "c"]));
add("sum-cancels", "a positive and a negative", ["Rounding"], [entry("a", 7), entry("b", -8)], all(["a", "b"]));
const LARGEST = (10n ** 38n).toString();
add("largest", "R16's largest value", ["Boundary"], [entry("a", LARGEST)], all(["a"]));
add("smallest", "R16's smallest value", ["Boundary"], [entry("a", `-${LARGEST}`)], all(["a"]));
add("largest-thrice", "a sum beyond an int128", ["Boundary"], ["a", "b", "c"].map((c) => entry(c, LARGEST)), all(["a", "b", "c"]));
add("largest-18", "R16's largest value at 18 decimals", ["Boundary"], [entry("a", LARGEST, 18)], all(["a"]));
const wrapping = [entry("a", LARGEST), entry("b", 1, 18), entry("c", 1, 18)];
assert.equal(add("wraps", "the mode is 18, but 3.3e37 has no 18 decimals in an int128: fewer are reported", ["Wrap"], wrapping, all(["a", "b", "c"])).value_decimals < 18, true);
add("wraps-negative", "the same below zero", ["Wrap"], wrapping.map((f) => ({ ...f, value: f.value === LARGEST ? `-${LARGEST}` : f.value })), all(["a", "b", "c"]));
add("just-fits", "2^127 - 1 at one decimal", ["Wrap", "Boundary"], [entry("a", "17014118346046923173168730371588410572"), entry("b", "17014118346046923173168730371588410573"), entry("c", 0, 1), entry("d", 0, 1), entry("e", 0, 1)], all(["a", "b", "c", "d", "e"]));
for (let n = 0; n < 40; n += 1) {
  const view = new DataView(block("concord/vectors/summary", n).buffer);
  const feedback = Array.from({ length: 1 + (view.getUint8(0) % 12) }, (_, k) => {
    const bits = new DataView(block(`concord/vectors/summary/${n}`, k).buffer);
    const wide = (bits.getBigInt64(0) * 2n ** 63n) % (10n ** BigInt(1 + (bits.getUint8(16) % 38)));
    return entry(["a", "b", "c"][bits.getUint8(17) % 3], wide.toString(), bits.getUint8(18) % (n % 2 ? 19 : 4), ["", "uptime"][bits.getUint8(19) & 1], "", bits.getUint8(20) % 5 === 0);
  });
  add(`random-${n}`, "a random history", ["Rounding"], feedback, all(["a", "b", "c"].slice(0, 1 + (n % 3)), n % 4 ? "" : "uptime"));
}

const refuse = (id, comment, flags, feedback, query, errorClass) => file.error(id, comment, flags, { feedback, query }, errorClass);
refuse("no-clients", "an empty list of clients", ["Empty"], [entry("a", 1)], all([]), "EmptyClients");
refuse("no-clients-no-feedback", "an empty list of clients and no feedback", ["Empty"], [], all([]), "EmptyClients");
refuse("decimals-19", "more decimals than R16 allows", ["Boundary"], [entry("a", 1, 19)], all(["a"]), "DecimalsOutOfRange");
refuse("value-beyond-bound", "1e38 + 1", ["Boundary"], [entry("a", (10n ** 38n + 1n).toString())], all(["a"]), "ValueOutOfRange");
refuse("value-below-bound", "-1e38 - 1", ["Boundary"], [entry("a", (-(10n ** 38n) - 1n).toString())], all(["a"]), "ValueOutOfRange");
