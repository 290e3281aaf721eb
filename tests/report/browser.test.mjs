// The HTML report in a real browser: what is displayed, where links lead, narrow, dark, by keyboard and printed.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";
import { fileURLToPath, pathToFileURL } from "node:url";
import { Chromium } from "./chromium.mjs";
import { cleanUp, remove } from "../cleanup.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
/** A registry of the identity profile that keeps a wallet after a transfer, beside the program in litesvm. */
const FAULTY = ["--backend", "svm-litesvm", "--adapter", "python3 tests/adapters/identity.py --faulty", "--adapter-chain", "evm"];
/** Of the page with every scenario and three participants. */
const SIZE_MAX = 2_000_000;
const DIFFERS = 1;
const TAB = ["Tab", 9];
const ARROW_DOWN = ["ArrowDown", 40];

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "concord-report-"));
const file = path.join(folder, "report.html");
const address = pathToFileURL(file).href;
let chromium;

before(async () => {
  const run = spawnSync(process.env.CONCORD_BINARY, ["conform", "--html", file, ...FAULTY], { cwd: ROOT, encoding: "utf8" });
  assert.equal(run.status, DIFFERS, run.stderr);
  chromium = await Chromium.start(process.env.CONCORD_CHROMIUM);
});
after(async () => {
  await cleanUp(() => chromium?.end(), () => remove(folder));
});

/** Opens the page at this fragment, on a screen of this size. */
async function open(fragment = "", { width = 1280, height = 800, media = "", scheme = "light" } = {}) {
  await chromium.load("about:blank"); // or the page before would be laid out once more
  await chromium.ask("Emulation.setDeviceMetricsOverride", { width, height, deviceScaleFactor: 1, mobile: width < 500 });
  await chromium.ask("Emulation.setEmulatedMedia", { media, features: [{ name: "prefers-color-scheme", value: scheme }] });
  await chromium.load(address + fragment);
}

const VISIBLE = `(selector) => [...document.querySelectorAll(selector)].filter((it) => it.checkVisibility())`;
const countVisible = (selector) => chromium.evaluate(`(${VISIBLE})(${JSON.stringify(selector)}).length`);

test("a page of every scenario is under 2 MB, and reads nothing else", async () => {
  const { size } = fs.statSync(file);
  assert.ok(size < SIZE_MAX, `${size} bytes`);
  await open();
  assert.ok((await countVisible(".scenario")) > 400);
  assert.equal(await chromium.evaluate("performance.getEntriesByType('resource').length"), 0);
});

test("the verdict and the first failure are on the first screen, and its link ends at its step", async () => {
  await open();
  const top = (selector) => chromium.evaluate(`document.querySelector(${JSON.stringify(selector)}).getBoundingClientRect().top`);
  assert.ok((await top("#verdict")) < 200);
  assert.ok((await top("#failures li a")) < 800);
  await chromium.evaluate("document.querySelector('#failures li a').click()");
  const target = "document.querySelector('tr:target')";
  const place = await chromium.evaluate(`${target}.getBoundingClientRect().top`);
  assert.ok(place > -1 && place < 800, `the step is ${place} pixels below the screen's top`);
  assert.equal(await chromium.evaluate(`${target}.querySelectorAll('td.bad').length`), 1);
});

test("an address with a step opens there", async () => {
  await open("#s-identity-transfer-clears-wallet.1");
  const place = await chromium.evaluate("document.querySelector('tr:target').getBoundingClientRect().top");
  assert.ok(place > -1 && place < 800, `${place} pixels`);
});

