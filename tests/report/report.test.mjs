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

const ROOT = fileURLToPath(new URL("../../", import.meta.url));
const CONCORD = process.env.CONCORD_BINARY;
const EXAMPLE = "python3 tests/adapters/identity.py";
const HOSTILE = `</pre></style></script><script>globalThis.ran = true</script><img src=x onerror="globalThis.ran = true">"'&`;

const folder = fs.mkdtempSync(path.join(os.tmpdir(), "concord-report-"));
after(() => fs.rmSync(folder, { recursive: true }));

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

/** What a reader sees, with a space where a block ends. */
function text(element) {
  const copy = element.cloneNode(true);
  for (const block of copy.querySelectorAll("p, td, th, summary, pre, div")) block.append(" ");
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

test("the top says who agrees, with which versions, and what was judged", () => {
  const { document } = page(["--backend", "svm-litesvm", "--scenario", "identity/register"], 0);
  assert.equal(text(document.querySelector("#verdict")), "1 scenario: model, svm-litesvm agree");
  assert.equal(document.querySelector("#verdict").className, "good");
  const provenance = text(document.querySelector("#provenance"));
  assert.match(provenance, /concord \d+\.\d+\.\d+/);
  assert.match(provenance, /litesvm \d+\.\d+\.\d+/);
  assert.match(provenance, /agent_registry\.so 0x[0-9a-f]{64} sha256/);
  const order = [...document.body.querySelectorAll("#verdict, #provenance, #matrix")].map((it) => it.id);
  assert.deepEqual(order, ["verdict", "provenance", "matrix"]);
});

test("each cell is a link that opens its steps, side by side, and only those", () => {
  const args = ["--backend", "svm-litesvm", "--scenario", "authorized/corrupted-signature"];
  const { window, document } = page(args, 0, "#3a-svm-litesvm");
  const links = [...document.querySelectorAll("#matrix tbody td a")];
  assert.ok(links.length >= 6);
  for (const link of links) {
    assert.ok(link.getAttribute("aria-label"));
    const mark = document.getElementById(link.hash.slice(1));
    assert.ok(mark.closest(".rule").querySelector("table.steps tbody tr"), link.hash);
  }
  const opened = [...document.querySelectorAll(".rule > section")].filter(
    (section) => window.getComputedStyle(section).display !== "none",
  );
  assert.equal(opened.length, 1);
  const rows = [...opened[0].querySelectorAll("tbody tr")];
  const heads = cells(opened[0].querySelector("thead tr"));
  assert.deepEqual(heads, ["step", "expected", "model", "svm-litesvm"]);
  const [first] = rows;
  const [step, expected, model, svm] = cells(first);
  assert.match(step, /^4 give_feedback at \d+ s/);
  assert.match(expected, /^ScoreOutOfRange .*svm: declared variance 1\. .*AuthNotGranted/);
  assert.match(model, /^ScoreOutOfRange passed/);
  assert.match(svm, /^AuthNotGranted declared variance natively .* CU no events state 0x/);
  const digests = [...first.querySelectorAll(".digest code")].map((it) => it.title);
  assert.equal(digests.length, 4);
  for (const digest of digests) assert.match(digest, /^0x[0-9a-f]{64}$/);
});

test("a declared variance is told with its reason", () => {
  const { document } = page(["--backend", "svm-litesvm", "--scenario", "authorized/corrupted-signature"], 0);
  const group = document.querySelector("#variances details");
  assert.match(text(group.querySelector("summary")), /^1 svm-litesvm 2×: a bad Ed25519 signature/);
  const [first] = group.querySelectorAll("li");
  assert.match(text(first), /step 4: comes to AuthNotGranted, elsewhere ScoreOutOfRange\. The Ed25519 precompile/);
});

test("a registry that differs is named at the top, with a link to the step", () => {
  const args = ["--backend", "none", "--adapter", `${EXAMPLE} --faulty`, "--adapter-chain", "evm"];
  const { document } = page([...args, "--scenario", "identity/transfer-clears-wallet"], 1);
  assert.equal(text(document.querySelector("#verdict")), "1 scenario: wrong: identity-py");
  assert.equal(document.querySelector("#verdict").className, "bad");
  const [failure, ...others] = document.querySelectorAll("#failures li");
  assert.deepEqual(others, []);
  assert.match(text(failure), /^identity-py: .*, state \$\.agents\.desk\.wallet: expected null, actual alice$/);
  const target = document.getElementById(failure.querySelector("a").hash.slice(1));
  const step = target.closest(".rule").querySelector('td[data-participant="identity-py"] .bad');
  assert.match(text(step), /failed$/);
});

test("text that looks like markup stays text, and nothing runs or is loaded", () => {
  const file = hostileScenario();
  const { window, document, html, requests } = page(["--backend", "svm-litesvm", "--scenario", file], 0);
  assert.equal(window.ran, undefined);
  assert.deepEqual(requests, []);
  assert.equal(document.querySelectorAll("script, img, iframe, object, embed, link").length, 0);
  const own = [...document.querySelectorAll("*")].flatMap((it) => [...it.attributes]);
  assert.deepEqual(own.filter((it) => /^on|^(src|srcset|action)$/.test(it.name)), []);
  assert.ok(text(document.querySelector(".rule h3")).includes(HOSTILE));
  const shown = [...document.querySelectorAll(".steps p, .steps pre")].filter((it) => it.textContent.includes("globalThis.ran"));
  assert.ok(shown.length >= 4);
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
  const reachable = "a[href], summary, .wide[tabindex='0']";
  assert.ok(document.querySelectorAll(reachable).length > 6);
  assert.equal(document.querySelectorAll("[onclick], button, [tabindex]:not([tabindex='0'])").length, 0);
  const style = document.querySelector("style").textContent;
  assert.match(style, /@media \(prefers-color-scheme: dark\)/);
  assert.match(style, /:focus-visible/);
  const ids = [...document.querySelectorAll("[id]")].map((it) => it.id);
  assert.equal(new Set(ids).size, ids.length);
});
