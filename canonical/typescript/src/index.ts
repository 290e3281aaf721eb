import { camelCase, fromAnswer, toRequest } from "./conversion.js";
import { CanonicalError } from "./error.js";
import type { ErrorClass } from "./error-class.js";
import type { Arguments, FunctionName, Functions, Result } from "./functions.js";
import { Module } from "./module.js";
import { WASM } from "./wasm.js";

export { CanonicalError } from "./error.js";
export { ERROR_CLASSES, type ErrorClass } from "./error-class.js";
export type * from "./functions.js";
export type * from "./values.js";

type CamelCase<S extends string> = S extends `${infer Head}_${infer Tail}`
  ? `${Head}${Capitalize<CamelCase<Tail>>}`
  : S;

/** Every function of the canonical crate, by its name in camel case. Each throws a `CanonicalError` if it refuses. */
export type Canonical = {
  readonly [F in FunctionName as CamelCase<F>]: (args: Arguments<F>) => Result<F>;
};

/** The functions of the module, in the order of the protocol. */
export const FUNCTIONS: readonly FunctionName[] = [
  "keccak256",
  "sha256",
  "request_bytes",
  "jcs",
  "data_hash",
  "interaction_hash",
  "reviewer_message",
  "feedback_auth",
  "feedback_auth_blob",
  "feedback_auth_blob_decode",
  "payment_proof",
  "revoke_message",
  "respond_message",
  "receipt",
  "validation_request_hash",
  "agent_wallet_set",
  "tag",
  "tag_decode",
  "summary",
  "verify",
  "sign",
  "chain_id",
  "account_id",
  "task_ref",
  "pda",
  "public_key",
  "feedback_id",
  "weighted_score",
  "stars_to_value",
  "stars_of_value",
  "standard_tag",
  "standard_tag_value",
  "x402_tag",
  "summary_part",
  "summary_merge",
  "request_length_prefix",
  "integer_field",
  "feedback_auth_eoa_blob_decode",
  "eip712_domain",
  "recover_address",
  "ethereum_v",
  "low_s",
  "public_key_of_secret",
  "address_of_public_key",
] satisfies (keyof Functions)[];

interface Answer {
  ok?: unknown;
  error?: { class: ErrorClass; message: string };
}

function call<F extends FunctionName>(module: Module, name: F, args: Arguments<F>): Result<F> {
  const request = { ...(toRequest(args) as object), fn: name };
  const answer = JSON.parse(module.answer(JSON.stringify(request))) as Answer;
  if (answer.error) throw new CanonicalError(answer.error.class, answer.error.message);
  return fromAnswer(name, answer.ok) as Result<F>;
}

/**
 * Loads the module.
 *
 * @param source  the compiled module or its bytes. Without it, the copy in this package is compiled. Runtimes that do not
 *   compile WebAssembly, such as Cloudflare's, import `@concord/canonical/canonical.wasm` and pass it here.
 */
export async function load(source?: WebAssembly.Module | BufferSource): Promise<Canonical> {
  const module = await Module.load(source ?? WASM);
  const methods = FUNCTIONS.map((name) => [camelCase(name), (args: never) => call(module, name, args)]);
  return Object.freeze(Object.fromEntries(methods)) as Canonical;
}
