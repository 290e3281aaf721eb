// 8004-solana: hashes, and the RFC 8785 text that it signs.
import { canonicalizeJson, keccak256, sha256Sync } from "8004-solana";

import { bytes, serve } from "./protocol.mjs";

const hexOf = (data) => `0x${Buffer.from(data).toString("hex")}`;

/** It takes values: the text is read by JSON.parse, as its callers do. */
function jcs({ text }) {
  const canonical = new TextEncoder().encode(canonicalizeJson(JSON.parse(text)));
  return { canonical: new TextDecoder().decode(canonical), hash: hexOf(keccak256(canonical)) };
}

await serve({
  keccak256: ({ data }) => hexOf(keccak256(bytes(data))),
  sha256: ({ data }) => hexOf(sha256Sync(bytes(data))),
  jcs,
});
