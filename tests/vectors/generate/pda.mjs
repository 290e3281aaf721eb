// Program-derived addresses of SPEC §3b. Oracle: @solana/web3.js.
import assert from "node:assert/strict";
import { PublicKey } from "@solana/web3.js";
import { sha256 } from "@noble/hashes/sha2.js";
import { base58 } from "@scure/base";
import { block, bytes, utf8 } from "./bytes.mjs";
import { svm } from "./actors.mjs";
import { VectorFile } from "./vector_file.mjs";

const file = new VectorFile("pda", { description: "Program-derived addresses: seeds of SPEC §3b, the first bump from 255 down that leaves the curve.", packages: ["@solana/web3.js", "@noble/hashes"] });
const key = (text) => new PublicKey(text).toBytes();
const index = (value) => { const out = Buffer.alloc(8); out.writeBigUInt64LE(BigInt(value)); return out; };
const prefix = (hash) => bytes(hash).slice(0, 8);
const SEEDS = {
  registry: () => [],
  mint: (a) => [key(a.payer), index(a.nonce)],
  agent: (a) => [key(a.mint)],
  metadata: (a) => [key(a.mint), sha256(utf8(a.key))],
  feedback: (a) => [key(a.mint), key(a.client), index(a.index)],
  open_feedback: (a) => [key(a.mint), key(a.client), index(a.index)],
  client: (a) => [key(a.mint), key(a.client)],
  open_client: (a) => [key(a.mint), key(a.client)],
  val_request: (a) => [key(a.mint), key(a.validator), prefix(a.request_hash)],
  val_response: (a) => [key(a.mint), key(a.validator), prefix(a.request_hash)],
  spent: (a) => [bytes(a.hash), key(a.payer)],
};
const add = (id, comment, flags, account, args, program_id = svm.program) => {
  const seeds = [utf8(account), ...SEEDS[account](args)];
  const [address, bump] = PublicKey.findProgramAddressSync(seeds, new PublicKey(program_id));
  file.ok(`${account}-${id}`, comment, flags, { program_id, account, ...args }, { address: address.toBase58(), bump });
  return bump;
};

const hash = `0x${"11".repeat(8)}${"22".repeat(24)}`;
const sameEightBytes = `0x${"11".repeat(8)}${"33".repeat(24)}`;
const { mint, client, validator } = svm;
add("typical", "one for each program", ["Typical"], "registry", {});
add("other-program", "another program", ["Typical"], "registry", {}, svm.token);
for (const n of [0, 1, 255, 256, 65536]) add(`nonce-${n}`, "the nonce is a u64, little-endian", ["Boundary"], "mint", { payer: client, nonce: n });
add("nonce-max", "the largest u64", ["Boundary"], "mint", { payer: client, nonce: (2n ** 64n - 1n).toString() });
add("other-payer", "each payer has mints of their own", ["Typical"], "mint", { payer: validator, nonce: 0 });
add("typical", "an agent", ["Typical"], "agent", { mint });
add("zero-mint", "a mint of 32 zero bytes", ["Boundary"], "agent", { mint: "1".repeat(32) });
for (const name of ["name", "x402Support", "", "k".repeat(32), "clé"]) add(`key-${name.length}-${name === "" ? "empty" : name.slice(0, 8)}`, "the seed is the key's SHA-256", name === "" ? ["Empty"] : ["Typical"], "metadata", { mint, key: name });
for (const account of ["feedback", "open_feedback"]) {
  for (const n of [1, 2, 255, 256, 65536]) add(`index-${n}`, "the index is a u64, little-endian", ["Boundary"], account, { mint, client, index: n });
  add("index-max", "the largest u64", ["Boundary"], account, { mint, client, index: (2n ** 64n - 1n).toString() });
}
for (const account of ["client", "open_client"]) {
  add("typical", "a client's last index", ["Typical"], account, { mint, client });
  add("swapped", "the order of the seeds counts", ["Ordering"], account, { mint: client, client: mint });
}
for (const account of ["val_request", "val_response"]) {
  add("typical", "the first eight bytes of the request hash", ["Typical"], account, { mint, validator, request_hash: hash });
  add("prefix", "a hash with the same first eight bytes has the same address", ["Boundary"], account, { mint, validator, request_hash: sameEightBytes });
  assert.deepEqual(file.vectors.at(-1).ok, file.vectors.at(-2).ok);
  add("zero", "a request hash of zero is allowed", ["Boundary"], account, { mint, validator, request_hash: `0x${"00".repeat(32)}` });
}
add("typical", "a payment that counted", ["Typical"], "spent", { hash: `0x${"ab".repeat(32)}`, payer: client });
add("other-payer", "another payer of the same transaction", ["Typical"], "spent", { hash: `0x${"ab".repeat(32)}`, payer: validator });
// every bump from 255 to 250: mints chosen until each has occurred
const bumps = new Set();
for (let n = 0; bumps.size < 6; n += 1) {
  const args = { mint: base58.encode(block("concord/vectors/pda", n)) };
  const [, bump] = PublicKey.findProgramAddressSync([utf8("agent"), key(args.mint)], new PublicKey(svm.program));
  if (bump < 250 || bumps.has(bump)) continue;
  bumps.add(bump);
  assert.equal(add(`bump-${bump}`, "a derivation that passes over points of the curve", ["Typical"], "agent", args), bump);
}

file.error("program-id", "a program id of 31 bytes", ["Truncated"], { program_id: base58.encode(block("short").slice(1)), account: "registry" }, "MalformedAddress");
file.error("mint", "a mint that is an EVM address", ["Shape"], { program_id: svm.program, account: "agent", mint: `0x${"11".repeat(20)}` }, "MalformedAddress");
file.error("index-2-64", "one more than a u64 holds", ["Request", "Boundary"], { program_id: svm.program, account: "feedback", mint, client, index: (2n ** 64n).toString() }, "NumberOutOfRange");
file.error("request-hash-8", "the whole hash is an argument", ["Request", "Truncated"], { program_id: svm.program, account: "val_request", mint, validator, request_hash: `0x${"11".repeat(8)}` }, "BadRequest");
file.error("unknown-account", "an account that does not exist", ["Request"], { program_id: svm.program, account: "receipt", mint }, "BadRequest");
file.error("missing-index", "an entry needs its index", ["Request"], { program_id: svm.program, account: "feedback", mint, client }, "BadRequest");
file.error("extra-client", "an agent has no client", ["Request"], { program_id: svm.program, account: "agent", mint, client }, "BadRequest");
file.error("nonce-2-64", "one more than a u64 holds", ["Request", "Boundary"], { program_id: svm.program, account: "mint", payer: client, nonce: (2n ** 64n).toString() }, "NumberOutOfRange");
file.error("spent-payer", "a payment has a payer", ["Request"], { program_id: svm.program, account: "spent", hash }, "BadRequest");
file.error("index-0", "indices count from 1, so the program makes no such entry", ["Request", "Boundary"], { program_id: svm.program, account: "feedback", mint, client, index: 0 }, "NumberOutOfRange");
file.error("open-index-0", "the same in the open profile", ["Request", "Boundary"], { program_id: svm.program, account: "open_feedback", mint, client, index: "0" }, "NumberOutOfRange");
file.error("key-33", "a metadata key of 33 bytes, which the program refuses", ["Request", "TooLong"], { program_id: svm.program, account: "metadata", mint, key: "k".repeat(33) }, "LengthLimit");
file.error("key-5000", "a metadata key of 5,000 bytes", ["Request", "TooLong"], { program_id: svm.program, account: "metadata", mint, key: "k".repeat(5000) }, "LengthLimit");
