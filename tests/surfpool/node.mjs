// Runs a Surfpool node, a Solana node that is not ours, without network. Writes payer.json and program.json into the folder
// that it is given: an account that has money, and the key that the program of scripts/build is for. Prints the node's URL.
// Ends when stdin is closed.
import { createHash, createPrivateKey, createPublicKey } from "node:crypto";
import fs from "node:fs";
import { createRequire } from "node:module";
import path from "node:path";
import process from "node:process";

const [folder] = process.argv.slice(2);
const modules = process.env.CONCORD_SURFPOOL_MODULES;
if (!modules || !folder) throw new Error("start this with tests/surfpool/run");
const { Surfnet } = createRequire(`${modules}/`)("@solana/surfpool-linux-x64-gnu");
const PKCS8 = Buffer.from("302e020100300506032b657004220420", "hex"); // what precedes an Ed25519 seed (RFC 8410)

/** As solana-keygen writes it: the seed's 32 bytes, then the public key's. */
function keypairOf(seed) {
  const key = createPrivateKey({ key: Buffer.concat([PKCS8, seed]), format: "der", type: "pkcs8" });
  return [...seed, ...createPublicKey(key).export({ format: "der", type: "spki" }).subarray(-32)];
}

function write(name, keypair) {
  fs.writeFileSync(path.join(folder, name), JSON.stringify(keypair), { mode: 0o600 });
}

const node = Surfnet.startWithConfig({ offline: true, blockProductionMode: "clock", slotTimeMs: 400 });
setInterval(() => node.drainEvents(), 100); // it stops answering when nobody takes its events
write("payer.json", [...node.payerSecretKey]);
write("program.json", keypairOf(createHash("sha256").update("concord localnet program").digest()));
process.stdout.write(`${node.rpcUrl}\n`);
process.stdin.resume();
process.stdin.once("end", () => process.exit(0));
