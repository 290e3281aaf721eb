import type { ErrorClass } from "./error-class.js";

/** A request that was refused. Its message names the field, the value and the limit, and never a secret. */
export class CanonicalError extends Error {
  override readonly name = "CanonicalError";

  constructor(
    /** The rule that was broken (R25). `BadRequest` is a wrong call. */
    readonly errorClass: ErrorClass,
    message: string,
  ) {
    super(message);
  }
}
