// What a node, an index or a caller can do to a client, on chains of its own and against a server that answers anything.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import fs from "node:fs";
import http from "node:http";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { test } from "node:test";
import { inspect } from "node:util";
import anchor from "@anchor-lang/core";
import { createPublicClient, createWalletClient, custom, encodeFunctionData, http as transport, keccak256, pad, parseAbi } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { ADDRESSES, KEYS } from "../../../tests/clients/agent0/local_chain.mjs";
import { CHAIN } from "../../../tests/clients/anchor/local_cluster.mjs";
import { canonical, ClientError, EvmClient, IndexClient, IndexError, NO_HASH, published, SolanaClient, startProgram, startRegistries } from "./chains.mjs";
import { cleanUp, remove } from "../../../tests/cleanup.mjs";

/** A reader whose answers pass through `answered`. */
const filtered = (answered, before = () => undefined) => ({
  reading: async ({ method }, ask) => {
    await before(method);
    return answered(method, await ask());
  },
});

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
  const giver = await client("client", filtered(answered, before));
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
    const before = await world.client("client", filtered(forged((log) => [index(other(log)), { ...index(log), address: ADDRESSES.owner }, log])));
    assert.equal((await before.give(review)).index, 2n);
    const only = await world.client("client", filtered(forged((log) => [other(log)])));
    await assert.rejects(only.give(review), ({ sent }) => sent === "landed");
  } finally {
    await world.stop();
  }
});

test("R17, R39: what would land differently, or would be too long, is refused on both chains", async () => {
  const [world, cluster] = await Promise.all([startRegistries(), startProgram()]);
  try {
    let sent = 0;
    const counted = ({ method }, ask) => {
      if (method === "sendTransaction") sent += 1;
      return ask();
    };
    const solana = await cluster.client(cluster.reviewer, counted);
    const evm = await world.client("client");
    const auth = { indexLimit: 1n, expiry: 1n, authorization: "0x" };
    const cases = [
      [evm, world.agent, `eip155:${world.chain.chain.id}:${world.addresses.identity}`],
      [solana, cluster.agent, `${CHAIN}:${cluster.program}`],
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
      const others = { agentRegistry: clientAddress, clientAddress: registry, agentId: "8", tag1: "b", tag2: "b", value: 8, valueDecimals: 1, score: 1 };
      const differing = (call, other, words) =>
        refused(client.give({ ...call, file: JSON.stringify({ ...said, ...other }) }), `the feedback file has ${words}`, "BadRequest");
      for (const [field, other] of Object.entries(others)) {
        await differing(open, { [field]: other }, field);
        await differing(open, { [field]: [said[field]] }, field); // a list of it is not it
      }
      const [noValue, authorized] = [{ value: undefined, valueDecimals: undefined }, { agent, score: 1, auth }];
      await differing(open, { valueDecimals: undefined }, "no valueDecimals, and 0");
      await differing(open, { ...noValue, score: 1 }, "score 1, and none");
      await differing(authorized, {}, "no score, and 1");
      await differing(authorized, { score: 1 }, "value 1, and none");
      await differing(authorized, { ...noValue, score: 2 }, "score 2, and 1");
      for (const endpoint of ["https://user:s3cret@agent.example", "https://agent.example/?key=s3cret", "https://agent.example/#s3cret"]) {
        const file = JSON.stringify({ ...said, value: undefined, valueDecimals: undefined, score: 90, endpoint });
        const rated = client.give({ ...authorized, score: 90, file });
        await assert.rejects(rated, ({ message }) => /an endpoint with a query/.test(message) && !message.includes("s3cret"));
      }
      for (const endpoint of ["https://user:s3cret@agent.example", "https://agent.example/s3cret"]) {
        const file = JSON.stringify({ ...said, endpoint });
        for (const call of [open, { ...open, endpoint }]) {
          if (call.endpoint && !endpoint.includes("@")) continue; // it may be published
          await assert.rejects(client.give({ ...call, file }), ({ message }) => /another endpoint/.test(message) && !message.includes("s3cret"));
        }
      }
      await refused(client.give({ ...authorized, file: JSON.stringify({ ...said, ...noValue, score: 1 }) }), "a file is given");
      const written = (call, field, number) => {
        const file = JSON.stringify({ ...said, [field]: "here" }).replace('"here"', number); // JSON.stringify would round it
        return refused(client.give({ ...call, file }), `the feedback file has ${field} `, "NumberOutOfRange");
      };
      await written({ ...open, value: 2n ** 53n }, "value", "9007199254740993"); // R22: neighbours agree once they are read
      await written({ ...open, value: -(2n ** 53n) }, "value", "-9007199254740992");
      await written(open, "value", "1.5");
      await written(open, "valueDecimals", "1e16");
      await written(open, "score", "9007199254740993");
      await written(open, "agentId", "9007199254740993");
      if (client === evm) await written({ ...open, agent: "9007199254740992" }, "agentId", "9007199254740993");
      await refused(client.give({ ...open, file: JSON.stringify(said) }), "a file is given, and the client has no upload");
    }
    assert.equal(sent, 0);
    const endpoint = "https://u:k@y@agent.example/mcp@2?token=S#f"; // files/src/feedback/portable.rs has the same pairs
    const longest = { tag1: "é".repeat(16), file: { uri: "a".repeat(200), hash: NO_HASH } };
    const { transaction } = await evm.give({ agent: world.agent, value: -(10n ** 38n), decimals: 18, endpoint, ...longest });
    const { data } = (await world.chain.reader.getTransactionReceipt({ hash: transaction })).logs[0];
    const words = Buffer.from(data.slice(2), "hex").toString("latin1");
    assert.ok(words.includes("https://agent.example/mcp@2\0"));
    assert.ok(!words.includes("token") && !words.includes("k@y"));
  } finally {
    await cleanUp(() => world.stop(), () => cluster.stop());
  }
});

