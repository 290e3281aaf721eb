// secp256k1 and Ed25519 (R23). Oracles: RFC 8032's own vectors, published RFC 6979 vectors of secp256k1, @noble/curves,
// viem, and node's own Ed25519.
import assert from "node:assert/strict";
import { createPrivateKey, sign as nodeSign } from "node:crypto";
import { readFileSync } from "node:fs";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { sha256, sha512 } from "@noble/hashes/sha2.js";
import { serializeSignature, recoverAddress } from "viem";
import { privateKeyToAddress, sign as viemSign } from "viem/accounts";
import { block, bytes, hex, integer, join, stream, utf8 } from "./bytes.mjs";
import { evm } from "./actors.mjs";
import { VectorFile } from "./vector_file.mjs";

const packages = ["@noble/curves", "@noble/hashes", "viem"];
const sign = new VectorFile("sign", { description: "Signatures as this repository makes them: secp256k1 r ‖ s ‖ v over a 32-byte digest (RFC 6979, low-s, v 0 or 1), Ed25519 over a message (R23).", packages });
const verify = new VectorFile("verify", { description: "What verifies and what does not, by the kind of failure (R23).", packages });

const N = secp256k1.Point.Fn.ORDER;
const scalar = (value) => integer(value, 32);
const noPrehash = { prehash: false };

/** r ‖ s ‖ v, checked against viem. */
async function signSecp(secret, digest) {
  const recovered = secp256k1.sign(digest, secret, { ...noPrehash, format: "recovered" });
  const signature = join(recovered.slice(1), recovered.slice(0, 1));
  const { r, s, yParity } = await viemSign({ hash: hex(digest), privateKey: hex(secret) });
  assert.equal(hex(signature), hex(join(bytes(r), bytes(s), [yParity])));
  assert.ok(secp256k1.verify(signature.slice(0, 64), digest, secp256k1.getPublicKey(secret), { ...noPrehash, lowS: true }));
  return signature;
}

const address = (secret) => privateKeyToAddress(hex(secret)).toLowerCase();

