// Every vector through the package in a real browser: browser.mjs CHROMIUM
// The page is served under a policy that allows its own scripts and WebAssembly, and nothing else.
import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import { text } from "node:stream/consumers";
import { FUNCTIONS } from "../dist/index.js";
import { remove } from "../../../tests/cleanup.mjs";
import { expected } from "./naming.mjs";

const [chromium] = process.argv.slice(2);
const root = new URL("../../../", import.meta.url);
const PAGE = `<!doctype html><meta charset="utf-8"><title>vectors</title><script type="module" src="/page.mjs"></script>`;
const SCRIPT = `
import { CanonicalError, FUNCTIONS, load } from "/dist/index.js";
import { outcome } from "/naming.mjs";
const canonical = await load();
const report = { userAgent: navigator.userAgent, found: {} };
for (const name of FUNCTIONS) {
  const { vectors } = await (await fetch("/vectors/" + name + ".json")).json();
  report.found[name] = vectors.map((vector) => outcome(canonical, CanonicalError, vector));
}
await fetch("/report", { method: "POST", body: JSON.stringify(report) });
`;
const TYPES = { ".js": "text/javascript", ".mjs": "text/javascript", ".json": "application/json" };

function file(url) {
  if (/^\/vectors\/[a-z0-9_]+\.json$/.test(url)) return new URL(`tests${url}`, root);
  if (url === "/naming.mjs") return new URL(`canonical/typescript/test${url}`, root);
  if (/^\/dist\/[a-z-]+\.js$/.test(url)) return new URL(`canonical/typescript${url}`, root);
}

/** Serves the page; resolves with what it reports. */
function serve() {
  return new Promise((resolve) => {
    const server = http.createServer(async (request, response) => {
      response.setHeader("content-security-policy", "default-src 'none'; script-src 'self' 'wasm-unsafe-eval'; connect-src 'self'");
      if (request.method === "POST") {
        server.emit("report", JSON.parse(await text(request)));
        response.end();
      } else if (request.url === "/") response.setHeader("content-type", "text/html").end(PAGE);
      else if (request.url === "/page.mjs") response.setHeader("content-type", "text/javascript").end(SCRIPT);
      else if (file(request.url)) {
        response.setHeader("content-type", TYPES[path.extname(request.url)]);
        fs.createReadStream(file(request.url)).pipe(response);
      } else response.writeHead(404).end();
    });
    server.listen(0, "127.0.0.1", () => resolve(server));
  });
}

const FLAGS = ["--no-sandbox", "--headless", "--disable-gpu", "--disable-quic", "--no-first-run"];
const QUIET = ["--disable-background-networking", "--disable-component-update", "--disable-sync", "--remote-debugging-port=0"];

const server = await serve();
const profile = fs.mkdtempSync(path.join(os.tmpdir(), "concord-chromium-"));
const address = `http://127.0.0.1:${server.address().port}/`;
const browser = spawn(chromium, [...FLAGS, ...QUIET, `--user-data-dir=${profile}`, address], { stdio: ["ignore", "ignore", "pipe"] });
let errors = "";
browser.stderr.on("data", (piece) => (errors += piece));
try {
  const report = await new Promise((resolve, reject) => {
    server.once("report", resolve);
    browser.once("exit", (code) => reject(new Error(`${chromium} ended with ${code}: ${errors}`)));
    setTimeout(() => reject(new Error(`the page reported nothing: ${errors}`)), 120_000).unref();
  });
  assert.match(report.userAgent, /Chrome\//);
  let count = 0;
  for (const name of FUNCTIONS) {
    const { vectors } = JSON.parse(fs.readFileSync(new URL(`tests/vectors/${name}.json`, root), "utf8"));
    assert.equal(report.found[name].length, vectors.length, name);
    vectors.forEach((vector, at) => {
      assert.deepEqual(report.found[name][at], expected(vector), vector.id);
      count += 1;
    });
  }
  console.log(`${count} vectors in ${report.userAgent}`);
} finally {
  browser.kill();
  await new Promise((resolve) => (browser.exitCode === null && browser.signalCode === null ? browser.once("exit", resolve) : resolve()));
  server.closeAllConnections();
  server.close();
  remove(profile);
}
