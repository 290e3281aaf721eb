// The oracle's protocol for the functions of a library: one JSON request a line on stdin, one answer a line on stdout.
import { createInterface } from "node:readline";

/** The library has the function, but not for this request. */
export class Unsupported extends Error {}

/** Hexadecimal with 0x, which requests may leave out. */
export const hex = (text) => (text.startsWith("0x") ? text : `0x${text}`);
export const bytes = (text) => Uint8Array.from(Buffer.from(hex(text).slice(2), "hex"));

/** Answers until stdin ends. `functions` has one entry for each declared function of the protocol, its arguments in one object. */
export async function serve(functions) {
  console.log = console.error; // a library's words are not answers
  for await (const line of createInterface({ input: process.stdin })) {
    const { id, fn, ...args } = JSON.parse(line);
    const answer = fn === "functions" ? { ok: Object.keys(functions) } : await outcome(functions[fn], args);
    process.stdout.write(`${JSON.stringify({ id, ...answer })}\n`);
  }
}

/** Whatever a library throws is a refusal without a class of the protocol. */
async function outcome(call, args) {
  try {
    return { ok: await call(args) };
  } catch (fault) {
    return { error: { class: fault instanceof Unsupported ? "Unsupported" : "Refused" } };
  }
}
