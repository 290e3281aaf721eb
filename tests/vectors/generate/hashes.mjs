// Plain hashes, and X402's request bytes, data hash, interaction hash and reviewer message.
// Oracles: @noble/hashes, and node's own SHA-256.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak256 as viemKeccak256 } from "viem";
import { bytes, hex, integer, join, stream, utf8 } from "./bytes.mjs";
import { evm, svm } from "./actors.mjs";
import { VectorFile } from "./vector_file.mjs";

const packages = ["@noble/hashes", "viem"];

function keccak(data) {
  const digest = hex(keccak_256(data));
  assert.equal(viemKeccak256(data), digest);
  return digest;
}

function sha(data) {
  const digest = hex(sha256(data));
  assert.equal(hex(createHash("sha256").update(data).digest()), digest);
  return digest;
}

/** Lengths around the block sizes of the two hashes: 136 bytes (keccak256) and 64 (SHA-256). */
const LENGTHS = [1, 31, 32, 33, 55, 56, 63, 64, 65, 119, 120, 135, 136, 137, 271, 272, 273, 1024];

for (const [fn, hash, published] of [
  ["keccak256", keccak, "0xc5d2460186f7233c927e7db2dcc703c0e500b653ca82273b7bfad8045d85a470"],
  ["sha256", sha, "0xe3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"],
]) {
  const file = new VectorFile(fn, { description: `${fn} of bytes.`, packages });
  assert.equal(hash(new Uint8Array()), published);
  file.ok("empty", "the hash of nothing, as published everywhere", ["Published", "Empty"], { data: "0x" }, published);
  for (const length of LENGTHS) {
    const data = stream(`concord/vectors/${fn}`, length);
    file.ok(`length-${length}`, `${length} bytes, around the hash's block size`, ["Boundary"], { data: hex(data) }, hash(data));
  }
  file.ok("no-prefix", "hex without 0x means the same bytes", ["Unchecked"], { data: "616263" }, hash(utf8("abc")));
  file.ok("upper-case", "hex digits of either case", ["Unchecked"], { data: "0xABCDEF" }, hash(bytes("abcdef")));
  file.error("odd", "half a byte", ["Request", "Shape"], { data: "0xabc" }, "BadRequest");
  file.error("not-hex", "a letter that is not a hex digit", ["Request", "Shape"], { data: "0xzz" }, "BadRequest");
}

{
  const file = new VectorFile("request_bytes", {
    description: "X402 §1: the decoded body, or the request target exactly as sent where there is none (R24).",
    packages,
  });
  const body = (text) => hex(utf8(text));
  file.ok("get", "a body-less request is its path and query", ["Typical"], { method: "GET", target: "/weather?city=London&units=metric", body: "0x" }, body("/weather?city=London&units=metric"));
  file.ok("post", "a body is hashed as it is, and the target is not", ["Typical"], { method: "POST", target: "/weather", body: body('{"city":"London"}') }, body('{"city":"London"}'));
  file.ok("post-empty", "POST without a body is its target", ["Empty"], { method: "POST", target: "/jobs", body: "0x" }, body("/jobs"));
  file.ok("get-with-body", "what counts is the body, not the method", ["Unchecked"], { method: "GET", target: "/search", body: "0x7b7d" }, "0x7b7d");
  file.ok("percent-encoding", "the target is not decoded or normalised", ["Unchecked"], { method: "GET", target: "/a%20b/../c?x=%C3%A9&x=2#", body: "0x" }, body("/a%20b/../c?x=%C3%A9&x=2#"));
  file.ok("binary", "bytes that are not text", ["Typical"], { method: "PUT", target: "/image", body: "0x00ff8000" }, "0x00ff8000");
}

const dataHash = (request, response) => keccak(join(integer(request.length, 4), request, response));

