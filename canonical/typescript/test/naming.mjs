// Vectors in the package's names, for Node.js and for a page.

/** `task_ref` as `taskRef`. */
export const camel = (name) => name.replace(/_([a-z])/g, (_, letter) => letter.toUpperCase());

/** A vector's arguments or result under the package's names. */
export function renamed(value) {
  if (Array.isArray(value)) return value.map(renamed);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, member]) => [camel(name), renamed(member)]));
}

/** The result of a call with a vector's arguments, in JSON's types: `{ ok }` or `{ error: class }`. */
export function outcome(canonical, CanonicalError, vector) {
  const { id, comment, flags, fn, ok, error, ...args } = vector;
  try {
    const found = canonical[camel(fn)](renamed(args));
    return { ok: JSON.parse(JSON.stringify(found, (_, value) => (typeof value === "bigint" ? value.toString() : value))) };
  } catch (fault) {
    if (!(fault instanceof CanonicalError)) throw fault;
    return { error: fault.errorClass };
  }
}

/** What a vector expects, as `outcome` gives it. */
export const expected = ({ ok, error }) => (ok === undefined ? { error } : { ok: renamed(ok) });
