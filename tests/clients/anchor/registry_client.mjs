// Anchor's TypeScript client of the program on a local cluster or another node, given only the committed interface description, and the calls
// that several tests make. Owners, reviewers and validators hold no lamports: one key pays the fees, another the rent.
import assert from "node:assert/strict";
import { createHash } from "node:crypto";
import anchor from "@anchor-lang/core";
import { addressesOf, feedbackAuthMessage, signedBy } from "./canonical_encoding.mjs";
import { IDL, eventsAmong, fieldsOf } from "./decoding.mjs";
import { CHAIN, PollingConnection, clock, deployProgram, startCluster } from "./local_cluster.mjs";

const { AnchorError, AnchorProvider, BN, Program, Wallet, parseIdlErrors, translateError, utils, web3 } = anchor;
const { Keypair, PublicKey, Transaction } = web3;

export const URI = "https://agent.example/agent.json";
export const HOUR = 3600;
export const sha256 = (text) => createHash("sha256").update(text).digest();
export const hex = (bytes) => Buffer.from(bytes).toString("hex");
export const base58 = (...keys) => keys.map((key) => key.toBase58());
export const REVIEW = { score: 80, tag1: sha256("quality"), tag2: sha256("speed"), uri: "ipfs://review", hash: sha256("review") };
/** The id that the description names; a test compares it with what was deployed. */
export const PROGRAM = new PublicKey(IDL.address);
export const addresses = addressesOf(PROGRAM);

/** Anchor's provider, which notes the names of the program's instructions that landed, and when each transaction was sent. */
class NotingProvider extends AnchorProvider {
  landed = new Set();
  sentAt = new Map();

  async sendAndConfirm(transaction, ...rest) {
    const time = await clock(this.connection);
    const signature = await super.sendAndConfirm(transaction, ...rest);
    this.sentAt.set(signature, time);
    const ours = transaction.instructions.filter(({ programId }) => programId.equals(PROGRAM));
    for (const { data } of ours) this.landed.add(this.coder.instruction.decode(data).name);
    return signature;
  }
}

/** The fault that the client reports is the program's, with the name, number and words of the description. */
function isRefusal(fault, name) {
  const { code, msg } = IDL.errors.find((error) => error.name === name);
  assert.ok(fault instanceof AnchorError, `${name} expected: ${fault}`);
  assert.deepEqual(fault.error.errorCode, { code: name, number: code });
  assert.equal(fault.error.errorMessage, msg);
  assert.equal(fault.program.toBase58(), IDL.address);
  return true;
}

/** The program refuses a call; of a call that is still being built, when it is. */
export const refused = (call, name) => assert.rejects(async () => (await call).rpc(), (fault) => isRefusal(fault, name));

export class RegistryClient {
  /** For tests in other folders, which have no packages of their own. */
  static Keypair = Keypair;
  static BN = BN;
  static key = (text) => new PublicKey(text);

  feePayer = Keypair.generate();
  sponsor = Keypair.generate();
  /** Becomes the registry's authority. */
  deployer = Keypair.generate();
  registrations = 0;

  async start() {
    this.cluster = await startCluster([this.feePayer, this.sponsor, this.deployer]);
    this.connection = new PollingConnection(this.cluster.url, "confirmed");
    this.deployedId = await deployProgram(this.cluster.url, this.deployer);
    const commitments = { commitment: "confirmed", preflightCommitment: "confirmed" };
    this.provider = new NotingProvider(this.connection, new Wallet(this.feePayer), commitments);
    this.program = new Program(IDL, this.provider);
    this.provider.coder = this.program.coder;
  }

  stop() {
    return this.cluster.stop();
  }

  clock() {
    return clock(this.connection);
  }

  /** The named fields of an account, in plain values. */
  async read(kind, place, ...names) {
    const fields = fieldsOf(await this.program.account[kind].fetch(place));
    return Object.fromEntries(names.map((name) => [name, fields[name]]));
  }

