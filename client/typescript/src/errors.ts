import { BaseError } from "viem";
import type { ErrorClass } from "@concord/registries";

/** Whether a transaction was sent before a call failed. After `maybe`, look at `transaction` before you call again. */
export type Sent = "nothing" | "maybe" | "failed" | "landed";

/** Why a call failed. */
export class ClientError extends Error {
  override readonly name: string = "ClientError";
  /** The rule that was broken, the same on each chain (R25); `undefined` if no rule was. */
  readonly errorClass: ErrorClass | undefined;
  /** What was sent. */
  readonly sent: Sent;
  /** The transaction that was sent, or may have been. */
  readonly transaction: string | undefined;

  constructor(message: string, known: { errorClass?: ErrorClass | undefined; sent?: Sent; transaction?: string; cause?: unknown } = {}) {
    super(message, { cause: known.cause });
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

/** The words of a fault: of viem's, the short ones, because the others repeat the endpoint's URL, which can hold a key. */
export function wordsOf(fault: unknown): string {
  if (fault instanceof BaseError) return fault.shortMessage;
  return fault instanceof Error ? fault.message : String(fault);
}
