// A local cluster of a test's own, or another node without a program, and the program deployed on it by `concord deploy`.
import assert from "node:assert/strict";
import { execFile, spawn } from "node:child_process";
import { createHash } from "node:crypto";
import { once } from "node:events";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { createInterface } from "node:readline";
import { setTimeout as pause } from "node:timers/promises";
import { promisify } from "node:util";
import anchor from "@anchor-lang/core";
import { remove } from "../../cleanup.mjs";

const { Connection, Keypair, LAMPORTS_PER_SOL, PublicKey, SYSVAR_CLOCK_PUBKEY } = anchor.web3;
/** A cluster keeps 512 blocks: who reads old ones needs longer slots. */
export const SLOT_MS = Number(process.env.CONCORD_SLOT_MS ?? 20);
/** The chain's name in the address book and, because R9 allows it, in the registry. */
export const CHAIN = "solana:localnet";

/**
 * Starts a cluster on which each of `accounts` holds 100 SOL, or funds them on the node that CONCORD_NODE_URL names. Resolves to
 * its URL and a function that ends what was started.
 */
export async function startCluster(accounts) {
  if (process.env.CONCORD_NODE_URL) return fundedNode(process.env.CONCORD_NODE_URL, accounts);
  const funding = accounts.flatMap(({ publicKey }) => ["--fund", `${publicKey}=100`]);
  const cluster = spawn(process.env.CONCORD_LOCAL_CLUSTER, ["--slot-ms", `${SLOT_MS}`, ...funding], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [url] = await once(createInterface(cluster.stdout), "line");
  const stop = async () => {
    cluster.kill();
    await once(cluster, "exit");
  };
  return { url, stop };
}

async function fundedNode(url, accounts) {
  const connection = new PollingConnection(url, "confirmed");
  for (const { publicKey } of accounts) {
    await confirmed(connection, await connection.requestAirdrop(publicKey, 100 * LAMPORTS_PER_SOL));
  }
  return { url, stop: async () => {} };
}

/** Once it has the commitment; a test that waits for ever is ended by its runner. */
export async function confirmed(connection, signature, commitment = "confirmed") {
  const order = ["processed", "confirmed", "finalized"];
  for (;;) {
    const { value } = await connection.getSignatureStatus(signature);
    if (value && order.indexOf(value.confirmationStatus) >= order.indexOf(commitment)) return value;
    await pause(SLOT_MS);
  }
}

/** A connection that polls for confirmations: the cluster has no WebSocket. */
export class PollingConnection extends Connection {
  async confirmTransaction(signature, commitment) {
    return { value: await confirmed(this, signature, commitment) };
  }
}

function writeKeypair(file, keypair) {
  fs.writeFileSync(file, JSON.stringify([...keypair.secretKey]), { mode: 0o600 });
}

/** Deploys target/deploy/agent_registry.so under the development id; resolves to the id in the address book. */
export async function deployProgram(url, deployer) {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "concord-anchor."));
  try {
    const [authority, program] = ["deployer.json", "program.json"].map((name) => path.join(folder, name));
    writeKeypair(authority, deployer);
    writeKeypair(program, Keypair.fromSeed(createHash("sha256").update("concord localnet program").digest()));
    const words = ["deploy", "apply", "--chain", CHAIN, "--yes", "--upgrade-authority", "keep"];
    await promisify(execFile)(
      process.env.CONCORD_BINARY,
      [...words, "--keypair", authority, "--program-keypair", program],
      { env: { ...process.env, CONCORD_RPC_URL: url, CONCORD_DEPLOYMENTS: folder } },
    );
    const book = JSON.parse(fs.readFileSync(path.join(folder, "addresses.json"), "utf8"));
    return new PublicKey(book.chains[CHAIN].contracts.AgentRegistry.address);
  } finally {
    remove(folder);
  }
}

/** What the program takes for the time, seconds: the Clock account's. A node's block times may be others. */
export async function clock(connection) {
  const { data } = await connection.getAccountInfo(SYSVAR_CLOCK_PUBKEY);
  const time = Number(data.readBigInt64LE(32));
  assert.ok(time > 0);
  return time;
}
