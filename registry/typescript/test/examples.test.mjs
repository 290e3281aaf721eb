// The README's examples, compiled in an empty project, on an anvil and on a local Solana cluster of their own.
import assert from "node:assert/strict";
import process from "node:process";
import { after, before, test } from "node:test";
import { pathToFileURL } from "node:url";
import { createPublicClient, createWalletClient, http, parseEventLogs } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { KEYS, startChain } from "../../../tests/clients/agent0/local_chain.mjs";
import { CHAIN, PollingConnection, clock, deployProgram, startCluster } from "../../../tests/clients/anchor/local_cluster.mjs";

const from = (name) => import(pathToFileURL(`${process.env.CONCORD_EXAMPLES}/${name}`));
const [evm, solana, response, { identityRegistryAbi }, { load }, { default: anchor }] = await Promise.all([
  from("feedback-evm.mjs"),
  from("feedback-solana.mjs"),
  from("response.mjs"),
  from("node_modules/@concord/registries/dist/index.js"),
  from("node_modules/@concord/canonical/dist/index.js"),
  import("@anchor-lang/core"),
]);
const { Keypair, PublicKey } = anchor.web3;
const account = (name) => privateKeyToAccount(KEYS[name]);
const TASK = `eip155:31337:0x${"11".repeat(32)}`;
let chain;
let deployed;
let reader;

before(async () => {
  chain = await startChain();
  reader = createPublicClient({ chain: chain.chain, transport: http(chain.url), pollingInterval: 50 });
  const identity = await chain.deploy("IdentityRegistry");
  const reputation = await chain.deploy("AuthorizedReputationRegistry", [identity.address, false]);
  const owner = walletOf("owner");
  const hash = await owner.writeContract({
    abi: identityRegistryAbi,
    address: identity.address,
    functionName: "register",
    args: ["ipfs://agent"],
  });
  const { logs } = await reader.waitForTransactionReceipt({ hash });
  const [registered] = parseEventLogs({ abi: identityRegistryAbi, eventName: "Registered", logs });
  assert.equal(registered.args.owner, account("owner").address);
  deployed = { identity: identity.address, reputation: reputation.address, agentId: registered.args.agentId };
});
after(() => chain.stop());

const walletOf = (name) => createWalletClient({ account: account(name), chain: chain.chain, transport: http(chain.url) });

async function granted(changes = {}) {
  const { timestamp } = await reader.getBlock();
  const grant = {
    agentId: deployed.agentId,
    clientAddress: account("client").address,
    indexLimit: 1n,
    expiry: timestamp + 3600n,
    chainId: chain.chain.id,
    ...changes,
  };
  return evm.signFeedbackAuth(account("owner"), grant, deployed);
}

test("a client gives authorized feedback with the owner's signature, once (R5, R8)", async () => {
  const at = { reader, client: walletOf("client"), reputation: deployed.reputation };
  const feedback = { agentId: deployed.agentId, score: 80, auth: await granted() };
  await assert.rejects(evm.giveFeedback(at, { ...feedback, score: 101 }), /^Error: ScoreOutOfRange$/);
  await assert.rejects(evm.giveFeedback({ ...at, client: walletOf("stranger") }, feedback), /^Error: AuthNotGranted$/);
  const expired = await granted({ expiry: 1n });
  await assert.rejects(evm.giveFeedback(at, { ...feedback, auth: expired }), /^Error: AuthExpired$/);
  assert.equal(await evm.giveFeedback(at, feedback), 1n);
  await assert.rejects(evm.giveFeedback(at, feedback), /^Error: AuthIndexLimit$/);
});

test("the agent's wallet signs a response, and nothing else passes (R29)", async () => {
  const canonical = await load();
  const [body, content] = [new Uint8Array(), new TextEncoder().encode('{"celsius":4}')];
  const exchange = { method: "GET", target: "/weather?city=Oslo", body };
  const dataHash = canonical.dataHash({ request: canonical.requestBytes(exchange), response: content });
  const message = canonical.interactionHash({ taskRef: TASK, dataHash });
  const signedBy = (name) => canonical.sign({ algorithm: "secp256k1", message, secretKey: KEYS[name] });
  const at = { reader, identity: deployed.identity, agentId: deployed.agentId };
  const signed = { ...exchange, content, taskRef: TASK, signature: signedBy("owner") };
  assert.equal(await response.isSignedByAgent(at, signed), true); // the wallet is the owner's until it is set (R3)
  const forged = new TextEncoder().encode('{"celsius":5}');
  assert.equal(await response.isSignedByAgent(at, { ...signed, content: forged }), false);
  assert.equal(await response.isSignedByAgent(at, { ...signed, signature: signedBy("stranger") }), false);
});

test("a reviewer gives authorized feedback on Solana with the owner's signature (R9)", async () => {
  const [payer, deployer, owner, reviewer] = Array.from({ length: 4 }, () => Keypair.generate());
  const cluster = await startCluster([payer, deployer]);
  try {
    const programId = (await deployProgram(cluster.url, deployer)).toBase58();
    const connection = new PollingConnection(cluster.url, "confirmed");
    const program = solana.registryProgram(connection, programId, payer);
    assert.equal(program.programId.toBase58(), programId);
    const elsewhere = reviewer.publicKey.toBase58();
    assert.equal(solana.registryProgram(connection, elsewhere, payer).programId.toBase58(), elsewhere, "the id is the caller's");
    const seeds = [Buffer.from("mint"), payer.publicKey.toBuffer(), Buffer.alloc(8, 0xff)]; // R4
    const [mint] = PublicKey.findProgramAddressSync(seeds, program.programId);
    const agent = await solana.registerAgent(program, owner, 2n ** 64n - 1n, "ipfs://agent");
    const expiry = (await clock(connection)) + 3600;
    const feedback = { mint: agent, owner, reviewer, expiry, chain: CHAIN };
    const unsigned = solana.giveFeedback(program, { ...feedback, owner: reviewer });
    await assert.rejects(unsigned, ({ error }) => error.errorCode.code === "AuthWrongSigner");
    const entry = await solana.giveFeedback(program, feedback);
    const { nftMint, score, revoked, authVerified, feedbackIndex } = entry;
    assert.deepEqual(
      { nftMint: nftMint.toBase58(), reviewer: entry.reviewer.toBase58(), score, revoked, authVerified, index: feedbackIndex.toNumber() },
      { nftMint: mint.toBase58(), reviewer: reviewer.publicKey.toBase58(), score: 80, revoked: false, authVerified: true, index: 1 },
    );
  } finally {
    await cluster.stop();
  }
});
