// Writes the page as one file: build.mjs OUT. Style and script are in it, and the policy names them by hash.
import { createHash } from "node:crypto";
import fs from "node:fs";
import path from "node:path";
import { build } from "esbuild";

const [out] = process.argv.slice(2);
const here = (name) => path.join(import.meta.dirname, name);
const hash = (text) => `'sha256-${createHash("sha256").update(text).digest("base64")}'`;

const bundled = await build({
  entryPoints: [here("page.ts")],
  bundle: true,
  write: false,
  format: "esm",
  target: "es2022",
  charset: "ascii",
  minifySyntax: true,
  minifyWhitespace: true,
});
const script = bundled.outputFiles[0].text.replaceAll("</", "<\\/");
const style = fs.readFileSync(here("page.css"), "utf8");
const policy = [
  "default-src 'none'",
  `script-src ${hash(script)} 'wasm-unsafe-eval'`,
  `style-src ${hash(style)}`,
  "base-uri 'none'",
  "form-action 'none'",
].join("; ");
const parts = { policy, style, script };
const page = fs.readFileSync(here("index.html"), "utf8").replace(/\{\{(\w+)\}\}/g, (_, name) => parts[name]);
fs.mkdirSync(path.dirname(out), { recursive: true });
fs.writeFileSync(out, page);
