// The explorer of an index of anvil in a real browser: search, chart, evidence, keyboard, narrow, dark, texts of strangers. It has no
// script, so that the browser runs with scripts forbidden.
import assert from "node:assert/strict";
import process from "node:process";
import { after, before, test } from "node:test";

import { REGISTRATION_TYPE, dataUri, startWorld, write } from "../clients/agent0/index_world.mjs";
import { ADDRESSES, CHAIN_ID } from "../clients/agent0/local_chain.mjs";
import { Chromium } from "../report/chromium.mjs";
import { cleanUp } from "../cleanup.mjs";

const ONE = `${CHAIN_ID}:1`;
const SCRIPT = `<script>document.title = "run"</script><img src=x onerror="document.title='run'">`;
const RIGHT_TO_LEFT = "\u202egnp.exe \u05e9\u05dc\u05d5\u05dd";
const LONG = "x".repeat(10_000);
const NO_HASH = `0x${"0".repeat(64)}`;
const TAB = ["Tab", 9];
const ENTER = ["Enter", 13, "\r"];
const NARROW = 390;

let world;
let chromium;

const named = (name) => dataUri({ type: REGISTRATION_TYPE, name, description: name, image: "", services: [], registrations: [] });

async function hostile(chain, { identity, reputation }) {
  for (const name of [SCRIPT, RIGHT_TO_LEFT, LONG]) await write(chain, "owner", identity, "register", [named(name)]);
  const args = [4n, 1n, 0, SCRIPT, RIGHT_TO_LEFT, "javascript:alert(1)", `data:application/json,${SCRIPT}`, NO_HASH];
  await write(chain, "client", reputation, "giveFeedback", args);
}

before(async () => {
  world = await startWorld(hostile);
  chromium = await Chromium.start(process.env.CONCORD_CHROMIUM);
  await chromium.ask("Emulation.setScriptExecutionDisabled", { value: true });
});
after(async () => {
  await cleanUp(() => chromium?.end(), () => world?.stop());
});

async function open(path, { width = 1280, scheme = "light" } = {}) {
  await chromium.ask("Emulation.setDeviceMetricsOverride", { width, height: 800, deviceScaleFactor: 1, mobile: width < 500 });
  await chromium.ask("Emulation.setEmulatedMedia", { media: "", features: [{ name: "prefers-color-scheme", value: scheme }] });
  await chromium.load(world.index + path);
}

const text = (selector) => chromium.evaluate(`document.querySelector(${JSON.stringify(selector)})?.innerText ?? ""`);
const all = (selector) => chromium.evaluate(`[...document.querySelectorAll(${JSON.stringify(selector)})].map((it) => it.innerText)`);
const count = (selector) => chromium.evaluate(`document.querySelectorAll(${JSON.stringify(selector)}).length`);
const agentPage = (query = "") => `/agent/${encodeURIComponent(ONE)}${query}`;

test("agents are found by what a person types, and the form keeps it", async () => {
  await open("/");
  assert.equal(await count("ul.agents > li"), 6);
  await chromium.evaluate("document.getElementById('q').focus()");
  await chromium.ask("Input.insertText", { text: "weather" });
  const loaded = chromium.loaded();
  await chromium.press(...ENTER);
  await loaded;
  assert.deepEqual(await all("ul.agents h2"), ["Weather Oracle"]);
  assert.equal(await chromium.evaluate("document.getElementById('q').value"), "weather");
  await open("/?hasMCP=1&reviewers=everyone&tag=quality&min=30");
  assert.deepEqual(await all("ul.agents h2"), ["Weather Oracle"]);
  assert.match(await text("ul.agents .facts"), /average 38 of 2 by these reviewers/);
});

test("what the API refuses is said in its words, with its status", async () => {
  await open("/?min=much&reviewers=everyone");
  assert.match(await text("[role=alert]"), /filters\.feedback\.minValue/);
  const status = async (path) => (await fetch(world.index + path)).status;
  assert.equal(await status("/?min=much&reviewers=everyone"), 400);
  assert.equal(await status("/agent/31337:99"), 404);
  assert.equal(await status("/agent/nonsense"), 400);
  assert.equal(await status("/v1/nothing"), 404);
});

test("a reputation is drawn over time for each tag, for everyone and for the listed", async () => {
  await open(agentPage());
  assert.deepEqual(await all("figure.chart .tag"), ["All tags", "quality", "speed"]);
  assert.equal(await count("polyline.raw"), 3);
  assert.equal(await count("polyline.listed"), 0);
  await open(agentPage(`?reviewers=${ADDRESSES.client}`));
  assert.equal(await count("polyline.listed"), 3);
  assert.match(await text("figure.chart figcaption"), /2 feedbacks from .*\. 2 by the listed reviewers\./);
  const { width, height } = await chromium.evaluate("(({ width, height }) => ({ width, height }))(document.querySelector('polyline.raw').getBoundingClientRect())");
  assert.ok(width > 300 && height > 20, `${width} by ${height}`);
  assert.equal(await count("section.summary"), 2);
});

test("a feedback's evidence is what was verified, and what is only claimed", async () => {
  await open(agentPage());
  assert.match((await all("ul.feedback > li")).join("\n"), /revoked/);
  await chromium.evaluate("[...document.querySelectorAll('ul.feedback a')].find((it) => it.innerText === '87.5').focus()");
  const loaded = chromium.loaded();
  await chromium.press(...ENTER);
  await loaded;
  assert.equal(await text("h1"), "Feedback: 87.5");
  assert.match(await text("h3.good + ul"), /The file is the one that was meant/);
  assert.match(await text("main"), /ipfs:\/\/response/);
  await open(`/feedback/${encodeURIComponent(ONE)}/open/${ADDRESSES.client}/2`);
  assert.match(await text("h3.warn + ul"), /There is no file/);
});