{
  const file = new VectorFile("data_hash", {
    description: "X402 §1: keccak256(uint32_be(length of the request) ‖ request ‖ response).",
    packages,
  });
  const add = (id, comment, flags, request, response) =>
    file.ok(id, comment, flags, { request: hex(request), response: hex(response) }, dataHash(request, response));
  const none = new Uint8Array();
  add("empty", "nothing asked, nothing answered: keccak256 of four zero bytes", ["Empty"], none, none);
  file.ok("hello-world", "computed beforehand with another Keccak", ["Published"], { request: hex(utf8("hello")), response: hex(utf8("world")) }, "0x54ff40b9165bc013d79cc6a608270dfe7ab5815364ade2f7be770e86d4504f84");
  assert.equal(dataHash(utf8("hello"), utf8("world")), file.vectors.at(-1).ok);
  add("boundary-left", "the length prefix keeps request and response apart", ["Boundary"], utf8("ab"), utf8("c"));
  add("boundary-right", "the same concatenation, cut elsewhere", ["Boundary"], utf8("a"), utf8("bc"));
  add("response-only", "an empty request", ["Empty"], none, utf8("abc"));
  add("request-only", "an empty response", ["Empty"], utf8("abc"), none);
  add("length-256", "a length that needs the second byte of the prefix", ["Boundary"], stream("concord/vectors/request", 256), stream("concord/vectors/response", 32));
  add("json", "a JSON exchange", ["Typical"], utf8("/weather?city=London&units=metric"), utf8('{"temperature":11.5}'));
}

{
  const prefix = new VectorFile("request_length_prefix", {
    description: "The data hash's length prefix for a request of a declared length (X402 §1).",
    packages: [],
  });
  for (const length of [0n, 1n, 255n, 256n, 65535n, 65536n, 2n ** 24n, 2n ** 32n - 1n]) {
    prefix.ok(`length-${length}`, "four bytes, big-endian", ["Boundary"], { length: length.toString() }, hex(integer(length, 4)));
  }
  for (const length of [2n ** 32n, 2n ** 32n + 1n, 2n ** 64n - 1n]) {
    prefix.error(`length-${length}`, "more than four bytes can count", ["Boundary"], { length: length.toString() }, "RequestTooLong");
  }
  const zeros = new VectorFile("data_hash_of_zeros", {
    description: "data_hash of a request of zero bytes and an empty response, for lengths that would fill a file. Not an oracle function: read by the crate's tests.",
    packages,
  });
  for (const length of [65535, 65536, 1 << 20]) {
    zeros.ok(`length-${length}`, "a length that needs another byte of the prefix", ["Boundary"], { length: String(length) }, dataHash(new Uint8Array(length), new Uint8Array()));
  }
}

