// Every operation on an anvil and on a local Solana cluster of their own, the README's examples, and an index.
import assert from "node:assert/strict";
import fs from "node:fs";
import os from "node:os";
import path from "node:path";
import process from "node:process";
import { after, test } from "node:test";
import { pathToFileURL } from "node:url";
import anchor from "@anchor-lang/core";
import { createPublicClient, createWalletClient, hexToString, http, keccak256, toHex } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { startWorld } from "../../../tests/clients/agent0/index_world.mjs";
import { ADDRESSES, CHAIN_ID, KEYS, startChain } from "../../../tests/clients/agent0/local_chain.mjs";
import { CHAIN, clock, deployProgram, startCluster } from "../../../tests/clients/anchor/local_cluster.mjs";
import { remove } from "../../../tests/cleanup.mjs";

const from = (name) => import(pathToFileURL(`${process.env.CONCORD_EXAMPLES}/${name}`));
const [rateEvm, rateSolana, { search }] = await Promise.all(["rate-evm.mjs", "rate-solana.mjs", "search.mjs"].map(from));
const [{ ClientError, EvmClient, IndexClient }, { SolanaClient }, { cidOf, folder }, { load }, { agentRegistryIdl, identityRegistryAbi }] =
  await Promise.all(
    ["client/dist/index.js", "client/dist/solana.js", "client/dist/folder.js", "canonical/dist/index.js", "registries/dist/index.js"].map((name) =>
      from(`node_modules/@concord/${name}`),
    ),
  );
const { Connection, Keypair } = anchor.web3;
const canonical = await load();
const files = fs.mkdtempSync(path.join(os.tmpdir(), "concord-client-"));
after(() => remove(files));

/** The registry refuses it by this rule, and nothing was sent. */
const refused = (call, errorClass) =>
  assert.rejects(call, (fault) => {
    assert.ok(fault instanceof ClientError, `${fault}`);
    assert.deepEqual([fault.errorClass, fault.sent], [errorClass, "nothing"], fault.message);
    return true;
  });

/** The same on both chains. `at` has a client for each role, and what differs. */
async function everyOperation(at) {
  const { owner, reviewer, validator } = at;
  const registration = JSON.stringify({ name: "weather", active: true });
  const metadata = { category: "weather", empty: "" };
  const { agent } = await owner.register({ file: registration, metadata });
  const cid = cidOf(Buffer.from('{"active":true,"name":"weather"}'));
  assert.equal(fs.readFileSync(path.join(files, cid), "utf8"), '{"active":true,"name":"weather"}', "R21");
  for (const [key, value] of Object.entries(metadata)) assert.equal(await at.metadata(agent, key), value, key);
  await refused(owner.register({ file: registration, metadata: { agentWallet: "0x" } }), "ReservedKey");
  const registered = { owner: owner.address, wallet: owner.address, uri: `ipfs://${cid}` };
  assert.deepEqual(await reviewer.agent(agent), registered, "R3");
  assert.equal(await reviewer.agent(at.unknown), undefined);
  await at.setWallet(agent);
  assert.deepEqual(await reviewer.agent(agent), { ...registered, wallet: at.wallet });

  const review = { agent, value: 9977n, decimals: 2, tag1: "uptime", tag2: "day", endpoint: "https://agent.example/mcp" };
  const place = { agentRegistry: at.registry, clientAddress: `${at.registry.slice(0, at.registry.lastIndexOf(":"))}:${reviewer.address}` };
  const { tag1, tag2, endpoint } = review;
  const file = JSON.stringify({ ...place, agentId: agent, value: 9977, valueDecimals: 2, tag1, tag2, endpoint });
  const given = await reviewer.give({ ...review, file });
  assert.deepEqual([given.index, given.client, given.kind], [1n, reviewer.address, "open"], "R44");
  const open = { kind: "open", value: 9977n, decimals: 2, tag1: "uptime", tag2: "day", isRevoked: false };
  assert.deepEqual(await reviewer.get(given), open);
  assert.equal(await reviewer.get({ ...given, index: 2n }), undefined);
  await refused(owner.give(review), "SelfFeedback");
  await refused(reviewer.give({ ...review, decimals: 19 }), "DecimalsOutOfRange");
  await refused(reviewer.revoke({ ...given, index: 2n }), "FeedbackNotFound");
  await reviewer.give({ agent, value: 80n, decimals: 0, tag1: "starred" });
  await validator.give({ agent, value: 61n, decimals: 0, tag1: "starred" });
  await summaries(at, agent);
  await owner.respond(given, "{}");
  await refused(owner.respond(given, { uri: "", hash: `0x${"00".repeat(32)}` }), "EmptyUri");
  await reviewer.revoke(given);
  assert.deepEqual(await reviewer.get(given), { ...open, isRevoked: true });
  await refused(reviewer.revoke(given), "AlreadyRevoked");

  await authorized(at, agent);
  const request = at.requestHash(agent);
  const asked = { agent, validator: validator.address, request, file: "{}", tag: at.tag };
  await refused(validator.answerValidation({ agent, request, score: 75 }), "RequestNotFound");
  await refused(reviewer.requestValidation(asked), "NotAuthorized");
  await owner.requestValidation(asked);
  await at.tagged(asked);
  await refused(validator.answerValidation({ agent, request, score: 101 }), "ScoreOutOfRange");
  const answered = await validator.answerValidation({ agent, request, score: 75, file: "{}", tag: "replay" });
  assert.ok(answered.block > 0n);
}

