// Solana's own TypeScript client, which checks the shape of every answer, asks the local cluster what a deployer asks.
// The cluster has no WebSocket, so confirmations are polled for.
import assert from "node:assert/strict";
import { after, before, test } from "node:test";
import anchor from "@anchor-lang/core";
import { confirmed as confirmedOn, startCluster } from "./local_cluster.mjs";

const {
  Connection,
  Keypair,
  LAMPORTS_PER_SOL,
  PublicKey,
  SystemProgram,
  SYSVAR_CLOCK_PUBKEY,
  Transaction,
  TransactionMessage,
  VersionedTransaction,
} = anchor.web3;
const FEE = 5000;
const LOADER = new PublicKey("BPFLoaderUpgradeab1e11111111111111111111111");
const TOKEN_2022 = new PublicKey("TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb");

const payer = Keypair.generate();
let cluster;
let connection;

before(async () => {
  cluster = await startCluster([payer]);
  connection = new Connection(cluster.url, "confirmed");
});

after(() => cluster.stop());

const confirmed = (signature, commitment) => confirmedOn(connection, signature, commitment);
const transfer = (to, lamports) => SystemProgram.transfer({ fromPubkey: payer.publicKey, toPubkey: to, lamports });

async function pay(to, lamports) {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash();
  const transaction = new Transaction({ feePayer: payer.publicKey, blockhash, lastValidBlockHeight });
  return connection.sendTransaction(transaction.add(transfer(to, lamports)), [payer]);
}

test("a transfer lands, is confirmed and is read back", async () => {
  const to = Keypair.generate().publicKey;
  const signature = await pay(to, LAMPORTS_PER_SOL);
  const status = await confirmed(signature);
  assert.equal(status.err, null);
  const read = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  assert.equal(read.slot, status.slot);
  assert.equal(read.version, "legacy");
  assert.equal(read.meta.fee, FEE);
  assert.equal(read.meta.err, null);
  const [spent, received] = read.meta.postBalances.map((balance, at) => balance - read.meta.preBalances[at]);
  assert.deepEqual([spent, received], [-LAMPORTS_PER_SOL - FEE, LAMPORTS_PER_SOL]);
  assert.deepEqual(read.transaction.message.accountKeys, [payer.publicKey, to, SystemProgram.programId]);
  assert.equal(await connection.getBalance(to), LAMPORTS_PER_SOL);
  const [found] = await connection.getSignaturesForAddress(to);
  assert.equal(found.signature, signature);
  assert.equal(found.blockTime, read.blockTime);
  assert.equal(await connection.getBlockTime(read.slot), read.blockTime);
  assert.equal((await confirmed(signature, "finalized")).confirmations, null);
});

test("a versioned transaction is simulated, sent and read back", async () => {
  const to = Keypair.generate().publicKey;
  const { blockhash } = await connection.getLatestBlockhash();
  const message = new TransactionMessage({
    payerKey: payer.publicKey,
    recentBlockhash: blockhash,
    instructions: [transfer(to, LAMPORTS_PER_SOL)],
  }).compileToV0Message();
  assert.equal((await connection.getFeeForMessage(message)).value, FEE);
  const transaction = new VersionedTransaction(message);
  transaction.sign([payer]);
  const accounts = { encoding: "base64", addresses: [to.toBase58()] };
  const { value } = await connection.simulateTransaction(transaction, { sigVerify: true, accounts });
  assert.equal(value.err, null);
  assert.equal(value.accounts[0].lamports, LAMPORTS_PER_SOL);
  const signature = await connection.sendTransaction(transaction);
  await confirmed(signature);
  const read = await connection.getTransaction(signature, { maxSupportedTransactionVersion: 0 });
  assert.equal(read.version, 0);
  assert.equal(read.meta.computeUnitsConsumed, value.unitsConsumed);
  await assert.rejects(connection.getTransaction(signature), { code: -32015 });
});

test("a transfer of too much is refused with its logs", async () => {
  const error = await pay(Keypair.generate().publicKey, 1000 * LAMPORTS_PER_SOL).catch((fault) => fault);
  assert.equal(error.constructor.name, "SendTransactionError");
  assert.match(error.transactionError.message, /custom program error: 0x1/);
  assert.equal(error.logs[0], `Program ${SystemProgram.programId} invoke [1]`);
});

test("accounts are read with their owners and their data", async () => {
  const [clock, none] = await connection.getMultipleAccountsInfo([SYSVAR_CLOCK_PUBKEY, Keypair.generate().publicKey]);
  assert.equal(none, null);
  const slot = Number(clock.data.readBigUInt64LE(0));
  assert.ok(slot <= (await connection.getSlot("processed")));
  const program = await connection.getAccountInfo(TOKEN_2022);
  assert.deepEqual([program.executable, program.owner], [true, LOADER]);
  const filters = [{ dataSize: program.data.length }, { memcmp: { offset: 4, bytes: new PublicKey(program.data.subarray(4)).toBase58() } }];
  const found = await connection.getProgramAccounts(LOADER, { filters });
  assert.deepEqual(found.map(({ pubkey }) => pubkey), [TOKEN_2022]);
  assert.deepEqual(found[0].account.data, program.data);
});

test("the cluster says where it stands", async () => {
  const { blockhash, lastValidBlockHeight } = await connection.getLatestBlockhash("finalized");
  assert.ok((await connection.isBlockhashValid(blockhash)).value);
  assert.ok(lastValidBlockHeight > (await connection.getBlockHeight("processed")));
  const epoch = await connection.getEpochInfo();
  assert.ok(epoch.absoluteSlot > epoch.blockHeight);
  assert.equal((await connection.getGenesisHash()).length, 44);
  assert.ok((await connection.getVersion())["feature-set"] > 0);
  assert.equal((await connection.getRecentPrioritizationFees())[0].prioritizationFee, 0);
  assert.equal(await connection.getMinimumBalanceForRentExemption(0), 890_880);
});

test("an airdrop arrives", async () => {
  const to = Keypair.generate().publicKey;
  await confirmed(await connection.requestAirdrop(to, LAMPORTS_PER_SOL));
  assert.equal(await connection.getBalance(to), LAMPORTS_PER_SOL);
});
