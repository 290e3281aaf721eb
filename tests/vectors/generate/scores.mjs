// X84's weighted score in BigInt, BP's stars and its table of tags, X402's pairs of tags: written down from the
// documents, as the crate's are.
import { block } from "./bytes.mjs";
import { VectorFile } from "./vector_file.mjs";

const UINT64_MAX = 2n ** 64n - 1n;

{
  const file = new VectorFile("weighted_score", { description: "X84's score over four counters: a feedback with payment proof weighs three times.", packages: [] });
  const add = (id, comment, flags, [verified_count, verified_score_sum, unverified_count, unverified_score_sum]) => {
    const [vc, vs, uc, us] = [verified_count, verified_score_sum, unverified_count, unverified_score_sum].map(BigInt);
    const count = 3n * vc + uc;
    const score = count === 0n ? 0n : (3n * vs + us) / count;
    const args = { verified_count, verified_score_sum, unverified_count, unverified_score_sum };
    const given = Object.fromEntries(Object.entries(args).map(([name, value]) => [name, typeof value === "bigint" ? value.toString() : value]));
    file.ok(id, comment, flags, given, (score > UINT64_MAX ? UINT64_MAX : score).toString());
  };
  add("one-of-each", "(3·90 + 50) / 4", ["Typical"], [1, 90, 1, 50]);
  add("two-and-three", "77.7…, rounded down", ["Rounding"], [2, 200, 3, 100]);
  add("none", "nothing divides nothing", ["Empty"], [0, 0, 0, 0]);
  add("paid-only", "without unpaid feedback", ["Empty"], [2, 101, 0, 0]);
  add("unpaid-only", "without paid feedback", ["Empty"], [0, 0, 2, 101]);
  add("many-unpaid", "one paid feedback does not outweigh a thousand", ["Typical"], [1, 100, 1000, 0]);
  add("largest", "counters at their maximum", ["Boundary"], [UINT64_MAX, UINT64_MAX, UINT64_MAX, UINT64_MAX]);
  add("contradiction", "a sum without feedback, beyond a uint64 together", ["Boundary"], [0, UINT64_MAX, 1, UINT64_MAX]);
  for (let n = 0; n < 20; n += 1) {
    const view = new DataView(block("concord/vectors/weighted_score", n).buffer);
    const [paid, unpaid] = [view.getUint16(0), view.getUint16(2)];
    add(`random-${n}`, "random counters", ["Rounding"], [paid, paid * (view.getUint8(4) % 101), unpaid, unpaid * (view.getUint8(5) % 101)]);
  }
  const counters = { verified_count: 0, verified_score_sum: 0, unverified_count: 0, unverified_score_sum: 0 };
  file.error("beyond", "2^64", ["Request", "Boundary"], { ...counters, verified_count: (UINT64_MAX + 1n).toString() }, "NumberOutOfRange");
  file.error("negative", "below zero", ["Request", "Boundary"], { ...counters, unverified_score_sum: -1 }, "NumberOutOfRange");
}

{
  const points = [20, 40, 60, 80, 100]; // BP: 1 to 5 stars
  const stars = new VectorFile("stars_to_value", { description: "BP's 1 to 5 stars as points.", packages: [] });
  const back = new VectorFile("stars_of_value", { description: "The stars that are exactly so many points; null if none are.", packages: [] });
  points.forEach((value, at) => {
    stars.ok(`${at + 1}`, "a row of BP's table", ["Published"], { stars: at + 1 }, value);
    back.ok(`${value}`, "a row of BP's table", ["Published"], { value }, at + 1);
  });
  for (const count of [0, 6, 255]) stars.error(`${count}`, "no number of stars", ["Boundary"], { stars: count }, "NumberOutOfRange");
  stars.error("256", "no uint8", ["Request", "Boundary"], { stars: 256 }, "NumberOutOfRange");
  for (const value of [0, 19, 21, 99, 101, 120, 255]) back.ok(`${value}`, "between two rows, or beyond them", ["Boundary"], { value }, null);
  back.error("256", "no uint8", ["Request", "Boundary"], { value: 256 }, "NumberOutOfRange");
}

{
  const RANGES = { "any value": () => true, "0 and above": (v) => v >= 0n, "0 to 100": (v, unit) => v >= 0n && v <= 100n * unit, "0 or 1": (v, unit) => v === 0n || v === unit };
  const TABLE = [ // BP "Value/ValueDecimals Encoding"
    ["starred", "quality rating", "points", 0, "0 to 100", []],
    ["reachable", "endpoint reachable", "boolean", 0, "0 or 1", []],
    ["ownerVerified", "endpoint owned by agent", "boolean", 0, "0 or 1", []],
    ["uptime", "endpoint uptime", "%", 2, "0 to 100", []],
    ["successRate", "request success rate", "%", 0, "0 to 100", []],
    ["responseTime", "latency", "ms", 0, "0 and above", []],
    ["blocktimeFreshness", "average block delay", "blocks", 0, "0 and above", []],
    ["revenues", "cumulative revenues", "USD", 0, "0 and above", []],
    ["tradingYield", "yield", "%", 1, "any value", ["day", "week", "month", "year"]],
  ];
  const rows = new VectorFile("standard_tag", { description: "A row of BP's table of tags.", packages: [] });
  const values = new VectorFile("standard_tag_value", { description: "Whether a value is in the range of one of BP's tags.", packages: [] });
  for (const [name, measures, unit, decimals, range, tag2] of TABLE) {
    rows.ok(name, "a row of BP's table", ["Published"], { name }, { measures, unit, decimals, range, tag2 });
    for (const [value, value_decimals] of [[0, 0], [1, 0], [2, 0], [100, 0], [101, 0], [-1, 0], [10, 1], [10000, 2], [10001, 2], [1, 18], ["1000000000000000000", 18], ["-32", 1]]) {
      const isIn = RANGES[range](BigInt(value), 10n ** BigInt(value_decimals));
      const id = `${name}-${value}-${value_decimals}`;
      const args = { name, value, value_decimals };
      if (isIn) values.ok(id, "within the tag's range", ["Boundary"], args, true);
      else values.error(id, "outside the tag's range", ["Boundary"], args, "ValueOutOfRange");
    }
  }
  for (const [id, name] of [["unknown", "speed"], ["empty", ""], ["capital", "Uptime"], ["padded", "uptime "]]) {
    rows.error(id, "no row of the table", ["Request"], { name }, "BadRequest");
    values.error(id, "no row of the table", ["Request"], { name, value: 1, value_decimals: 0 }, "BadRequest");
  }
}

{
  const file = new VectorFile("x402_tag", { description: "What a pair of X402's tags says.", packages: [] });
  const PAIRS = [ // X402 "x402-specific Tags"
    ["x402-resource-delivered", "proof-of-participation", "the resource came with the agent's signature"],
    ["x402-resource-missing", "proof-of-participation", "the agent signed but did not deliver"],
    ["x402-response-delayed", "proof-of-participation", "the resource came after the timeout"],
    ["x402-payment-amount", "mismatch", "the agent asked for another amount than it declared"],
  ];
  for (const [tag1, tag2, meaning] of PAIRS) file.ok(tag1, "a row of X402's table", ["Published"], { tag1, tag2 }, meaning);
  file.error("other-half", "halves of two rows", ["Request"], { tag1: "x402-payment-amount", tag2: "proof-of-participation" }, "BadRequest");
  file.error("empty", "no tags", ["Request"], { tag1: "", tag2: "" }, "BadRequest");
}
