// @x402/extensions: RFC 8785 for its offers and receipts, CAIP-2 ids, and Ed25519 for its sign-in.
import { extractEVMChainId, extractSolanaChainReference, getCanonicalBytes, verifySolanaSignature } from "@x402/extensions";
import { keccak256 } from "viem";

import { Unsupported, bytes, serve } from "./protocol.mjs";

/** It takes values: the text is read by JSON.parse, as its callers do. */
function jcs({ text }) {
  const canonical = getCanonicalBytes(JSON.parse(text));
  return { canonical: new TextDecoder().decode(canonical), hash: keccak256(canonical) };
}

function chainId({ text }) {
  const [namespace] = text.split(":");
  switch (namespace) {
    case "eip155":
      return { namespace, reference: String(extractEVMChainId(text)) };
    case "solana":
      return { namespace, reference: extractSolanaChainReference(text) };
    default:
      throw new Unsupported();
  }
}

/** Its messages are texts. */
function textOf(data) {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(data);
  } catch {
    throw new Unsupported();
  }
}

function verify({ algorithm, message, signature, signer }) {
  if (algorithm !== "ed25519") throw new Unsupported();
  if (!verifySolanaSignature(textOf(bytes(message)), bytes(signature), bytes(signer))) throw new Error("it does not hold");
  return true;
}

await serve({ jcs, chain_id: chainId, verify });
