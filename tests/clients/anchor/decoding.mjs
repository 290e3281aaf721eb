// The committed interface description, and what Anchor's TypeScript client decodes with it, in a form to compare.
import fs from "node:fs";
import anchor from "@anchor-lang/core";

const { BN, web3 } = anchor;
export const IDL = JSON.parse(
  fs.readFileSync(new URL("../../../programs/agent-registry/idl/agent_registry.json", import.meta.url), "utf8"),
);
// What Anchor puts before an event in a program's call of itself.
const EVENT_TAG = "e445a52e51cb9a1d";
const eventAuthority = web3.PublicKey.findProgramAddressSync(
  [Buffer.from("__event_authority")],
  new web3.PublicKey(IDL.address),
)[0].toBase58();

/** A decoded value with keys in base58, bytes in hex, wide integers as text. */
function plain(value) {
  if (value instanceof web3.PublicKey) return value.toBase58();
  if (BN.isBN(value)) return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value) && value.every((item) => typeof item === "number")) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === "object") return fieldsOf(value);
  return value;
}

export function fieldsOf(decoded) {
  return Object.fromEntries(Object.entries(decoded).map(([name, value]) => [name, plain(value)]));
}

/**
 * The events among a transaction's inner instructions, as an indexer finds them.
 * Of each instruction: the program and its accounts in base58, its data in hex.
 */
export function eventsAmong(instructions, coder) {
  return instructions
    .filter(({ program, accounts, data }) => program === IDL.address && accounts[0] === eventAuthority && data.startsWith(EVENT_TAG))
    .map(({ data }) => coder.events.decode(Buffer.from(data.slice(EVENT_TAG.length), "hex").toString("base64")))
    .map(({ name, data }) => ({ name, fields: fieldsOf(data) }));
}
