import { wordsOf } from "./errors.js";

/** How long one answer may take. */
const ANSWER_MS = 30_000;
/** How long an endpoint is asked again. A blockhash is good for about a minute. */
const POLLING_MS = 120_000;
/** The pauses between two questions, which double. */
const [FIRST_PAUSE_MS, LAST_PAUSE_MS] = [50, 1_000];

/** An answer, which must not take longer than one may. */
export function inTime<A>(answer: Promise<A>): Promise<A> {
  let timer: ReturnType<typeof setTimeout>;
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer in ${ANSWER_MS / 1000} s`)), ANSWER_MS);
  });
  return Promise.race([answer, late]).finally(() => clearTimeout(timer));
}

/** Asks until there is an answer. A fault of the endpoint is none: it is asked again until the time is over. */
export async function polled<A>(ask: () => Promise<A | undefined>): Promise<A> {
  const end = Date.now() + POLLING_MS;
  let cause: unknown;
  for (let pause = FIRST_PAUSE_MS; Date.now() < end; pause = Math.min(2 * pause, LAST_PAUSE_MS)) {
    try {
      const answer = await inTime(ask());
      if (answer !== undefined) return answer;
    } catch (fault) {
      cause = fault;
    }
    await new Promise((over) => setTimeout(over, pause));
  }
  throw new Error(`no answer in ${POLLING_MS / 1000} s${cause ? `: ${wordsOf(cause)}` : ""}`);
}
