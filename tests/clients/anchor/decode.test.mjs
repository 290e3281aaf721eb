// Anchor's TypeScript client, given only the committed interface description, decodes what a run of the program wrote.
// The run is programs/agent-registry/tests/litesvm/recording.rs; what each field must be stands there, from its inputs.
import assert from "node:assert/strict";
import fs from "node:fs";
import process from "node:process";
import { test } from "node:test";
import anchor from "@anchor-lang/core";

const { BN, BorshCoder, web3 } = anchor;
const IDL = JSON.parse(
  fs.readFileSync(new URL("../../../programs/agent-registry/idl/agent_registry.json", import.meta.url), "utf8"),
);
const RECORDING = JSON.parse(fs.readFileSync(process.env.CONCORD_RECORDING, "utf8"));
// What Anchor puts before an event in a program's call of itself.
const EVENT_TAG = "e445a52e51cb9a1d";

const coder = new BorshCoder(IDL);
const bytes = (hex) => Buffer.from(hex, "hex");
const names = (items) => new Set(items.map(({ name }) => name));
const eventAuthority = web3.PublicKey.findProgramAddressSync(
  [Buffer.from("__event_authority")],
  new web3.PublicKey(IDL.address),
)[0].toBase58();

/** A decoded value as the recording writes it: keys in base58, bytes in hex, wide integers as text. */
function plain(value) {
  if (value instanceof web3.PublicKey) return value.toBase58();
  if (BN.isBN(value)) return value.toString();
  if (value instanceof Uint8Array) return Buffer.from(value).toString("hex");
  if (Array.isArray(value) && value.every((item) => typeof item === "number")) return Buffer.from(value).toString("hex");
  if (Array.isArray(value)) return value.map(plain);
  if (value !== null && typeof value === "object") return fieldsOf(value);
  return value;
}

function fieldsOf(decoded) {
  return Object.fromEntries(Object.entries(decoded).map(([name, value]) => [name, plain(value)]));
}

/** The events of a transaction, as an indexer finds them among its inner instructions. */
function events({ inner_instructions }) {
  return inner_instructions
    .filter(({ program, accounts, data }) => program === IDL.address && accounts[0] === eventAuthority && data.startsWith(EVENT_TAG))
    .map(({ data }) => coder.events.decode(bytes(data.slice(EVENT_TAG.length)).toString("base64")))
    .map(({ name, data }) => ({ name, fields: fieldsOf(data) }));
}

test("every event of the description occurs in the run, and every account", () => {
  assert.deepEqual(names(RECORDING.transactions.flatMap(({ events }) => events)), names(IDL.events));
  assert.deepEqual(names(RECORDING.accounts), names(IDL.accounts));
});

test("decodes every event, found among the inner instructions", () => {
  for (const transaction of RECORDING.transactions) assert.deepEqual(events(transaction), transaction.events);
});

test("decodes every call to the program, and encodes it again to the same bytes", () => {
  const called = new Set();
  for (const call of RECORDING.transactions.flatMap(({ calls }) => calls)) {
    const { name, data } = coder.instruction.decode(bytes(call));
    assert.equal(coder.instruction.encode(name, data).toString("hex"), call, name);
    called.add(name);
  }
  // All but those that take away what others set, those that only read, and the one that Token-2022 calls.
  const uncalled = IDL.instructions.map(({ name }) => name).filter((name) => !called.has(name));
  assert.deepEqual(uncalled, [
    "open_summary",
    "open_summary_part",
    "remove_facilitator",
    "remove_payment_token",
    "transfer_hook",
    "unset_agent_wallet",
  ]);
});

for (const { name, data, fields } of RECORDING.accounts) {
  test(`decodes ${name}`, () => {
    assert.deepEqual(fieldsOf(coder.accounts.decode(name, bytes(data))), fields);
    // and takes it for nothing else
    for (const other of names(IDL.accounts)) {
      if (other !== name) assert.throws(() => coder.accounts.decode(other, bytes(data)), /discriminator/);
    }
  });
}

test("a reader that knows X84's fields alone reads the entries' beginning (R12)", () => {
  const idl = structuredClone(IDL);
  for (const name of ["FeedbackEntry", "ValidationResponse"]) {
    const { fields } = idl.types.find((type) => type.name === name).type;
    fields.splice(fields.findIndex((field) => field.name === "bump") + 1);
    const reader = new BorshCoder(idl);
    for (const account of RECORDING.accounts.filter((account) => account.name === name)) {
      const known = fields.map((field) => [field.name, account.fields[field.name]]);
      assert.deepEqual(fieldsOf(reader.accounts.decode(name, bytes(account.data))), Object.fromEntries(known));
    }
  }
});
