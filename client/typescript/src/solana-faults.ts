import type anchor from "@anchor-lang/core";
import { type ErrorClassInfo, type Framework, errorClassOfFramework, errorClassOfProgram, errorClassOfRuntime } from "@concord/registries";
import { ClientError, type Sent, wordsOf, wordsOfClass } from "./errors.js";

/** Programs whose numbers an error can be, by address. */
const FRAMEWORKS: Record<string, Framework> = {
  "11111111111111111111111111111111": "System",
  TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb: "Token2022",
  Ed25519SigVerify111111111111111111111111111: "Ed25519",
};

/** A transaction that failed, or that would have. */
export interface Failed {
  readonly fault: anchor.web3.TransactionError;
  readonly transaction: anchor.web3.Transaction;
  /** Without them, the instruction that failed is taken for the one that raised it. */
  readonly logs?: readonly string[] | null;
}

/** The refusal of a transaction, with its class (R25). */
export function refused(program: string, failed: Failed, known: { sent?: Sent; transaction?: string } = {}): ClientError {
  const info = classOf(program, failed);
  return new ClientError(info ? wordsOfClass(info) : JSON.stringify(failed.fault), { errorClass: info?.name, ...known });
}

function classOf(program: string, { fault, transaction, logs }: Failed): ErrorClassInfo | undefined {
  if (typeof fault === "string") return errorClassOfRuntime(fault);
  const { InstructionError: failed } = fault as { InstructionError?: [number, string | { Custom: number }] };
  if (!failed) return errorClassOfRuntime(Object.keys(fault)[0] ?? "");
  const [at, error] = failed;
  if (typeof error === "string") return errorClassOfRuntime(error);
  const logged = logs?.map((line) => /^Program (\S+) failed: /.exec(line)?.[1]).find((it) => it); // the innermost is first
  const raisedBy = logged ?? transaction.instructions[at]?.programId.toBase58() ?? "";
  if (raisedBy === program) return errorClassOfProgram(error.Custom) ?? errorClassOfFramework("Anchor", error.Custom);
  const framework = FRAMEWORKS[raisedBy];
  return framework && errorClassOfFramework(framework, error.Custom);
}

/** An endpoint's answer. A fault of the endpoint says what was sent before it. */
export async function asked<A>(answer: Promise<A>, known: { sent?: Sent; transaction?: string } = {}): Promise<A> {
  try {
    return await answer;
  } catch (fault) {
    throw new ClientError(wordsOf(fault), known);
  }
}

/** The endpoint has the transaction already: it was sent again on the way. web3.js has one class for every error. */
export const isProcessed = (fault: unknown): boolean => /already been processed/.test(wordsOf(fault));

/** Whether an instruction failed when the endpoint tried the transaction, so that it was not passed on. */
export const isRefusal = (fault: unknown): boolean => /Error processing Instruction \d+/.test(wordsOf(fault));
