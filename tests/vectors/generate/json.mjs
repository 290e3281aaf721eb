// RFC 8785. Oracles: the RFC's own examples, the npm package canonicalize, and V8's number reader and writer.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { keccak_256 } from "@noble/hashes/sha3.js";
import canonicalize from "canonicalize";
import { block, hex, utf8 } from "./bytes.mjs";
import { TableFile, VectorFile } from "./vector_file.mjs";

const packages = ["canonicalize", "@noble/hashes"];
const published = JSON.parse(readFileSync(new URL("./published/rfc8785.json", import.meta.url), "utf8"));
const hash = (canonical) => hex(keccak_256(utf8(canonical)));
const canonicalOf = (text) => canonicalize(JSON.parse(text));

const double = (bits) => {
  const view = new DataView(new ArrayBuffer(8));
  view.setBigUint64(0, BigInt(`0x${bits}`));
  return view.getFloat64(0);
};
const bitsOf = (value) => {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, value);
  return view.getBigUint64(0).toString(16).padStart(16, "0");
};

const file = new VectorFile("jcs", {
  description: "RFC 8785 canonical form of a JSON text, and keccak256 of its UTF-8 bytes (R21). What R22 refuses is refused.",
  packages,
});

const answer = (canonical) => ({ canonical, hash: hash(canonical) });
const add = (id, comment, flags, text) => file.ok(id, comment, flags, { text }, answer(canonicalOf(text)));

for (const [n, { name, text, canonical_hex }] of published.documents.entries()) {
  const canonical = Buffer.from(canonical_hex, "hex").toString("utf8");
  assert.equal(canonicalOf(text), canonical, name);
  file.ok(`rfc8785-document-${n + 1}`, `RFC 8785, ${name}`, ["Published"], { text }, answer(canonical));
}
for (const { bits, text } of published.numbers) {
  assert.equal(JSON.stringify(double(bits)), text, bits);
  // 17 significant digits name a double without sharing its shortest form
  const literal = double(bits).toExponential(16);
  assert.equal(bitsOf(Number(literal)), Object.is(double(bits), -0) ? "0000000000000000" : bits);
  const signed = bits === "8000000000000000" ? "-0.0" : literal;
  file.ok(`rfc8785-number-${bits}`, "RFC 8785, appendix B", ["Published", "Number"], { text: signed }, answer(text));
}