{
  const file = new VectorFile("interaction_hash", {
    description: "X402 §1: keccak256(profile ‖ UTF8(taskRef) ‖ dataHash), the profile being a version of the prefix (R24).",
    packages,
  });
  const DEFAULT = "x402:8004-reputation:v1";
  const hash = (profile, taskRef, data) => keccak(join(utf8(profile), utf8(taskRef), bytes(data)));
  const data = dataHash(utf8("hello"), utf8("world"));
  const evmTask = `eip155:84532:0x${"ab".repeat(32)}`;
  const solanaTask = `${svm.devnet}:${svm.signature}`;
  const short = `${svm.devnet}:sig`;
  file.ok("published", "computed beforehand with another Keccak; the transaction is judged by its shape only", ["Published", "Unchecked"], { task_ref: short, data_hash: data }, "0x1a96d2aff32b1fb97537205d4bb9a83bd2314f0322c66c92a516be2c759cc8e7");
  assert.equal(hash(DEFAULT, short, data), file.vectors.at(-1).ok);
  for (const [name, task] of [["evm", evmTask], ["solana", solanaTask]]) {
    file.ok(`${name}-default`, "no profile means the first", ["Typical"], { task_ref: task, data_hash: data }, hash(DEFAULT, task, data));
    for (const profile of [DEFAULT, "x402:reputation:v1"]) {
      file.ok(`${name}-${profile}`, "the profile named; it changes the prefix and nothing else", ["Typical"], { profile, task_ref: task, data_hash: data }, hash(profile, task, data));
    }
  }
  const upper = `eip155:84532:0x${"AB".repeat(32)}`;
  file.ok("upper-case", "the hash is over the exact text, not over the dedupe key", ["CaseSensitive"], { task_ref: upper, data_hash: data }, hash(DEFAULT, upper, data));
  file.ok("colon-in-transaction", "further colons belong to the transaction", ["Unchecked"], { task_ref: "cosmos:hub:a:b", data_hash: data }, hash(DEFAULT, "cosmos:hub:a:b", data));
  file.ok("zero-data-hash", "any 32 bytes", ["Unchecked"], { task_ref: evmTask, data_hash: `0x${"00".repeat(32)}` }, hash(DEFAULT, evmTask, "00".repeat(32)));
  for (const [id, comment, task] of [
    ["empty", "nothing at all", ""],
    ["one-part", "no colon", "eip155"],
    ["two-parts", "no transaction", "eip155:84532"],
    ["empty-namespace", "nothing before the first colon", ":84532:0xab"],
    ["empty-reference", "nothing between the colons", "eip155::0xab"],
    ["empty-transaction", "nothing after the second colon", "eip155:84532:"],
    ["control-character", "a line break", "eip155:84532:0xab\n"],
    ["nul", "a NUL byte", "eip155:84532:0x\u0000"],
    ["not-ascii", "a letter beyond ASCII", "eip155:84532:0xé"],
  ]) {
    file.error(id, `task reference: ${comment}`, ["Shape"], { task_ref: task, data_hash: data }, "MalformedTaskRef");
  }
  file.error("short-data-hash", "31 bytes", ["Request", "Truncated"], { task_ref: evmTask, data_hash: `0x${"11".repeat(31)}` }, "BadRequest");
  file.error("long-data-hash", "33 bytes", ["Request", "TooLong"], { task_ref: evmTask, data_hash: `0x${"11".repeat(33)}` }, "BadRequest");
  file.error("unknown-profile", "a version that does not exist", ["Request"], { profile: "x402:reputation:v2", task_ref: evmTask, data_hash: data }, "BadRequest");
}

