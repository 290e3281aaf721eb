// Compares where the first draft's registries differ with the committed table, or writes it (CONCORD_BLESS=1).
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";

const [report, table] = process.argv.slice(2);
const { failures, totals, lost } = JSON.parse(readFileSync(report, "utf8"));
const COLUMNS = ["scenario", "step", "operation", "what", "expected", "came", "the contract's words"];

assert.deepEqual(lost, []);
assert.equal(totals["first-draft"].errors, 0, "a refusal has no class in refusals.mjs");
const words = (value) => (typeof value === "string" ? value : JSON.stringify(value));
const rows = failures.map((it) =>
  [it.scenario, it.step, it.operation, it.subject, words(it.expected), words(it.actual), it.native_error ?? ""].join("\t"));
const found = [COLUMNS.join("\t"), ...rows, ""].join("\n");
if (process.env.CONCORD_BLESS) writeFileSync(table, found);
assert.equal(found, readFileSync(table, "utf8"), "what differs is not what the table says: with CONCORD_BLESS=1 it is written anew");
const { passed, failed, not_reached } = totals["first-draft"];
console.log(`first-draft: ${passed} steps as the model says, ${failed} differ, ${not_reached} after those`);
