// Compares the reports of `concord vectors run` with the committed table, or writes it (CONCORD_BLESS=1).
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";

const [folder, table] = process.argv.slice(2);
/** Of a list of more vectors the table has the number and a hash. */
const LISTED_MAX = 100;

const shortened = (ids) => {
  if (ids.length <= LISTED_MAX) return ids;
  const sha256 = createHash("sha256").update([...ids].sort().join("\n")).digest("hex");
  return { count: ids.length, sha256 };
};

/** Of one library: for each declared function how many vectors are right, and which are not. */
function result(report) {
  assert.equal(report.total.unanswered, 0, "a vector has no answer");
  const declared = Object.entries(report.functions).filter(([, tally]) => tally.right + tally.wrong + tally.refused_wrongly > 0);
  return Object.fromEntries(
    declared.map(([name, tally]) => {
      const ids = (verdict) => report.findings.filter((it) => it.verdict === verdict && it.id.startsWith(`${name}/`)).map((it) => it.id);
      const [wrong, refused_wrongly] = [ids("wrong"), ids("refused_wrongly")];
      assert.equal(wrong.length + refused_wrongly.length, tally.wrong + tally.refused_wrongly, name);
      return [name, { right: tally.right, wrong: shortened(wrong), refused_wrongly: shortened(refused_wrongly) }];
    }),
  );
}

const libraries = readdirSync(folder).map((file) => [file.replace(/\.json$/, ""), result(JSON.parse(readFileSync(join(folder, file), "utf8")))]);
const found = Object.fromEntries(libraries.sort(([one], [other]) => (one < other ? -1 : 1)));
if (process.env.CONCORD_BLESS) {
  writeFileSync(table, `${JSON.stringify(found, null, 2)}\n`);
} else {
  assert.deepEqual(found, JSON.parse(readFileSync(table, "utf8")));
}
for (const [name, functions] of Object.entries(found)) {
  for (const [fn, { right, wrong, refused_wrongly }] of Object.entries(functions)) {
    const count = (found) => found.length ?? found.count;
    console.log(`${name.padEnd(18)}${fn.padEnd(28)}${String(right).padStart(6)} right${String(count(wrong) + count(refused_wrongly)).padStart(6)} wrong`);
  }
}
