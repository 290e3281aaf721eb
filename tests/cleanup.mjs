// Ending what a test started.
import fs from "node:fs";

/** Runs every step, also after one that fails, and then fails with what failed. A step is a function, asynchronous or not. */
export async function cleanUp(...steps) {
  const failures = [];
  for (const step of steps) {
    try {
      await step();
    } catch (failure) {
      failures.push(failure);
    }
  }
  if (failures.length === 1) throw failures[0];
  if (failures.length) throw new AggregateError(failures, failures.map(String).join("; "));
}

/** Removes a folder, also one that a process which is ending still writes to. */
export function remove(folder) {
  fs.rmSync(folder, { recursive: true, force: true, maxRetries: 50, retryDelay: 100 });
}
