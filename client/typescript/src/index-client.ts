import { load } from "@concord/canonical";
import { addressesOf } from "./documents.js";
import { ClientError, IndexError, wordsOf } from "./errors.js";
import type { FeedbackRef, Kind, Reviewers, Tags } from "./types.js";

/** How long an answer may take. */
const TIME_MS = 30_000;
/** Bytes of the largest answer. */
const MOST_BYTES = 16 * 1024 * 1024;

/** One page of an answer; `nextCursor` continues it. */
export interface Page {
  readonly items: readonly Record<string, unknown>[];
  readonly nextCursor: string | null;
}

/** Thresholds of reputation, and whose feedback they are about (R48): BP's `feedback` filter. */
export interface ReputationFilter {
  readonly reviewers: Reviewers;
  readonly thresholds: Record<string, unknown>;
}

/** An index's `/v1`, over both chains. Agents are named `CAIP-10 of the registry:id` there. */
export class IndexClient {
  private readonly base: string;

  /** `url`: http or https, without credentials, query and fragment. */
  constructor(url: string) {
    this.base = baseOf(url);
  }

  /** Searches agents with BP's filters. */
  async searchAgents(filters: Record<string, unknown>, reputation?: ReputationFilter, options: Record<string, unknown> = {}): Promise<Page> {
    if ("feedback" in filters) throw new ClientError("filters.feedback: give a ReputationFilter, which names reviewers (R48)");
    const feedback = reputation && { ...reputation.thresholds, fromReviewers: await listed(reputation.reviewers) };
    return this.page(["agents", "search"], { filters: { ...filters, ...(feedback && { feedback }) }, options });
  }

  /** Searches feedback by agents, reviewers, tags. */
  searchFeedback(filters: Record<string, unknown>, options: Record<string, unknown> = {}): Promise<Page> {
    return this.page(["feedback", "search"], { filters, options });
  }

  /** One feedback with its endpoint, its evidence and its responses. */
  feedback({ kind, agent, client, index }: FeedbackRef): Promise<Record<string, unknown>> {
    return this.ask(["feedback", agent, kind, client, `${index}`]);
  }

  /** The summary of an agent, with the facts about the reviewers who count. It states its set in `clientAddresses`. */
  async summary(kind: Kind, agent: string, reviewers: Reviewers, tags: Tags = {}): Promise<Record<string, unknown>> {
    const asked = { agentIds: [agent], clientAddresses: await listed(reviewers), profile: kind, ...tags };
    const { items } = await this.page(["summaries"], asked);
    const [summary] = items;
    if (!summary) throw silent(`its answer has no summary of ${agent}`);
    if (isAgent(agent, summary.agent) && summary.profile === kind) return summary;
    throw silent(`its summary is not of ${kind} feedback of ${agent}`);
  }

  private async page(path: readonly string[], body: unknown): Promise<Page> {
    const { items, nextCursor = null } = await this.ask(path, body);
    if (!Array.isArray(items) || !items.every(isObject)) throw silent("its answer has no list of items");
    if (!(nextCursor === null || typeof nextCursor === "string")) throw silent("its answer's nextCursor is not text");
    return { items, nextCursor };
  }

  private async ask(path: readonly string[], body?: unknown): Promise<Record<string, unknown>> {
    const url = `${this.base}/v1/${path.map(encodeURIComponent).join("/")}`;
    const post = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
    const bounds = { signal: AbortSignal.timeout(TIME_MS), redirect: "error" } as const;
    try {
      const answer = await fetch(url, body === undefined ? bounds : { ...post, ...bounds });
      return objectOf(answer.status, await textOf(answer));
    } catch (fault) {
      throw fault instanceof IndexError ? fault : silent(wordsOf(fault));
    }
  }
}

/** An index that does not answer, or not as an index does. */
const silent = (words: string, status?: number) => new IndexError(`the index does not answer: ${words}`, "silent", status);

/** The object of an answer. Every other status than 200 is an error, by what it means. */
function objectOf(status: number, text: string): Record<string, unknown> {
  let json: unknown;
  try {
    json = JSON.parse(text);
  } catch {
    throw silent(`status ${status}, and no JSON: is this an index?`, status);
  }
  if (status !== 200) throw failure(status, isObject(json) && isObject(json.error) ? json.error.message : undefined);
  if (isObject(json)) return json;
  throw silent("its answer is not an object");
}

function failure(status: number, message: unknown): IndexError {
  const words = typeof message === "string" ? message : `status ${status}`;
  if (status === 404) return new IndexError(words, "not-indexed", status);
  const isLater = [408, 425, 429].includes(status); // of a gateway before it
  const isRefusal = !isLater && ((status >= 400 && status < 500) || status === 501);
  return isRefusal ? new IndexError(`the index refuses this: ${words}`, "refused", status) : silent(words, status);
}

/** The URL that paths follow. No fault repeats it: what is wrong with it can be that it holds a secret. */
function baseOf(text: string): string {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== "http:" && url?.protocol !== "https:") throw new ClientError("the index's URL is not one of http or https");
  if (url.username || url.password) throw new ClientError("the index's URL holds credentials");
  if (/[?#]/.test(text)) throw new ClientError("the index's URL holds a query or a fragment");
  return url.href.replace(/\/$/, "");
}

/** The text of an answer, which is read no further than its bound. */
async function textOf(answer: Response): Promise<string> {
  const chunks = [];
  let length = 0;
  const reader = answer.body?.getReader();
  for (let part = await reader?.read(); part?.value; part = await reader?.read()) {
    length += part.value.length;
    if (length > MOST_BYTES) {
      await reader?.cancel();
      throw silent(`its answer has more than ${MOST_BYTES} bytes`);
    }
    chunks.push(part.value);
  }
  return new TextDecoder().decode(await new Blob(chunks).arrayBuffer());
}

/** Whether an answer is about the agent: by its full name, of which EVM addresses are equal in either case, or by BP's `84532:42`. */
function isAgent(asked: string, answered: unknown): boolean {
  if (typeof answered !== "string") return false;
  const [space, chain, , id] = answered.split(":");
  if (space !== "eip155") return asked === answered;
  return asked === `${chain}:${id}` || asked.toLowerCase() === answered.toLowerCase();
}

function isObject(json: unknown): json is Record<string, unknown> {
  return typeof json === "object" && json !== null && !Array.isArray(json);
}

async function listed(reviewers: Reviewers): Promise<readonly string[] | "everyone"> {
  return (await addressesOf(reviewers, load)) ?? "everyone";
}