// ---- secp256k1: making
const rfc6979 = [
  [1n, "Satoshi Nakamoto", "934b1ea10a4b3c1757e2b0c017d0b6143ce3c9a7e6a4a49860d7a6ab210ee3d82442ce9d2b916064108014783e923ec36b49743e2ffa1c4496f01a512aafd9e5"],
  [1n, "All those moments will be lost in time, like tears in rain. Time to die...", "8600dbd41e348fe5c9465ab92d23e3db8b98b873beecd930736488696438cb6b547fe64427496db33bf66019dacbf0039c04199abb0122918601db38a72cfc21"],
  [N - 1n, "Satoshi Nakamoto", "fd567d121db66e382991534ada77a6bd3106f0a1098c231e47993447cd6af2d06b39cd0eb1bc8603e159ef5c20a5c8ad685a45b06ce9bebed3f153d10d93bed5"],
  [BigInt("0xf8b8af8ce3c7cca5e300d33939540c10d45ce001b8f252bfbc57ba0342904181"), "Alan Turing", "7063ae83e7f62bbb171798131b4a0564b956930092b33b07b395615d9ec7e15c58dfcc1e00a35e1572f366ffe34ba0fc47db1e7189759b9fb233c5b05ab388ea"],
];
const secp = [];
for (const [n, [key, text, published]] of rfc6979.entries()) {
  const [secret, digest] = [scalar(key), sha256(utf8(text))];
  const signature = await signSecp(secret, digest);
  assert.equal(hex(signature.slice(0, 64)), `0x${published}`);
  secp.push({ id: `rfc6979-${n + 1}`, comment: `RFC 6979 over SHA-256 of "${text}", as published by the first wallets that used it; v by @noble/curves`, flags: ["Published"], secret, digest, signature });
}
for (const [id, comment, secret, digest] of [
  ["anvil", "the digest and key of the EIP-191 authorization of feedback_auth", bytes(evm.owner.secret), bytes("0xa1932d92cdbca8517f072ee66647404017533e7a2d593cc9e7198b48de525827")],
  ["digest-zero", "a digest of zero", bytes(evm.owner.secret), scalar(0n)],
  ["digest-order", "a digest equal to the group order, which reduces to zero", bytes(evm.owner.secret), scalar(N)],
  ["digest-max", "the largest digest", bytes(evm.owner.secret), new Uint8Array(32).fill(255)],
]) secp.push({ id, comment, flags: ["Boundary"], secret, digest, signature: await signSecp(secret, digest) });
for (let n = 0; n < 24; n += 1) {
  const [secret, digest] = [block("concord/vectors/secp256k1/secret", n), block("concord/vectors/secp256k1/digest", n)];
  secp.push({ id: `random-${n}`, comment: "a random key and digest", flags: ["Typical"], secret, digest, signature: await signSecp(secret, digest) });
}
assert.ok([0, 1].every((v) => secp.some(({ signature }) => signature[64] === v)));
for (const { id, comment, flags, secret, digest, signature } of secp) {
  sign.ok(`secp256k1-${id}`, comment, flags, { algorithm: "secp256k1", message: hex(digest), secret_key: hex(secret) }, hex(signature));
}
const digest32 = hex(block("digest"));
for (const [id, key] of [["zero", scalar(0n)], ["order", scalar(N)], ["order-plus-1", scalar(N + 1n)], ["max", new Uint8Array(32).fill(255)]]) {
  assert.ok(!secp256k1.utils.isValidSecretKey(key));
  sign.error(`secp256k1-secret-${id}`, "no scalar of the group", ["Boundary"], { algorithm: "secp256k1", message: digest32, secret_key: hex(key) }, "MalformedKey");
}
for (const length of [0, 31, 33]) sign.error(`secp256k1-secret-length-${length}`, `a secret of ${length} bytes`, ["Request", "Shape"], { algorithm: "secp256k1", message: digest32, secret_key: hex(stream("secret", length)) }, "MalformedKey");
for (const length of [0, 31, 33]) sign.error(`secp256k1-message-length-${length}`, `secp256k1 signs a digest of 32 bytes, not ${length}`, ["Request", "Shape"], { algorithm: "secp256k1", message: hex(stream("message", length)), secret_key: evm.owner.secret }, "BadRequest");