test("the first stop of the keyboard goes to the content, and every stop is seen", async () => {
  await open("/");
  await chromium.press(...TAB);
  assert.equal(await chromium.evaluate("document.activeElement.getAttribute('href')"), "#main");
  const stops = [];
  for (let turn = 0; turn < 12; turn += 1) {
    await chromium.press(...TAB);
    const stop = `(({ tagName, id, innerText }) => tagName + (id || innerText))(document.activeElement)`;
    stops.push(await chromium.evaluate(stop));
    assert.notEqual(await chromium.evaluate("getComputedStyle(document.activeElement).outlineStyle"), "none");
  }
  for (const wanted of ["AAgents", "AStatus", "INPUTq", "SELECTchain", "SELECTsort"]) assert.ok(stops.includes(wanted), `${wanted}: ${stops}`);
});

test("no page is wider than a narrow screen", async () => {
  const hostilePage = `/agent/${CHAIN_ID}%3A6`;
  for (const path of ["/", agentPage(`?reviewers=${ADDRESSES.client}`), hostilePage, "/status", `/feedback/${CHAIN_ID}%3A4/open/${ADDRESSES.client}/1`]) {
    await open(path, { width: NARROW });
    const width = await chromium.evaluate("document.documentElement.scrollWidth");
    assert.ok(width <= NARROW, `${path}: ${width} pixels`);
  }
});

test("text has contrast in the light and in the dark", async () => {
  const contrast = `(() => {
    const luminance = (colour) => {
      const parts = colour.match(/[\\d.]+/g).slice(0, 3).map((it) => it / 255);
      const [r, g, b] = parts.map((it) => (it <= 0.03928 ? it / 12.92 : ((it + 0.055) / 1.055) ** 2.4));
      return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const ground = luminance(getComputedStyle(document.body).backgroundColor);
    const of = [...document.querySelectorAll("h1, a, p, dt, dd, .facts, .good, .warn, button")].filter((it) => it.checkVisibility());
    const each = of.map((it) => luminance(getComputedStyle(it).color));
    const least = Math.min(...each.map((it) => (Math.max(it, ground) + 0.05) / (Math.min(it, ground) + 0.05)));
    return { ground, least };
  })()`;
  const grounds = [];
  for (const scheme of ["light", "dark"]) {
    await open(agentPage(), { scheme });
    const { ground, least } = await chromium.evaluate(contrast);
    assert.ok(least >= 4.5, `${scheme}: ${least}`);
    grounds.push(ground);
  }
  assert.ok(grounds[0] > 0.9 && grounds[1] < 0.1, String(grounds));
});

test("texts of strangers are text: no markup, no link, nothing turned around", async () => {
  await chromium.ask("Emulation.setScriptExecutionDisabled", { value: false }); // what would run, may
  for (const path of ["/", `/agent/${CHAIN_ID}%3A4`, `/feedback/${CHAIN_ID}%3A4/open/${ADDRESSES.client}/1`]) {
    await open(path);
    assert.notEqual(await chromium.evaluate("document.title"), "run");
    assert.equal(await count("script, img, a[href^='javascript'], [onerror]"), 0);
    assert.equal(await chromium.evaluate("[...document.querySelectorAll('a')].every((it) => it.origin === location.origin)"), true);
  }
  await open(`/agent/${CHAIN_ID}%3A4`);
  assert.equal(await text("h1"), SCRIPT);
  await open("/");
  const direction = "getComputedStyle([...document.querySelectorAll('ul.agents h2 bdi')].find((it) => it.innerText.includes('gnp'))).unicodeBidi";
  assert.match(await chromium.evaluate(direction), /isolate/);
  const long = (await all("ul.agents h2")).find((it) => it.startsWith("xxx"));
  assert.ok(long.length < 100, `${long.length}`);
  await open(`/agent/${CHAIN_ID}%3A6`);
  assert.ok((await text("h1")) === LONG);
  const height = await chromium.evaluate("document.querySelector('h1').getBoundingClientRect().height");
  assert.ok(height < 300, `${height} pixels`);
  await chromium.ask("Emulation.setScriptExecutionDisabled", { value: true });
});

test("a page may load its style and nothing else, and is in no other page's frame", async () => {
  const answer = await fetch(`${world.index}/`);
  const policy = answer.headers.get("content-security-policy");
  for (const part of ["default-src 'none'", "style-src 'self'", "form-action 'self'", "frame-ancestors 'none'"]) assert.ok(policy.includes(part), policy);
  assert.equal(answer.headers.get("x-content-type-options"), "nosniff");
  await open(agentPage());
  const loaded = "performance.getEntriesByType('resource').map((it) => new URL(it.name).pathname).filter((it) => it !== '/favicon.ico')";
  assert.deepEqual(await chromium.evaluate(loaded), ["/explorer.css"]);
});

test("the status says how far the chain is indexed, and what may be taken back", async () => {
  await open("/status");
  const block = await world.chain.reader.getBlockNumber();
  assert.match(await text("main"), new RegExp(`Indexed through\\s+block ${block},`));
  assert.match(await text("main"), /With missing events\s+none/);
  assert.match(await text("main"), /reorganization may take/);
});