/** Every call that names an agent. */
function callsAbout(agent, client, key) {
  const file = new TextEncoder().encode("{}");
  const auth = { indexLimit: 1n, expiry: 1n, authorization: "0x" };
  const feedback = { kind: "open", agent, client: client.address, index: 1n };
  const request = NO_HASH;
  return {
    agent: () => client.agent(agent),
    setWallet: () => client.setWallet(agent, key, 1n),
    authorize: () => client.authorize(key, { agent, client: client.address, indexLimit: 1n, expiry: 1n }),
    give: () => client.give({ agent, value: 1n, decimals: 0, file }),
    giveAuthorized: () => client.give({ agent, score: 1, auth, file }),
    get: () => client.get(feedback),
    revoke: () => client.revoke(feedback),
    respond: () => client.respond(feedback, file),
    summary: () => client.summary(agent, "everyone"),
    scores: () => client.scores(agent, "everyone", "equal"),
    requestValidation: () => client.requestValidation({ agent, validator: client.address, request, file }),
    answerValidation: () => client.answerValidation({ agent, request, score: 1, file }),
  };
}

/** Clients of both chains that note what they ask, upload and send in `done`. */
async function watched(world, cluster) {
  const done = [];
  const noted = ({ method }, ask) => {
    done.push(method);
    return ask();
  };
  const upload = async () => void done.push("upload") ?? "ipfs://file";
  const evm = await world.client("client", { reading: noted, sending: noted, upload });
  const solana = await cluster.client(cluster.reviewer, noted, { upload });
  done.length = 0;
  return { done, evm, solana };
}

