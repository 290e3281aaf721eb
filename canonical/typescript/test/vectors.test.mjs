// Every vector of tests/vectors through the package: results and error classes.
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import { CanonicalError, ERROR_CLASSES, FUNCTIONS, load } from "../dist/index.js";

const folder = new URL("../../../tests/vectors/", import.meta.url);
const read = (name) => JSON.parse(fs.readFileSync(new URL(`${name}.json`, folder), "utf8"));
const canonical = await load();

const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());
/** A vector's arguments under the package's names. */
function renamed(value) {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), renamed(member)]));
}
/** A result as a vector writes it. */
function plain(value) {
  if (typeof value === "bigint") return value.toString();
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [name, plain(member)]));
}

for (const name of FUNCTIONS) {
  test(name, () => {
    const { vectors } = read(name);
    assert.ok(vectors.length > 0);
    for (const { id, comment, flags, fn, ok, error, ...args } of vectors) {
      let found;
      try {
        found = { ok: plain(canonical[camel(name)](renamed(args))) };
      } catch (fault) {
        if (!(fault instanceof CanonicalError)) throw fault;
        assert.ok(ERROR_CLASSES.includes(fault.errorClass), id);
        assert.notEqual(fault.message, "", id);
        found = { error: fault.errorClass };
      }
      assert.deepEqual(found, ok === undefined ? { error } : { ok: renamed(ok) }, id);
    }
  });
}

test("has every function that the vectors' schema lists", () => {
  const listed = read("schema").$defs.oracleFunction.enum;
  assert.deepEqual([...FUNCTIONS].sort(), [...listed].sort());
  assert.deepEqual(Object.keys(canonical), FUNCTIONS.map(camel));
});
