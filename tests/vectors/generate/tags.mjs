// Tags in their two 32-byte encodings (R14). Oracles: viem's stringToHex with a size, @noble/hashes.
import assert from "node:assert/strict";
import { sha256 } from "@noble/hashes/sha2.js";
import { hexToString, stringToHex } from "viem";
import { hex, utf8 } from "./bytes.mjs";
import { VectorFile } from "./vector_file.mjs";

const packages = ["viem", "@noble/hashes"];
const ZERO = `0x${"00".repeat(32)}`;
const file = new VectorFile("tag", { description: "A tag as bytes32, right-padded, or as X84's SHA-256; the empty tag is zeros in both (R14).", packages });
const decoded = new VectorFile("tag_decode", { description: "The text of a right-padded tag (R14).", packages });

const add = (id, comment, flags, text) => {
  const padded = stringToHex(text, { size: 32 });
  if (text !== "") assert.equal(hexToString(padded, { size: 32 }), text);
  file.ok(`padded-${id}`, comment, flags, { text, encoding: "padded" }, padded);
  file.ok(`hashed-${id}`, comment, flags, { text, encoding: "hashed" }, text === "" ? ZERO : hex(sha256(utf8(text))));
  decoded.ok(id, comment, flags, { bytes: padded }, text);
};
add("empty", "no tag", ["Empty"], "");
for (const text of ["starred", "reachable", "ownerVerified", "uptime", "successRate", "responseTime", "blocktimeFreshness", "revenues", "tradingYield"]) add(text, "a standard tag of BP", ["Typical"], text);
for (const text of ["x402-resource-delivered", "x402-resource-missing", "proof-of-participation", "mismatch"]) add(text, "a tag of X402", ["Typical"], text);
add("reliability", "X84's SDK hashes it to 819bb986…4ada", ["Published"], "reliability");
assert.equal(file.vectors.at(-1).ok, "0x819bb986f4199f141bc48a85fee53780516ee28183b3cc883c3411ff7d9e4ada");
add("one", "one byte", ["Boundary"], "5");
add("31", "31 bytes", ["Boundary"], "t".repeat(31));
add("32", "32 bytes: no padding left", ["Boundary"], "t".repeat(32));
add("unicode-32", "32 bytes in 16 characters", ["Boundary", "Unicode"], "é".repeat(16));
add("emoji", "a supplementary character", ["Unicode"], "👍 ok");
add("spaces", "white space is kept", ["Unchecked"], " a b ");

for (const encoding of ["padded", "hashed"]) {
  for (const [id, text, comment] of [
    ["33", "t".repeat(33), "33 bytes"], ["unicode-33", `${"é".repeat(16)}x`, "33 bytes in 17 characters"], ["long", "t".repeat(1000), "1000 bytes"],
    ["nul", "\u0000", "a NUL byte alone"], ["nul-inside", "a\u0000b", "a NUL byte between others"], ["nul-last", "a\u0000", "a NUL byte at the end, which padding would hide"],
  ]) file.error(`${encoding}-${id}`, comment, ["Boundary"], { text, encoding }, "MalformedTag");
}
file.error("encoding", "an encoding that does not exist", ["Request"], { text: "a", encoding: "keccak" }, "BadRequest");

const word = (start) => `0x${start.padEnd(64, "0")}`;
decoded.error("interior-nul", "a zero byte between others", ["Shape"], { bytes: word("610062") }, "MalformedTag");
decoded.error("leading-nul", "a left-padded text", ["Shape"], { bytes: `0x${"61".padStart(64, "0")}` }, "MalformedTag");
decoded.error("not-utf8", "a byte that begins no character", ["Shape"], { bytes: word("ff") }, "MalformedTag");
decoded.error("cut-character", "a character cut short by the end of the word", ["Truncated"], { bytes: `0x${"61".repeat(31)}e2` }, "MalformedTag");
decoded.error("surrogate", "a surrogate in UTF-8 form", ["Surrogate"], { bytes: word("eda080") }, "MalformedTag");
decoded.error("overlong", "a NUL in an overlong form", ["Shape"], { bytes: word("c080") }, "MalformedTag");
decoded.error("hashed", "a SHA-256 is not text", ["Shape"], { bytes: hex(sha256(utf8("reliability"))) }, "MalformedTag");
decoded.error("bytes-31", "31 bytes", ["Request", "Truncated"], { bytes: `0x${"61".repeat(31)}` }, "BadRequest");
decoded.error("bytes-33", "33 bytes", ["Request", "TooLong"], { bytes: `0x${"61".repeat(33)}` }, "BadRequest");
