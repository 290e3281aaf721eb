// What a node, an index or a caller can do to a client, on an anvil of its own and against a server that answers anything.
import assert from "node:assert/strict";
import fs from "node:fs";
import http from "node:http";
import process from "node:process";
import { test } from "node:test";
import { pathToFileURL } from "node:url";
import anchor from "@anchor-lang/core";
import { createPublicClient, createWalletClient, custom, http as transport, pad } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { ADDRESSES, KEYS, startChain } from "../../../tests/clients/agent0/local_chain.mjs";

const from = (name) => import(pathToFileURL(`${process.env.CONCORD_EXAMPLES}/node_modules/@concord/client/dist/${name}`));
const [{ ClientError, EvmClient, IndexClient }, { SolanaClient }] = await Promise.all(["index.js", "solana.js"].map(from));
const NO_HASH = `0x${"00".repeat(32)}`;

/** A chain with an agent, and a reader whose answers pass through `answered`. */
async function startRegistries() {
  const chain = await startChain();
  const identity = (await chain.deploy("IdentityRegistry")).address;
  const openReputation = (await chain.deploy("ReputationRegistry", [identity])).address;
  const addresses = { identity, openReputation };
  const wallet = (name) => createWalletClient({ account: privateKeyToAccount(KEYS[name]), chain: chain.chain, transport: transport(chain.url) });
  const client = (name, answered = (_, answer) => answer, before = () => undefined) => {
    const request = async (asked) => {
      await before(asked.method);
      return answered(asked.method, await chain.reader.request(asked));
    };
    const reader = createPublicClient({ chain: chain.chain, transport: custom({ request }), pollingInterval: 50, cacheTime: 0 });
    return EvmClient.of({ reader, wallet: wallet(name), addresses });
  };
  const owner = await client("owner");
  const { agent } = await owner.register({ file: { uri: "ipfs://agent", hash: NO_HASH } });
  return { chain, client, owner, agent, wallet, addresses };
}

/**
 * Gives, replaces the transaction once the client has seen it pending, and mines when the client next asks for the block number: viem looks
 * for a replacement in the one block that it is told of, and drops a block that it is told of while it looks.
 */
async function replaced({ chain, client, agent, wallet }, change) {
  let stage = "sent";
  const answered = async (method, answer) => {
    if (method === "eth_getTransactionByHash" && answer && stage === "sent") {
      stage = "replaced";
      const { to, input, nonce, maxFeePerGas } = answer;
      const fee = BigInt(maxFeePerGas) * 3n;
      const same = { to, data: input, nonce: Number(nonce), gas: 1_000_000n, maxFeePerGas: fee, maxPriorityFeePerGas: fee };
      await wallet("client").sendTransaction({ ...same, ...change });
    }
    if (method === "eth_getBlockByNumber" && stage === "replaced") stage = "looked for";
    return answer;
  };
  const before = async (method) => {
    if (method !== "eth_blockNumber" || stage !== "looked for") return;
    stage = "mined";
    await chain.reader.request({ method: "anvil_mine", params: ["0x1"] });
  };
  const giver = await client("client", answered, before);
  await chain.reader.request({ method: "evm_setAutomine", params: [false] });
  try {
    return await giver.give({ agent, value: 7n, decimals: 0 });
  } finally {
    await chain.reader.request({ method: "evm_setAutomine", params: [true] });
  }
}

test("R36: the event of another transaction, registry or client is not this call's", async () => {
  const world = await startRegistries();
  try {
    const repriced = await replaced(world, {});
    const { status } = await world.chain.reader.getTransactionReceipt({ hash: repriced.transaction });
    assert.equal(status, "success", "the transaction that landed is named");
    assert.equal(repriced.index, 1n, "the same call for another fee");
    await assert.rejects(replaced(world, { to: ADDRESSES.owner, data: "0x" }), ({ sent }) => sent === "failed");
    const topic = (address) => pad(address.toLowerCase(), { size: 32 });
    const forged = (make) => (method, answer) =>
      method === "eth_getTransactionReceipt" && answer ? { ...answer, logs: answer.logs.flatMap(make) } : answer;
    const other = (log) => ({ ...log, topics: log.topics.map((it) => (it === topic(ADDRESSES.client) ? topic(ADDRESSES.wallet) : it)) });
    const review = { agent: world.agent, value: 8n, decimals: 0 };
    const index = (log) => ({ ...log, data: `0x${pad("0x63", { size: 32 }).slice(2)}${log.data.slice(66)}` }); // says 99
    const before = await world.client("client", forged((log) => [index(other(log)), { ...index(log), address: ADDRESSES.owner }, log]));
    assert.equal((await before.give(review)).index, 2n);
    const only = await world.client("client", forged((log) => [other(log)]));
    await assert.rejects(only.give(review), ({ sent }) => sent === "landed");
  } finally {
    await world.chain.stop();
  }
});