  identity(mint, ...names) {
    return this.read("agentIdentity", addresses.agent(mint), ...names);
  }

  /** The program's events in a transaction, and the time that they all have: between the Clock's before and after it. */
  async outcome(signature) {
    const [before, after] = [this.provider.sentAt.get(signature), await this.clock()];
    const version = { maxSupportedTransactionVersion: 0 };
    const { meta, transaction } = await this.connection.getTransaction(signature, version);
    const keys = base58(...transaction.message.accountKeys);
    const inner = meta.innerInstructions.flatMap(({ instructions }) => instructions);
    const instructions = inner.map(({ programIdIndex, accounts, data }) => ({
      program: keys[programIdIndex],
      accounts: accounts.map((index) => keys[index]),
      data: hex(utils.bytes.bs58.decode(data)),
    }));
    const events = eventsAmong(instructions, this.program.coder);
    const [timestamp, ...others] = new Set(events.map(({ fields }) => fields.timestamp));
    assert.deepEqual(others, []);
    assert.ok(before <= Number(timestamp) && Number(timestamp) <= after, `${before} ${timestamp} ${after}`);
    return { events, timestamp };
  }

  /** The sponsor pays the rent of what a call creates. Not the fee too: a fee payer is writable whatever the description says. */
  sponsored(call) {
    return call.accountsPartial({ payer: this.sponsor.publicKey }).signers([this.sponsor]);
  }

  send(instructions, signers) {
    return this.provider.sendAndConfirm(new Transaction().add(...instructions), signers);
  }

  /** As `refused`, of instructions of other programs, for which the client's translation must be asked for. */
  refusedInside(instructions, signers, name) {
    return assert.rejects(this.send(instructions, signers), (fault) =>
      isRefusal(translateError(fault, parseIdlErrors(IDL)), name),
    );
  }

  /** The sponsor's `nonce`th registration, for `owner`. The client derives the mint from both (R4). */
  registration(owner, nonce, uri = URI) {
    const call = this.program.methods.registerAgent(new BN(nonce), uri).accounts({ owner: owner.publicKey }).signers([owner]);
    return this.sponsored(call);
  }

  /** A nonce that the sponsor has not used, and the mint that it gives. */
  newMint() {
    const nonce = this.registrations++;
    return { nonce, mint: addresses.mint(this.sponsor.publicKey, nonce) };
  }

  async registered() {
    const [owner, { nonce, mint }] = [Keypair.generate(), this.newMint()];
    await this.registration(owner, nonce).rpc();
    return { owner, mint };
  }

  /**
   * A reviewer's feedback on a grant by `signer`. `terms` are the grant's, as the call repeats them; `grant` changes what the
   * signed message says alone.
   */
  async feedback(agent, reviewer, { signer = agent.owner, index = 1, terms = {}, grant = {} } = {}) {
    const bounds = { indexLimit: 5, expiry: (await this.clock()) + HOUR, ...terms };
    const message = feedbackAuthMessage({
      agent: agent.mint,
      client: reviewer.publicKey,
      ...bounds,
      chain: CHAIN,
      program: PROGRAM,
      signer: signer.publicKey,
      ...grant,
    });
    const bounded = { indexLimit: new BN(bounds.indexLimit), expiry: new BN(bounds.expiry) };
    const { score, tag1, tag2, uri, hash } = REVIEW;
    const call = this.program.methods
      .giveFeedback(new BN(index), score, [...tag1], [...tag2], uri, [...hash], { bounded })
      .accounts({ reviewer: reviewer.publicKey, nftMint: agent.mint })
      .preInstructions([signedBy(signer, message)])
      .signers([reviewer]);
    return this.sponsored(call);
  }

  async reviewed(reviewer = Keypair.generate()) {
    const agent = await this.registered();
    await (await this.feedback(agent, reviewer)).rpc();
    return { agent, reviewer, entry: addresses.entry("feedback", agent.mint, reviewer.publicKey, 1) };
  }
}
