// The part of solc's command line that forge, foundry-compilers, slither and halmos use, over the npm package `solc`
// (a wasm build): --version, --standard-json [file|-], --base-path, --include-path, --allow-paths.
//
// CONCORD_CACHE        the tool cache; default <root>/.cache. Nothing is written outside of it.
// CONCORD_SOLC_CACHE   "off" compiles every time; otherwise an input seen before is answered from $CONCORD_CACHE/solc.
import { createHash } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";
import { text } from "node:stream/consumers";
import { fileURLToPath } from "node:url";

const VERSION = "0.8.37";
const BUILD = "0.8.37+commit.f401782d.Emscripten.clang";
const CACHE_ENTRIES = 24; // one takes about 10 MB

const root = path.resolve(path.dirname(fileURLToPath(import.meta.url)), "..", "..");
const cache = path.resolve(process.env.CONCORD_CACHE || path.join(root, ".cache"));
const packageDir = path.join(cache, "evm", "node_modules", "solc");

function fail(sentence) {
  process.stderr.write(`solc: ${sentence}\n`);
  process.exit(1);
}

/** The version is read from the package's manifest: loading the wasm takes half a second, and forge asks often. */
function requirePackage() {
  let version;
  try {
    version = JSON.parse(fs.readFileSync(path.join(packageDir, "package.json"), "utf8")).version;
  } catch {
    fail(`the npm package solc ${VERSION} is not in ${path.join(cache, "evm", "node_modules")}: run scripts/bootstrap`);
  }
  if (version !== VERSION) fail(`${packageDir} is version ${version}, ${VERSION} is needed: run scripts/bootstrap`);
}

function parseArguments(args) {
  const options = { version: false, file: "-", basePath: process.cwd(), includePaths: [] };
  for (let i = 0; i < args.length; i++) {
    const [name, inline] = args[i].split(/=(.*)/s);
    const value = () => inline ?? args[++i] ?? fail(`${name} needs a value`);
    if (name === "--version") options.version = true;
    else if (name === "--base-path") options.basePath = value();
    else if (name === "--include-path") options.includePaths.push(value());
    else if (name === "--allow-paths") value();
    else if (name === "--standard-json" || name === "-") continue;
    else if (!name.startsWith("-") && args[i - 1] === "--standard-json") options.file = args[i];
    else fail(`${args[i]} is not supported by this wrapper (it takes --standard-json and --version)`);
  }
  return options;
}

function readImport(file, directories) {
  for (const directory of path.isAbsolute(file) ? [""] : directories) {
    try {
      return { contents: fs.readFileSync(path.join(directory, file), "utf8") };
    } catch {
      // the next directory may have it
    }
  }
  return { error: `${file} was not found` };
}

function compile(input, options) {
  const solc = createRequire(import.meta.url)(packageDir);
  if (solc.version() !== BUILD) fail(`${packageDir} contains ${solc.version()}, not ${BUILD}: run scripts/bootstrap`);
  let imported = false;
  const output = solc.compile(input, {
    import: (file) => {
      imported = true;
      return readImport(file, [options.basePath, ...options.includePaths]);
    },
  });
  // Only an input that holds all of its sources determines the output.
  return { output, cacheable: !imported };
}

/** A cache that cannot be written costs time and nothing else, so that no failure here is an error. */
function store(directory, entry, output) {
  const part = path.join(directory, `${entry}.${process.pid}.part`);
  try {
    fs.mkdirSync(directory, { recursive: true });
    fs.writeFileSync(part, output);
    fs.renameSync(part, path.join(directory, entry));
    fs.readdirSync(directory)
      .map((name) => path.join(directory, name))
      .map((file) => ({ file, used: fs.statSync(file).mtimeMs }))
      .sort((a, b) => b.used - a.used)
      .slice(CACHE_ENTRIES)
      .forEach(({ file }) => fs.rmSync(file, { force: true }));
  } catch {
    fs.rmSync(part, { force: true });
  }
}

function recall(file) {
  try {
    const output = fs.readFileSync(file, "utf8");
    fs.utimesSync(file, new Date(), new Date()); // the oldest entries go first
    return output;
  } catch {
    return undefined;
  }
}

function answer(input, options) {
  if (process.env.CONCORD_SOLC_CACHE === "off") return compile(input, options).output;
  const directory = path.join(cache, "solc");
  const entry = createHash("sha256").update(`${BUILD}\0${input}`).digest("hex") + ".json";
  const known = recall(path.join(directory, entry));
  if (known !== undefined) return known;
  const { output, cacheable } = compile(input, options);
  if (cacheable) store(directory, entry, output);
  return output;
}

/** Standard input as a stream: forge hands over a pipe that does not block, which a plain read takes for an error. */
async function readInput(file) {
  try {
    return file === "-" ? await text(process.stdin) : fs.readFileSync(file, "utf8");
  } catch (error) {
    fail(`the input ${file} cannot be read (${error.code})`);
  }
}

/** A pipe may take a part of the buffer, or answer EAGAIN. */
function writeWhole(output) {
  const buffer = Buffer.from(output);
  for (let at = 0; at < buffer.length; ) {
    try {
      at += fs.writeSync(1, buffer, at);
    } catch (error) {
      if (error.code !== "EAGAIN") throw error;
    }
  }
}

requirePackage();
const options = parseArguments(process.argv.slice(2));
if (options.version) {
  writeWhole(`solc, the solidity compiler commandline interface\nVersion: ${BUILD}\n`);
} else {
  writeWhole(answer(await readInput(options.file), options));
}