test("an agent of another form is refused on both chains, and nothing is asked, uploaded or sent", async () => {
  const [world, cluster] = await Promise.all([startRegistries(), startProgram()]);
  try {
    const { done, evm, solana } = await watched(world, cluster);
    const [mint, id] = [cluster.agent, world.agent];
    const others = ["", " ", "0x1", `${CHAIN}:${mint}`, "84532:42", 42, undefined];
    const chains = [
      [evm, privateKeyToAccount(KEYS.client), [mint, `0${id}`, `${id} `, `-${id}`, "1.0", "1e3", `${2n ** 256n}`], "a decimal uint256"],
      [solana, cluster.owner, [id, `${mint} `, `1${mint}`, mint.slice(8)], "a mint in base58"],
    ];
    for (const [client, key, malformed, expected] of chains) {
      for (const agent of [...others, ...malformed]) {
        for (const [name, call] of Object.entries(callsAbout(agent, client, key))) {
          const words = `agent is ${typeof agent === "string" ? JSON.stringify(agent) : agent}, expected ${expected}`;
          const isRefused = (fault) => fault instanceof ClientError && fault.errorClass === "BadRequest" && fault.sent === "nothing";
          await assert.rejects(async () => call(), (fault) => isRefused(fault) && fault.message.startsWith(words), `${name} ${agent}`);
        }
      }
    }
    for (const [client, other] of [[evm, mint], [solana, ADDRESSES.client]]) {
      const agent = client === evm ? id : mint;
      const asked = { agent, request: NO_HASH, file: new Uint8Array() };
      const refused = (call, field) => assert.rejects(call, ({ message, errorClass }) => message.startsWith(`${field} is `) && errorClass === "BadRequest");
      await refused(client.get({ kind: "open", agent, client: other, index: 1n }), "client");
      await refused(client.respond({ kind: "open", agent, client: other, index: 1n }, new Uint8Array()), "client");
      await refused(client.requestValidation({ ...asked, validator: other }), "validator");
    }
    assert.deepEqual(done, []);
    for (const unknown of ["0", `${2n ** 256n - 1n}`]) assert.equal(await evm.agent(unknown), undefined, "a canonical registry's first agent is 0");
  } finally {
    await cleanUp(() => world.stop(), () => cluster.stop());
  }
});

test("R17, R47: texts that are not UTF-8, which a contract takes from anyone, are read and asked for (EVM-31)", async () => {
  const world = await startRegistries();
  try {
    const { agent, chain } = world;
    const stranger = await world.wallet("stranger");
    const client = await world.client("client");
    /** Sends a call with other bytes in the place of its text `MARK`. */
    const sent = async (to, abi, functionName, args, bytes) => {
      const data = encodeFunctionData({ abi: parseAbi([abi]), functionName, args });
      const hash = await stranger.sendTransaction({ to, data: data.replace("4d41524b", bytes) });
      return chain.reader.waitForTransactionReceipt({ hash });
    };
    const give = "function giveFeedback(uint256, int128, uint8, string, string, string, string, bytes32)";
    const feedback = (value, tag) => [BigInt(agent), value, 0, tag, "", "", "", NO_HASH];
    await sent(world.addresses.openReputation, give, "giveFeedback", feedback(10n, "MARK"), "ff41c328");
    await sent(world.addresses.openReputation, give, "giveFeedback", feedback(20n, "\u{10FEFF}"), "");
    await sent(world.addresses.openReputation, give, "giveFeedback", feedback(40n, "é\u{FEFF}"), "");
    const texts = ["\u{10FEFF}A\u{10FEC3}(", "\u{10FEF4}\u{10FE8F}\u{10FEBB}\u{10FEBF}", "é\u{FEFF}"];
    for (const [at, tag1] of texts.entries()) {
      const value = 10n * 2n ** BigInt(at);
      const found = await client.get({ kind: "open", agent, client: ADDRESSES.stranger, index: BigInt(at + 1) });
      assert.deepEqual([found.value, found.tag1, found.tag2], [value, tag1, ""]);
      const summary = await client.summary(agent, "everyone", { tag1 });
      assert.deepEqual([summary.count, summary.value], [1n, value]);
    }
    for (const tag1 of ["\u{FFFD}A\u{FFFD}(", "\u{10FEFF}"]) assert.equal((await client.summary(agent, "everyone", { tag1 })).count, 0n);
    const unlisted = client.summary(`${2n ** 255n}`, { listed: [client.address] }, { tag1: texts[0] });
    assert.equal((await unlisted).count, 0n);
    await sent(world.addresses.identity, "function register(string)", "register", ["MARK"], "fe41e282");
    assert.equal((await client.agent(`${BigInt(agent) + 1n}`)).uri, "\u{10FEFE}A\u{10FEE2}\u{10FE82}");
    assert.equal((await client.agent(agent)).uri, "ipfs://agent");
  } finally {
    await world.stop();
  }
});

