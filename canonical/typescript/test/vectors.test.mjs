// Every vector of tests/vectors through the package: results and error classes.
import assert from "node:assert/strict";
import fs from "node:fs";
import test from "node:test";
import { CanonicalError, ERROR_CLASSES, FUNCTIONS, load } from "../dist/index.js";
import { camel, expected, outcome } from "./naming.mjs";

const folder = new URL("../../../tests/vectors/", import.meta.url);
const read = (name) => JSON.parse(fs.readFileSync(new URL(`${name}.json`, folder), "utf8"));
const canonical = await load();

for (const name of FUNCTIONS) {
  test(name, () => {
    const { vectors } = read(name);
    assert.ok(vectors.length > 0);
    for (const vector of vectors) {
      const found = outcome(canonical, CanonicalError, vector);
      assert.deepEqual(found, expected(vector), vector.id);
      if (found.error) assert.ok(ERROR_CLASSES.includes(found.error), vector.id);
    }
  });
}

test("has every function that the vectors' schema lists", () => {
  const listed = read("schema").$defs.oracleFunction.enum;
  assert.deepEqual([...FUNCTIONS].sort(), [...listed].sort());
  assert.deepEqual(Object.keys(canonical), FUNCTIONS.map(camel));
});
