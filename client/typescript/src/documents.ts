import type { Canonical } from "@concord/canonical";
import { ClientError } from "./errors.js";
import { checkText } from "./limits.js";
import type { Document, Hex, Review, Reviewers, Upload } from "./types.js";

const NO_HASH: Hex = `0x${"00".repeat(32)}`;

/** The hash of a file and its URI, after it is stored. Text of JSON is stored in its RFC 8785 form (R21). */
export async function published(file: Document | undefined, upload: Upload | undefined, canonical: Canonical): Promise<{ uri: string; hash: Hex }> {
  if (file === undefined) return { uri: "", hash: NO_HASH };
  if (!(typeof file === "string" || file instanceof Uint8Array)) {
    checkText("uri", file.uri, "uri");
    return file;
  }
  if (!upload) throw new ClientError("a file is given, and the client has no upload");
  const bytes = typeof file === "string" ? new TextEncoder().encode(canonical.jcs({ text: file }).canonical) : file;
  const uri = await upload(bytes);
  checkText("uri", uri, "uri");
  return { uri, hash: canonical.keccak256({ data: bytes }) };
}

/**
 * Refuses a feedback file, given as JSON text, that says something else than what is sent: in the members that every form has, and in the
 * number of BP's and PROFILE's. `place`: the identity registry and the client, CAIP-10.
 */
export function requireSame(review: Review, place: { registry: string; client: string }): void {
  if (typeof review.file !== "string") return;
  const said = objectOf(review.file);
  const address = (text: unknown) => (`${text}`.startsWith("eip155:") ? `${text}`.toLowerCase() : `${text}`);
  const expected: [string, unknown, unknown][] = [
    ["agentRegistry", address(said.agentRegistry), address(place.registry)],
    ["clientAddress", address(said.clientAddress), address(place.client)],
    ["agentId", `${said.agentId}`, review.agent],
    ["tag1", said.tag1 ?? "", review.tag1 ?? ""],
    ["tag2", said.tag2 ?? "", review.tag2 ?? ""],
  ];
  if ("score" in review) {
    if (said.score !== undefined) expected.push(["score", said.score, review.score]);
  } else {
    expected.push(["endpoint", said.endpoint ?? "", review.endpoint ?? ""]);
    if (said.valueDecimals !== undefined) {
      expected.push(["value", `${said.value}`, `${review.value}`], ["valueDecimals", said.valueDecimals, review.decimals]);
    }
  }
  for (const [field, inFile, sent] of expected) {
    if (inFile !== sent) throw new ClientError(`the feedback file has ${field} ${inFile}, and ${sent} is sent`, { errorClass: "BadRequest" });
  }
}

function objectOf(text: string): Record<string, unknown> {
  let said: unknown;
  try {
    said = JSON.parse(text);
  } catch {
    throw new ClientError("the feedback file is not JSON", { errorClass: "BadRequest" });
  }
  if (typeof said === "object" && said !== null && !Array.isArray(said)) return said as Record<string, unknown>;
  throw new ClientError("the feedback file is not a JSON object", { errorClass: "BadRequest" });
}

/** The addresses that count on a chain; `undefined` for everyone (R48). */
export function addressesOf(reviewers: Reviewers): string[] | undefined {
  if (reviewers === "everyone") return undefined;
  const listed =
    "listed" in reviewers
      ? [...reviewers.listed]
      : reviewers.list.reviewers
          .map(({ account }) => account)
          .filter((account) => account.slice(0, account.lastIndexOf(":")) === reviewers.network)
          .map((account) => account.slice(account.lastIndexOf(":") + 1));
  if (listed.length === 0) throw new ClientError("no reviewer is listed: name some, or \"everyone\" (R48)", { errorClass: "EmptyClients" });
  return listed;
}
