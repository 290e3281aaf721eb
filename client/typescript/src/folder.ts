import { createHash, randomUUID } from "node:crypto";
import { mkdir, open, rename, writeFile } from "node:fs/promises";
import path from "node:path";
import process from "node:process";
import { ClientError } from "./errors.js";
import type { Upload } from "./types.js";

/** Bytes of a file that readers take: 1 MiB. */
const FILE_MAX = 2 ** 20;
const BASE32 = "abcdefghijklmnopqrstuvwxyz234567";

/** The CID of a file that is one raw block: version 1, SHA-256, in base32. */
export function cidOf(file: Uint8Array): string {
  const bytes = [1, 0x55, 0x12, 32, ...createHash("sha256").update(file).digest()];
  const bits = bytes.map((byte) => byte.toString(2).padStart(8, "0")).join("");
  const letters = bits.match(/.{1,5}/g) ?? [];
  return `b${letters.map((five) => BASE32[Number.parseInt(five.padEnd(5, "0"), 2)]).join("")}`;
}

/**
 * Stores files in a folder under their CIDs. Any IPFS node or web server can publish it; `base` is what the CID follows in the URI. Refuses a
 * file that no reader would take under that URI.
 */
export function folder(place: string, base = "ipfs://"): Upload {
  return async (file) => {
    if (file.length > FILE_MAX) throw new ClientError(`the file has ${file.length} bytes, and at most ${FILE_MAX} are read`);
    const cid = cidOf(file);
    await mkdir(place, { recursive: true });
    const partial = path.join(place, `.${cid}.${randomUUID()}`); // calls at once do not share it
    await writeFile(partial, file, { flush: true });
    await rename(partial, path.join(place, cid)); // whole, or not there
    await flushed(place);
    return `${base}${cid}`;
  };
}

/** Else the rename itself may be lost with the power. Windows opens no folders. */
async function flushed(place: string): Promise<void> {
  if (process.platform === "win32") return;
  const folder = await open(place);
  try {
    await folder.sync();
  } finally {
    await folder.close();
  }
}
