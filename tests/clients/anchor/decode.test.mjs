// Anchor's TypeScript client, given only the committed interface description, decodes what a run of the program wrote.
// The run is programs/agent-registry/tests/litesvm/recording.rs; what each field must be stands there, from its inputs.
import assert from "node:assert/strict";
import fs from "node:fs";
import process from "node:process";
import { test } from "node:test";
import anchor from "@anchor-lang/core";
import { IDL, eventsAmong, fieldsOf } from "./decoding.mjs";

const { BorshCoder } = anchor;
const RECORDING = JSON.parse(fs.readFileSync(process.env.CONCORD_RECORDING, "utf8"));

const coder = new BorshCoder(IDL);
const bytes = (hex) => Buffer.from(hex, "hex");
const names = (items) => new Set(items.map(({ name }) => name));

test("every event of the description occurs in the run, and every account", () => {
  assert.deepEqual(names(RECORDING.transactions.flatMap(({ events }) => events)), names(IDL.events));
  assert.deepEqual(names(RECORDING.accounts), names(IDL.accounts));
});

test("decodes every event, found among the inner instructions", () => {
  for (const { inner_instructions, events } of RECORDING.transactions) {
    assert.deepEqual(eventsAmong(inner_instructions, coder), events);
  }
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