add("empty-object", "no members", ["Empty"], " {\n} ");
add("empty-array", "no elements", ["Empty"], "[\t]");
add("empty-string", "no characters", ["Empty"], '""');
add("empty-key", "a key without characters", ["Empty"], '{"":0}');
add("scalar", "any value may stand alone", ["Typical"], "true");
add("white-space", "the four white space characters of RFC 8259", ["Grammar"], ' \t\r\n{ \t\r\n"a" \t\r\n: \t\r\n1 \t\r\n, \t\r\n"b" \t\r\n: \t\r\n[ \t\r\n] \t\r\n} \t\r\n');
add("escapes", "every two-character escape, and the solidus that loses its own", ["Typical"], String.raw`"\"\\\/\b\f\n\r\t"`);
add("control-characters", "all 32 of them", ["Boundary"], JSON.stringify(String.fromCharCode(...Array(32).keys())));
add("delete", "U+007F and U+0080 are not escaped", ["Boundary"], String.raw`"\u007f\u0080"`);
add("hex-case", "hexadecimal digits of either case", ["Typical"], String.raw`"\u00Ff\u00fF\uABCD"`);
add("surrogate-pair", "two escapes, one character", ["Unicode"], String.raw`"\ud83d\ude00\uD834\uDD1E"`);
add("surrogate-ends", "the first and the last supplementary character", ["Unicode", "Boundary"], String.raw`"\ud800\udc00\udbff\udfff"`);
add("beside-surrogates", "U+D7FF, U+E000 and U+FFFF are ordinary characters", ["Unicode", "Boundary"], String.raw`"\ud7ff\ue000\uffff"`);
add("line-separators", "U+2028 and U+2029 are written as they are", ["Unicode"], String.raw`"\u2028\u2029"`);
add("nul-character", "an escaped NUL is a character like others", ["Boundary"], String.raw`{"\u0000":"\u0000"}`);
add("bom-inside", "U+FEFF inside a string is a character", ["Unicode"], String.raw`"\ufeff"`);
add("proto", "a key that some readers treat specially", ["Ordering"], '{"__proto__x":1,"constructor":2,"a":3}');
add("utf16-order", "U+FB33 sorts after U+1F600, whose first code unit is lower", ["Ordering", "Unicode"], '{"\ufb33":1,"\u{1f600}":2,"\u{10ffff}":3,"\uffff":4,"\ue000":5,"\ud7ff":6}');
add("utf16-order-inside", "the difference may come after a common beginning", ["Ordering", "Unicode"], '{"aé\uffff":1,"aé\u{10000}":2,"aé":3,"a":4}');
add("prefix-order", "a key sorts before those that it begins", ["Ordering"], '{"aa":1,"a":2,"aaa":3,"":4}');
add("digit-order", "keys are text: 10 before 9", ["Ordering"], '{"9":1,"10":2,"1":3}');
add("nested-order", "objects inside arrays inside objects", ["Ordering"], '{"b":[{"z":1,"y":[{"d":1,"c":2}]}],"a":{"b":2,"a":1}}');
add("same-key-elsewhere", "one key in two objects is not a duplicate", ["Unchecked"], '{"a":{"a":1},"b":{"a":[{"a":2}]}}');
add("case-differs", "keys that differ in case are two keys", ["CaseSensitive"], '{"a":1,"A":2}');
add("normalisation", "composed and decomposed letters are two keys", ["Unicode"], String.raw`{"\u00e9":1,"e\u0301":2}`);
add("duplicate-elements", "an array may repeat itself", ["Unchecked"], "[1,1,1.0]");
add("feedback-file", "a BP feedback file", ["Typical"], JSON.stringify({ agentRegistry: "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e", agentId: 42, clientAddress: "eip155:84532:0x70997970C51812dc3A010C7d01b50e0d17dc79C8", createdAt: "2026-01-26T12:00:00Z", value: 9977, valueDecimals: 2, tag1: "uptime", text: "Très bon — 日本", proofOfPayment: { toAddress: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266", chainId: "84532", txHash: `0x${"ab".repeat(32)}` } }, null, 2));
{
  const deep = `${"[".repeat(128)}${"]".repeat(128)}`;
  add("depth-128", "as deep as this reader goes", ["Boundary"], deep);
  file.error("depth-129", "one deeper", ["Boundary"], { text: `[${deep}]` }, "MalformedJson");
  file.error("depth-2000", "objects and arrays in turn, none closed", ["Boundary"], { text: '[{"a":'.repeat(1000) }, "MalformedJson");
}

for (const [id, text, comment = "a number as JSON may write it"] of [
  ["zero", "0"], ["minus-zero", "-0", "minus zero loses its sign"], ["minus-zero-fraction", "-0.0e-5"],
  ["one-point-zero", "1.0", "an integer loses its fraction"], ["capital-e", "1E2"], ["plus-exponent", "1e+2"], ["leading-zero-exponent", "1e-07"],
  ["1e20", "100000000000000000000"], ["1e21", "1e21", "from 10^21 on an exponent is written"], ["below-1e21", "999999999999999934463"],
  ["1e-6", "0.000001"], ["1e-7", "0.0000001", "below 10^-6 an exponent is written"],
  ["underflow", "1e-400", "too small for a double: zero, as in ECMAScript"], ["half-smallest", "2.4703282292062327e-324", "rounds to zero"],
  ["above-half-smallest", "2.4703282292062328e-324", "rounds to the smallest double"],
  ["max", "1.7976931348623157e308"], ["rounds-to-max", "1.7976931348623158e308"],
  ["beyond-53-bits", "9007199254740993", "canonical form takes any number; neighbours share their bytes"],
  ["fraction-beyond-53-bits", "9007199254740991.4", "rounds to the integer"],
  ["almost-one", "0.99999999999999999999", "rounds to 1"],
  ["half-even", "0.1000000000000000055511151231257827021181583404541015625"],
  ["1e38", "100000000000000000000000000000000000000", "R16's largest value, which JCS writes with an exponent"],
  ["huge-zero", `0e${"9".repeat(30)}`, "an exponent of any length on zero"],
  ["long-fraction", `0.${"3".repeat(1000)}`], ["long-zero", `0.${"0".repeat(400)}1e401`],
]) add(`number-${id}`, comment, ["Number"], text);

const refuse = (id, comment, flags, text, errorClass) => {
  const accepts = (() => { try { JSON.parse(text); return true; } catch { return false; } })();
  // V8 is the judge of the grammar: it refuses exactly what is malformed, and accepts what R22 refuses
  assert.equal(accepts, errorClass !== "MalformedJson", `${id}: ${text}`);
  file.error(id, comment, flags, { text }, errorClass);
};

for (const [id, text, comment] of [
  ["plain", '{"a":1,"a":1}', "the same value does not excuse it"],
  ["escaped", String.raw`{"a":1,"\u0061":2}`, "compared after unescaping"],
  ["nested", '[{"x":{"b":1,"c":2,"b":3}}]', "anywhere in the document"],
  ["empty-key", '{"":1,"":2}', "the empty key too"],
  ["supplementary", String.raw`{"\ud83d\ude00":1,"😀":2}`, "a pair of escapes and the character it means"],
  ["far-apart", `{"k":0,${Array.from({ length: 50 }, (_, n) => `"k${n}":${n}`).join(",")},"k":1}`, "with others between them"],
]) refuse(`duplicate-${id}`, `duplicate key: ${comment}`, ["DuplicateKey"], text, "DuplicateKey");

for (const [id, text, comment] of [
  ["high", String.raw`"\ud800"`, "a high one at the end"],
  ["low", String.raw`"\udc00"`, "a low one alone"],
  ["high-then-letter", String.raw`"\ud800a"`, "a high one before a letter"],
  ["high-then-escape", String.raw`"\ud800\n"`, "a high one before another escape"],
  ["high-high", String.raw`"\ud800\ud800"`, "two high ones"],
  ["high-then-unit", String.raw`"\udbff\u0041"`, "a high one before an ordinary code unit"],
  ["swapped", String.raw`"\ude00\ud83d"`, "a pair in the wrong order"],
  ["high-pair", String.raw`"\ud83d\ud83d\ude00"`, "a high one before a pair"],
  ["in-key", String.raw`{"\ud800":1}`, "in a key"],
]) refuse(`surrogate-${id}`, `lone surrogate: ${comment}`, ["Surrogate"], text, "LoneSurrogate");

for (const [id, text] of [
  ["1e309", "1e309"], ["minus", "-1e400"], ["rounds-up", "1.7976931348623159e308"], ["digits", "9".repeat(310)],
  ["exponent", `1e${"9".repeat(40)}`], ["nested", '{"a":[1e400]}'],
]) {
  assert.equal(Math.abs([JSON.parse(text)].flat().map((v) => v?.a?.[0] ?? v)[0]), Infinity);
  refuse(`overflow-${id}`, "no double is that large", ["Number"], text, "NumberOutOfRange");
}

for (const [id, text, comment] of [
  ["nothing", "", "no value"], ["white-space", " \n", "white space only"], ["bom", "\ufeff{}", "a byte order mark"],
  ["two-values", "1 2", "two values"], ["trailing", "{}x", "bytes after the value"], ["trailing-nul", "{}\u0000", "a NUL after the value"],
  ["comma-array", "[1,]", "a trailing comma"], ["comma-object", '{"a":1,}', "a trailing comma"], ["comma-first", "[,1]", "a leading comma"],
  ["no-comma", "[1 2]", "no comma"], ["no-colon", '{"a" 1}', "no colon"], ["no-value", '{"a":}', "no value"], ["bare-key", "{a:1}", "a key without quotes"],
  ["number-key", "{1:1}", "a key that is a number"], ["single-quotes", "'a'", "single quotes"], ["open-array", "[1", "an array left open"], ["open-object", '{"a":1', "an object left open"],
  ["open-string", '"abc', "a string left open"], ["open-escape", '"\\', "an escape left open"], ["open-unicode", String.raw`"\u00`, "a unicode escape left open"], ["wrong-bracket", "[1}", "the wrong bracket"],
  ["close-only", "]", "a bracket that opens nothing"], ["comment", "/* a */ 1", "a comment"], ["line-comment", "1 // a", "a comment"],
  ["newline-in-string", '"a\nb"', "a line break in a string"], ["tab-in-string", '"a\tb"', "a tab in a string"], ["nul-in-string", '"a\u0000b"', "a NUL in a string"], ["unit-separator", '"\u001f"', "U+001F in a string"],
  ["escape-x", String.raw`"\x41"`, "an escape JSON does not have"], ["escape-quote", String.raw`"\'"`, "an escape JSON does not have"], ["escape-capital-u", String.raw`"\U0041"`, "an escape JSON does not have"], ["short-unicode", String.raw`"\u12"`, "two hexadecimal digits"], ["not-hex", String.raw`"\u12g4"`, "a letter among hexadecimal digits"], ["plus-in-unicode", String.raw`"\u+041"`, "a sign among hexadecimal digits"],
  ["True", "True", "a capital letter"], ["nul", "nul", "a word cut short"], ["nulll", "nulll", "a word with a letter too many"], ["undefined", "undefined", "a word of ECMAScript"], ["nan", "NaN", "no JSON number"], ["infinity", "Infinity", "no JSON number"], ["minus-infinity", "-Infinity", "no JSON number"],
  ["leading-zero", "01", "a leading zero"], ["minus-leading-zero", "-01", "a leading zero"], ["plus", "+1", "a plus sign"], ["minus", "-", "a sign alone"], ["double-minus", "--1", "two signs"], ["point-first", ".5", "no digit before the point"], ["point-last", "1.", "no digit after the point"], ["point-e", "1.e5", "no digit after the point"], ["empty-exponent", "1e", "no digit in the exponent"], ["sign-exponent", "1e+", "no digit in the exponent"], ["two-points", "1.2.3", "two points"], ["hexadecimal", "0x10", "hexadecimal"], ["underscore", "1_000", "a separator"], ["fullwidth", "\uff11", "a digit beyond ASCII"], ["arabic", "1\u0661", "a digit beyond ASCII"],
  ["no-break-space", "\u00a01", "white space that RFC 8259 does not have"], ["form-feed", "\f1", "white space that RFC 8259 does not have"], ["line-separator", "\u20281", "white space that RFC 8259 does not have"],
]) refuse(`malformed-${id}`, comment, ["Grammar"], text, "MalformedJson");

file.error("missing-text", "no argument", ["Request"], {}, "BadRequest");
file.error("unknown-argument", "an argument that the function does not have", ["Request"], { text: "1", strict: true }, "BadRequest");

// R22's integer rule, judged on the literal.
const integers = new VectorFile("integer_field", {
  description: "The value of a JSON number in a field that a profile calls integer (R22).",
  packages: [],
});
for (const [id, literal, value] of [
  ["zero", "0", 0], ["minus-zero", "-0", 0], ["zero-exponent", "0e400", 0], ["one-point-zero", "1.0", 1], ["exponent", "1e2", 100], ["plus-exponent", "1E+2", 100],
  ["negative-exponent", "1200e-2", 12], ["fraction-and-exponent", "-1.25e2", -125], ["max", "9007199254740991", Number.MAX_SAFE_INTEGER], ["min", "-9007199254740991", Number.MIN_SAFE_INTEGER],
  ["max-fraction", "9007199254740991.000", Number.MAX_SAFE_INTEGER], ["max-scaled", "0.9007199254740991e16", Number.MAX_SAFE_INTEGER],
]) {
  assert.ok(Number.isSafeInteger(Number(literal)) && Number(literal) + 0 === value + 0);
  integers.ok(id, "an integer, however written", ["Boundary"], { literal }, value);
}
for (const [id, literal, comment] of [
  ["2-53", "9007199254740992", "2^53"], ["2-53-plus-1", "9007199254740993", "2^53 + 1, which shares its double with 2^53"], ["minus-2-53", "-9007199254740992", "-2^53"],
  ["max-and-fraction", "9007199254740991.4", "rounds to 2^53 - 1"], ["almost-one", "0.99999999999999999999", "rounds to 1"], ["just-above-one", "1.00000000000000000001", "rounds to 1"],
  ["half", "0.5", "no integer"], ["tenth", "1e-1", "no integer"], ["1e16", "1e16", "too large"], ["1e400", "1e400", "no double is that large"], ["tiny", "1e-400", "rounds to zero"], ["1e38", "1e38", "R16's largest value must travel as a string"],
]) integers.error(id, comment, ["Boundary"], { literal }, "NumberOutOfRange");

// Numbers by the thousand: bits and what V8 writes.
function* sample() {
  for (let exponent = -1074; exponent <= 1023; exponent += 1) {
    const power = 2 ** exponent;
    if (exponent % 4 === 0) yield* [power, -power];
    if (exponent % 16 === 0) yield* neighbours(power);
  }
  for (let exponent = -323; exponent <= 308; exponent += 1) yield* neighbours(Number(`1e${exponent}`));
  for (let n = 0; n < 3000; n += 1) yield random(n);
  for (let n = 0; n < 1900; n += 1) yield price(n);
  for (let n = 0; n < 1500; n += 1) yield nearInteger(n);
  for (let n = 0; n < 700; n += 1) yield subnormal(n);
}
function* neighbours(value) {
  const bits = BigInt(`0x${bitsOf(value)}`);
  for (const delta of [-1n, 0n, 1n]) yield double((bits + delta).toString(16).padStart(16, "0"));
}
const words = (label, n) => new DataView(block(`concord/vectors/numbers/${label}`, n).buffer);
const random = (n) => words("random", n).getFloat64(0);
const price = (n) => (words("price", n).getInt32(0) % 10_000_000) / 10 ** (words("price", n).getUint8(4) % 9);
const nearInteger = (n) => Number(words("integer", n).getBigInt64(0) >> BigInt(words("integer", n).getUint8(8) % 40)) + (words("integer", n).getUint8(9) % 4) / 4;
const subnormal = (n) => double((words("subnormal", n).getBigUint64(0) & 0x800fffffffffffffn).toString(16).padStart(16, "0"));

const rows = [...new Map([...sample()].filter(Number.isFinite).map((value) => [bitsOf(value), JSON.stringify(value)]))];
assert.ok(rows.length >= 10_000, `${rows.length} numbers`);
new TableFile("jcs_numbers", {
  description: "How ECMAScript writes a double (RFC 8785 §3.2.2.3): bits in hexadecimal without leading zeros, text as V8's JSON.stringify gives it.",
  packages: [],
  columns: ["bits", "text"],
  rows: rows.map(([bits, text]) => `${bits.replace(/^0+(?=.)/, "")},${text}`),
});

// Decimal texts that lie on, or a digit beside, the middle between two doubles: V8 reads, V8 writes.
function exactDecimal(value) {
  // every double is an integer multiple of 2^-1074
  const bits = BigInt(`0x${bitsOf(Math.abs(value))}`);
  const exponent = Number(bits >> 52n);
  const mantissa = (bits & 0xfffffffffffffn) | (exponent > 0 ? 1n << 52n : 0n);
  return { mantissa, shift: Math.max(exponent, 1) - 1075 };
}
function midpoint(value) {
  const { mantissa, shift } = exactDecimal(value);
  const doubled = 2n * mantissa + 1n;
  return shift - 1 >= 0 ? { digits: doubled << BigInt(shift - 1), scale: 0 } : { digits: doubled * 5n ** BigInt(1 - shift), scale: 1 - shift };
}
const halves = [];
for (let n = 0; halves.length < 360; n += 1) {
  const value = Math.abs(n % 3 === 0 ? price(n) || 1 : words("half", n).getFloat64(0));
  if (!Number.isFinite(value) || value > 1e60 || value < 1e-60) continue;
  const { digits, scale } = midpoint(value);
  for (const literal of [`${digits}e-${scale}`, `${digits}0000001e-${scale + 7}`, `${digits - 1n}9999999e-${scale + 7}`]) halves.push(`${literal},${JSON.stringify(Number(literal))}`);
}
new TableFile("jcs_midpoints", {
  description: "Literals on, just above and just below the middle between two doubles, and what V8 makes of them: reading must round correctly, ties to even.",
  packages: [],
  columns: ["literal", "text"],
  rows: halves,
});