test("R12: an identity of the first layout reads as if zeros followed", async () => {
  const world = await startProgram();
  try {
    const shortened = (length) =>
      world.client(world.reviewer, async ({ method }, ask) => {
        const answer = await (await ask()).json();
        const bytes = method === "getAccountInfo" && answer.result.value && Buffer.from(answer.result.value.data[0], "base64");
        if (bytes && bytes.length === 283) answer.result.value.data[0] = bytes.subarray(0, length).toString("base64");
        return answer;
      });
    const [whole, first, less] = await Promise.all([283, 218, 217].map(shortened));
    const read = await whole.agent(world.agent);
    assert.equal(read.owner, world.owner.publicKey.toBase58());
    assert.deepEqual(await first.agent(world.agent), read);
    assert.equal((await first.summary(world.agent, "everyone")).count, 0n);
    await assert.rejects(less.agent(world.agent));
  } finally {
    await world.stop();
  }
});

test("R17: metadata over its lengths is refused before its file is uploaded", async () => {
  const [world, cluster] = await Promise.all([startRegistries(), startProgram()]);
  try {
    const upload = () => assert.fail("uploaded");
    const clients = [await world.client("client", { upload }), await cluster.client(cluster.reviewer, undefined, { upload })];
    const cases = [
      [{ ["é".repeat(17)]: "" }, "metadata key has 34 bytes, and at most 32", "LengthLimit"],
      [{ "a\0": "" }, "metadata key holds a NUL", "LengthLimit"],
      [{ a: "é".repeat(129) }, "metadata value has 258 bytes, and at most 256", "LengthLimit"],
      [{ a: 1 }, "metadata value is 1, expected text", "BadRequest"],
    ];
    for (const client of clients) {
      for (const [metadata, words, errorClass] of cases) {
        const isRefused = (fault) => fault.message.startsWith(words) && fault.errorClass === errorClass && fault.sent === "nothing";
        await assert.rejects(client.register({ file: "{}", metadata }), isRefused, words);
      }
    }
    const tooMuch = Object.fromEntries(Array.from("abcdefghijklmnop", (key) => [key, ""])); // for one transaction on Solana
    const registered = clients[1].register({ file: { uri: "", hash: NO_HASH }, metadata: tooMuch });
    await assert.rejects(registered, ({ sent, message }) => sent === "nothing" && /^Transaction too large/.test(message));
  } finally {
    await cleanUp(() => world.stop(), () => cluster.stop());
  }
});

test("R22: half a surrogate pair would land as another text, and is refused on both chains", async () => {
  const [world, cluster] = await Promise.all([startRegistries(), startProgram()]);
  try {
    const { done, evm, solana } = await watched(world, cluster);
    const auth = { indexLimit: 1n, expiry: 1n, authorization: "0x" };
    const file = new TextEncoder().encode("{}");
    for (const [client, agent] of [[evm, world.agent], [solana, cluster.agent]]) {
      const open = { agent, value: 1n, decimals: 0, file };
      const feedback = { kind: "open", agent, client: client.address, index: 1n };
      for (const half of ["\ud83d", "a\ude00b", "\ude00\ud83d"]) {
        const calls = [
          ["tag1", () => client.give({ ...open, tag1: half })],
          ["tag2", () => client.give({ ...open, tag2: half })],
          ["tag1", () => client.give({ agent, score: 1, auth, file, tag1: half })],
          ["endpoint", () => client.give({ ...open, endpoint: `https://agent.example/${half}` })],
          ["uri", () => client.respond(feedback, { uri: `ipfs://${half}`, hash: NO_HASH })],
          ["metadata key", () => client.register({ file, metadata: { [half]: "" } })],
          ["metadata value", () => client.register({ file, metadata: { a: half } })],
        ];
        for (const [field, call] of calls) {
          await assert.rejects(call, ({ message, errorClass, sent }) => {
            assert.equal(message, `${field} holds half a surrogate pair (R22)`);
            return errorClass === "LoneSurrogate" && sent === "nothing";
          });
        }
        await assert.rejects(client.respond(feedback, `{"a":"${half}"}`), /surrogate without its pair/);
      }
    }
    assert.deepEqual(done, []);
    for (const [client, agent] of [[evm, world.agent], [solana, cluster.agent]]) {
      const tag1 = "\ud83d\ude00"; // a whole pair
      const given = await client.give({ agent, value: 1n, decimals: 0, tag1 });
      assert.equal((await client.get(given)).tag1, tag1);
    }
  } finally {
    await cleanUp(() => world.stop(), () => cluster.stop());
  }
});