{
  const file = new VectorFile("reviewer_message", {
    description: "X402 §2: keccak256(agentRegistry ‖ 0 ‖ agentId ‖ 0 ‖ taskRef ‖ 0 ‖ dataHash ‖ int128_be(value) ‖ uint8(valueDecimals) ‖ tag1 ‖ 0 ‖ tag2).",
    packages,
  });
  const nul = new Uint8Array([0]);
  const base = {
    agent_registry: `eip155:84532:${evm.identityRegistry}`,
    agent_id: "42",
    task_ref: `eip155:84532:0x${"ab".repeat(32)}`,
    data_hash: dataHash(utf8("hello"), utf8("world")),
    value: 95,
    value_decimals: 0,
    tag1: "x402-resource-delivered",
    tag2: "proof-of-participation",
  };
  const message = (v) =>
    keccak(join(
      utf8(v.agent_registry), nul, utf8(v.agent_id), nul, utf8(v.task_ref), nul, bytes(v.data_hash),
      integer(v.value, 16), integer(v.value_decimals, 1), utf8(v.tag1 ?? ""), nul, utf8(v.tag2 ?? ""),
    ));
  const add = (id, comment, flags, change) => {
    const args = { ...base, ...change };
    for (const key of Object.keys(args)) if (args[key] === undefined) delete args[key];
    file.ok(id, comment, flags, args, message(args));
  };
  add("typical", "X402's own example on Base Sepolia", ["Typical"], {});
  add("solana", "registry, agent and payment on Solana", ["Typical"], { agent_registry: `${svm.devnet}:${svm.program}`, agent_id: svm.mint, task_ref: `${svm.devnet}:${svm.signature}` });
  add("no-tags", "absent tags are empty strings", ["Empty"], { tag1: undefined, tag2: undefined });
  add("empty-tags", "empty tags, the same bytes as absent ones", ["Empty"], { tag1: "", tag2: "" });
  add("one-tag", "the separator stays", ["Boundary"], { tag1: "", tag2: "x402-resource-delivered" });
  add("negative", "int128 in two's complement", ["Boundary"], { value: -1 });
  add("value-as-text", "every integer may be given as a decimal string", ["Unchecked"], { value: "95", value_decimals: "0" });
  add("int128-max", "the largest int128", ["Boundary"], { value: (2n ** 127n - 1n).toString() });
  add("int128-min", "the smallest int128", ["Boundary"], { value: (-(2n ** 127n)).toString() });
  add("beyond-registry-bounds", "bounds of value and decimals are the registry's matter", ["Unchecked"], { value: (10n ** 38n + 1n).toString(), value_decimals: 255 });
  add("unicode-tag", "tags are UTF-8", ["Unicode"], { tag1: "très bon", tag2: "日本" });
  add("tag-32", "a tag of 32 bytes", ["Boundary"], { tag1: "t".repeat(32) });
  const refuse = (id, comment, flags, change, errorClass) => file.error(id, comment, flags, { ...base, ...change }, errorClass);
  refuse("nul-in-tag1", "a tag with a NUL byte", ["Shape"], { tag1: "a\u0000b" }, "MalformedTag");
  refuse("nul-in-tag2", "a tag with a NUL byte", ["Shape"], { tag2: "\u0000" }, "MalformedTag");
  refuse("task-ref", "a task reference without a transaction", ["Shape"], { task_ref: "eip155:84532" }, "MalformedTaskRef");
  refuse("value-beyond-int128", "one more than an int128 holds", ["Boundary"], { value: (2n ** 127n).toString() }, "NumberOutOfRange");
  refuse("value-below-int128", "one less than an int128 holds", ["Boundary"], { value: (-(2n ** 127n) - 1n).toString() }, "NumberOutOfRange");
  refuse("decimals-256", "one more than a uint8 holds", ["Request", "Boundary"], { value_decimals: 256 }, "NumberOutOfRange");
  refuse("decimals-negative", "a uint8 has no sign", ["Request", "Boundary"], { value_decimals: -1 }, "NumberOutOfRange");
}

