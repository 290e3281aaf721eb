// The package's own types: bytes, wide integers, errors, and what stays in memory.
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, hexToBytes } from "@noble/hashes/utils.js";
import { hashTypedData } from "viem";
import { CanonicalError, load } from "../dist/index.js";

const canonical = await load();
const hex = (bytes) => `0x${bytesToHex(bytes)}`;

test("takes bytes as an array or as hexadecimal", () => {
  const data = new TextEncoder().encode("concord");
  const expected = hex(keccak_256(data));
  for (const form of [data, hex(data), bytesToHex(data)]) assert.equal(canonical.keccak256({ data: form }), expected);
});

test("R5: hashes a FeedbackAuth as viem does, with integers beyond 53 bits", () => {
  const verifyingContract = "0x8004B663056A597Dffe9eCcC1965A193B7388713";
  const fields = {
    agentId: 2n ** 200n + 7n,
    clientAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    indexLimit: 2n ** 63n + 1n,
    expiry: 1_900_000_000n,
    chainId: 84532n,
    identityRegistry: "0x8004A818BFB912233c491871b3d84c89A494BD9e",
    signerAddress: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
  };
  const types = {
    FeedbackAuth: [
      { name: "agentId", type: "uint256" },
      { name: "clientAddress", type: "address" },
      { name: "indexLimit", type: "uint64" },
      { name: "expiry", type: "uint256" },
      { name: "chainId", type: "uint256" },
      { name: "identityRegistry", type: "address" },
      { name: "signerAddress", type: "address" },
    ],
  };
  const digest = hashTypedData({
    domain: { name: "ERC8004ReputationRegistry", version: "1", chainId: 84532, verifyingContract },
    types,
    primaryType: "FeedbackAuth",
    message: fields,
  });
  assert.deepEqual(canonical.feedbackAuth({ scheme: "eip712", verifyingContract, ...fields }), { digest });
});

test("gives wide integers back as bigint", () => {
  const entry = (value) => ({ client: "a", value, valueDecimals: 0, tag1: "", tag2: "", revoked: false });
  const query = { clients: ["a"], tag1: "", tag2: "" };
  const value = 10n ** 38n;
  assert.deepEqual(canonical.summary({ feedback: [entry(value)], query }), { count: 1, value, valueDecimals: 0 });
});

test("signs what noble verifies, and verifies what noble signs", () => {
  const secretKey = hexToBytes("11".repeat(32));
  const digest = keccak_256(new TextEncoder().encode("message"));
  const signature = canonical.sign({ algorithm: "secp256k1", message: digest, secretKey });
  const compact = hexToBytes(signature.slice(2, 130));
  const publicKey = secp256k1.getPublicKey(secretKey);
  assert.ok(secp256k1.verify(compact, digest, publicKey, { prehash: false }));
  const theirs = ed25519.sign(digest, secretKey);
  const signer = ed25519.getPublicKey(secretKey);
  assert.equal(canonical.verify({ algorithm: "ed25519", message: digest, signature: theirs, signer }), true);
});

test("throws the class of the rule that was broken, and names no secret", () => {
  const refused = (call, errorClass) =>
    assert.throws(call, (fault) => fault instanceof CanonicalError && fault.errorClass === errorClass);
  refused(() => canonical.tag({ text: "x".repeat(33), encoding: "padded" }), "MalformedTag");
  refused(() => canonical.keccak256({ data: "0x1" }), "BadRequest");
  refused(() => canonical.keccak256({ data: "0x", extra: 1 }), "BadRequest");
  const secretKey = `${"ab".repeat(31)}xy`;
  try {
    canonical.sign({ algorithm: "ed25519", message: "0x", secretKey });
    assert.fail("a secret key that is not hexadecimal was taken");
  } catch (fault) {
    assert.ok(!fault.message.includes("abab"), fault.message);
  }
});

test("leaves no secret in the module's memory, and does not grow with calls", async () => {
  const bytes = fs.readFileSync(new URL("../dist/canonical.wasm", import.meta.url));
  let memory;
  const { instantiate } = WebAssembly;
  WebAssembly.instantiate = async (...args) => {
    const instance = await instantiate(...args);
    memory = instance.exports.memory;
    return instance;
  };
  const fresh = await load(bytes).finally(() => (WebAssembly.instantiate = instantiate));
  const secretKey = "c0ffee".repeat(10) + "beef";
  const sign = () => fresh.sign({ algorithm: "ed25519", message: "0x00", secretKey });
  sign();
  const size = memory.buffer.byteLength;
  for (let i = 0; i < 500; i++) sign();
  assert.equal(memory.buffer.byteLength, size);
  const text = Buffer.from(memory.buffer);
  assert.equal(text.indexOf(secretKey), -1, "the request's text");
  assert.equal(text.indexOf(Buffer.from(secretKey, "hex")), -1, "the key's bytes");
});

test("loads from a compiled module, as edge runtimes need it", async () => {
  const module = new WebAssembly.Module(fs.readFileSync(new URL("../dist/canonical.wasm", import.meta.url)));
  assert.deepEqual(WebAssembly.Module.imports(module), []);
  const other = await load(module);
  assert.equal(other.sha256({ data: "0x616263" }), canonical.sha256({ data: "0x616263" }));
});

test("no module imports anything, so that both run without a line of JavaScript from a package", () => {
  for (const name of ["canonical", "explain"]) {
    const module = new WebAssembly.Module(fs.readFileSync(new URL(`../dist/${name}.wasm`, import.meta.url)));
    assert.deepEqual(WebAssembly.Module.imports(module), [], name);
  }
});
