// The page in a real browser without a network: a bundle is chosen, or dropped on it.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { after, before, beforeEach, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Chromium } from "../../../tests/report/chromium.mjs";
import { CHAIN, FIXTURES, anchor, numberOf, text, withOtherReceipt } from "./bundles.mjs";
import { cleanUp, remove } from "../../../tests/cleanup.mjs";

const PAGE = pathToFileURL(process.env.CONCORD_EXPLAIN_PAGE).href;
const NARROW = 390;
const folder = fs.mkdtempSync(path.join(os.tmpdir(), "concord-page-"));
let chromium;

before(async () => {
  chromium = await Chromium.start(process.env.CONCORD_CHROMIUM);
  await chromium.ask("Network.enable");
  await chromium.ask("Network.emulateNetworkConditions", { offline: true, latency: 0, downloadThroughput: 0, uploadThroughput: 0 });
});
after(async () => {
  await cleanUp(() => chromium?.end(), () => remove(folder));
});
beforeEach(() => open());

async function open({ width = 1280, scheme = "light" } = {}) {
  await chromium.load("about:blank");
  await chromium.ask("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile: width < 500 });
  await chromium.ask("Emulation.setEmulatedMedia", { features: [{ name: "prefers-color-scheme", value: scheme }] });
  await chromium.load(PAGE);
}

/** A file in the test's own folder. */
function write(name, content) {
  const file = path.join(folder, name);
  fs.writeFileSync(file, content);
  return file;
}

async function choose(id, file) {
  const { root } = await chromium.ask("DOM.getDocument");
  const { nodeId } = await chromium.ask("DOM.querySelector", { nodeId: root.nodeId, selector: `#${id}` });
  await chromium.ask("DOM.setFileInputFiles", { nodeId, files: [file] });
}

const setValue = (id, value) =>
  chromium.evaluate(`document.getElementById(${JSON.stringify(id)}).value = ${JSON.stringify(value)}`);

/** What the page shows once it has checked: the states of the steps, or its complaint. */
const result = () =>
  chromium.evaluate(`new Promise((resolve) => {
    const shown = () => {
      const result = document.getElementById("result");
      const fault = result.querySelector(".fault");
      if (fault) return { fault: fault.textContent };
      const heading = result.querySelector("h2");
      if (!heading) return undefined;
      const rows = [...result.querySelectorAll("tbody tr")];
      const [number, complete] = [...result.querySelectorAll(":scope > p")].map((it) => it.textContent);
      return { verdict: heading.textContent, number, complete, steps: rows.map((row) => [row.cells[1].textContent, row.cells[0].textContent]) };
    };
    const look = () => { const found = shown(); if (found) resolve(found); else requestAnimationFrame(look); };
    requestAnimationFrame(look);
  })`);

async function trustRecorded(bundle) {
  await setValue("blocks", `${CHAIN}=${anchor(bundle)}`);
  await choose("books", fileURLToPath(new URL("addresses.json", FIXTURES)));
}

test("a chosen bundle is verified without a network", async () => {
  await trustRecorded(text("authorized"));
  await choose("bundle", fileURLToPath(new URL("authorized.json", FIXTURES)));
  const { verdict, steps } = await result();
  assert.match(verdict, /^VERIFIED /);
  assert.deepEqual(new Set(steps.map(([, state]) => state)), new Set(["VERIFIED"]));
  assert.deepEqual(steps.slice(0, 2).map(([step]) => step), ["event", "inclusion"]);
  assert.equal(await chromium.evaluate("document.activeElement.id"), "result");
});

/** Drops a bundle on the page. */
const drop = (bundle) =>
  chromium.evaluate(`{
    const data = new DataTransfer();
    data.items.add(new File([${JSON.stringify(bundle)}], "bundle.json"));
    document.body.dispatchEvent(new DragEvent("drop", { dataTransfer: data, bubbles: true, cancelable: true }));
  }`);

test("a dropped bundle is verified without a network", async () => {
  await trustRecorded(text("open"));
  await drop(text("open"));
  const { verdict, steps } = await result();
  assert.match(verdict, /^VERIFIED /);
  assert.deepEqual(new Set(steps.map(([, state]) => state)), new Set(["VERIFIED"]));
});

test("R46, R47: a dropped number is verified without a network, and not without one of its feedbacks", async () => {
  const whole = numberOf(text("open"));
  await trustRecorded(text("open"));
  await drop(JSON.stringify(whole));
  const { verdict, number, complete, fault } = await result();
  assert.equal(fault, undefined);
  assert.match(verdict, /^VERIFIED eip155:31337:/);
  assert.match(number, /^1 feedbacks, average .* Of these: 1 verified, 0 claimed, 0 cannot check, 0 refuted\.$/);
  assert.equal(complete, "VERIFIED complete 1 feedbacks of 1 clients");
  await open();
  await trustRecorded(text("open"));
  await drop(JSON.stringify({ ...whole, feedbacks: [] }));
  assert.match((await result()).complete, /^CANNOT CHECK complete the registry has 1 feedbacks; the bundle 0 of them$/);
});

test("a dropped bundle whose receipt was changed is refuted at that step", async () => {
  const bundle = withOtherReceipt(text("open"));
  await trustRecorded(bundle);
  await drop(bundle);
  const { verdict, steps } = await result();
  assert.match(verdict, /^REFUTED /);
  assert.deepEqual(steps.filter(([, state]) => state === "REFUTED"), [["event", "REFUTED"]]);
});

test("a change of whom is trusted checks the bundle again", async () => {
  await choose("bundle", fileURLToPath(new URL("open.json", FIXTURES)));
  assert.deepEqual((await result()).steps.find(([step]) => step === "inclusion"), ["inclusion", "CANNOT CHECK"]);
  await chromium.evaluate(`document.getElementById("result").replaceChildren()`);
  await trustRecorded(text("open"));
  assert.match((await result()).verdict, /^VERIFIED /);
});

test("what is not a bundle, or not a hash, is one sentence", async () => {
  await choose("bundle", write("empty.json", "{}"));
  assert.match((await result()).fault, /^the bundle is malformed: missing field/);
  await open();
  await setValue("blocks", "eip155:31337");
  await choose("bundle", fileURLToPath(new URL("open.json", FIXTURES)));
  assert.equal((await result()).fault, 'block hash "eip155:31337": expected CHAIN=0x…');
});

test("texts of strangers stay texts", async () => {
  const hostile = "<img src=x onerror=document.title='taken'>\u202e";
  const bundle = JSON.parse(text("open"));
  bundle.unavailable = [];
  bundle.format = hostile;
  await choose("bundle", write("hostile.json", JSON.stringify(bundle)));
  const { fault } = await result();
  assert.ok(fault.includes("<img src=x"), fault);
  assert.equal(await chromium.evaluate("document.querySelectorAll('#result img').length"), 0);
  assert.notEqual(await chromium.evaluate("document.title"), "taken");
});

test("the policy lets nothing out, and nothing was asked for", async () => {
  await chromium.ask("Network.emulateNetworkConditions", { offline: false, latency: 0, downloadThroughput: -1, uploadThroughput: -1 });
  const attempt = await chromium.evaluate(`fetch("data:text/plain,x").then(() => "answered", (fault) => fault.name)`);
  assert.equal(attempt, "TypeError");
  assert.equal(await chromium.evaluate("performance.getEntriesByType('resource').length"), 0);
});

for (const scheme of ["light", "dark"]) {
  test(`is readable at ${NARROW} px, ${scheme}`, async () => {
    await open({ width: NARROW, scheme });
    await trustRecorded(text("open"));
    await choose("bundle", fileURLToPath(new URL("open.json", FIXTURES)));
    await result();
    assert.ok((await chromium.evaluate("document.documentElement.scrollWidth")) <= NARROW);
    const [ink, ground] = await chromium.evaluate("[getComputedStyle(document.body).color, getComputedStyle(document.body).backgroundColor]");
    const luminance = (colour) => colour.match(/\d+/g).reduce((sum, part) => sum + Number(part), 0);
    assert.equal(luminance(ink) > luminance(ground), scheme === "dark");
  });
}

test("every field is reached by keyboard, in order", async () => {
  const reached = [];
  for (let at = 0; at < 4; at += 1) {
    await chromium.press("Tab", 9);
    reached.push(await chromium.evaluate("document.activeElement.id"));
  }
  assert.deepEqual(reached, ["blocks", "registries", "books", "bundle"]);
});