// ---- secp256k1: verifying
const secpCase = (id, comment, flags, args, errorClass) => {
  const vector = { algorithm: "secp256k1", message: hex(args.digest), signature: hex(args.signature), signer: typeof args.signer === "string" ? args.signer : hex(args.signer) };
  if (errorClass) verify.error(`secp256k1-${id}`, comment, flags, vector, errorClass);
  else verify.ok(`secp256k1-${id}`, comment, flags, vector, true);
};
for (const { id, comment, flags, secret, digest, signature } of secp) {
  const signers = { compressed: secp256k1.getPublicKey(secret, true), uncompressed: secp256k1.getPublicKey(secret, false), address: address(secret) };
  for (const [form, signer] of Object.entries(signers)) secpCase(`${id}-${form}`, `${comment}; ${form}`, flags, { digest, signature, signer });
}
const one = secp.find(({ id }) => id === "anvil");
const other = secp.find(({ id }) => id === "random-0");
const [r, s, v] = [one.signature.slice(0, 32), BigInt(hex(one.signature.slice(32, 64))), one.signature[64]];
const make = (newR, newS, newV) => join(newR, scalar(newS), [newV]);
const forms = (secret) => ({ key: secp256k1.getPublicKey(secret), address: address(secret) });
for (const [form, signer] of Object.entries(forms(one.secret))) {
  const refuse = (id, comment, flags, change, errorClass) => secpCase(`${id}-${form}`, comment, flags, { digest: one.digest, signature: one.signature, signer, ...change }, errorClass);
  refuse("high-s", "the other s of the same signature, with the v that belongs to it", ["Malleable"], { signature: make(r, N - s, 1 - v) }, "MalformedSignature");
  refuse("high-s-same-v", "the other s with the first v", ["Malleable"], { signature: make(r, N - s, v) }, "MalformedSignature");
  for (const value of [2, 3, 27, 28, 29, 35, 255]) refuse(`v-${value}`, "v is 0 or 1 off chain", value === 27 + v ? ["Malleable", "Boundary"] : ["Boundary"], { signature: make(r, s, value) }, "MalformedSignature");
  refuse("other-v", "the parity of the other point", ["Malleable"], { signature: make(r, s, 1 - v) }, "BadSignature");
  for (const [id, value] of [["zero", 0n], ["order", N], ["order-plus-1", N + 1n], ["max", 2n ** 256n - 1n]]) {
    refuse(`r-${id}`, "r is not a scalar of the group, or zero", ["Boundary"], { signature: make(scalar(value), s, v) }, "MalformedSignature");
    refuse(`s-${id}`, "s is not a scalar of the group, or zero", ["Boundary"], { signature: make(r, value, v) }, "MalformedSignature");
  }
  refuse("s-half", "the largest low s, of no valid signature", ["Boundary"], { signature: make(r, N >> 1n, v) }, "BadSignature");
  refuse("s-half-plus-1", "the smallest high s", ["Boundary"], { signature: make(r, (N >> 1n) + 1n, v) }, "MalformedSignature");
  refuse("r-no-point", "no point of the curve has this x", ["Shape"], { signature: make(scalar(5n), s, v) }, "BadSignature");
  refuse("other-digest", "another message", ["WrongMessage"], { digest: other.digest }, "BadSignature");
  refuse("other-signature", "another signature", ["WrongMessage"], { signature: other.signature }, "BadSignature");
  for (const length of [0, 1, 63, 64]) refuse(`length-${length}`, `${length} bytes`, ["Truncated"], { signature: one.signature.slice(0, length) }, "MalformedSignature");
  refuse("length-66", "66 bytes", ["TooLong"], { signature: join(one.signature, [0]) }, "MalformedSignature");
  for (const bit of [0, 7, 255, 256 + 8, 511]) {
    const flipped = one.signature.slice();
    flipped[bit >> 3] ^= 0x80 >> (bit & 7);
    const low = BigInt(hex(flipped.slice(32, 64))) <= N >> 1n && BigInt(hex(flipped.slice(0, 32))) < N;
    refuse(`flipped-bit-${bit}`, "one bit of r or s differs", ["WrongMessage"], { signature: flipped }, low ? "BadSignature" : "MalformedSignature");
  }
}
for (const [form, signer] of Object.entries(forms(other.secret))) secpCase(`wrong-${form}`, "another signer", ["WrongKey"], { ...one, signer }, "BadSignature");
const point = secp256k1.getPublicKey(one.secret, false);
for (const [id, comment, signer] of [
  ["empty", "no key", new Uint8Array()], ["19", "an address of 19 bytes", point.slice(1, 20)], ["21", "an address of 21 bytes", point.slice(1, 22)], ["32", "32 bytes", point.slice(1, 33)], ["64", "a point without its prefix", point.slice(1)], ["34", "34 bytes", join(secp256k1.getPublicKey(one.secret), [0])], ["66", "66 bytes", join(point, [0])],
  ["prefix-04-short", "the uncompressed prefix on 33 bytes", join([4], point.slice(1, 33))], ["prefix-05", "a compact key", join([5], point.slice(1, 33))], ["prefix-00", "the point at infinity's prefix", join([0], point.slice(1, 33))], ["prefix-02-long", "the compressed prefix on 65 bytes", join([2], point.slice(1))], ["hybrid-06", "a hybrid key", join([6 + (point[64] & 1)], point.slice(1))],
  ["no-point", "an x that no point has", join([2], scalar(5n))], ["x-p", "an x equal to the field's prime", join([2], scalar(2n ** 256n - 2n ** 32n - 977n))], ["off-curve", "a y of another point", join(point.slice(0, 64), [point[64] ^ 1])],
]) secpCase(`signer-${id}`, comment, ["Shape"], { ...one, signer }, "MalformedKey");
for (const length of [0, 31, 33]) verify.error(`secp256k1-message-length-${length}`, `a digest of ${length} bytes`, ["Request", "Shape"], { algorithm: "secp256k1", message: hex(stream("message", length)), signature: hex(one.signature), signer: hex(point) }, "BadRequest");

