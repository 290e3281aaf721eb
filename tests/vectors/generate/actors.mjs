// The parties of the vectors: the published anvil accounts on EVM, labelled keys on Solana.
import { base58 } from "@scure/base";
import { ed25519 } from "@noble/curves/ed25519.js";
import { bytes, block } from "./bytes.mjs";

export const evm = {
  owner: { secret: "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80", address: "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266" },
  client: { secret: "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d", address: "0x70997970C51812dc3A010C7d01b50e0d17dc79C8" },
  identityRegistry: "0x8004A818BFB912233c491871b3d84c89A494BD9e",
  reputationRegistry: "0x8004B663056A597Dffe9eCcC1965A193B7388713",
  validator: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
};

const solanaKey = (label) => ed25519.getPublicKey(block(`concord/vectors/solana/${label}`));
const named = (label) => base58.encode(solanaKey(label));

export const svm = {
  mint: named("mint"),
  owner: named("owner"),
  client: named("client"),
  payee: named("payee"),
  token: "4zMMC9srt5Ri5X14GAgXhaHii3GnPAEERYPJgZJDncDU",
  program: named("program"),
  facilitator: named("facilitator"),
  validator: named("validator"),
  devnet: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1",
  mainnet: "solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp",
  localnet: "solana:localnet",
  signature: base58.encode(bytes(`0x${"5a".repeat(64)}`)),
};

export const decode58 = (text) => base58.decode(text);