{
  const file = new VectorFile("revoke_message", {
    description: "keccak256(\"ERC8004/REVOKE/v1\" ‖ 0 ‖ agentRegistry ‖ 0 ‖ agentId ‖ 0 ‖ taskRef ‖ 0 ‖ reviewerAddress ‖ 0 ‖ feedbackHash) (R58).",
    packages,
  });
  const nul = new Uint8Array([0]);
  const base = {
    agent_registry: `eip155:84532:${evm.identityRegistry}`,
    agent_id: "42",
    task_ref: `eip155:84532:0x${"ab".repeat(32)}`,
    reviewer_address: evm.client.address,
    feedback_hash: keccak(utf8("{}")),
  };
  const message = (v) =>
    keccak(join(
      utf8("ERC8004/REVOKE/v1"), nul, utf8(v.agent_registry), nul, utf8(v.agent_id), nul, utf8(v.task_ref), nul,
      utf8(v.reviewer_address), nul, bytes(v.feedback_hash),
    ));
  const add = (id, comment, flags, change) => { const args = { ...base, ...change }; file.ok(id, comment, flags, args, message(args)); };
  add("typical", "a review on Base Sepolia", ["Typical"], {});
  add("solana", "registry, agent, payment and reviewer on Solana", ["Typical"], { agent_registry: `${svm.devnet}:${svm.program}`, agent_id: svm.mint, task_ref: `${svm.devnet}:${svm.signature}`, reviewer_address: svm.client });
  add("lower-case-reviewer", "the address is hashed as given", ["CaseSensitive"], { reviewer_address: evm.client.address.toLowerCase() });
  for (const [field, value] of Object.entries({ agent_registry: `eip155:8453:${evm.identityRegistry}`, agent_id: "43", task_ref: `eip155:84532:0x${"ac".repeat(32)}`, reviewer_address: evm.owner.address, feedback_hash: keccak(utf8("[]")) })) {
    add(`other-${field}`, "one field differs", ["Typical"], { [field]: value });
  }
  const refuse = (id, comment, flags, change, errorClass) => file.error(id, comment, flags, { ...base, ...change }, errorClass);
  refuse("nul-in-registry", "a registry with a NUL byte", ["Shape"], { agent_registry: "eip155\u0000" }, "MalformedAccountId");
  refuse("nul-in-agent", "an agent id with a NUL byte", ["Shape"], { agent_id: "4\u00002" }, "MalformedFeedbackId");
  refuse("nul-in-reviewer", "an address with a NUL byte", ["Shape"], { reviewer_address: "\u0000" }, "MalformedAddress");
  refuse("task-ref", "a task reference without a transaction", ["Shape"], { task_ref: "eip155:84532" }, "MalformedTaskRef");
  refuse("short-hash", "31 bytes", ["Request", "Truncated"], { feedback_hash: `0x${"11".repeat(31)}` }, "BadRequest");
  refuse("long-hash", "33 bytes", ["Request", "TooLong"], { feedback_hash: `0x${"11".repeat(33)}` }, "BadRequest");
}

{
  const file = new VectorFile("respond_message", {
    description: "keccak256(\"ERC8004/RESPOND/v1\" ‖ 0 ‖ agentRegistry ‖ 0 ‖ agentId ‖ 0 ‖ taskRef ‖ 0 ‖ reviewerAddress ‖ 0 ‖ responseURI ‖ 0 ‖ feedbackHash ‖ responseHash) (R58).",
    packages,
  });
  const nul = new Uint8Array([0]);
  const base = {
    agent_registry: `eip155:84532:${evm.identityRegistry}`,
    agent_id: "42",
    task_ref: `eip155:84532:0x${"ab".repeat(32)}`,
    reviewer_address: evm.client.address,
    response_uri: "https://agent.example/response.json",
    feedback_hash: keccak(utf8("{}")),
    response_hash: keccak(utf8("[]")),
  };
  const message = (v) =>
    keccak(join(
      utf8("ERC8004/RESPOND/v1"), nul, utf8(v.agent_registry), nul, utf8(v.agent_id), nul, utf8(v.task_ref), nul,
      utf8(v.reviewer_address), nul, utf8(v.response_uri), nul, bytes(v.feedback_hash), bytes(v.response_hash),
    ));
  const add = (id, comment, flags, change) => { const args = { ...base, ...change }; file.ok(id, comment, flags, args, message(args)); };
  add("typical", "a response on Base Sepolia", ["Typical"], {});
  add("solana", "registry, agent, payment and reviewer on Solana", ["Typical"], { agent_registry: `${svm.devnet}:${svm.program}`, agent_id: svm.mint, task_ref: `${svm.devnet}:${svm.signature}`, reviewer_address: svm.client });
  add("unicode-uri", "the URI is UTF-8", ["Unicode"], { response_uri: "https://agent.example/日本" });
  const others = { agent_registry: `eip155:8453:${evm.identityRegistry}`, agent_id: "43", task_ref: `eip155:84532:0x${"ac".repeat(32)}`, reviewer_address: evm.owner.address, response_uri: "ipfs://response", feedback_hash: keccak(utf8("[]")), response_hash: keccak(utf8("{}")) };
  for (const [field, value] of Object.entries(others)) {
    add(`other-${field}`, "one field differs", ["Typical"], { [field]: value });
  }
  const refuse = (id, comment, flags, change, errorClass) => file.error(id, comment, flags, { ...base, ...change }, errorClass);
  refuse("nul-in-registry", "a registry with a NUL byte", ["Shape"], { agent_registry: "eip155\u0000" }, "MalformedAccountId");
  refuse("nul-in-agent", "an agent id with a NUL byte", ["Shape"], { agent_id: "4\u00002" }, "MalformedFeedbackId");
  refuse("nul-in-reviewer", "an address with a NUL byte", ["Shape"], { reviewer_address: "\u0000" }, "MalformedAddress");
  refuse("nul-in-uri", "a URI with a NUL byte", ["Shape"], { response_uri: "a\u0000b" }, "LengthLimit");
  refuse("task-ref", "a task reference without a transaction", ["Shape"], { task_ref: "eip155:84532" }, "MalformedTaskRef");
  refuse("short-feedback-hash", "31 bytes", ["Request", "Truncated"], { feedback_hash: `0x${"11".repeat(31)}` }, "BadRequest");
  refuse("long-feedback-hash", "33 bytes", ["Request", "TooLong"], { feedback_hash: `0x${"11".repeat(33)}` }, "BadRequest");
  refuse("short-response-hash", "31 bytes", ["Request", "Truncated"], { response_hash: `0x${"11".repeat(31)}` }, "BadRequest");
  refuse("long-response-hash", "33 bytes", ["Request", "TooLong"], { response_hash: `0x${"11".repeat(33)}` }, "BadRequest");
}

