// The two messages that others sign for the program, and its accounts' addresses, from docs/CANONICAL-ENCODING.md alone.
import anchor from "@anchor-lang/core";
import { keccak_256 } from "@noble/hashes/sha3";

const { BN, web3 } = anchor;
const { Ed25519Program, PublicKey } = web3;

/** An integer as a word: 32 bytes, big-endian. */
function word(integer) {
  return Buffer.from(BigInt(integer).toString(16).padStart(64, "0"), "hex");
}

export function keccak256(bytes) {
  return Buffer.from(keccak_256(bytes));
}

function message(name, words) {
  return Buffer.concat([Buffer.from(name), keccak256(Buffer.concat(words))]);
}

/** R9: "Feedback authorization", form `svm`. */
export function feedbackAuthMessage({ agent, client, indexLimit, expiry, chain, program, signer }) {
  return message("ERC8004/FEEDBACK-AUTH/v1", [
    agent.toBuffer(),
    client.toBuffer(),
    word(indexLimit),
    word(expiry),
    keccak256(chain),
    program.toBuffer(),
    signer.toBuffer(),
  ]);
}

/** R13: "Payment proof". */
export function paymentProofMessage({ agent, chain, program, facilitator, ...payment }) {
  return message("ERC8004/PAYMENT-PROOF/v2", [
    agent.toBuffer(),
    payment.payer.toBuffer(),
    payment.payee.toBuffer(),
    payment.token.toBuffer(),
    word(payment.amount),
    payment.taskRefHash,
    word(payment.paidAt),
    word(payment.expiry),
    keccak256(chain),
    program.toBuffer(),
    facilitator.toBuffer(),
  ]);
}

/** The precompile's instruction that stands before the one that needs the signature (R11). */
export function signedBy(signer, bytes) {
  return Ed25519Program.createInstructionWithPrivateKey({ privateKey: signer.secretKey, message: bytes });
}

/** "Program-derived addresses" of a program. Kinds are the seeds that tell the two profiles apart. */
export function addressesOf(program) {
  const at = (...seeds) => PublicKey.findProgramAddressSync(seeds.map((seed) => Buffer.from(seed)), program)[0];
  const key = (publicKey) => publicKey.toBuffer();
  return {
    registry: at("registry"),
    mint: (payer, nonce) => at("mint", key(payer), new BN(nonce).toBuffer("le", 8)),
    agent: (mint) => at("agent", key(mint)),
    metadata: (mint, hashOfKey) => at("metadata", key(mint), hashOfKey),
    clientIndex: (kind, mint, client) => at(kind, key(mint), key(client)),
    entry: (kind, mint, client, index) => at(kind, key(mint), key(client), new BN(index).toBuffer("le", 8)),
    validation: (kind, mint, validator, hash) => at(kind, key(mint), key(validator), hash.subarray(0, 8)),
    extraAccountMetas: (mint) => at("extra-account-metas", key(mint)), // spl-transfer-hook-interface's
    spentPayment: (taskRefHash, payer) => at("spent", taskRefHash, key(payer)),
  };
}
