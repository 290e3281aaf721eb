import type { Hex } from "./values.js";
import { Module } from "./module.js";
import { WASM } from "./explain-wasm.js";

/** What a step found (R36). `claimed` rests on a file's own word; `cannot-check` is never a success. */
export type State = "verified" | "claimed" | "cannot-check" | "refuted";

/** One step of an explanation. */
export interface Finding {
  step: string;
  state: State;
  /** Why, in one sentence; may be empty if the step is verified. */
  detail: string;
  /** On what it rests. */
  evidence: readonly { name: string; value: string }[];
}

/** Why one feedback can be believed. */
export interface FeedbackReport {
  /** The worst of the findings. */
  state: State;
  /** Registry, profile, agent, client and index. */
  feedback: string;
  /** `CAIP-2 id: block hash`. Whoever knows these blocks need not trust the bundle in anything that is verified. */
  restsOn: readonly string[];
  findings: readonly Finding[];
  /** Steps that this feedback does not have. */
  notApplicable: readonly { step: string; reason: string }[];
}

/** Why a number can be believed. */
export interface ReputationReport {
  /** The worst of completeness and of the feedbacks that count. */
  state: State;
  /** How many of the feedbacks that count have a state; the key is the state's word in lower case. */
  counted: Readonly<Record<string, number>>;
  report: {
    query: string;
    restsOn: readonly string[];
    complete: { state: State; detail: string };
    /** The average in units of 10^-decimals, in decimal digits; `null` if its sum is beyond what a registry holds. */
    number: { count: number; value: string; decimals: number } | null;
    feedbacks: readonly { feedback: string; entry: string; state: State; report: Omit<FeedbackReport, "state"> }[];
  };
}

/** Whom the reader trusts beyond the canonical registries. */
export interface Trust {
  /** Registries that run Concord's code, each `CONTRACT=CAIP-10` (R28), as in `IdentityRegistry=eip155:84532:0x…`. */
  registries?: readonly string[];
  /** Texts of address books. */
  addressBooks?: readonly string[];
  /** The block hash on which everything may rest, by CAIP-2 id. Without it, `inclusion` cannot be checked. */
  blocks?: Readonly<Record<string, Hex>>;
}

/** Something that is not a bundle, or a trust that is malformed. Its message names the field. */
export class ExplainError extends Error {
  override readonly name = "ExplainError";
}

/** Explains bundles. Reads nothing but its arguments: no network, no file, no clock. */
export interface Explainer {
  /**
   * @param bundle  the text of a bundle, as `concord explain --bundle` writes it
   * @throws ExplainError
   */
  explain(bundle: string, trust?: Trust): FeedbackReport | ReputationReport;
}

/**
 * Loads the module.
 *
 * @param source  the compiled module or its bytes. Without it, the copy in this package is compiled.
 */
export async function load(source?: WebAssembly.Module | BufferSource): Promise<Explainer> {
  const module = await Module.load(source ?? WASM);
  const explain = (bundle: string, trust: Trust = {}) => {
    const answer = JSON.parse(module.answer(JSON.stringify({ ...trust, bundle }))) as { ok?: FeedbackReport; error?: string };
    if (answer.ok === undefined) throw new ExplainError(answer.error);
    return answer.ok;
  };
  return Object.freeze({ explain });
}
