// `concord index export --to parquet`, read by DuckDB: what is in the files is what the lines of JSON say.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import path from "node:path";
import process from "node:process";
import { after, before, test } from "node:test";

import { startWorld } from "../clients/agent0/index_world.mjs";
import { CHAIN_ID } from "../clients/agent0/local_chain.mjs";

const UNFINAL = 64; // of anvil's blocks, those before the last 64 are final
const ROWS = path.join(import.meta.dirname, "parquet_rows.py");

let world;
before(async () => (world = await startWorld()));
after(() => world?.stop());

const run = (program, args) => execFileSync(program, args, { encoding: "utf8" });
const lines = (text) => text.split("\n").filter(Boolean).map((line) => JSON.parse(line));
/** A file has no cursor: a folder goes on by itself. */
const withoutCursor = ({ cursor, ...rest }) => (assert.ok(cursor.startsWith(rest.position)), rest);
const exported = (args) => lines(run(process.env.CONCORD_BINARY, ["index", "export", "--store", world.store, ...args]));

/** The newest block's number. viem's own function remembers an answer for seconds. */
const height = async () => Number(await world.chain.reader.request({ method: "eth_blockNumber" }));

/** Mines blocks, and waits until the index has them. */
async function mine(blocks) {
  await world.chain.reader.request({ method: "anvil_mine", params: [`0x${blocks.toString(16)}`] });
  const head = await height();
  for (;;) {
    const { deployments } = await (await fetch(`${world.index}/v1/status`)).json();
    if (deployments[0].block >= head) return;
  }
}

test("another implementation reads what the lines of JSON say", async () => {
  const head = await height();
  for (const final of [Math.floor(head / 2), head]) {
    await mine(UNFINAL + final - (await height()));
    for (const rows of [3, 1_000]) {
      const out = path.join(path.dirname(world.store), `parquet-${rows}`);
      const [{ folder, files, events, position, chain }] = exported(["--to", "parquet", "--out", out, "--rows", String(rows)]);
      const expected = exported([]).map(withoutCursor);
      assert.equal(chain, `eip155:${CHAIN_ID}`);
      assert.equal(events, expected.length);
      assert.equal(position, expected.at(-1).position);
      assert.equal(files, Math.ceil(events / rows));
      assert.deepEqual(lines(run(process.env.CONCORD_DUCKDB_PYTHON, [ROWS, folder])), expected);
      assert.deepEqual(fs.readdirSync(folder).filter((it) => it.endsWith(".parquet")).length, files);
    }
  }
  assert.ok(exported([]).some((it) => it.event === "ValidationResponded")); // to the last block
});