{
  const file = new VectorFile("receipt", {
    description: "keccak256(\"ERC8004/RECEIPT/v1\" ‖ previous ‖ keccak256(key) ‖ payloadDigest ‖ uint64_be(acceptedAt)) (R57).",
    packages,
  });
  const base = {
    previous: `0x${"00".repeat(32)}`,
    key: `eip155:84532:0x${"ab".repeat(32)}:eip155:84532:${evm.client.address.toLowerCase()}`,
    payload_digest: keccak(utf8("{}")),
    accepted_at: 1760000000,
  };
  const receipt = (v) => keccak(join(utf8("ERC8004/RECEIPT/v1"), bytes(v.previous), bytes(keccak(utf8(v.key))), bytes(v.payload_digest), integer(v.accepted_at, 8)));
  const add = (id, comment, flags, change) => { const args = { ...base, ...change }; file.ok(id, comment, flags, args, receipt(args)); };
  add("first", "the first receipt follows zeros", ["Typical"], {});
  add("second", "a receipt commits to the one before it", ["Ordering"], { previous: file.vectors[0].ok, accepted_at: 1760000001 });
  add("solana", "payment and payer on Solana", ["Typical"], { key: `${svm.devnet}:${svm.signature}:${svm.devnet}:${svm.client}` });
  add("empty-key", "the receipt does not judge the key", ["Empty"], { key: "" });
  add("unicode-key", "the key is UTF-8", ["Unicode"], { key: "日本" });
  add("smallest-time", "time 0", ["Boundary"], { accepted_at: 0 });
  add("largest-time", "the maximum of a u64", ["Boundary"], { accepted_at: (2n ** 64n - 1n).toString() });
  add("other-payload", "one field differs", ["Typical"], { payload_digest: keccak(utf8("[]")) });
  const refuse = (id, comment, flags, change, errorClass) => file.error(id, comment, flags, { ...base, ...change }, errorClass);
  refuse("time-2-64", "one more than a u64 holds", ["Request", "Boundary"], { accepted_at: (2n ** 64n).toString() }, "NumberOutOfRange");
  refuse("short-previous", "31 bytes", ["Request", "Truncated"], { previous: `0x${"00".repeat(31)}` }, "BadRequest");
  refuse("long-digest", "33 bytes", ["Request", "TooLong"], { payload_digest: `0x${"00".repeat(33)}` }, "BadRequest");
}