/** By hand, from R16: the mean is cut to the most frequent number of decimals, of several the fewest. */
async function summaries({ reviewer, validator, network }, agent) {
  const figures = async (reviewers, tags) => {
    const { count, value, decimals, reviewers: stated } = await reviewer.summary(agent, reviewers, tags);
    return [count, value, decimals, stated];
  };
  const [first, second] = [reviewer.address, validator.address];
  assert.deepEqual(await figures("everyone", { tag1: "starred" }), [2n, 70n, 0, "everyone"]);
  assert.deepEqual(await figures("everyone"), [3n, 80n, 0, "everyone"]);
  assert.deepEqual(await figures({ listed: [first] }), [2n, 89n, 0, [first]]);
  const twice = [first, first, second];
  assert.deepEqual(await figures({ listed: twice }, { tag1: "starred" }), [3n, 73n, 0, twice]);
  const list = { type: "concord-reviewer-list-v1", reviewers: [{ account: `${network}:${second}` }, { account: "eip155:1:0x70997970C51812dc3A010C7d01b50e0d17dc79C8" }] };
  assert.deepEqual(await figures({ list, network }), [1n, 61n, 0, [second]]);
  await refused(reviewer.summary(agent, { listed: [] }), "EmptyClients"); // R48
}

/** One feedback of 90 with the first tag `starred`, without a payment proof; an account that is listed twice counts twice. */
async function scores({ reviewer, validator }, agent) {
  const figures = async (reviewers, weighting, tags) => {
    const { count, verifiedCount, score, reviewers: stated, weighting: said } = await reviewer.scores(agent, reviewers, weighting, tags);
    assert.equal(said, weighting);
    return [count, verifiedCount, score, stated];
  };
  const [first, second] = [reviewer.address, validator.address];
  for (const weighting of ["equal", "payment-proof"]) {
    assert.deepEqual(await figures("everyone", weighting), [1n, 0n, 90n, "everyone"]);
    assert.deepEqual(await figures({ listed: [first, first, second] }, weighting, { tag1: "starred" }), [2n, 0n, 90n, [first, first, second]]);
    assert.deepEqual(await figures({ listed: [second] }, weighting), [0n, 0n, 0n, [second]]);
    assert.deepEqual(await figures("everyone", weighting, { tag2: "starred" }), [0n, 0n, 0n, "everyone"]);
  }
  await refused(reviewer.scores(agent, { listed: [] }, "equal"), "EmptyClients"); // R48
}

async function authorized(at, agent) {
  const client = at.reviewer.address;
  const expiry = (await at.now()) + 3600n;
  const auth = await at.authorize({ agent, client, indexLimit: 1n, expiry });
  const expired = await at.authorize({ agent, client, indexLimit: 1n, expiry: 1n });
  await refused(at.reviewer.give({ agent, score: 90, auth: expired }), "AuthExpired");
  await refused(at.reviewer.give({ agent, score: 101, auth }), "ScoreOutOfRange");
  const given = await at.reviewer.give({ agent, score: 90, auth, tag1: "starred" });
  assert.deepEqual([given.index, given.kind], [1n, "authorized"]);
  const tag1 = canonical.tag({ text: "starred", encoding: "padded" });
  const stored = { kind: "authorized", score: 90, tag1, tag2: `0x${"00".repeat(32)}`, hasPaymentProof: false, isRevoked: false };
  assert.deepEqual(await at.reviewer.get(given), stored);
  await refused(at.reviewer.give({ agent, score: 90, auth }), "AuthIndexLimit");
  await scores(at, agent);
  await at.owner.respond(given, "{}");
  await at.reviewer.revoke(given);
}

