// The form of a vector file, and the one place that writes it.
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import assert from "node:assert/strict";
import { Ajv2020 } from "ajv/dist/2020.js";

const packageVersion = (name) =>
  JSON.parse(readFileSync(new URL(`./node_modules/${name}/package.json`, import.meta.url), "utf8")).version;

const files = [];

/** Why a vector exists. Each flag used in a file is explained in that file. */
const FLAGS = {
  Published: "the expected value was published by someone else; the comment says where",
  Measured: "the expected value was measured on the canonical contracts' bytecode",
  Typical: "an ordinary input",
  Boundary: "at a limit, or one step beyond it",
  Empty: "an empty input or field",
  Unicode: "text beyond ASCII",
  Shape: "the parts have the wrong number, length or alphabet",
  Truncated: "bytes are missing at the end",
  TooLong: "bytes follow the end",
  DirtyWord: "an ABI word has bits set above its type's width",
  Malleable: "a second encoding of a signature or key that must not be accepted",
  WrongKey: "signed by another key",
  WrongMessage: "signed over another message",
  SmallOrder: "a key in the small subgroup of edwards25519",
  Ordering: "keys or lists whose order decides the result",
  Number: "number syntax or formatting",
  DuplicateKey: "one object names a key twice",
  Surrogate: "a surrogate escape without its other half",
  Grammar: "text outside the grammar of RFC 8259",
  Rounding: "division or rescaling that truncates",
  Wrap: "the canonical contract would wrap around here",
  CaseSensitive: "only the case of letters differs",
  Wording: "another wording of the same field, bridged by name (R35, R37, R42)",
  Conflict: "two fields that must agree, or must not stand together",
  Writer: "read, but not written",
  Signed: "agent's and reviewer's signatures hold",
  Unchecked: "must be accepted: this function does not judge that",
  Request: "the request itself is wrong: an argument is missing, unknown, or too wide for its type",
};

/** One file of vectors for one function. */
export class VectorFile {
  constructor(fn, { description, packages, argumentsOf = {} }) {
    this.fn = fn;
    this.description = description;
    this.packages = packages;
    this.defaults = argumentsOf;
    this.vectors = [];
    files.push(this);
  }

  /** The function answers `result`. */
  ok(id, comment, flags, args, result) {
    assert.notEqual(result, undefined, `${this.fn}/${id}: no expected value`);
    this.#add(id, comment, flags, args, { ok: result });
  }

  /** The function refuses, with this class. */
  error(id, comment, flags, args, errorClass) {
    this.#add(id, comment, flags, args, { error: errorClass });
  }

  #add(id, comment, flags, args, expected) {
    for (const flag of flags) assert.ok(FLAGS[flag], `${this.fn}/${id}: unknown flag ${flag}`);
    assert.ok(flags.length > 0, `${this.fn}/${id}: no flag`);
    const full = `${this.fn}/${id}`;
    assert.ok(!this.vectors.some((vector) => vector.id === full), `${full}: id twice`);
    this.vectors.push({ id: full, comment, flags, fn: this.fn, ...args, ...expected });
  }

  toText() {
    const used = new Set(this.vectors.flatMap((vector) => vector.flags));
    const head = {
      $schema: "./schema.json",
      description: this.description,
      generator: {
        script: "tests/vectors/generate/run",
        packages: Object.fromEntries(this.packages.map((name) => [name, packageVersion(name)])),
      },
      flags: Object.fromEntries(Object.entries(FLAGS).filter(([flag]) => used.has(flag))),
      counts: {
        ok: this.vectors.filter((vector) => "ok" in vector).length,
        error: this.vectors.filter((vector) => "error" in vector).length,
      },
    };
    const opening = JSON.stringify(head, null, 2).slice(0, -2);
    const vectors = this.vectors.map((vector) => `    ${escaped(JSON.stringify(vector))}`);
    return `${escaped(opening)},\n  "vectors": [\n${vectors.join(",\n")}\n  ]\n}\n`;
  }
}

/** A file of `bits,text` lines, one JSON string each, for what comes in thousands. */
export class TableFile {
  constructor(fn, { description, packages, columns, rows }) {
    Object.assign(this, { fn, description, packages, columns, rows });
    files.push(this);
  }

  toText() {
    const head = {
      $schema: "./schema.json",
      description: this.description,
      generator: {
        script: "tests/vectors/generate/run",
        packages: Object.fromEntries(this.packages.map((name) => [name, packageVersion(name)])),
      },
      fn: this.fn,
      columns: this.columns,
      count: this.rows.length,
    };
    const opening = JSON.stringify(head, null, 2).slice(0, -2);
    return `${opening},\n  "rows": [\n${this.rows.map((row) => JSON.stringify(row)).join(",\n")}\n  ]\n}\n`;
  }
}

/** Characters that editors hide or reorder are written as escapes. */
function escaped(text) {
  const hidden = /[\u007f-\u009f\u00ad\u0300-\u036f\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff]/g;
  return text.replace(hidden, (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, "0")}`);
}

/** The schema beside the vector files of a folder. */
function schemaOf(part) {
  const schema = JSON.parse(readFileSync(new URL(`../${part}schema.json`, import.meta.url), "utf8"));
  return new Ajv2020({ strictTypes: false, strictRequired: false }).compile(schema);
}

export function writeFiles(folder) {
  const isValidIn = Object.fromEntries(["", "files/", "x402/"].map((part) => [part, schemaOf(part)]));
  for (const file of files) {
    const text = file.toText();
    const isValid = isValidIn[["files/", "x402/"].find((part) => file.fn.startsWith(part)) ?? ""];
    assert.ok(isValid(JSON.parse(text)), `${file.fn}: ${JSON.stringify(isValid.errors?.slice(0, 3), null, 2)}`);
    writeFileSync(join(folder, `${file.fn}.json`), text);
    const count = file.rows ? file.rows.length : file.vectors.length;
    console.log(`${file.fn}.json ${count}`);
  }
}