// s·R = z·G: recovery ends at the point at infinity, which is nobody's key
const infinity = (() => {
  const { Fn } = secp256k1.Point;
  for (let n = 1n; ; n += 1n) {
    const z = BigInt(hex(one.digest)) % N;
    const sum = Fn.mul(z, Fn.inv(n));
    if (sum > N >> 1n) continue;
    const { x, y } = secp256k1.Point.BASE.multiply(n).toAffine();
    return make(scalar(x), sum, Number(y & 1n));
  }
})();
assert.throws(() => secp256k1.Signature.fromBytes(infinity.slice(0, 64)).addRecoveryBit(infinity[64]).recoverPublicKey(one.digest));
for (const [form, signer] of Object.entries(forms(one.secret))) secpCase(`infinity-${form}`, "recovery ends at the point at infinity", ["Shape"], { digest: one.digest, signature: infinity, signer }, "BadSignature");

// ---- Ed25519
const L = ed25519.Point.Fn.ORDER;
const P = ed25519.Point.Fp.ORDER;
const little = (value, width = 32) => integer(value, width).reverse();
const fromLittle = (data) => BigInt(hex(data.slice().reverse()));

function signEd(seed, message) {
  const signature = ed25519.sign(message, seed);
  const pkcs8 = join(bytes("302e020100300506032b657004220420"), seed);
  const native = nodeSign(null, message, createPrivateKey({ key: Buffer.from(pkcs8), format: "der", type: "pkcs8" }));
  assert.equal(hex(signature), hex(native));
  return signature;
}
const ed = [];
for (const { name, secret_key, public_key, message, signature } of JSON.parse(readFileSync(new URL("./published/rfc8032.json", import.meta.url), "utf8")).vectors) {
  const [seed, data] = [bytes(secret_key), bytes(message)];
  assert.equal(hex(ed25519.getPublicKey(seed)), `0x${public_key}`);
  assert.equal(hex(signEd(seed, data)), `0x${signature}`, name);
  ed.push({ id: `rfc8032-${name.replace(/^TEST /, "").replace(/[()]/g, "-").replace(/-$/, "").toLowerCase()}`, comment: `RFC 8032 §7.1, ${name}`, flags: ["Published"], seed, message: data, signature: bytes(signature) });
}
for (let n = 0; n < 12; n += 1) {
  const [seed, message] = [block("concord/vectors/ed25519/seed", n), stream(`concord/vectors/ed25519/message/${n}`, [32, 56, 64, 0, 1, 200][n % 6])];
  ed.push({ id: `random-${n}`, comment: "a random key and message", flags: ["Typical"], seed, message, signature: signEd(seed, message) });
}
for (const { id, comment, flags, seed, message, signature } of ed) {
  sign.ok(`ed25519-${id}`, comment, flags, { algorithm: "ed25519", message: hex(message), secret_key: hex(seed) }, hex(signature));
}
for (const length of [0, 31, 33, 64]) sign.error(`ed25519-secret-length-${length}`, `a secret of ${length} bytes`, ["Request", "Shape"], { algorithm: "ed25519", message: "0x", secret_key: hex(stream("secret", length)) }, "MalformedKey");
sign.error("algorithm", "an algorithm that does not exist", ["Request"], { algorithm: "p256", message: digest32, secret_key: evm.owner.secret }, "BadRequest");

