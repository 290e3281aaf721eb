// How long processes take for a backfill.
import { spawn } from "node:child_process";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { performance } from "node:perf_hooks";

const LOOKS_AGAIN_MS = 10; // at what a process has written
const TICKS = 100; // of a second, in /proc
const LIMIT_MS = 1_200_000;
process.setMaxListeners(50); // each folder and each process is cleared away

/** An empty folder that is gone when the process ends. */
export function folder() {
  const made = fs.mkdtempSync(path.join(os.tmpdir(), "concord-backfill-"));
  process.once("exit", () => fs.rmSync(made, { recursive: true, force: true }));
  return made;
}

/** Seconds of processor that a process has had, its threads together. */
function processorSeconds(pid) {
  const fields = fs.readFileSync(`/proc/${pid}/stat`, "utf8").split(") ").at(-1).split(" ");
  return (Number(fields[11]) + Number(fields[12])) / TICKS;
}

const rounded = (number) => Math.round(number * 100) / 100;

/**
 * Starts a process, waits until `finished(words)` answers something, and ends it. Resolves to that, with the time it took from the start. A
 * `finished` that asks the process has it work: then `everyMs` is long.
 */
export async function measure(command, args, options, finished, everyMs = LOOKS_AGAIN_MS) {
  const load = os.loadavg()[0];
  const begun = performance.now();
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "pipe"], ...options });
  const kill = () => child.kill("SIGKILL");
  process.once("exit", kill);
  let words = "";
  for (const stream of [child.stdout, child.stderr]) stream.on("data", (chunk) => (words += chunk));
  const ended = new Promise((resolve) => child.once("exit", resolve));
  for (;;) {
    const found = await finished(words);
    if (found) {
      const seconds = (performance.now() - begun) / 1_000;
      const processor = processorSeconds(child.pid);
      kill();
      await ended;
      return { ...found, seconds: rounded(seconds), processorSeconds: rounded(processor), load: rounded(load) };
    }
    if (child.exitCode !== null || child.signalCode !== null) throw new Error(`${command} ended (${child.exitCode ?? child.signalCode}): ${words}`);
    if (performance.now() - begun > LIMIT_MS) throw new Error(`${command} takes longer than ${LIMIT_MS} ms: ${words}`);
    await new Promise((resolve) => setTimeout(resolve, everyMs));
  }
}

/** Runs `concord index run` with these options until it says that it is at the newest block, into a store of its own. */
export function measureIndex(options) {
  const store = path.join(folder(), "index.sqlite");
  return measure(process.env.CONCORD_INDEX, ["index", "run", ...options, "--store", store], {}, (words) => {
    const [, , events] = /block (\d+) of \1: (\d+) events, /.exec(words) ?? [];
    return events && { events: Number(events), bytes: fs.statSync(store).size };
  });
}

export function print(line) {
  console.log(JSON.stringify({ at: new Date().toISOString(), ...line }));
}

/** Carries out `work(number)` for each number below `count`, so many at once. */
export async function each(count, atOnce, work) {
  let next = 0;
  const worker = async () => {
    while (next < count) await work(next++);
  };
  await Promise.all(Array.from({ length: atOnce }, worker));
}
