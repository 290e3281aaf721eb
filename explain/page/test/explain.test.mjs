// `@concord/canonical/explain` in Node.js, beside `concord explain --from`.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import test from "node:test";
import { fileURLToPath } from "node:url";
import { ExplainError, load } from "../../../canonical/typescript/dist/explain.js";
import { CHAIN, FIXTURES, SOUND, anchor, text, trust, withOtherReceipt } from "./bundles.mjs";
import { remove } from "../../../tests/cleanup.mjs";

const { explain } = await load();
const statesOf = ({ findings }) => findings.map(({ step, state }) => [step, state]);

/** What `concord explain --from FILE --json` prints. */
function native(bundle) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "concord-explain-"));
  const file = path.join(folder, "bundle.json");
  fs.writeFileSync(file, bundle);
  const book = fileURLToPath(new URL("addresses.json", FIXTURES));
  const options = ["--from", file, "--block", `${CHAIN}=${anchor(bundle)}`, "--address-book", book, "--json"];
  const run = spawnSync(process.env.CONCORD_BINARY, ["explain", ...options], { encoding: "utf8" });
  remove(folder);
  return JSON.parse(run.stdout);
}

for (const name of SOUND) {
  test(`R36: ${name}: every step is verified or claimed, as the command says`, () => {
    const report = explain(text(name), trust(text(name)));
    assert.deepEqual(new Set(report.findings.map(({ state }) => state)), new Set(name === "hosted" ? ["verified", "claimed"] : ["verified"]));
    assert.ok(report.findings.length >= 10);
    assert.deepEqual(report, native(text(name)));
  });
}

test("a byte of the receipt refutes the event, and verifies nothing", () => {
  const bundle = withOtherReceipt(text("open"));
  const report = explain(bundle, trust(bundle));
  assert.equal(report.state, "refuted");
  assert.deepEqual(statesOf(report).filter(([, state]) => state === "refuted"), [["event", "refuted"]]);
  assert.deepEqual(report, native(bundle));
});

test("a revoked feedback is refuted", () => {
  const report = explain(text("revoked"), trust(text("revoked")));
  assert.deepEqual(statesOf(report).filter(([, state]) => state === "refuted"), [["not-revoked", "refuted"]]);
});

test("R28: without the block the inclusion cannot be checked, and without the registries nothing that rests on them", () => {
  const stateOf = (report, step) => report.findings.find((it) => it.step === step).state;
  const { blocks, addressBooks } = trust(text("open"));
  assert.equal(stateOf(explain(text("open"), { addressBooks }), "inclusion"), "cannot-check");
  assert.equal(stateOf(explain(text("open"), { addressBooks, blocks: { [CHAIN]: `0x${"07".repeat(32)}` } }), "inclusion"), "refuted");
  assert.notEqual(stateOf(explain(text("open"), { blocks }), "registry"), "verified");
});

test("what is malformed is one error that names the field", () => {
  const refused = (bundle, trusted, message) =>
    assert.throws(
      () => explain(bundle, trusted),
      (fault) => fault instanceof ExplainError && message.test(fault.message),
    );
  refused("{", {}, /^the bundle is not strict JSON/);
  refused("{}", {}, /missing field/);
  refused(text("open").replace("concord-explain/1", "concord-explain/2"), {}, /^the bundle's format is "concord-explain\/2"/);
  refused(text("open"), { blocks: { [CHAIN]: "0x12" } }, /^blocks\["eip155:31337"\]: must be 0x and 64 hex digits/);
  refused(text("open"), { registries: ["Registry=eip155:1:0x00"] }, /^registries\[0\]: /);
  refused(text("open"), { addressBooks: ["{}"] }, /^addressBooks\[0\]: /);
  refused(text("open"), { unknown: 1 }, /unknown field `unknown`/);
});