const edCase = (id, comment, flags, args, errorClass) => {
  const vector = { algorithm: "ed25519", message: hex(args.message), signature: hex(args.signature), signer: hex(args.signer) };
  if (errorClass) verify.error(`ed25519-${id}`, comment, flags, vector, errorClass);
  else verify.ok(`ed25519-${id}`, comment, flags, vector, true);
};
for (const { id, comment, flags, seed, message, signature } of ed) edCase(id, comment, flags, { message, signature, signer: ed25519.getPublicKey(seed) });
const first = ed.find(({ id }) => id === "random-0");
const second = ed.find(({ id }) => id === "random-1");
const signer = ed25519.getPublicKey(first.seed);
const refuse = (id, comment, flags, change, errorClass) => edCase(id, comment, flags, { message: first.message, signature: first.signature, signer, ...change }, errorClass);
const [R, S] = [first.signature.slice(0, 32), fromLittle(first.signature.slice(32))];
refuse("s-plus-order", "S + L signs the same message in a second form", ["Malleable"], { signature: join(R, little(S + L)) }, "MalformedSignature");
for (const [id, value] of [["order", L], ["order-plus-1", L + 1n], ["2-253", 2n ** 253n], ["max", 2n ** 256n - 1n]]) refuse(`s-${id}`, "S is not below the group order", ["Boundary", "Malleable"], { signature: join(R, little(value)) }, "MalformedSignature");
refuse("s-order-minus-1", "the largest S, of no valid signature", ["Boundary"], { signature: join(R, little(L - 1n)) }, "BadSignature");
refuse("s-zero", "S zero, of no valid signature", ["Boundary"], { signature: join(R, little(0n)) }, "BadSignature");
refuse("wrong-message", "another message", ["WrongMessage"], { message: second.message }, "BadSignature");
refuse("wrong-key", "another key", ["WrongKey"], { signer: ed25519.getPublicKey(second.seed) }, "BadSignature");
for (const length of [0, 32, 63]) refuse(`length-${length}`, `${length} bytes`, ["Truncated"], { signature: first.signature.slice(0, length) }, "MalformedSignature");
for (const length of [65, 96]) refuse(`length-${length}`, `${length} bytes`, ["TooLong"], { signature: join(first.signature, new Uint8Array(length - 64)) }, "MalformedSignature");
for (const bit of [0, 100, 255, 256, 300]) {
  const flipped = first.signature.slice();
  flipped[bit >> 3] ^= 1 << (bit & 7);
  refuse(`flipped-bit-${bit}`, "one bit of R or S differs", ["WrongMessage"], { signature: flipped }, fromLittle(flipped.slice(32)) < L ? "BadSignature" : "MalformedSignature");
}
for (const length of [0, 31, 33, 64]) refuse(`signer-length-${length}`, `a key of ${length} bytes`, ["Shape"], { signer: stream("key", length) }, "MalformedKey");

// keys of small order: with R the identity and S zero, a careless verifier accepts any message
const torsion = ed25519.Point.fromBytes(bytes("c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a"), true);
const identity = ed25519.Point.ZERO.toBytes();
const small = new Map();
for (let n = 0n; n < 8n; n += 1n) small.set(hex(n === 0n ? identity : torsion.multiplyUnsafe(n).toBytes()), `a point of order ${[1, 8, 4, 8, 2, 8, 4, 8][Number(n)]}`);
assert.equal(small.size, 8);
for (const [id, y, sign] of [["y-p", P, 0], ["y-p-sign", P, 1], ["y-p-plus-1", P + 1n, 0], ["y-p-plus-1-sign", P + 1n, 1], ["y-1-sign", 1n, 1], ["y-p-minus-1-sign", P - 1n, 1]]) {
  small.set(hex(little(y + (BigInt(sign) << 255n))), `a second encoding of a point of small order (${id})`);
}
for (const [n, [key, comment]] of [...small].entries()) {
  refuse(`small-order-key-${n}`, comment, ["SmallOrder"], { signer: bytes(key), signature: join(identity, new Uint8Array(32)) }, "MalformedKey");
}
// y + p for small y that are on the curve: the second encoding of an ordinary point
let ordinary = 0;
for (let y = 2n; y < 19n; y += 1n) {
  try { ed25519.Point.fromBytes(little(y)); } catch { continue; }
  ordinary += 1;
  refuse(`non-canonical-key-${y}`, `y = p + ${y}, a second encoding of the point with y = ${y}`, ["Malleable"], { signer: little(y + P) }, "MalformedKey");
}
assert.ok(ordinary > 0);
refuse("off-curve-key", "no point has this y", ["Shape"], { signer: little(2n) }, "MalformedKey");
assert.throws(() => ed25519.Point.fromBytes(little(2n)));
// R of small order: the equation S·B = R + k·A can be met by whoever has the key
for (const [n, encoded] of [...small.keys()].entries()) {
  const smallR = bytes(encoded);
  const k = fromLittle(sha512(join(smallR, signer, first.message))) % L;
  const { scalar: a } = ed25519.utils.getExtendedPublicKey(first.seed);
  const forged = join(smallR, little((k * a) % L));
  if (n < 8) assert.ok(ed25519.verify(forged, first.message, signer, { zip215: true }), `small R ${n}`);
  refuse(`small-order-r-${n}`, "R of small order: the cofactored equation holds, strict verification refuses", ["SmallOrder", "Malleable"], { signature: forged }, "BadSignature");
}
refuse("r-no-point", "R is not a point", ["Shape"], { signature: join(little(2n), little(S)) }, "BadSignature");
verify.error("algorithm", "an algorithm that does not exist", ["Request"], { algorithm: "p256", message: digest32, signature: hex(one.signature), signer: hex(point) }, "BadRequest");

