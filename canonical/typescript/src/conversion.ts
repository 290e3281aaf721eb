import { WIDE, type FunctionName } from "./functions.js";

/** `taskRef` as `task_ref`. */
export function snakeCase(name: string): string {
  return name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** `task_ref` as `taskRef`. */
export function camelCase(name: string): string {
  return name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
}

function hex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}

/** An argument as JSON has it: bytes in hexadecimal, integers as decimal text, names in snake case. */
export function toRequest(value: unknown): unknown {
  if (typeof value === "bigint") return value.toString();
  if (value instanceof Uint8Array) return `0x${hex(value)}`;
  if (Array.isArray(value)) return value.map(toRequest);
  if (typeof value !== "object" || value === null) return value;
  const members = Object.entries(value).filter(([, member]) => member !== undefined);
  return Object.fromEntries(members.map(([name, member]) => [snakeCase(name), toRequest(member)]));
}

/** A result as callers get it: names in camel case, wide integers as `bigint`. */
export function fromAnswer(name: FunctionName, ok: unknown): unknown {
  return read(ok, WIDE[name] ?? [], "");
}

function read(value: unknown, wide: readonly string[], path: string): unknown {
  if (wide.includes(path)) return Array.isArray(value) ? value.map(BigInt) : BigInt(value as string);
  if (typeof value !== "object" || value === null || Array.isArray(value)) return value;
  const members = Object.entries(value).map(([member, inner]) => [
    camelCase(member),
    read(inner, wide, path === "" ? member : `${path}.${member}`),
  ]);
  return Object.fromEntries(members);
}
