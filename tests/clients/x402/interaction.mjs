// X402's InteractionData, made and checked with @noble alone.
import { ed25519 } from "@noble/curves/ed25519.js";
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { bytesToHex, concatBytes, hexToBytes, utf8ToBytes } from "@noble/hashes/utils.js";

/** What each extension key signs under (R26). */
const PREFIX = { "8004-reputation": "x402:8004-reputation:v1", reputation: "x402:reputation:v1" };
const raw = { prehash: false };
const hex = (bytes) => `0x${bytesToHex(bytes)}`;
const bytes = (text) => hexToBytes(text.replace(/^0x/, ""));

/** uint32_be(length of the request) ‖ request ‖ response; the request is its target if it has no body. */
export function dataHash(target, requestBody, responseBody) {
  const request = requestBody.length ? requestBody : utf8ToBytes(target);
  const length = new Uint8Array(4);
  new DataView(length.buffer).setUint32(0, request.length);
  return keccak_256(concatBytes(length, request, responseBody));
}

const interactionHash = (key, taskRef, data) => keccak_256(concatBytes(utf8ToBytes(PREFIX[key]), utf8ToBytes(taskRef), data));

/** Signs an exchange. `signer`: { algorithm, secret }, the secret in hex. */
export function sign(key, { agent, taskRef, data }, { algorithm, secret }) {
  const hash = interactionHash(key, taskRef, data);
  const seed = bytes(secret);
  let publicKey, signature;
  if (algorithm === "ed25519") {
    [publicKey, signature] = [ed25519.getPublicKey(seed), ed25519.sign(hash, seed)];
  } else {
    publicKey = secp256k1.getPublicKey(seed);
    const recovered = secp256k1.sign(hash, seed, { ...raw, format: "recovered" }); // v ‖ r ‖ s
    signature = concatBytes(recovered.slice(1), recovered.slice(0, 1));
  }
  return {
    agentRegistry: agent.agentRegistry,
    agentId: agent.agentId,
    taskRef,
    dataHash: hex(data),
    interactionHash: hex(hash),
    agentSignerPublicKey: hex(publicKey),
    agentSignature: hex(signature),
    agentSignatureAlgorithm: algorithm,
  };
}

/** Throws unless hashes and signature are those of the exchange. */
export function verify(key, signed, { target, requestBody, responseBody, network, transaction, publicKey }) {
  const require = (name, found, expected) => {
    if (found !== expected) throw new Error(`${key} ${name}: found ${found}, expected ${expected}`);
  };
  require("taskRef", signed.taskRef, `${network}:${transaction}`);
  const data = dataHash(target, requestBody, responseBody);
  require("dataHash", signed.dataHash, hex(data));
  const hash = interactionHash(key, signed.taskRef, data);
  require("interactionHash", signed.interactionHash, hex(hash));
  require("agentSignerPublicKey", signed.agentSignerPublicKey, publicKey);
  const [signature, signer] = [bytes(signed.agentSignature), bytes(publicKey)];
  const holds =
    signed.agentSignatureAlgorithm === "ed25519"
      ? ed25519.verify(signature, hash, signer, { zip215: false })
      : secp256k1.verify(signature.slice(0, 64), hash, signer, { ...raw, lowS: true });
  require("signature", holds, true);
}