test("R17, R39: what would land differently, or would be too long, is refused on both chains", async () => {
  const world = await startRegistries();
  try {
    const connection = new anchor.web3.Connection("http://127.0.0.1:1", "confirmed");
    const account = anchor.web3.Keypair.generate();
    const solana = await SolanaClient.of({ connection, account, network: "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1" });
    const evm = await world.client("client");
    const auth = { indexLimit: 1n, expiry: 1n, authorization: "0x" };
    const program = JSON.parse(fs.readFileSync(new URL("../../../programs/agent-registry/idl/agent_registry.json", import.meta.url), "utf8")).address;
    const cases = [
      [evm, world.agent, `eip155:${world.chain.chain.id}:${world.addresses.identity}`],
      [solana, account.publicKey.toBase58(), `solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1:${program}`],
    ];
    for (const [client, agent, registry] of cases) {
      const open = { agent, value: 1n, decimals: 0 };
      const clientAddress = `${registry.slice(0, registry.lastIndexOf(":"))}:${client.address}`;
      const said = { agentRegistry: registry, clientAddress, agentId: agent, value: 1, valueDecimals: 0 };
      const refused = (call, field, errorClass) =>
        assert.rejects(call, (fault) => {
          assert.ok(fault instanceof ClientError, `${fault}`);
          assert.ok(fault.message.startsWith(field), fault.message);
          assert.deepEqual([fault.errorClass, fault.sent], [errorClass, "nothing"]);
          return true;
        });
      await refused(client.give({ agent, score: 89.9, auth }), "score: 89.9");
      await refused(client.give({ agent, score: 256, auth }), "score: 256", "ScoreOutOfRange");
      await refused(client.give({ agent, score: 1, auth: { ...auth, expiry: -1n } }), "auth.expiry: -1");
      await refused(client.give({ ...open, value: 2n ** 128n - 5n }), "value: 34028", "ValueOutOfRange");
      await refused(client.give({ ...open, decimals: 0.5 }), "decimals: 0.5");
      await refused(client.revoke({ kind: "open", agent, index: -1n }), "index: -1");
      await refused(client.give({ ...open, tag1: "é".repeat(17) }), "tag1 has 34 bytes", "LengthLimit");
      await refused(client.give({ ...open, tag2: "a\0" }), "tag2 holds a NUL", "LengthLimit");
      await refused(client.give({ ...open, endpoint: `https://${"a".repeat(193)}` }), "endpoint has 201", "LengthLimit");
      await refused(client.give({ ...open, file: { uri: "a".repeat(201), hash: NO_HASH } }), "uri has 201", "LengthLimit");
      await refused(client.give({ ...open, file: "[]" }), "the feedback file is not a JSON object", "BadRequest");
      const others = { agentRegistry: clientAddress, clientAddress: registry, agentId: "8", tag1: "b", tag2: "b", endpoint: "b", value: 8, valueDecimals: 1 };
      for (const [field, other] of Object.entries(others)) {
        const file = JSON.stringify({ ...said, [field]: other });
        await refused(client.give({ ...open, file }), `the feedback file has ${field}`, "BadRequest");
      }
      await refused(client.give({ ...open, file: JSON.stringify(said) }), "a file is given, and the client has no upload");
    }
    const endpoint = "https://u:k@y@agent.example/mcp@2?token=S#f"; // files/src/feedback/portable.rs has the same pairs
    const longest = { tag1: "é".repeat(16), file: { uri: "a".repeat(200), hash: NO_HASH } };
    const { transaction } = await evm.give({ agent: world.agent, value: -(10n ** 38n), decimals: 18, endpoint, ...longest });
    const { data } = (await world.chain.reader.getTransactionReceipt({ hash: transaction })).logs[0];
    const words = Buffer.from(data.slice(2), "hex").toString("latin1");
    assert.ok(words.includes("https://agent.example/mcp@2\0"));
    assert.ok(!words.includes("token") && !words.includes("k@y"));
  } finally {
    await world.chain.stop();
  }
});

test("an index that answers anything is an error, and no secret of its URL is told", async () => {
  let answer = "";
  const server = http.createServer((_, response) => {
    if (answer === "elsewhere") response.writeHead(307, { location: "/" });
    response.end(answer);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  try {
    const index = new IndexClient(`http://127.0.0.1:${server.address().port}/`);
    const calls = [() => index.searchAgents({}), () => index.searchFeedback({}), () => index.summary("open", "1", "everyone")];
    for (answer of ["[]", "{}", "null", '{"items":{}}', '{"items":[1]}', '{"items":[],"nextCursor":1}', "", "elsewhere", " ".repeat(2 ** 24 + 1)]) {
      for (const call of calls) await assert.rejects(call, ClientError, answer.slice(0, 20));
    }
    answer = '{"items":[]}';
    await assert.rejects(calls[2], /no summary/);
    assert.deepEqual(await calls[0](), { items: [], nextCursor: null });
  } finally {
    server.close();
  }
  for (const url of ["https://user:s3cret@h", "https://h/?k=s3cret", "https://h/#s3cret", "ftp://s3cret", "s3cret"]) {
    assert.throws(() => new IndexClient(url), (fault) => fault instanceof ClientError && !fault.message.includes("s3cret"), url);
  }
});

test("a node's URL is not told, since it can hold a key", async () => {
  const chain = { id: 1, name: "none", nativeCurrency: { name: "", symbol: "", decimals: 18 }, rpcUrls: { default: { http: [] } } };
  const reader = createPublicClient({ chain, transport: transport("http://127.0.0.1:1/s3cret", { retryCount: 0 }) });
  const wallet = createWalletClient({ account: privateKeyToAccount(KEYS.client), chain, transport: transport("http://127.0.0.1:1/s3cret") });
  const addresses = { identity: ADDRESSES.owner, openReputation: ADDRESSES.owner };
  const client = await EvmClient.of({ reader, wallet, addresses });
  await assert.rejects(client.give({ agent: "1", value: 1n, decimals: 0 }), ({ message }) => message.length > 0 && !message.includes("s3cret"));
});