test("R21: the hash is of the bytes that the upload was given, whatever it does with them", async () => {
  const uploads = {
    moved: (file) => structuredClone(file.buffer, { transfer: [file.buffer] }),
    overwritten: (file) => file.fill(0),
  };
  const bytes = Buffer.from('{"a":1}'); // in memory that it has in common with other buffers
  for (const [name, change] of Object.entries(uploads)) {
    for (const file of [bytes, '{"a":1}']) {
      let stored;
      const upload = async (given) => {
        stored = Buffer.from(given).toString();
        change(given);
        return "ipfs://file";
      };
      const { uri, hash } = await published(file, upload, canonical);
      assert.deepEqual([uri, hash, stored], ["ipfs://file", keccak256(bytes), '{"a":1}'], name);
      assert.equal(bytes.toString(), '{"a":1}', "the caller's bytes are theirs");
    }
  }
  const mine = Uint8Array.from(bytes);
  let given;
  const slow = async (file) => {
    given = file;
    return "ipfs://file";
  };
  const pending = published(mine, slow, canonical);
  mine.fill(0);
  assert.equal((await pending).hash, keccak256(given), "the caller may use the bytes again");
  assert.equal(Buffer.from(given).toString(), '{"a":1}');
});

test("the program of local tests, whose secret key is public, is not taken for granted elsewhere", async () => {
  const connection = new anchor.web3.Connection("http://127.0.0.1:1", { fetch: () => assert.fail("asked") });
  const account = anchor.web3.Keypair.generate();
  for (const network of ["solana:5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "solana:7ckYa6tGkn8sLvCyvLQGcCmSPPLpmaTP"]) {
    for (const program of [undefined, ""]) {
      const refused = SolanaClient.of({ connection, account, network, program });
      await assert.rejects(refused, ({ message, errorClass }) => message.startsWith("program is ") && errorClass === "BadRequest");
    }
  }
});

test("a safe integer is taken as a number, and lands once", async () => {
  const [world, cluster] = await Promise.all([startRegistries(), startProgram()]);
  try {
    const evm = { agent: world.agent, owner: world.owner, client: await world.client("client"), key: privateKeyToAccount(KEYS.owner) };
    const [owner, client] = await Promise.all([cluster.owner, cluster.reviewer].map((key) => cluster.client(key)));
    for (const { agent, owner: agentOwner, client: reviewer, key } of [evm, { agent: cluster.agent, owner, client, key: cluster.owner }]) {
      const given = await reviewer.give({ agent, value: 80, decimals: 0n });
      assert.deepEqual([given.index, (await reviewer.get({ ...given, index: 1 })).value], [1n, 80n]);
      await agentOwner.respond({ ...given, index: 1 }, { uri: "ipfs://a", hash: NO_HASH });
      await reviewer.revoke({ kind: "open", agent, index: 1 });
      const auth = await agentOwner.authorize(key, { agent, client: reviewer.address, indexLimit: 1, expiry: 2 ** 40 });
      assert.equal((await reviewer.give({ agent, score: 90n, auth })).index, 1n);
      await assert.rejects(reviewer.give({ agent, value: "80", decimals: 0 }), ({ sent, message }) => sent === "nothing" && /safe integer/.test(message));
    }
  } finally {
    await cleanUp(() => world.stop(), () => cluster.stop());
  }
});

/** Signed by `@noble/curves` over the hash of `canonicalize`'s text; files/src/reviewers.rs has the same list. */
const WITH_FURTHER_MEMBERS =
  '{"created":"2026-11-23T00:00:00Z","issue":7,"name":"Weather desk","reviewers":[{"account":"eip155:31337:0x70997970C51812dc3A010C7d01b50e0d17dc79C8","note":"asks daily","reason":null},{"account":"solana:localnet:4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS","since":{"year":2025}}],"signature":{"algorithm":"secp256k1","publicKey":"0x0256b328b30c8bf5839e24058747879408bdb36241dc9c2e7c619faa12b2920967","signature":"0xe2a204accf13b074da9063509e5cca771bcb5a21682c25789d64e84e8bf65023380d922549779a7688f7855ccc873489eaff12e6bd0cc9718c6b8ce991199a5000"},"type":"concord-reviewer-list-v1"}';

test("R23: a reviewer list counts only if its signature holds", async () => {
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "concord-list-"));
  const concord = (words, input) => execFileSync(process.env.CONCORD_BINARY, ["reviewers", "new", ...words], { input, encoding: "utf8" });
  const network = "eip155:31337";
  const list = ["--name", "Weather desk", "--reviewer", `${network}:${ADDRESSES.client}=asks daily`, "--reviewer", `${CHAIN}:4zvwRjXUKGfvwnParsHAS3HuSVzV5cA4McphgmoCtajS`];
  const server = http.createServer((_, response) => response.end('{"items":[]}'));
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const world = await startRegistries();
  try {
    const keypair = path.join(folder, "key.json");
    fs.writeFileSync(keypair, JSON.stringify([...anchor.web3.Keypair.generate().secretKey]), { mode: 0o600 });
    const keystore = path.join(folder, "keystore.json");
    fs.writeFileSync(path.join(folder, "password"), "correct horse\n", { mode: 0o600 });
    execFileSync("cast", ["wallet", "import", "keystore.json", "--private-key", KEYS.owner, "--keystore-dir", folder, "--unsafe-password", "correct horse"]);
    const client = await world.client("client");
    const index = new IndexClient(`http://127.0.0.1:${server.address().port}`);
    const calls = [
      (reviewers) => client.summary(world.agent, reviewers),
      (reviewers) => client.scores(world.agent, reviewers, "equal"),
      (reviewers) => index.searchAgents({}, { reviewers, thresholds: {} }),
    ];
    for (const key of [["--keypair", keypair], ["--keystore", keystore, "--password-file", path.join(folder, "password")]]) {
      const signed = JSON.parse(concord([...list, ...key]));
      const { signature } = signed;
      const flipped = `${signature.signature.slice(0, 10)}${signature.signature[10] === "0" ? "1" : "0"}${signature.signature.slice(11)}`;
      const forged = [
        { ...signed, reviewers: [{ account: `${network}:${ADDRESSES.owner}` }] },
        { ...signed, name: "Others" },
        { ...signed, reviewers: signed.reviewers.map((it) => ({ ...it, note: "x" })) },
        { ...signed, reviewers: [signed.reviewers[0], { ...signed.reviewers[1], reason: null }] },
        { ...signed, signature: { ...signature, signature: flipped } },
        { ...signed, signature: { ...signature, algorithm: "rsa" } },
        { ...signed, signature: {} },
      ];
      const { type: _, ...untyped } = signed;
      const { signature: _none, ...unsigned } = signed;
      const others = [untyped, { ...signed, type: "concord-reviewer-list-v2" }, { ...unsigned, type: "Others" }];
      for (const call of calls) {
        for (const it of [signed, unsigned, JSON.parse(WITH_FURTHER_MEMBERS)]) await call({ list: it, network });
        const isNoList = ({ errorClass, message }) => errorClass === "BadRequest" && message.startsWith("the reviewer list's type is ");
        for (const it of others) await assert.rejects(async () => call({ list: it, network }), isNoList);
        for (const it of forged) await assert.rejects(async () => call({ list: it, network }), ({ errorClass }) => errorClass === "BadSignature");
      }
    }
  } finally {
    server.close();
    await cleanUp(() => world.stop(), () => remove(folder));
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
    const registry = "eip155:31337:0x00000000000000000000000000000000000000aA";
    const summary = { agent: `${registry}:1`, profile: "open" };
    answer = JSON.stringify({ items: [summary] });
    for (const asked of [`${registry}:1`, `${registry.toLowerCase()}:1`, "31337:1"]) {
      assert.deepEqual(await index.summary("open", asked, "everyone"), summary, asked);
    }
    for (const asked of [`${registry}:2`, "31337:11", "1:1", "1"]) await assert.rejects(index.summary("open", asked, "everyone"), /is not of open feedback/, asked);
    await assert.rejects(index.summary("authorized", "31337:1", "everyone"), /is not of authorized feedback/);
  } finally {
    server.close();
  }
  for (const url of ["https://user:s3cret@h", "https://h/?k=s3cret", "https://h/#s3cret", "ftp://s3cret", "s3cret"]) {
    assert.throws(() => new IndexClient(url), (fault) => fault instanceof ClientError && !fault.message.includes("s3cret"), url);
  }
});