// ---- signatures in other forms
const recover = new VectorFile("recover_address", { description: "The address behind r ‖ s ‖ v and a digest.", packages });
for (const { id, comment, flags, secret, digest, signature } of secp) {
  const found = await recoverAddress({ hash: hex(digest), signature: serializeSignature({ r: hex(signature.slice(0, 32)), s: hex(signature.slice(32, 64)), yParity: signature[64] }) });
  assert.equal(found.toLowerCase(), address(secret));
  recover.ok(id, comment, flags, { message: hex(digest), signature: hex(signature) }, found.toLowerCase());
}
recover.error("high-s", "the other s", ["Malleable"], { message: hex(one.digest), signature: hex(make(r, N - s, 1 - v)) }, "MalformedSignature");
recover.error("v-27", "Ethereum's v", ["Malleable"], { message: hex(one.digest), signature: hex(make(r, s, 27 + v)) }, "MalformedSignature");
recover.error("infinity", "recovery ends at the point at infinity", ["Shape"], { message: hex(one.digest), signature: hex(infinity) }, "BadSignature");
recover.error("no-point", "no point of the curve has this x", ["Shape"], { message: hex(one.digest), signature: hex(make(scalar(5n), s, v)) }, "BadSignature");

const ethereum = new VectorFile("ethereum_v", { description: "Between v 0 or 1 and Ethereum's 27 or 28 (R23).", packages });
for (const { id, signature } of secp.slice(0, 8)) {
  const on = hex(join(signature.slice(0, 64), [27 + signature[64]]));
  assert.equal(on, serializeSignature({ r: hex(signature.slice(0, 32)), s: hex(signature.slice(32, 64)), yParity: signature[64] }));
  ethereum.ok(`to-${id}`, "as viem serialises it", ["Typical"], { direction: "to", signature: hex(signature) }, on);
  ethereum.ok(`from-${id}`, "and back", ["Typical"], { direction: "from", signature: on }, hex(signature));
}
for (const value of [2, 26, 27, 28, 255]) ethereum.error(`to-v-${value}`, "v is not 0 or 1", ["Boundary"], { direction: "to", signature: hex(make(r, s, value)) }, "MalformedSignature");
for (const value of [0, 1, 26, 29, 255]) ethereum.error(`from-v-${value}`, "v is not 27 or 28", ["Boundary"], { direction: "from", signature: hex(make(r, s, value)) }, "MalformedSignature");

const low = new VectorFile("low_s", { description: "The low-s twin of a signature.", packages });
for (const { id, signature } of secp.slice(0, 8)) {
  const twin = make(signature.slice(0, 32), N - BigInt(hex(signature.slice(32, 64))), 1 - signature[64]);
  assert.ok(secp256k1.Signature.fromBytes(twin.slice(0, 64)).hasHighS());
  low.ok(`high-${id}`, "s becomes n - s and v turns over", ["Malleable"], { signature: hex(twin) }, hex(signature));
  low.ok(`low-${id}`, "a low s stays", ["Typical"], { signature: hex(signature) }, hex(signature));
}
low.error("v-27", "Ethereum's v", ["Boundary"], { signature: hex(make(r, s, 27)) }, "MalformedSignature");
low.error("s-zero", "s is zero", ["Boundary"], { signature: hex(make(r, 0n, 0)) }, "MalformedSignature");