test("every operation on an EVM chain, and the README's example", async () => {
  const chain = await startChain();
  try {
    const identity = (await chain.deploy("IdentityRegistry")).address;
    const deployed = async (name, args = []) => (await chain.deploy(name, [identity, ...args])).address;
    const addresses = {
      identity,
      openReputation: await deployed("ReputationRegistry"),
      authorizedReputation: await deployed("AuthorizedReputationRegistry", [false]),
      validation: await deployed("ValidationRegistry"),
    };
    const reader = createPublicClient({ chain: chain.chain, transport: http(chain.url), pollingInterval: 50 });
    const account = (name) => privateKeyToAccount(KEYS[name]);
    const wallet = (name) => createWalletClient({ account: account(name), chain: chain.chain, transport: http(chain.url) });
    const client = (name) => EvmClient.of({ reader, wallet: wallet(name), addresses, upload: folder(files) });
    const [owner, reviewer, validator] = await Promise.all(["owner", "client", "stranger"].map(client));
    const now = async () => (await reader.getBlock()).timestamp;
    const view = (functionName, args) => reader.readContract({ address: identity, abi: identityRegistryAbi, functionName, args });
    await everyOperation({
      owner,
      reviewer,
      validator,
      now,
      network: `eip155:${CHAIN_ID}`,
      registry: `eip155:${CHAIN_ID}:${identity}`,
      unknown: "77",
      wallet: ADDRESSES.wallet,
      metadata: async (agent, key) => hexToString(await view("getMetadata", [BigInt(agent), key])),
      tag: "",
      tagged: (request) => refused(owner.requestValidation({ ...request, tag: "replay" }), "BadRequest"),
      setWallet: async (agent) => {
        const deadline = (await now()) + 200n;
        await refused(reviewer.setWallet(agent, account("wallet"), deadline), "NotAuthorized");
        await owner.setWallet(agent, account("wallet"), deadline);
      },
      authorize: (grant) => owner.authorize(account("owner"), grant),
      requestHash: (agent) =>
        canonical.validationRequestHash({
          chainId: `eip155:${CHAIN_ID}`,
          registry: addresses.validation,
          agentId: agent,
          validator: validator.address,
          payloadHash: keccak256(toHex("{}")),
          nonce: 1,
        }),
    });
    const { agent } = await owner.register({ file: "{}" });
    const unset = { address: identity, abi: identityRegistryAbi, functionName: "unsetAgentWallet", args: [BigInt(agent)] };
    await reader.waitForTransactionReceipt({ hash: await wallet("owner").writeContract(unset) });
    assert.equal((await reviewer.agent(agent)).wallet, undefined);
    const rated = await rateEvm.rate({ reader, wallet: wallet("client"), addresses, files }, agent);
    assert.deepEqual([rated.given.index, rated.summary.count, rated.summary.value, rated.summary.decimals], [1n, 1n, 9977n, 2]);
    assert.equal(await rateEvm.rate({ reader, wallet: wallet("owner"), addresses, files }, agent), undefined);
    const silent = createPublicClient({ chain: chain.chain, transport: http("http://127.0.0.1:1", { retryCount: 0 }) });
    const cutOff = await EvmClient.of({ reader: silent, wallet: wallet("client"), addresses });
    const unreachable = cutOff.give({ agent, value: 1n, decimals: 0 });
    await assert.rejects(unreachable, ({ errorClass, sent }) => errorClass === undefined && sent === "nothing");
  } finally {
    await chain.stop();
  }
});

/** An endpoint's error after it passed the transaction on does not say that nothing was sent. */
async function sendsThatAreAnswered({ cluster, account, program, agent }) {
  const connection = new Connection(cluster.url);
  const send = connection.sendRawTransaction.bind(connection);
  connection.sendRawTransaction = async (bytes, options) => {
    await send(bytes, options);
    throw new anchor.web3.SendTransactionError({ action: "send", signature: "", transactionMessage: "Node is behind by 42 slots" });
  };
  const behind = await SolanaClient.of({ connection, network: CHAIN, program, account });
  await assert.rejects(behind.give({ agent, value: 1n, decimals: 0 }), ({ sent, transaction }) => sent === "maybe" && transaction.length > 80);
}