test("an index's error says by its status what it means", async () => {
  let answer = [];
  const server = http.createServer((_, response) => {
    const [status, body] = answer;
    response.writeHead(status);
    response.end(body);
  });
  await new Promise((listening) => server.listen(0, "127.0.0.1", listening));
  const index = new IndexClient(`http://127.0.0.1:${server.address().port}/`);
  const failed = async () => {
    const fault = await index.searchAgents({}).catch((it) => it);
    assert.ok(fault instanceof IndexError && fault instanceof ClientError, `${fault}`);
    return [fault.fault, fault.status, fault.isRetryable, fault.message];
  };
  const json = (code, message) => JSON.stringify({ error: { code, message, field: null } });
  try {
    const cases = [
      [400, json("malformed", "filters.minStars is not known"), "refused", "the index refuses this: filters.minStars is not known"],
      [501, json("unavailable_filter", "not indexed"), "refused", "the index refuses this: not indexed"],
      [404, json("not_found", "agent 7 is not indexed here"), "not-indexed", "agent 7 is not indexed here"],
      [429, json("limit", "too many requests"), "silent", "the index does not answer: too many requests"],
      [503, json("busy", "ask again in a second"), "silent", "the index does not answer: ask again in a second"],
      [500, json("store", "the store cannot be read"), "silent", "the index does not answer: the store cannot be read"],
      [500, "[]", "silent", "the index does not answer: status 500"],
      [404, "<html>", "silent", "the index does not answer: status 404, and no JSON: is this an index?"],
    ];
    for (const [status, body, fault, message] of cases) {
      answer = [status, body];
      assert.deepEqual(await failed(), [fault, status, fault === "silent", message]);
    }
  } finally {
    server.close();
  }
  assert.deepEqual((await failed()).slice(0, 3), ["silent", undefined, true]);
});