const keys = new VectorFile("public_key", { description: "One normal form of a public key, whatever its 0x, case or compression (R23).", packages });
for (const { id, secret } of secp.slice(0, 6)) {
  const normal = hex(secp256k1.getPublicKey(secret, true));
  for (const [form, compressed] of [["compressed", true], ["uncompressed", false]]) {
    const text = hex(secp256k1.getPublicKey(secret, compressed));
    keys.ok(`${id}-${form}`, "with 0x", ["Typical"], { text }, normal);
    keys.ok(`${id}-${form}-bare`, "without 0x, as in a registration file", ["Typical"], { text: text.slice(2) }, normal);
    keys.ok(`${id}-${form}-upper-case`, "in capitals", ["CaseSensitive"], { text: text.slice(2).toUpperCase() }, normal);
  }
}
keys.ok("ed25519", "an Ed25519 key has one form", ["Typical"], { text: hex(signer).slice(2) }, hex(signer));
keys.ok("ed25519-prefix", "an Ed25519 key with 0x", ["Typical"], { text: hex(signer) }, hex(signer));
for (const [id, comment, text] of [
  ["empty", "nothing", ""], ["prefix-only", "0x alone", "0x"], ["odd", "half a byte", hex(signer).slice(0, -1)], ["not-hex", "no hex digit", "zz".repeat(32)], ["capital-x", "0X", `0X${hex(signer).slice(2)}`], ["64", "a point without its prefix", hex(point.slice(1))], ["66", "66 bytes", hex(join(point, [0]))], ["address", "an address is not a key", evm.owner.address], ["long", "1000 bytes", "00".repeat(1000)], ["not-ascii", "a letter beyond ASCII", "é".repeat(33)],
  ["small-order", "a point of small order", hex(identity)], ["hybrid", "a hybrid key", hex(join([6 + (point[64] & 1)], point.slice(1)))],
]) keys.error(id, comment, ["Shape"], { text }, "MalformedKey");

const ofSecret = new VectorFile("public_key_of_secret", { description: "The public key of a secret one: 33 bytes compressed (secp256k1), 32 bytes (Ed25519).", packages });
for (const { id, comment, flags, secret } of secp.slice(0, 12)) {
  ofSecret.ok(`secp256k1-${id}`, comment, flags, { algorithm: "secp256k1", secret_key: hex(secret) }, hex(secp256k1.getPublicKey(secret, true)));
}
for (const { id, comment, flags, seed } of ed) {
  ofSecret.ok(`ed25519-${id}`, comment, flags, { algorithm: "ed25519", secret_key: hex(seed) }, hex(ed25519.getPublicKey(seed)));
}
for (const [id, key] of [["zero", 0n], ["order", N], ["order-plus-1", N + 1n]]) {
  ofSecret.error(`secp256k1-${id}`, "no scalar of the group", ["Boundary"], { algorithm: "secp256k1", secret_key: hex(scalar(key)) }, "MalformedKey");
}
ofSecret.error("algorithm", "an algorithm that does not exist", ["Request"], { algorithm: "p256", secret_key: evm.owner.secret }, "BadRequest");
ofSecret.error("short", "a secret of 31 bytes", ["Request", "Shape"], { algorithm: "ed25519", secret_key: hex(stream("secret", 31)) }, "MalformedKey");

const ofKey = new VectorFile("address_of_public_key", { description: "The Ethereum address of a secp256k1 key, compressed or not: the last 20 bytes of keccak256 over x and y.", packages });
for (const { id, comment, flags, secret } of secp.slice(0, 12)) {
  for (const [form, compressed] of [["compressed", true], ["uncompressed", false]]) {
    ofKey.ok(`${id}-${form}`, comment, flags, { public_key: hex(secp256k1.getPublicKey(secret, compressed)) }, address(secret));
  }
}
for (const [id, comment, key] of [
  ["empty", "nothing", new Uint8Array()], ["ed25519", "an Ed25519 key, which has no address", signer], ["64", "a point without its prefix", point.slice(1)], ["66", "66 bytes", join(point, [0])],
  ["hybrid", "a hybrid key", join([6 + (point[64] & 1)], point.slice(1))], ["no-point", "no point of the curve has this x", join([2], scalar(5n))],
]) ofKey.error(id, comment, ["Shape"], { public_key: hex(key) }, "MalformedKey");
