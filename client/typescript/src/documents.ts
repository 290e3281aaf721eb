import type { Canonical } from "@concord/canonical";
import { ClientError, malformed, wordsOf } from "./errors.js";
import { checkText, publishedEndpoint } from "./limits.js";
import type { Document, Hex, ListSignature, Published, Review, ReviewerList, Reviewers, Upload } from "./types.js";

const NO_HASH: Hex = `0x${"00".repeat(32)}`;

/** `type` of a reviewer list. It keeps its signature apart from every other (FILE-14). */
const LIST_TYPE = "concord-reviewer-list-v1";

/**
 * The hash of a file and its URI, after it is stored. Text of JSON is stored in its RFC 8785 form (R21). The hash is of the bytes as the upload
 * is given them: it may keep, move or overwrite its copy.
 */
export async function published(file: Document | undefined, upload: Upload | undefined, canonical: Canonical): Promise<Published> {
  if (file === undefined) return { uri: "", hash: NO_HASH };
  if (!(typeof file === "string" || file instanceof Uint8Array)) {
    checkText("uri", file.uri, "uri");
    return file;
  }
  if (!upload) throw new ClientError("a file is given, and the client has no upload");
  const bytes = typeof file === "string" ? new TextEncoder().encode(canonical.jcs({ text: file }).canonical) : new Uint8Array(file);
  const hash = canonical.keccak256({ data: bytes });
  const uri = await upload(bytes);
  checkText("uri", uri, "uri");
  return { uri, hash };
}

/**
 * Refuses a feedback file, given as JSON text, that says something else than what is sent: in the members that every form has, and in the
 * number, if it states one. `place`: the identity registry and the client, CAIP-10.
 */
export function requireSame(review: Review, place: { registry: string; client: string }): void {
  if (typeof review.file !== "string") return;
  const said = objectOf(review.file);
  const expected: Compared[] = [
    ["agentRegistry", account(said.agentRegistry), account(place.registry)],
    ["clientAddress", account(said.clientAddress), account(place.client)],
    ["agentId", digits("agentId", said.agentId), review.agent],
    ["tag1", said.tag1 ?? "", review.tag1 ?? ""],
    ["tag2", said.tag2 ?? "", review.tag2 ?? ""],
    ...numbers(said, review),
  ];
  for (const [field, inFile, sent] of expected) {
    if (inFile !== sent) throw differs(`${inFile === undefined ? `no ${field}` : `${field} ${inFile}`}, and ${sent ?? "none"} is sent`);
  }
  if ("score" in review) {
    const { endpoint = "" } = said;
    if (typeof endpoint === "string" && publishedEndpoint(endpoint) !== endpoint) throw differs("an endpoint with a query, a fragment or user info (R39)");
    return;
  }
  if ((said.endpoint ?? "") === (review.endpoint ?? "")) return;
  throw differs("another endpoint than the one that is sent (R39)"); // without either: user info is a secret
}

/** A member's name, what the file says, and what is sent. */
type Compared = [field: string, inFile: unknown, sent: unknown];

/** The number of each form: open feedback has a value and its decimals, authorized feedback a score. A file without one contradicts nothing. */
function numbers(said: Record<string, unknown>, review: Review): Compared[] {
  const isScore = "score" in review;
  const compared: Compared[] = [
    ["score", exact("score", said.score) ?? undefined, isScore ? review.score : undefined],
    ["value", digits("value", said.value) ?? undefined, isScore ? undefined : `${review.value}`],
    ["valueDecimals", exact("valueDecimals", said.valueDecimals) ?? undefined, isScore ? undefined : review.decimals],
  ];
  return compared.some(([, inFile]) => inFile !== undefined) ? compared : [];
}

/** EVM addresses are equal in either case. */
const account = (said: unknown) => (typeof said === "string" && said.startsWith("eip155:") ? said.toLowerCase() : said);

/** A number is written as one or as text. */
const digits = (field: string, said: unknown) => (typeof exact(field, said) === "number" ? `${said}` : said);

/** What the file says, unless it is a number that JSON does not keep (R22): it was rounded already, and no reader takes it. */
function exact(field: string, said: unknown): unknown {
  if (typeof said !== "number" || Number.isSafeInteger(said)) return said;
  const words = `the feedback file has ${field} ${said}, and a number is an integer of at most 2^53 - 1 (R22)`;
  throw new ClientError(words, { errorClass: "NumberOutOfRange" });
}

const differs = (words: string) => new ClientError(`the feedback file has ${words}`, { errorClass: "BadRequest" });

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

/** The addresses that count on a chain; `undefined` for everyone (R48). `canonical` is asked for if a signature has to be checked. */
export async function addressesOf(reviewers: Reviewers, canonical: () => Canonical | Promise<Canonical>): Promise<string[] | undefined> {
  if (reviewers === "everyone") return undefined;
  if ("list" in reviewers) {
    const { type, signature } = reviewers.list;
    if (type !== LIST_TYPE) throw malformed("the reviewer list's type", type, `"${LIST_TYPE}"`);
    if (signature) requireSignature(reviewers.list, signature, await canonical());
  }
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

/** Refuses a reviewer list whose signature does not hold (R23): it is over the hash of the list without it. */
function requireSignature({ signature: _, ...list }: ReviewerList, { algorithm, ...signed }: ListSignature, canonical: Canonical): void {
  try {
    const publicKey = canonical.publicKey({ text: signed.publicKey });
    const signer = algorithm === "secp256k1" ? canonical.addressOfPublicKey({ publicKey }) : publicKey;
    const message = canonical.jcs({ text: JSON.stringify(list) }).hash;
    canonical.verify({ algorithm, message, signature: signed.signature, signer });
  } catch (cause) {
    throw new ClientError(`the reviewer list's signature does not hold: ${wordsOf(cause)}`, { errorClass: "BadSignature" });
  }
}
