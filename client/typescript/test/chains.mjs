// Registries of a test's own on both chains, behind endpoints that a test can change.
import process from "node:process";
import { pathToFileURL } from "node:url";
import anchor from "@anchor-lang/core";
import { createPublicClient, createWalletClient, custom } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { KEYS, startChain } from "../../../tests/clients/agent0/local_chain.mjs";
import { CHAIN, deployProgram, startCluster } from "../../../tests/clients/anchor/local_cluster.mjs";

const from = (name) => import(pathToFileURL(`${process.env.CONCORD_EXAMPLES}/node_modules/@concord/client/dist/${name}`));
export const [{ ClientError, EvmClient, IndexClient, IndexError }, { SolanaClient }, { published }] = await Promise.all(
  ["index.js", "solana.js", "documents.js"].map(from),
);
const { load } = await import(pathToFileURL(`${process.env.CONCORD_EXAMPLES}/node_modules/@concord/canonical/dist/index.js`));
export const canonical = await load();
export const NO_HASH = `0x${"00".repeat(32)}`;

const unchanged = (_, ask) => ask();

/** A chain with an agent. `asked` answers the requests of a reader or a wallet, with what `ask` answers or otherwise. */
export async function startRegistries() {
  const chain = await startChain();
  const identity = (await chain.deploy("IdentityRegistry")).address;
  const openReputation = (await chain.deploy("ReputationRegistry", [identity])).address;
  const authorizedReputation = (await chain.deploy("AuthorizedReputationRegistry", [identity, false])).address;
  const validation = (await chain.deploy("ValidationRegistry", [identity])).address;
  const addresses = { identity, openReputation, authorizedReputation, validation };
  const through = (asked) => custom({ request: (request) => asked(request, () => chain.reader.request(request)) }, { retryCount: 0 });
  const wallet = (name, asked = unchanged) =>
    createWalletClient({ account: KEYS[name] ? privateKeyToAccount(KEYS[name]) : name, chain: chain.chain, transport: through(asked) });
  const client = (name, { reading = unchanged, sending = unchanged, ...at } = {}) => {
    const reader = createPublicClient({ chain: chain.chain, transport: through(reading), pollingInterval: 50, cacheTime: 0 });
    return EvmClient.of({ reader, wallet: wallet(name, sending), addresses, ...at });
  };
  const owner = await client("owner");
  const { agent } = await owner.register({ file: { uri: "ipfs://agent", hash: NO_HASH } });
  return { chain, client, owner, agent, wallet, addresses, stop: chain.stop };
}

/** A cluster with an agent. `asked` answers the requests of a client's connection, which has web3.js's own ways and no WebSocket. */
export async function startProgram() {
  const [deployer, ...accounts] = Array.from({ length: 3 }, () => anchor.web3.Keypair.generate());
  const cluster = await startCluster([deployer, ...accounts]);
  const program = (await deployProgram(cluster.url, deployer)).toBase58();
  const client = (account, asked = unchanged, at = {}) => {
    const through = async (url, call) => {
      const request = JSON.parse(call.body);
      const answer = await asked(request, (other = request) => fetch(url, { ...call, body: JSON.stringify(other) }));
      return answer instanceof Response ? answer : Response.json({ jsonrpc: "2.0", id: request.id, ...answer });
    };
    const connection = new anchor.web3.Connection(cluster.url, { fetch: through, disableRetryOnRateLimit: true });
    return SolanaClient.of({ connection, account, network: CHAIN, program, ...at });
  };
  const [owner, reviewer] = accounts;
  const { agent } = await (await client(owner)).register({ file: { uri: "ipfs://agent", hash: NO_HASH } });
  return { cluster, program, client, deployer, owner, reviewer, agent, stop: cluster.stop };
}
