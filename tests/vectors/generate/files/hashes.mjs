// Which scheme made a hash. agent0-sdk's own files and hashes are on record in ../published/agent0.json; the others are @noble's.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { sha256 } from "@noble/hashes/sha2.js";
import canonicalize from "canonicalize";
import { VectorFile } from "../vector_file.mjs";
import { hex, utf8 } from "../bytes.mjs";
import { keccak } from "./form.mjs";

const file = new VectorFile("files/hash_scheme", {
  description: "identify_hash: the scheme by which a hash was made of a file, or null.",
  packages: ["canonicalize", "@noble/hashes"],
});
const { records } = JSON.parse(readFileSync(new URL("../published/agent0.json", import.meta.url), "utf8"));
const ask = (id, comment, flags, text, hash, scheme) => file.ok(id, comment, flags, { text, hash }, scheme);

for (const { name, comment, typescript, python } of records) {
  const jcs = keccak(utf8(canonicalize(JSON.parse(typescript.uploaded))));
  // without nested objects its hash is the canonical one, which is named first
  ask(`agent0-ts-${name}`, comment, ["Published"], typescript.uploaded, typescript.hash, typescript.hash === jcs ? "keccak256-jcs" : "agent0-ts");
  ask(`agent0-py-${name}`, comment, ["Published"], python.uploaded, python.hash, "agent0-py");
  ask(`raw-${name}`, "the uploaded bytes", ["Typical"], python.uploaded, keccak(utf8(python.uploaded)), "keccak256-raw");
  ask(`jcs-${name}`, "the canonical form of what was uploaded", ["Typical"], python.uploaded, keccak(utf8(canonicalize(JSON.parse(python.uploaded)))), "keccak256-jcs");
  ask(`sha256-${name}`, "SHA-256 of the bytes", ["Typical"], typescript.uploaded, hex(sha256(utf8(typescript.uploaded))), "sha256-raw");
  ask(`sha256-jcs-${name}`, "SHA-256 of the canonical form", ["Typical"], typescript.uploaded, hex(sha256(utf8(canonicalize(JSON.parse(typescript.uploaded))))), "sha256-jcs");
  assert.equal(canonicalize(JSON.parse(typescript.uploaded)), canonicalize(JSON.parse(python.uploaded)), name);
}
const [facts, other] = records;
assert.equal(file.vectors.filter((vector) => vector.ok === "agent0-ts").length, 3);
assert.equal(facts.typescript.hash, other.typescript.hash);
ask("agent0-ts-unbound", "agent0-ts's hash of one payment is its hash of any other", ["Malleable"], other.typescript.uploaded, facts.typescript.hash, "agent0-ts");
ask("agent0-py-bound", "agent0-py's is not", ["WrongMessage"], other.python.uploaded, facts.python.hash, null);
const canonical = canonicalize(JSON.parse(facts.typescript.uploaded));
ask("canonical", "a file stored canonically: X402's hash and ERC-8004's are one number (R21)", ["Typical"], canonical, keccak(utf8(canonical)), "keccak256-jcs");
ask("not-json", "bytes of another kind", ["Unchecked"], "not JSON", keccak(utf8("not JSON")), "keccak256-raw");
ask("not-json-sha256", "the same by SHA-256", ["Unchecked"], "not JSON", hex(sha256(utf8("not JSON"))), "sha256-raw");
ask("zero", "a hash that states nothing", ["Empty"], facts.typescript.uploaded, `0x${"00".repeat(32)}`, null);
ask("other", "another file's hash", ["WrongMessage"], facts.typescript.uploaded, keccak(utf8("another file")), null);
