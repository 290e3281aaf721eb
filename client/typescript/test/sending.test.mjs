// What an error says about a transaction that was sent, or may have been, on an anvil and on a local cluster of their own.
import assert from "node:assert/strict";
import { test } from "node:test";
import anchor from "@anchor-lang/core";
import { parseAbi, toHex } from "viem";
import { generatePrivateKey, nonceManager, privateKeyToAccount } from "viem/accounts";
import { ADDRESSES, KEYS } from "../../../tests/clients/agent0/local_chain.mjs";
import { CHAIN } from "../../../tests/clients/anchor/local_cluster.mjs";
import { ClientError, NO_HASH, startProgram, startRegistries } from "./chains.mjs";

const rejected = (call, expected, words = /./) =>
  assert.rejects(call, (fault) => {
    assert.ok(fault instanceof ClientError, `${fault}`);
    const said = Object.fromEntries(Object.keys(expected).map((name) => [name, fault[name]]));
    assert.deepEqual(said, expected, fault.message);
    assert.match(fault.message, words);
    assert.doesNotMatch(fault.message, /\[object/);
    return true;
  });

const signatureOf = ({ params: [bytes] }) => anchor.utils.bytes.bs58.encode(Buffer.from(bytes, "base64").subarray(1, 65));
const tooMany = () => new Response("", { status: 429 });
const passed = { result: { context: { slot: 1 }, value: { err: null, logs: [] } } };

/** Two calls at once, of which the registry takes one. */
async function onceOnly(call, errorClass) {
  const ends = await Promise.allSettled([call(), call()]);
  const [refusal, ...others] = ends.filter(({ status }) => status === "rejected");
  assert.deepEqual([others, refusal?.reason.errorClass], [[], errorClass], `${refusal?.reason}`);
}

test("Solana: an error says what came of the transaction", async (t) => {
  const world = await startProgram();
  const { client, owner, reviewer, agent } = world;
  const review = { agent, value: 1n, decimals: 0 };
  let sent;
  /** Answers as the node does not, and notes the transaction. */
  const answering = (account, answers) =>
    client(account, (request, ask) => {
      if (request.method === "sendTransaction") sent = signatureOf(request);
      return answers[request.method]?.(request, ask) ?? ask();
    });
  try {
    await t.test("it failed: by its rule", async () => {
      const unseen = await answering(owner, {
        simulateTransaction: () => passed,
        sendTransaction: ({ params: [bytes, config], ...rest }, ask) => ask({ ...rest, params: [bytes, { ...config, skipPreflight: true }] }),
      });
      await rejected(() => unseen.give(review), { errorClass: "SelfFeedback", sent: "failed", get transaction() { return sent; } });
    });
    await t.test("the endpoint refuses questions after it was sent: they are asked again", async () => {
      const left = { getSignatureStatuses: 3, getBlockHeight: 1, getTransaction: 1 };
      const limited = Object.keys(left).map((method) => [method, () => (left[method]-- > 0 ? tooMany() : undefined)]);
      const given = await (await answering(reviewer, Object.fromEntries(limited))).give(review);
      assert.deepEqual([given.index, given.transaction], [1n, sent]);
      assert.ok(left.getSignatureStatuses < 0 && left.getTransaction < 0);
    });
    await t.test("the answer of another request is that it is processed: it was sent", async () => {
      const twice = await answering(reviewer, {
        sendTransaction: async (_, ask) => {
          await ask();
          return { error: { code: -32002, message: "Transaction simulation failed: This transaction has already been processed" } };
        },
      });
      assert.equal((await twice.give(review)).index, 2n);
    });
    await t.test("the endpoint does not pass it on: by its rule", async () => {
      let tries = 0;
      const late = await answering(owner, { simulateTransaction: () => (tries++ === 0 ? passed : undefined) });
      await rejected(late.give(review), { errorClass: "SelfFeedback", sent: "nothing", transaction: undefined });
    });
    await t.test("equal calls at once are as many transactions", async () => {
      let latest; // one blockhash, with which equal transactions would have one signature
      const getLatestBlockhash = async (_, ask) => ({ result: (latest ??= await (await ask()).json()).result });
      const giver = await answering(reviewer, { getLatestBlockhash });
      const given = await Promise.all([1, 2].map(() => giver.give(review)));
      assert.deepEqual(given.map(({ index }) => index).toSorted(), [3n, 4n]);
      latest = undefined;
      const responses = await Promise.all([1, 2].map(() => giver.respond(given[0], { uri: "ipfs://a", hash: NO_HASH })));
      assert.equal(new Set([...given, ...responses].map(({ transaction }) => transaction)).size, 4);
      latest = undefined;
      await onceOnly(() => giver.revoke(given[0]), "AlreadyRevoked");
    });
    await t.test("its blockhash expired", async () => {
      const dropped = { sendTransaction: (request) => ({ result: signatureOf(request) }), getBlockHeight: () => ({ result: 10 ** 9 }) };
      const expired = await answering(reviewer, dropped);
      await rejected(() => expired.give(review), { sent: "maybe", get transaction() { return sent; } }, /expired/);
    });
    await t.test("nobody knows before the time is over", async () => {
      t.mock.timers.enable({ apis: ["Date"], now: Date.now() });
      const getSignatureStatuses = () => {
        t.mock.timers.tick(50_000);
        return tooMany();
      };
      const unknown = await answering(reviewer, { getSignatureStatuses });
      await rejected(() => unknown.give(review), { sent: "maybe", get transaction() { return sent; } }, /429/);
      t.mock.timers.reset();
    });
  } finally {
    await world.stop();
  }
});

test("Solana: what landed is read at once, whatever the connection's commitment", async () => {
  const world = await startProgram();
  const { agent } = world;
  try {
    /** Without a commitment web3.js asks for what is finalized, which lags behind on a cluster of 400 ms slots. */
    const lagging = ({ method, params }, ask) => {
      const isRead = /^get(Account|MultipleAccounts|ProgramAccounts|Transaction)/.test(method);
      return isRead && params.at(-1).commitment !== "confirmed" ? { error: { code: -32000, message: `${method}: not yet` } } : ask();
    };
    const reviewer = await world.client(world.reviewer, lagging);
    for (const index of [1n, 2n]) {
      const given = await reviewer.give({ agent, value: 80n, decimals: 0 });
      assert.deepEqual([given.index, (await reviewer.get(given))?.value], [index, 80n]);
      assert.equal((await reviewer.summary(agent, "everyone")).count, index);
    }
    const owner = await world.client(world.owner);
    const grant = { agent, client: reviewer.address, indexLimit: 1n, expiry: BigInt(2 ** 40) };
    const { index } = await reviewer.give({ agent, score: 90, auth: owner.authorize(world.owner, grant) });
    assert.equal(index, 1n);
    assert.equal((await reviewer.scores(agent, "everyone", "equal")).score, 90n);
    const unknown = anchor.web3.Keypair.generate().publicKey.toBase58();
    assert.equal((await reviewer.summary(unknown, "everyone")).count, 0n, "as on EVM");
    assert.equal((await reviewer.scores(unknown, "everyone", "equal")).count, 0n);
  } finally {
    await world.stop();
  }
});

test("R9: a client of another network than its cluster's and its registry's is refused", async () => {
  const world = await startProgram();
  try {
    const devnet = "solana:EtWTRABZaYq6iMfeYKouRu166VU2xqa1";
    const at = (options, asked) => world.client(world.owner, asked, options);
    await rejected(at({ network: devnet }), { sent: "nothing" }, /^the endpoint is for solana:\w{32}, expected solana:Et/);
    const devnetHash = ({ method }, ask) => (method === "getGenesisHash" ? { result: `${devnet.slice(7)}wcaWoxPkrZBG` } : ask());
    await rejected(at({ network: CHAIN }, devnetHash), { sent: "nothing" }, /expected solana:localnet/);
    await rejected(at({ network: devnet }, devnetHash), { sent: "nothing" }, /^the registry is for solana:localnet, expected solana:Et/);
    const program = anchor.web3.Keypair.generate().publicKey.toBase58();
    await rejected(at({ program }), { sent: "nothing" }, /^there is no registry of program/);
  } finally {
    await world.stop();
  }
});

test("EVM: an error says what came of the transaction", async (t) => {
  const world = await startRegistries();
  const { client, agent, chain } = world;
  const review = { agent, value: 1n, decimals: 0 };
  const nonce = () => chain.reader.getTransactionCount({ address: ADDRESSES.client });
  /** Gives by a wallet whose requests for a method, or several, are answered by `answer`. */
  const giving = async (methods, answer, name = "client", about = agent) => {
    const sending = (request, ask) => ([methods].flat().includes(request.method) ? answer(request, ask) : ask());
    return (await client(name, { sending })).give({ ...review, agent: about });
  };
  const failing = (code, message) => () => {
    throw Object.assign(new Error(message), { code });
  };
  const afterwards = (fault) => async (_, ask) => {
    await ask();
    return fault();
  };
  const send = "eth_sendRawTransaction";
  try {
    await t.test("the node's answer is lost: its hash is told", async () => {
      let hash;
      const lost = giving(send, async (_, ask) => {
        hash = await ask();
        throw new Error("socket hang up");
      });
      await rejected(lost, { sent: "maybe", get transaction() { return hash; } });
      assert.equal((await chain.reader.waitForTransactionReceipt({ hash })).status, "success");
    });
    await t.test("the node has it already: it was sent", async () => {
      assert.equal((await giving(send, afterwards(failing(-32000, "already known")))).index, 2n);
    });
    await t.test("equal calls at once are as many transactions", async () => {
      const giver = await client("client");
      const given = await Promise.all([1, 2, 3].map(() => giver.give(review)));
      assert.equal(new Set(given.map(({ transaction }) => transaction)).size, 3);
      assert.deepEqual(given.map(({ index }) => index).toSorted(), [3n, 4n, 5n]);
    });
    await t.test("a node that does not count what it took makes no two calls one", async () => {
      const remembered = new Map();
      const behind = async ({ method }, ask) => {
        if (method === send) return ask();
        if (!remembered.has(method)) remembered.set(method, await ask());
        return remembered.get(method);
      };
      const giver = await client("client", { sending: behind });
      await giver.give(review);
      await rejected(giver.give(review), { sent: "nothing", transaction: undefined }, /another call's/);
    });
    await t.test("the node refuses it: another one may have it", async () => {
      for (const words of ["nonce too low", "insufficient funds", "unknown transaction type"]) {
        const said = ({ sent, transaction, message }) => sent === "maybe" && transaction.length === 66 && message.includes(words);
        await assert.rejects(giving(send, failing(-32000, words)), said, words);
      }
      await assert.rejects(giving(send, afterwards(failing(-32000, "nonce too low"))), ({ sent }) => sent === "maybe");
    });
    await t.test("a nonce that was not used is used by the next call", async () => {
      const managed = privateKeyToAccount(KEYS.client, { nonceManager });
      await rejected(giving(send, failing(-32000, "underpriced"), managed), { sent: "maybe" });
      await rejected(giving("eth_fillTransaction", failing(-32000, "gone"), { ...managed, signTransaction: failing(undefined, "locked") }), { sent: "nothing" });
      const { transaction } = await giving([], undefined, managed);
      assert.equal((await chain.reader.getTransaction({ hash: transaction })).nonce, (await nonce()) - 1);
    });
    await t.test("a node that names another transaction is not believed", async () => {
      const [{ transaction }, other] = [await giving(send, (_, ask) => ask()), NO_HASH];
      const named = await giving(send, async (_, ask) => void (await ask()) ?? other);
      assert.ok(![transaction, other].includes(named.transaction));
    });
    await t.test("it fails before it is signed: nothing was sent", async () => {
      const before = await nonce();
      const nothing = { sent: "nothing", transaction: undefined };
      await rejected(giving(["eth_fillTransaction", "eth_estimateGas"], failing(-32000, "gas")), nothing);
      await rejected(giving(["eth_fillTransaction", "eth_getTransactionCount"], failing(-32603, "nonce")), nothing);
      const locked = { ...privateKeyToAccount(KEYS.client), signTransaction: failing(undefined, "the key is locked") };
      await rejected(giving([], undefined, locked), nothing, /locked/);
      await rejected(giving([], undefined, privateKeyToAccount(generatePrivateKey())), nothing, /holds 0 wei/);
      assert.equal(await nonce(), before);
    });
    await t.test("a wallet signs and sends at once: it may not have said the hash", async () => {
      const wallet = (answer) => giving("eth_sendTransaction", answer, ADDRESSES.client);
      const given = await wallet((_, ask) => ask());
      assert.equal(given.client, ADDRESSES.client);
      await rejected(wallet(failing(4001, "User denied transaction signature.")), { sent: "nothing", transaction: undefined });
      await rejected(wallet(afterwards(failing(-32603, "gone"))), { sent: "maybe", transaction: undefined });
      await rejected(giving("eth_chainId", () => toHex(1), ADDRESSES.client), { sent: "nothing", transaction: undefined });
    });
    await t.test("it was tried, and then fails: by its rule", async () => {
      const abi = parseAbi(["function transferFrom(address from, address to, uint256 agentId)"]);
      const transfer = { address: world.addresses.identity, abi, functionName: "transferFrom" };
      /** Gives about an agent that becomes the client's own when a method is asked. */
      const sold = async (methods) => {
        const { agent: about } = await world.owner.register({ file: { uri: "ipfs://agent", hash: NO_HASH } });
        let sale;
        const selling = async (_, ask) => {
          sale ??= world.wallet("owner").writeContract({ ...transfer, args: [ADDRESSES.owner, ADDRESSES.client, BigInt(about)] });
          await chain.reader.waitForTransactionReceipt({ hash: await sale });
          return ask();
        };
        return giving(methods, selling, "client", about);
      };
      const failed = await sold(send).catch((fault) => fault);
      await rejected(Promise.reject(failed), { errorClass: "SelfFeedback", sent: "failed" }, /^0x\w{64} failed: SelfFeedback \(R18\)/);
      assert.equal((await chain.reader.getTransactionReceipt({ hash: failed.transaction })).status, "reverted");
      await rejected(sold(["eth_fillTransaction", "eth_estimateGas"]), { errorClass: "SelfFeedback", sent: "nothing", transaction: undefined });
      const giver = await client("client");
      const given = await giver.give(review);
      await onceOnly(() => giver.revoke(given), "AlreadyRevoked");
    });
    await t.test("an address without a contract takes nothing", async () => {
      const before = await nonce();
      const nowhere = await client("client", { addresses: { ...world.addresses, openReputation: ADDRESSES.owner } });
      const nothing = { sent: "nothing", transaction: undefined };
      await rejected(nowhere.give(review), nothing, /^there is no contract at 0x/);
      await rejected(nowhere.revoke({ kind: "open", agent, index: 1n }), nothing, /^there is no contract at 0x/);
      assert.equal(await nonce(), before);
    });
  } finally {
    await world.stop();
  }
});