test("a node's URL is not told, since it can hold a key", async () => {
  const quiet = (sent) => (fault) => {
    assert.ok(fault instanceof ClientError && fault.message.length > 0, `${fault}`);
    assert.equal(fault.sent, sent, fault.message);
    assert.doesNotMatch(inspect(fault, { depth: Infinity, showHidden: true }), /s3cret/);
    return true;
  };
  const url = "http://127.0.0.1:1/s3cret";
  const chain = { id: 1, name: "none", nativeCurrency: { name: "", symbol: "", decimals: 18 }, rpcUrls: { default: { http: [] } } };
  const [silent, local] = [transport(url, { retryCount: 0 }), privateKeyToAccount(KEYS.client)];
  const answering = custom({ request: async ({ method }) => (method === "eth_getCode" ? "0x01" : "0x") });
  const addresses = { identity: ADDRESSES.owner, openReputation: ADDRESSES.owner };
  const given = async (reading, account) => {
    const reader = createPublicClient({ chain, transport: reading });
    const client = await EvmClient.of({ reader, wallet: createWalletClient({ account, chain, transport: silent }), addresses });
    return client.give({ agent: "1", value: 1n, decimals: 0 });
  };
  await assert.rejects(given(silent, local), quiet("nothing"));
  await assert.rejects(given(answering, local), quiet("nothing")); // when it is signed
  await assert.rejects(given(answering, ADDRESSES.client), quiet("maybe")); // by a wallet
  const failing = () => Promise.reject(new Error(`request to ${url} failed`)); // as node-fetch says it
  for (const options of [{}, { fetch: failing }]) {
    const connection = new anchor.web3.Connection(url, { commitment: "confirmed", ...options });
    await assert.rejects(SolanaClient.of({ connection, account: anchor.web3.Keypair.generate(), network: CHAIN }), quiet("nothing"));
  }
  await assert.rejects(new IndexClient(url).searchAgents({}), quiet("nothing"));
});
