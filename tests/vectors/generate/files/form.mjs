// What the scripts for files share: hashes by canonicalize and @noble, signatures by @noble, and edits of JSON objects.
import { keccak_256 } from "@noble/hashes/sha3.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { ed25519 } from "@noble/curves/ed25519.js";
import { base58 } from "@scure/base";
import canonicalize from "canonicalize";
import { block, bytes, hex, integer, join, utf8 } from "../bytes.mjs";
import { evm, svm } from "../actors.mjs";

export const packages = ["canonicalize", "@noble/hashes", "@noble/curves", "@scure/base"];
export const keccak = (data) => hex(keccak_256(data));
export const canonicalHash = (value) => keccak(utf8(canonicalize(value)));

/** A copy with members set (dotted path to value) or removed (undefined). */
export function edit(object, changes) {
  const copy = structuredClone(object);
  for (const [path, value] of Object.entries(changes)) {
    const keys = path.split(".");
    const last = keys.pop();
    const parent = keys.reduce((at, key) => at[key], copy);
    if (value === undefined) delete parent[last];
    else parent[last] = value;
  }
  return copy;
}

/** The same member under another name. */
export function rename(object, path, name) {
  const keys = path.split(".");
  const old = keys.pop();
  const copy = structuredClone(object);
  const parent = keys.reduce((at, key) => at[key], copy);
  parent[name] = parent[old];
  delete parent[old];
  return copy;
}

export const registries = {
  base: "eip155:8453:0x8004A169FB4a3325136EB29fA0ceB6D2e539a432",
  sepolia: `eip155:84532:${evm.identityRegistry}`,
  first: "eip155:84532:0x8004C269D0A5647E51E121FeB226200ECE932d55", // PROFILE's
  solana: `${svm.mainnet}:${svm.program}`,
};

export const clients = {
  base: `eip155:8453:${evm.client.address}`,
  sepolia: `eip155:84532:${evm.client.address}`,
  solana: `${svm.mainnet}:${base58.encode(ed25519.getPublicKey(block("concord/vectors/solana/client")))}`,
};

const PREFIX = { "8004-reputation": "x402:8004-reputation:v1", reputation: "x402:reputation:v1" };
export const PROOF = { "8004-reputation": "proofOfParticipation", reputation: "proofOfInteraction" };
export const COMMENT = { "8004-reputation": "comment", reputation: "reasoning" };

export const signers = {
  secp256k1: {
    secret: bytes("09".repeat(32)),
    algorithm: "secp256k1",
    sign(digest) {
      const recovered = secp256k1.sign(digest, this.secret, { prehash: false, format: "recovered" });
      return hex(join(recovered.slice(1), recovered.slice(0, 1)));
    },
    key: (isCompressed = true) => hex(secp256k1.getPublicKey(bytes("09".repeat(32)), isCompressed)),
  },
  client: {
    algorithm: "secp256k1",
    sign(digest) {
      const recovered = secp256k1.sign(digest, bytes(evm.client.secret), { prehash: false, format: "recovered" });
      return hex(join(recovered.slice(1), recovered.slice(0, 1)));
    },
  },
  ed25519: {
    algorithm: "ed25519",
    sign: (digest) => hex(ed25519.sign(digest, block("concord/vectors/solana/owner"))),
    key: () => hex(ed25519.getPublicKey(block("concord/vectors/solana/owner"))),
  },
  solanaClient: {
    algorithm: "ed25519",
    sign: (digest) => hex(ed25519.sign(digest, block("concord/vectors/solana/client"))),
  },
};

export const interactionHash = (key, taskRef, dataHash) => keccak_256(join(utf8(PREFIX[key]), utf8(taskRef), bytes(dataHash)));

/** X402's InteractionData, signed. */
export function interaction(key, { registry, agentId, taskRef, dataHash, signer }) {
  const hash = interactionHash(key, taskRef, dataHash);
  return {
    agentRegistry: registry,
    agentId,
    taskRef,
    dataHash,
    interactionHash: hex(hash),
    agentSignerPublicKey: signer.key(),
    agentSignature: signer.sign(hash),
    agentSignatureAlgorithm: signer.algorithm,
  };
}

/** X402's feedback file, signed by agent and reviewer. */
export function x402File(key, { data, client, reviewer, reviewerSigner, value = 95, valueDecimals = 0, tag1, tag2, comment, endpoint }) {
  const nul = new Uint8Array([0]);
  const message = keccak_256(join(
    utf8(data.agentRegistry), nul, utf8(data.agentId), nul, utf8(data.taskRef), nul, bytes(data.dataHash),
    integer(value, 16), integer(valueDecimals, 1), utf8(tag1 ?? ""), nul, utf8(tag2 ?? ""),
  ));
  const { taskRef, dataHash, agentSignerPublicKey, agentSignature, agentSignatureAlgorithm } = data;
  return {
    agentRegistry: data.agentRegistry,
    agentId: data.agentId,
    clientAddress: client,
    ...(endpoint === undefined ? {} : { endpoint }),
    createdAt: "2026-01-26T12:00:00Z",
    value,
    valueDecimals,
    [PROOF[key]]: {
      taskRef,
      dataHash,
      agentSignerPublicKey,
      agentSignature,
      agentSignatureAlgorithm,
      reviewerAddress: reviewer,
      reviewerSignature: reviewerSigner.sign(message),
      reviewerSignatureAlgorithm: reviewerSigner.algorithm,
    },
    ...(tag1 === undefined ? {} : { tag1 }),
    ...(tag2 === undefined ? {} : { tag2 }),
    ...(comment === undefined ? {} : { [COMMENT[key]]: comment }),
  };
}

export const dataHash = "0x621b98ca8048a4feaacac8799e067d05a6953bdce546103cd4f5ea3ab92a7654";
export const transactions = {
  evm: "0xeee928fc956e4399e2fe18ea303bed895b44f653b8cb2216c1d4ae1ff7a6610c",
  solana: svm.signature,
};
