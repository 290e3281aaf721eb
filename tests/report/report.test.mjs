// The HTML report of real runs, read in a DOM. Scripts are allowed to run here, so that one that got in would be seen.
import assert from "node:assert/strict";
import { spawnSync } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { fileURLToPath } from "node:url";
import { JSDOM, VirtualConsole } from "jsdom";
import { remove } from "../cleanup.mjs";

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CONCORD = process.env.CONCORD_BINARY;
const EXAMPLE = "python3 tests/adapters/identity.py";
const HOSTILE = `</pre></style></script><script>globalThis.ran = true</script><img src=x onerror="globalThis.ran = true">"'&`;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "concord-report-"));
after(() => remove(folder));

function concord(args, code) {
  const run = spawnSync(CONCORD, args, { cwd: ROOT, encoding: "utf8" });
  assert.equal(run.status, code, run.stderr);
  return run;
}

/** The page of a run with these arguments, at this fragment of its address. */
function page(args, code, fragment = "") {
  const file = path.join(folder, "report.html");
  concord(["conform", "--html", file, ...args], code);
  const html = fs.readFileSync(file, "utf8");
  const requests = [];
  const virtualConsole = new VirtualConsole();
  virtualConsole.on("jsdomError", (fault) => requests.push(fault.message));
  const url = `file:///report.html${fragment}`;
  const { window } = new JSDOM(html, { url, runScripts: "dangerously", resources: undefined, virtualConsole });
  return { window, document: window.document, html, requests };
}

/** What a reader sees, with a space where a block begins and ends. */
function text(element) {
  const copy = element.cloneNode(true);
  for (const block of copy.querySelectorAll("p, td, th, li, summary, div")) {
    block.prepend(" ");
    block.append(" ");
  }
  for (const end of copy.querySelectorAll("br")) end.replaceWith(" ");
  return copy.textContent.replace(/\s+/g, " ").trim();
}
const cells = (row) => [...row.children].map(text);

/** A committed scenario with every text that a scenario can hold made hostile. */
function hostileScenario() {
  const source = path.join(ROOT, "tests/scenarios/identity/register.json");
  const scenario = JSON.parse(fs.readFileSync(source, "utf8"));
  scenario.title = HOSTILE;
  const [step] = scenario.steps;
  step.note = HOSTILE;
  step.do.register.uri = HOSTILE;
  const area = path.join(folder, "<img src=x>");
  fs.mkdirSync(area);
  const file = path.join(area, "hostile.json");
  fs.writeFileSync(file, JSON.stringify(scenario));
  concord(["fill", file], 0);
  return file;
}

test("the top says who agrees, with which versions, and what was checked", () => {
  const { document } = page(["--backend", "svm-litesvm", "--scenario", "identity/register"], 0);
  assert.equal(text(document.querySelector("#verdict")), "1 scenario: model, svm-litesvm agree");
  assert.equal(document.querySelector("#verdict").className, "good");
  const provenance = text(document.querySelector("#provenance"));
  assert.match(provenance, /concord \d+\.\d+\.\d+/);
  assert.match(provenance, /litesvm \d+\.\d+\.\d+/);
  assert.match(provenance, /agent_registry\.so 0x[0-9a-f]{64} sha256/);
  const counts = [...document.querySelectorAll("#counts li")].map(text);
  assert.equal(counts[0], "model: steps: 2 passed");
  assert.match(counts[1], /^svm-litesvm: steps: 2 passed; views: \d+ right$/);
  const order = [...document.body.querySelectorAll("#verdict, #counts, #provenance, #matrix, #scenarios, #by-rule")];
  const ids = order.map((it) => it.id);
  assert.deepEqual(ids, ["verdict", "counts", "matrix", "provenance", "scenarios", "by-rule"]);
});

test("each cell links to its rule's scenarios, and each of them to its steps, side by side", () => {
  const { document } = page(["--backend", "svm-litesvm", "--scenario", "authorized/corrupted-signature"], 0);
  const rows = [...document.querySelectorAll("#matrix tbody tr")];
  assert.ok(rows.some((row) => text(row.querySelector("th")) === "R11 The Ed25519 precompile"));
  const links = rows.flatMap((row) => [...row.querySelectorAll("td a")]);
  assert.ok(links.length >= 6);
  for (const link of links) {
    assert.ok(link.getAttribute("aria-label"));
    const list = document.getElementById(link.hash.slice(1));
    const [scenario, ...others] = list.querySelectorAll("li a");
    assert.deepEqual(others, []);
    assert.equal(document.getElementById(scenario.hash.slice(1)).querySelectorAll("table.steps").length, 1);
  }
  const section = document.querySelector(".scenario");
  assert.deepEqual(cells(section.querySelector("thead tr")), ["#", "step", "expected", "model", "svm-litesvm"]);
  const steps = [...section.querySelectorAll("tbody tr")];
  assert.deepEqual(steps.map((row) => cells(row)[0]), steps.map((_, at) => `${at + 1}`), "no step is left out");
  for (const step of steps) assert.equal(document.getElementById(step.querySelector("th a").hash.slice(1)), step);
  assert.match(cells(steps[1])[1], /^authorize name: bad, signer: alice, .*tamper: corrupt_signature off chain$/);
  const [, step, expected, model, svm] = cells(steps[3]);
  assert.match(step, /^give_feedback agent: desk, by: bob, score: 101, .*A second rule is broken\. §3a at \d+ s$/);
  assert.match(expected, /^ScoreOutOfRange svm, declared variance 1: AuthNotGranted The Ed25519 precompile/);
  assert.equal(model, "passed");
  assert.match(svm, /^declared variance, AuthNotGranted, .* CU /);
});

