// Bytes, hex and the seeded generator that every script shares.
import { createHash } from "node:crypto";

export const hex = (bytes) => `0x${Buffer.from(bytes).toString("hex")}`;
export const bytes = (text) => Uint8Array.from(Buffer.from(text.replace(/^0x/, ""), "hex"));
export const utf8 = (text) => new TextEncoder().encode(text);
export const join = (...parts) => Uint8Array.from(Buffer.concat(parts.map((part) => Buffer.from(part))));

/** The n-th block of a labelled stream: SHA-256 of label and counter, so that inputs never change. */
export const block = (label, n = 0) => Uint8Array.from(createHash("sha256").update(`${label}/${n}`).digest());

/** `length` bytes of a labelled stream. */
export const stream = (label, length) =>
  join(...Array.from({ length: Math.ceil(length / 32) }, (_, n) => block(label, n))).slice(0, length);

/** An integer as a big-endian word of `width` bytes; negative ones in two's complement. */
export const integer = (value, width = 32) =>
  bytes(BigInt.asUintN(8 * width, BigInt(value)).toString(16).padStart(2 * width, "0"));
