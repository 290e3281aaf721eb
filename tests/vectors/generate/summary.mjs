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

// Parts, which add up: the sum at 18 decimals, the count, and how many values had 0, 1, … 18 decimals.
const parts = new VectorFile("summary_part", { description: "What the summary of the same arguments is computed from (R16).", packages: [] });
const merged = new VectorFile("summary_merge", { description: "Parts of disjoint feedback as one part, and its summary (R16).", packages: [] });

function partOf(args) {
  const found = matched(args);
  const sum = found.reduce((total, f) => total + BigInt(f.value) * 10n ** BigInt(18 - f.value_decimals), 0n);
  const histogram = Array.from({ length: 19 }, (_, d) => found.filter((f) => f.value_decimals === d).length.toString());
  return { sum: sum.toString(), count: found.length.toString(), histogram };
}

function merge(list) {
  const total = (numbers) => numbers.reduce((sum, one) => sum + BigInt(one), 0n);
  const sum = total(list.map((part) => part.sum));
  const count = total(list.map((part) => part.count));
  const histogram = Array.from({ length: 19 }, (_, d) => total(list.map((part) => part.histogram[d])));
  const part = { sum: sum.toString(), count: count.toString(), histogram: histogram.map(String) };
  if (count === 0n) return { part, count: "0", value: "0", value_decimals: 0 };
  const most = histogram.reduce((a, b) => (b > a ? b : a));
  const average = sum / count;
  for (let decimals = histogram.indexOf(most); ; decimals -= 1) {
    const value = average / 10n ** BigInt(18 - decimals);
    if (fits(value)) return { part, count: count.toString(), value: value.toString(), value_decimals: decimals };
  }
}

for (const vector of file.vectors) {
  const id = vector.id.slice("summary/".length);
  const args = { feedback: vector.feedback, query: vector.query };
  if (vector.error) {
    parts.error(id, vector.comment, vector.flags, args, vector.error);
    continue;
  }
  parts.ok(id, vector.comment, vector.flags, args, partOf(args));
  const each = args.query.clients.map((client) => partOf({ ...args, query: { ...args.query, clients: [client] } }));
  const whole = merge(each);
  assert.deepEqual({ ...vector.ok, count: vector.ok.count.toString() }, { count: whole.count, value: whole.value, value_decimals: whole.value_decimals });
  merged.ok(id, `${vector.comment}: a part for each client`, vector.flags, { parts: each }, whole);
}
const nothing = partOf({ feedback: [], query: all(["a"]) });
const one = partOf({ feedback: [entry("a", 1)], query: all(["a"]) });
merged.ok("no-parts", "no part at all", ["Empty"], { parts: [] }, merge([]));
merged.ok("nothing-and-one", "an empty part changes nothing", ["Empty"], { parts: [nothing, one, nothing] }, merge([one]));
const UINT64_MAX = (2n ** 64n - 1n).toString();
const full = { sum: "0", count: UINT64_MAX, histogram: [UINT64_MAX, ...Array(18).fill("0")] };
merged.ok("fullest", "a count at its maximum", ["Boundary"], { parts: [full] }, merge([full]));
merged.error("too-many", "one feedback more than a count holds", ["Boundary"], { parts: [full, one] }, "CounterExhausted");
const wrong = (part) => ({ ...one, ...part });
// A part with so many values at each of these numbers of decimals.
function at(counts, sum) {
  const histogram = Array.from({ length: 19 }, (_, d) => (counts[d] ?? 0).toString());
  const count = Object.values(counts).reduce((total, one) => total + one, 0);
  return { sum: sum.toString(), count: count.toString(), histogram };
}
for (const [id, comment, part] of [
  ["sum-at-bound-of-18", "1e38 at 18 decimals", at({ 18: 1 }, 10n ** 38n)],
  ["sum-at-bound-of-mixed", "1e38 without and with 18 decimals, below zero", at({ 0: 1, 18: 1 }, -(10n ** 56n) - 10n ** 38n)],
  ["sum-in-units-of-mixed", "0.01 of values with none and two decimals", at({ 0: 1, 2: 1 }, 10n ** 16n)],
]) merged.ok(id, comment, ["Boundary"], { parts: [part] }, merge([part]));
for (const [id, comment, part] of [
  ["count", "a count that the histogram does not make", wrong({ count: "2" })],
  ["histogram", "a histogram that the count is not", wrong({ histogram: nothing.histogram })],
  ["sum", "more than one value can be", wrong({ sum: (10n ** 56n + 1n).toString() })],
  ["sum-negative", "less than one value can be", wrong({ sum: (-(10n ** 56n) - 1n).toString() })],
  ["sum-of-nothing", "a sum without feedback", { ...nothing, sum: "1" }],
  ["sum-at-18", "1e38 times 10^18 at 18 decimals", at({ 18: 1 }, 10n ** 56n)],
  ["sum-at-18-negative", "the same below zero", at({ 18: 1 }, -(10n ** 56n))],
  ["sum-at-18-by-one", "one unit more than 1e38 at 18 decimals", at({ 18: 1 }, 10n ** 38n + 1n)],
  ["sum-mixed-by-one", "one unit more than 1e38 without and with 18 decimals", at({ 0: 1, 18: 1 }, 10n ** 56n + 10n ** 38n + 1n)],
  ["sum-unit", "1e-18 of a value without decimals", at({ 0: 1 }, 1n)],
  ["sum-unit-mixed", "1e-3 of values with none and two decimals", at({ 0: 1, 2: 1 }, 10n ** 15n)],
  ["histogram-short", "18 entries", wrong({ histogram: one.histogram.slice(0, 18) })],
  ["histogram-long", "20 entries", wrong({ histogram: [...one.histogram, "0"] })],
]) merged.error(id, comment, id.startsWith("histogram-") ? ["Request", "Shape"] : ["Shape"], { parts: [nothing, part] }, "BadRequest");
merged.error("sum-beyond", "2^255, no int256", ["Request", "Boundary"], { parts: [wrong({ sum: (2n ** 255n).toString() })] }, "NumberOutOfRange");
merged.error("count-beyond", "2^64, no uint64", ["Request", "Boundary"], { parts: [wrong({ count: (2n ** 64n).toString() })] }, "NumberOutOfRange");