test("what is chosen is left, and an address shows its scenario in any case", async () => {
  await open();
  const all = await countVisible(".scenario");
  const choose = (list, at) => chromium.evaluate(`document.getElementById("${list}").selectedIndex = ${at}`);
  await choose("by-result", 1);
  const differing = await countVisible(".scenario");
  assert.ok(differing > 0 && differing < all / 2, `${differing} of ${all}`);
  assert.equal(await countVisible(".scenario:not(.differs)"), 0);
  await choose("by-result", 0);
  await choose("by-area", 1);
  const area = await countVisible(".scenario");
  assert.ok(area > 0 && area < all);
  const limits = await chromium.evaluate(`[...document.getElementById("by-cited-rule").options].findIndex((it) => it.text.startsWith("R8 "))`);
  await choose("by-cited-rule", limits);
  const both = await countVisible(".scenario");
  assert.ok(both > 0 && both < area, `${both} of ${area}`);
  const hidden = `document.querySelector(".scenario:not(.area0)").id`;
  await chromium.evaluate(`location.hash = ${hidden}`);
  assert.equal(await countVisible(".scenario:not(.area0)"), 1);
});

test("a phone scrolls in one direction", async () => {
  await open("", { width: 390, height: 844 });
  assert.equal(await chromium.evaluate("document.documentElement.scrollWidth"), 390);
  const cell = "document.querySelector('.steps td:nth-child(4)')";
  assert.equal(await chromium.evaluate(`getComputedStyle(${cell}).display`), "block");
  const label = await chromium.evaluate(`getComputedStyle(${cell}, "::before").content`);
  assert.match(label, /model/);
  const small = "[...document.querySelectorAll('.scenario, #failures, #matrix')].filter((it) => it.getBoundingClientRect().right > 391)";
  assert.equal(await chromium.evaluate(`${small}.length`), 0);
});

/** The contrast of an element's text with what is behind it, as WCAG counts it. */
const CONTRAST = `(selector) => {
  const channels = (color) => color.match(/[\\d.]+/g).map(Number);
  const linear = (value) => (value / 255 <= 0.04045 ? value / 255 / 12.92 : ((value / 255 + 0.055) / 1.055) ** 2.4);
  const luminance = (color) => channels(color).slice(0, 3).map(linear).reduce((sum, it, at) => sum + it * [0.2126, 0.7152, 0.0722][at], 0);
  const behind = (it) => {
    const color = getComputedStyle(it).backgroundColor;
    return channels(color)[3] === 0 && it.parentElement ? behind(it.parentElement) : color;
  };
  const element = document.querySelector(selector);
  const [dark, light] = [luminance(getComputedStyle(element).color), luminance(behind(element))].sort((one, other) => one - other);
  return (light + 0.05) / (dark + 0.05);
}`;

for (const scheme of ["light", "dark"]) {
  test(`text can be read: ${scheme}`, async () => {
    await open("", { scheme });
    const back = await chromium.evaluate("getComputedStyle(document.body).backgroundColor");
    assert.equal(back, scheme === "dark" ? "rgb(22, 23, 27)" : "rgb(255, 255, 255)");
    for (const selector of ["body", "#verdict", "#failures a", ".matrix td.good a", ".matrix td.bad a", ".legend", ".steps td.bad", ".steps td small"]) {
      const contrast = await chromium.evaluate(`(${CONTRAST})(${JSON.stringify(selector)})`);
      assert.ok(contrast >= 4.5, `${selector}: ${contrast}`); // WCAG 2.2, 1.4.3
    }
  });
}

test("the keyboard reaches failures, cells and lists in the order of the page, and can be seen there", async () => {
  await open();
  const focused = () => chromium.evaluate("document.activeElement.matches('#failures a') && getComputedStyle(document.activeElement).outlineStyle");
  await chromium.press(...TAB);
  assert.equal(await focused(), "solid");
  await chromium.press("Enter", 13, "\r");
  assert.equal(await chromium.evaluate("document.querySelectorAll('tr:target').length"), 1);
  await chromium.evaluate("document.getElementById('by-result').focus()");
  await chromium.press(...ARROW_DOWN);
  assert.equal(await countVisible(".scenario:not(.differs):not(:has(:target))"), 0);
});

test("paper gets the verdict, the failures and the scenarios that differ", async () => {
  await open("", { media: "print" });
  for (const selector of ["#verdict", "#failures li", "#matrix", ".scenario.differs", ".printed"]) {
    assert.ok((await countVisible(selector)) > 0, selector);
  }
  for (const selector of [".scenario:not(.differs)", ".filter", "#by-rule"]) assert.equal(await countVisible(selector), 0, selector);
});
