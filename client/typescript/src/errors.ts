import { BaseError } from "viem";
import type { ErrorClass, ErrorClassInfo } from "@concord/registries";

/** Whether a transaction was sent before a call failed. After `maybe`, look at `transaction` before you call again. */
export type Sent = "nothing" | "maybe" | "failed" | "landed";

/** Why a call failed. It has no `cause`: what viem and web3.js throw holds the endpoint's URL, and a logger prints causes too. */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
  /** The rule that was broken, the same on each chain (R25); `undefined` if no rule was. */
  readonly errorClass: ErrorClass | undefined;
  /** What was sent. */
  readonly sent: Sent;
  /** The transaction that was sent, or may have been. */
  readonly transaction: string | undefined;

  constructor(message: string, known: { errorClass?: ErrorClass | undefined; sent?: Sent; transaction?: string } = {}) {
    super(message);
    this.errorClass = known.errorClass;
    this.sent = known.sent ?? "nothing";
    this.transaction = known.transaction;
  }
}

/** Why an index has no answer: it refuses the question, it does not have what was asked for, or it does not answer as an index does. */
export type IndexFault = "refused" | "not-indexed" | "silent";

/** Why an index has no answer. */
export class IndexError extends ClientError {
  override readonly name = "IndexError";

  constructor(
    message: string,
    readonly fault: IndexFault,
    /** The HTTP status of an answer that says so. */
    readonly status?: number,
  ) {
    super(message);
  }

  /** Whether the same question may be answered later. */
  get isRetryable(): boolean {
    return this.fault === "silent";
  }
}

/** A field of a call that breaks its form. Nothing was asked, uploaded or sent. */
export function malformed(field: string, found: unknown, expected: string): ClientError {
  const shown = typeof found === "string" ? JSON.stringify(found.slice(0, 80)) : String(found).slice(0, 80);
  return new ClientError(`${field} is ${shown}, expected ${expected}`, { errorClass: "BadRequest" });
}

/** The words of a fault, without URLs: an endpoint's can hold a key. Of viem's words, those about the request are left out. */
export function wordsOf(fault: unknown): string {
  const words = fault instanceof BaseError ? fault.shortMessage : fault instanceof Error ? fault.message : String(fault);
  const code = codeOf(fault);
  return (code ? `${words} (${code})` : words).replace(/\b(https?|wss?):\/\/[^\s"'<>]+/gi, "$1://…");
}

/** Why a connection failed, such as `ECONNREFUSED`: of Node's `fetch` only the innermost cause says it. */
function codeOf(fault: unknown): string | undefined {
  let code: string | undefined;
  for (let it = fault, depth = 0; it instanceof Error && depth < 8; it = it.cause, depth += 1) {
    const found = (it as { code?: unknown }).code;
    if (typeof found === "string" && /^[A-Z][A-Z0-9_]{1,40}$/.test(found)) code = found;
  }
  return code;
}

/** The words of a rule that was broken. */
export const wordsOfClass = ({ name, rule, meaning }: ErrorClassInfo) => `${name} (${rule}): ${meaning}`;
