// Speed of @concord/canonical beside viem and noble, in one process: node canonical/typescript/bench.mjs (after build).
// Prints a Markdown table; microseconds are the median of 9 rounds, taken by turns.
import fs from "node:fs";
import zlib from "node:zlib";
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { hexToBytes } from "@noble/hashes/utils.js";
import { hashTypedData } from "viem";
import { load } from "./dist/index.js";

const canonical = await load();
const bytes = new Uint8Array(1024).fill(7);
const secretKey = hexToBytes("11".repeat(32));
const digest = keccak_256(bytes);
const signature = secp256k1.sign(digest, secretKey, { prehash: false, format: "recovered" });
const compact = secp256k1.sign(digest, secretKey, { prehash: false });
const rsv = Uint8Array.of(...compact, signature[0]);
const publicKey = secp256k1.getPublicKey(secretKey);
const edSignature = ed25519.sign(digest, secretKey);
const edKey = ed25519.getPublicKey(secretKey);
const verifyingContract = "0x8004B663056A597Dffe9eCcC1965A193B7388713";
const fields = {
  agentId: 42n,
  clientAddress: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
  indexLimit: 5n,
  expiry: 1_900_000_000n,
  chainId: 84532n,
  identityRegistry: "0x8004A818BFB912233c491871b3d84c89A494BD9e",
  signerAddress: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
};
const names = Object.entries({ agentId: "uint256", clientAddress: "address", indexLimit: "uint64", expiry: "uint256" });
const more = Object.entries({ chainId: "uint256", identityRegistry: "address", signerAddress: "address" });
const FeedbackAuth = [...names, ...more].map(([name, type]) => ({ name, type }));
const typed = {
  domain: { name: "ERC8004ReputationRegistry", version: "1", chainId: 84532, verifyingContract },
  types: { FeedbackAuth },
  primaryType: "FeedbackAuth",
  message: fields,
};

const CASES = [
  ["keccak256, 1 KiB", () => canonical.keccak256({ data: bytes }), "@noble/hashes", () => keccak_256(bytes)],
  ["SHA-256, 1 KiB", () => canonical.sha256({ data: bytes }), "@noble/hashes", () => sha256(bytes)],
  [
    "digest of a FeedbackAuth (EIP-712)",
    () => canonical.feedbackAuth({ scheme: "eip712", verifyingContract, ...fields }),
    "viem",
    () => hashTypedData(typed),
  ],
  [
    "sign, secp256k1",
    () => canonical.sign({ algorithm: "secp256k1", message: digest, secretKey }),
    "@noble/curves",
    () => secp256k1.sign(digest, secretKey, { prehash: false }),
  ],
  [
    "verify, secp256k1",
    () => canonical.verify({ algorithm: "secp256k1", message: digest, signature: rsv, signer: publicKey }),
    "@noble/curves",
    () => secp256k1.verify(compact, digest, publicKey, { prehash: false }),
  ],
  [
    "sign, Ed25519",
    () => canonical.sign({ algorithm: "ed25519", message: digest, secretKey }),
    "@noble/curves",
    () => ed25519.sign(digest, secretKey),
  ],
  [
    "verify, Ed25519",
    () => canonical.verify({ algorithm: "ed25519", message: digest, signature: edSignature, signer: edKey }),
    "@noble/curves",
    () => ed25519.verify(edSignature, digest, edKey, { zip215: false }),
  ],
];

function microseconds(call, times) {
  const start = process.hrtime.bigint();
  for (let i = 0; i < times; i++) call();
  return Number(process.hrtime.bigint() - start) / 1000 / times;
}

const median = (rounds) => rounds.sort((a, b) => a - b)[Math.floor(rounds.length / 2)];

console.log("| operation | `@concord/canonical`, µs | beside it | µs | ratio |\n|---|---|---|---|---|");
for (const [name, ours, other, theirs] of CASES) {
  const rounds = { ours: [], theirs: [] };
  for (const call of [ours, theirs]) microseconds(call, 50);
  for (let round = 0; round < 9; round++) {
    rounds.ours.push(microseconds(ours, 100));
    rounds.theirs.push(microseconds(theirs, 100));
  }
  const [a, b] = [median(rounds.ours), median(rounds.theirs)];
  console.log(`| ${name} | ${a.toFixed(1)} | ${other} | ${b.toFixed(1)} | ${(a / b).toFixed(2)} |`);
}
const wasm = fs.readFileSync(new URL("dist/canonical.wasm", import.meta.url));
console.log(`\ncanonical.wasm: ${wasm.length} bytes, ${zlib.gzipSync(wasm, { level: 9 }).length} compressed by gzip`);