test("a declared variance has its reason, a link, and no colour of a warning", () => {
  const { document } = page(["--backend", "svm-litesvm", "--scenario", "authorized/corrupted-signature"], 0);
  const group = document.querySelector("#variances details");
  assert.match(text(group.querySelector("summary")), /^1 svm-litesvm 2×: a bad Ed25519 signature/);
  const [first] = group.querySelectorAll("li");
  assert.match(text(first), /step 4: gives AuthNotGranted, elsewhere ScoreOutOfRange\. The Ed25519 precompile/);
  assert.ok(document.getElementById(first.querySelector("a").hash.slice(1)).matches(".steps tr"));
  const varied = [...document.querySelectorAll("#matrix td")].filter((it) => text(it).includes("~"));
  assert.ok(varied.length > 0);
  for (const cell of varied) assert.equal(cell.className, "good");
});

test("a registry that differs is named first, with a link to the step and the rules' titles", () => {
  const args = ["--backend", "none", "--adapter", `${EXAMPLE} --faulty`, "--adapter-chain", "evm"];
  const { document } = page([...args, "--scenario", "identity/transfer-clears-wallet"], 1);
  assert.equal(text(document.querySelector("#verdict")), "1 scenario: wrong: identity-py");
  assert.equal(document.querySelector("#verdict").className, "bad");
  assert.match(text(document.querySelector("#counts")), /identity-py: steps: \d+ passed, 1 failed/);
  assert.equal(document.querySelector("main > section").id, "failures");
  const [failure, ...others] = document.querySelectorAll("#failures li");
  assert.deepEqual(others, []);
  const words = /^identity-py: .*, state \$\.agents\.desk\.wallet: expected null, actual alice R3 The agent wallet/;
  assert.match(text(failure), words);
  const step = document.getElementById(failure.querySelector("a").hash.slice(1));
  assert.match(text(step.querySelector("td.bad")), /^failed: state \$\.agents\.desk\.wallet: .* The outcome was ok/);
  const listed = document.querySelector("#R3 li");
  assert.match(text(listed), /^identity\/transfer-clears-wallet differs$/);
});

test("scenarios can be chosen by result, area and rule, without a script", () => {
  const args = ["--backend", "none", "--scenario", "identity/register", "--scenario", "open/bare-feedback", "--scenario"];
  const { document } = page([...args, "authorized/corrupted-signature"], 0);
  const lists = [...document.querySelectorAll(".filter select")];
  const choices = lists.map((list) => [...list.options].map(text));
  assert.deepEqual(choices[0], ["every result", "what differs", "declared variances", "not declared"]);
  assert.deepEqual(choices[1], ["every area", "authorized", "identity", "open"]);
  assert.equal(choices[2][0], "every rule");
  assert.ok(choices[2].includes("R11 The Ed25519 precompile"));
  assert.deepEqual([...document.querySelectorAll("form, button, script")], []);
});

test("text that looks like markup stays text, and nothing runs or is loaded", () => {
  const file = hostileScenario();
  const { window, document, html, requests } = page(["--backend", "svm-litesvm", "--scenario", file], 0);
  assert.equal(window.ran, undefined);
  assert.deepEqual(requests, []);
  assert.equal(document.querySelectorAll("script, img, iframe, object, embed, link").length, 0);
  const own = [...document.querySelectorAll("*")].flatMap((it) => [...it.attributes]);
  assert.deepEqual(own.filter((it) => /^on|^(src|srcset|action)$/.test(it.name)), []);
  assert.ok(text(document.querySelector(".scenario h3")).includes(HOSTILE));
  const shown = [...document.querySelectorAll(".steps td")].filter((it) => it.textContent.includes("globalThis.ran"));
  assert.ok(shown.length >= 2, "in what is done, and in what is expected");
  assert.ok(!html.includes("<script"));
  const policy = document.querySelector('meta[http-equiv="Content-Security-Policy"]').content;
  assert.equal(policy, "default-src 'none'; style-src 'unsafe-inline'");
  assert.ok(!/url\(|@import/.test(document.querySelector("style").textContent));
});

test("it reads by keyboard, in the dark, and by ear", () => {
  const { document } = page(["--backend", "none", "--scenario", "identity/register"], 0);
  assert.equal(document.documentElement.lang, "en");
  assert.equal(document.querySelectorAll("h1").length, 1);
  for (const table of document.querySelectorAll("#matrix table, .steps")) {
    assert.ok([...table.querySelectorAll("th")].every((it) => it.scope));
  }
  const reachable = "a[href], summary, select, .wide[tabindex='0']";
  assert.ok(document.querySelectorAll(reachable).length > 6);
  assert.equal(document.querySelectorAll("[onclick], button, [tabindex]:not([tabindex='0'])").length, 0);
  const style = document.querySelector("style").textContent;
  assert.match(style, /@media \(prefers-color-scheme: dark\)/);
  assert.match(style, /:focus-visible/);
  const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
  assert.equal(new Set(ids).size, ids.length);
});