test("every operation on Solana, and the README's example", async () => {
  const [deployer, ...keys] = Array.from({ length: 5 }, () => Keypair.generate());
  const cluster = await startCluster([deployer, ...keys]);
  try {
    const program = (await deployProgram(cluster.url, deployer)).toBase58();
    const connection = new Connection(cluster.url);
    const at = { connection, network: CHAIN, program };
    const client = (account) => SolanaClient.of({ ...at, account, upload: folder(files) });
    const [owner, reviewer, validator] = await Promise.all(keys.slice(0, 3).map(client));
    const idl = { ...agentRegistryIdl, address: program };
    const accounts = new anchor.Program(idl, new anchor.AnchorProvider(connection, new anchor.Wallet(keys[0]), {})).account;
    const stored = (name, place) => accounts[name].fetch(canonical.pda({ programId: program, ...place }).address, "confirmed");
    await everyOperation({
      owner,
      reviewer,
      validator,
      now: async () => BigInt(await clock(connection)),
      network: CHAIN,
      registry: `${CHAIN}:${program}`,
      unknown: keys[3].publicKey.toBase58(),
      wallet: keys[3].publicKey.toBase58(),
      metadata: async (mint, key) => (await stored("metadataEntry", { account: "metadata", mint, key })).value.toString(),
      tag: "replay",
      tagged: async ({ agent: mint, validator: by, request: requestHash, tag }) => {
        const request = await stored("validationRequest", { account: "val_request", mint, validator: by, requestHash });
        assert.equal(toHex(Uint8Array.from(request.tag)), canonical.tag({ text: tag, encoding: "padded" }), "R14");
      },
      setWallet: async (agent) => {
        await refused(reviewer.setWallet(agent, keys[3]), "NotAuthorized");
        await owner.setWallet(agent, keys[3]);
      },
      authorize: (grant) => owner.authorize(keys[0], grant),
      requestHash: (agent) =>
        canonical.validationRequestHash({
          chainId: CHAIN,
          registry: program,
          agentId: agent,
          validator: validator.address,
          payloadHash: keccak256(toHex("{}")),
          nonce: 1,
        }),
    });
    const { agent } = await owner.register({ file: "{}" });
    const { given, summary } = await rateSolana.rate({ ...at, account: keys[1], files }, agent);
    assert.deepEqual([given.index, summary.count, summary.value, summary.reviewers], [1n, 1n, 80n, "everyone"]);
    await sendsThatAreAnswered({ cluster, account: keys[2], program, agent });
  } finally {
    await cluster.stop();
  }
});

test("an index is searched, and its summaries state their reviewers (R48)", async () => {
  const world = await startWorld();
  try {
    const index = new IndexClient(world.index);
    const name = (number) => `eip155:${CHAIN_ID}:${world.identity.address.toLowerCase()}:${number}`;
    const reviewers = { listed: [ADDRESSES.client] };
    const found = await index.searchAgents({}, { reviewers, thresholds: { hasFeedback: true, minCount: 2 } });
    assert.deepEqual(found.items.map(({ agentId }) => agentId), ["1"]);
    assert.deepEqual(await search(world.index, [ADDRESSES.wallet]), [], "agent 2 has no MCP service");
    const { summary, clientAddresses } = await index.summary("open", name(1), reviewers);
    const [count, value, decimals] = await world.reputation.read("getSummary", [1n, [ADDRESSES.client], "", ""]);
    assert.deepEqual([summary.count, summary.summaryValue, summary.summaryValueDecimals], [Number(count), `${value}`, decimals], "R47");
    assert.deepEqual(clientAddresses, [ADDRESSES.client.toLowerCase()]);
    assert.equal((await index.summary("open", name(1), "everyone")).clientAddresses, "everyone");
    const feedback = await index.feedback({ kind: "open", agent: name(1), client: ADDRESSES.client, index: 1n });
    assert.deepEqual([feedback.value, feedback.endpoint], ["875", "https://weather.example/mcp"]);
    const { items } = await index.searchFeedback({ reviewers: [ADDRESSES.wallet] });
    assert.deepEqual(items.map(({ tag2 }) => tag2), ["uptime"]);
    await assert.rejects(async () => index.searchAgents({ feedback: { minCount: 1 } }), /names reviewers/);
    await assert.rejects(index.searchAgents({ minStars: 4 }), /minStars/);
    await assert.rejects(index.summary("open", name(1), { listed: [] }), /no reviewer is listed/);
  } finally {
    await world.stop();
  }
});

test("a file is named by its CID", async () => {
  // by Python: b32encode(bytes([1, 0x55, 0x12, 32]) + sha256(file).digest())
  assert.equal(cidOf(Buffer.from("hello world")), "bafkreifzjut3te2nhyekklss27nh3k72ysco7y32koao5eei66wof36n5e");
  const uri = await folder(files, "https://files.example/")(Buffer.from("hello world"));
  assert.equal(fs.readFileSync(path.join(files, uri.slice("https://files.example/".length)), "utf8"), "hello world");
});

test("a file that no reader takes is not stored", async () => {
  const place = path.join(files, "longest");
  const store = folder(place);
  const isTooLong = (fault) => fault instanceof ClientError && fault.message === "the file has 1048577 bytes, and at most 1048576 are read";
  await assert.rejects(store(new Uint8Array(1_048_577)), isTooLong);
  assert.ok(!fs.existsSync(place), "nothing is written");
  const uri = await store(new Uint8Array(1_048_576));
  assert.deepEqual(fs.readdirSync(place), [uri.slice("ipfs://".length)]);
  assert.equal(fs.statSync(path.join(place, uri.slice("ipfs://".length))).size, 1_048_576);
});
