import type { ErrorClass } from "@concord/registries";
import { ClientError, malformed } from "./errors.js";
import type * as T from "./types.js";

/** Bytes of UTF-8 that each text may have (R17). */
const MOST = { tag: 32, endpoint: 200, uri: 200, metadataKey: 32, metadataValue: 256 } as const;

/** The numbers that each type of the contracts and the program holds. */
const RANGES = {
  u8: [0n, 2n ** 8n - 1n],
  u64: [0n, 2n ** 64n - 1n],
  i128: [-(2n ** 127n), 2n ** 127n - 1n],
} as const;

/**
 * Returns a number as `bigint`: JavaScript without types gives safe integers as `number`, and they equal no number of an event. Refuses one
 * that its type does not hold: an encoder would cut it, and another number would land.
 */
export function integer(field: string, number: bigint | number, type: keyof typeof RANGES, errorClass?: ErrorClass): bigint {
  if (typeof number !== "bigint" && !Number.isSafeInteger(number)) throw new ClientError(`${field}: ${number} is not a safe integer`);
  const [least, most] = RANGES[type];
  if (number >= least && number <= most) return BigInt(number);
  throw new ClientError(`${field}: ${number} is not from ${least} to ${most}`, { errorClass });
}

/** Reads an agent's id on an EVM chain. `BigInt` takes other forms too: an empty text is its 0, and 0 can be an agent. */
export function agentId(agent: string): bigint {
  const id = typeof agent === "string" && /^(0|[1-9]\d{0,77})$/.test(agent) ? BigInt(agent) : undefined;
  if (id !== undefined && id < 2n ** 256n) return id;
  throw malformed("agent", agent, "a decimal uint256 without leading zeros");
}

/** Refuses text over its portable length, and NUL: every writer is held to them (R17), not only the program on Solana. */
export function checkText(field: string, text: string, kind: keyof typeof MOST): void {
  if (text.includes("\0")) throw new ClientError(`${field} holds a NUL byte (R17)`, { errorClass: "LengthLimit" });
  checkLength(field, bytesOf(field, text), kind);
}

/** UTF-8 of a text. Refuses half a surrogate pair (R22): an encoder would put U+FFFD in its place, and another text would land. */
function bytesOf(field: string, text: string): Uint8Array {
  if (/\p{Surrogate}/u.test(text)) throw new ClientError(`${field} holds half a surrogate pair (R22)`, { errorClass: "LoneSurrogate" });
  return new TextEncoder().encode(text);
}

function checkLength(field: string, { length }: Uint8Array, kind: keyof typeof MOST): void {
  if (length <= MOST[kind]) return;
  throw new ClientError(`${field} has ${length} bytes, and at most ${MOST[kind]} are allowed (R17)`, { errorClass: "LengthLimit" });
}

/** The entries of metadata that fits (R17). A value is bytes on chain, and may hold NUL. */
export function metadataOf(metadata: T.Metadata): { key: string; value: Uint8Array }[] {
  return Object.entries(metadata).map(([key, text]) => {
    checkText("metadata key", key, "metadataKey");
    if (typeof text !== "string") throw malformed("metadata value", text, "text");
    const value = bytesOf("metadata value", text);
    checkLength("metadata value", value, "metadataValue");
    return { key, value };
  });
}

/** An endpoint as it may be published: without query, fragment and user info, which can hold secrets (R39). */
export function publishedEndpoint(url: string): string {
  const [bare = ""] = url.split(/[?#]/, 1);
  return bare.replace(/^(.*?:\/\/)[^/]*@/s, "$1");
}

/** A review that fits: what it says is what will be read (R16, R17, R39). */
export function portable(review: T.Review): T.Review {
  checkText("tag1", review.tag1 ?? "", "tag");
  checkText("tag2", review.tag2 ?? "", "tag");
  if ("score" in review) {
    const score = Number(integer("score", review.score, "u8", "ScoreOutOfRange"));
    const indexLimit = integer("auth.indexLimit", review.auth.indexLimit, "u64");
    const expiry = integer("auth.expiry", review.auth.expiry, "u64");
    return { ...review, score, auth: { ...review.auth, indexLimit, expiry } };
  }
  const value = integer("value", review.value, "i128", "ValueOutOfRange");
  const decimals = Number(integer("decimals", review.decimals, "u8", "DecimalsOutOfRange"));
  const endpoint = publishedEndpoint(review.endpoint ?? "");
  checkText("endpoint", endpoint, "endpoint");
  return { ...review, value, decimals, endpoint };
}
