import anchor, { type IdlAccounts, type Program as AnchorProgram } from "@anchor-lang/core";
import { type Canonical, type DerivedAccount, load } from "@concord/canonical";
import { type AgentRegistry, agentRegistryIdl } from "@concord/registries";
import { addressesOf, published, requireSame } from "./documents.js";
import { ClientError, malformed } from "./errors.js";
import { checkText, integer, metadataOf, portable } from "./limits.js";
import { NO_FEEDBACK, scoresOf } from "./scores.js";
import { asked } from "./solana-faults.js";
import { COMMITMENT, type Call, SolanaSender, UNITS } from "./solana-sending.js";
import { uriOfMint } from "./token.js";
import type * as T from "./types.js";

const { AnchorProvider, BN, Program, Wallet, web3 } = anchor;
const { Ed25519Program, PublicKey } = web3;
type Keypair = anchor.web3.Keypair;
type PublicKey = anchor.web3.PublicKey;
type Connection = anchor.web3.Connection;
type Instruction = anchor.web3.TransactionInstruction;

/** Compute units of each entry of metadata that a registration sets. */
const ENTRY_UNITS = 50_000;
/** Accounts that one request reads. */
const TOGETHER = 100;

/** Bytes of an identity in the first layout, and in the one that the program writes (R12). */
const IDENTITY = { first: 218, now: 283 } as const;

/** The public clusters (CAIP-2). */
const PUBLIC = ["5eykt4UsFv8P8NJdTREpY1vzqKqZKvdp", "EtWTRABZaYq6iMfeYKouRu166VU2xqa1", "4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z"];
/** Any cluster but those (DEP-6). */
const LOCAL = "solana:localnet";
/** Who owns the mints of agents (R4). */
const TOKEN_2022 = "TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb";

/** What a Solana client needs. */
export interface SolanaOptions {
  readonly connection: Connection;
  /** Signs, and pays fees and rent. */
  readonly account: Keypair;
  /** The cluster's CAIP-2 id, as the registry was initialized with it. */
  readonly network: string;
  /** The program. On `solana:localnet` it may be missing: then it is that of local tests, whose secret key is public. */
  readonly program?: string;
  /** Stores files. Without it, only published files can be referred to. */
  readonly upload?: T.Upload;
}

/** An account at the program on a Solana cluster. */
export class SolanaClient implements T.RegistryClient {
  readonly address: string;
  private readonly sender: SolanaSender;
  /** Ends when the last feedback about an agent has landed or failed, by kind and agent. */
  private readonly giving = new Map<string, Promise<unknown>>();

  private constructor(
    private readonly options: SolanaOptions,
    private readonly program: AnchorProgram<AgentRegistry>,
    private readonly canonical: Canonical,
  ) {
    this.address = options.account.publicKey.toBase58();
    this.sender = new SolanaSender(options, program);
  }

  /** Makes a client. The cluster and the registry must be of the network (R9). */
  static async of(options: SolanaOptions): Promise<SolanaClient> {
    const { network, program } = options;
    if (!program && network !== LOCAL) throw malformed("program", program, `the address of the program on ${network}`);
    const provider = new AnchorProvider(options.connection, new Wallet(options.account), {});
    const idl = { ...agentRegistryIdl, address: program ?? agentRegistryIdl.address };
    const client = new SolanaClient(options, new Program<AgentRegistry>(idl, provider), await load());
    await client.requireNetwork();
    return client;
  }

  /** Programs cannot read the genesis hash, so it is compared here. */
  private async requireNetwork(): Promise<void> {
    const { connection, network } = this.options;
    const reference = (await asked(connection.getGenesisHash())).slice(0, 32);
    const isOwn = network === LOCAL && !PUBLIC.includes(reference);
    if (network !== `solana:${reference}` && !isOwn) {
      throw new ClientError(`the endpoint is for solana:${reference}, expected ${network} (R9)`);
    }
    const registry = await asked(this.program.account.registry.fetchNullable(this.place({ account: "registry" }), COMMITMENT));
    if (!registry) throw new ClientError(`there is no registry of program ${this.program.programId.toBase58()} on ${network}`);
    if (registry.chain !== network) throw new ClientError(`the registry is for ${registry.chain}, expected ${network} (R9)`);
  }

  private get key(): PublicKey {
    return this.options.account.publicKey;
  }

  private file(document: T.Document | undefined) {
    return published(document, this.options.upload, this.canonical);
  }

  private bytes(hex: T.Hex): number[] {
    return [...Buffer.from(hex.slice(2), "hex")];
  }

  private tag(text: string | undefined): number[] {
    return this.bytes(this.canonical.tag({ text: text ?? "", encoding: "padded" })); // R14
  }

  /** The address of an account of the program. */
  private place(account: DerivedAccount): PublicKey {
    const programId = this.program.programId.toBase58();
    return new PublicKey(this.canonical.pda({ programId, ...account }).address);
  }

  async register({ file, metadata = {} }: T.Registration): Promise<T.Landed & { agent: string }> {
    const entries = metadataOf(metadata);
    const { uri } = await this.file(file);
    const nonce = crypto.getRandomValues(new BigUint64Array(1))[0]!; // any that the account has not used
    const agent = this.place({ account: "mint", payer: this.address, nonce }).toBase58(); // R4
    const call = this.program.methods.registerAgent(new BN(`${nonce}`), uri);
    const register = await call.accounts({ owner: this.key }).instruction();
    const accounts = { owner: this.key, nftMint: mintOf(agent) };
    const set = entries.map(({ key, value }) => {
      const metadataEntry = this.place({ account: "metadata", mint: agent, key });
      return this.program.methods.setMetadata(key, Buffer.from(value)).accountsPartial({ ...accounts, metadataEntry }).instruction();
    });
    const units = UNITS + entries.length * ENTRY_UNITS;
    const landed = await this.send([register, ...(await Promise.all(set))], "agentRegistered", { units });
    return { ...landed, agent };
  }

  async agent(agent: string): Promise<T.Agent | undefined> {
    const mint = mintOf(agent);
    const found = await this.identity(agent);
    if (!found) return undefined;
    const account = await asked(this.options.connection.getAccountInfo(mint, COMMITMENT));
    const uri = account?.owner.toBase58() === TOKEN_2022 ? uriOfMint(account.data) : undefined;
    if (uri === undefined) throw new ClientError(`the endpoint does not have the mint of agent ${agent}`);
    const wallet = found.agentWallet.equals(PublicKey.default) ? undefined : found.agentWallet.toBase58();
    return { owner: found.owner.toBase58(), wallet, uri };
  }

  /** An identity of the first layout reads as if zeros followed (R12, SVM-29). */
  private async identity(agent: string): Promise<IdlAccounts<AgentRegistry>["agentIdentity"] | undefined> {
    const place = this.place({ account: "agent", mint: agent });
    const found = await asked(this.options.connection.getAccountInfo(place, COMMITMENT));
    if (!found) return undefined;
    const zeros = found.data.length < IDENTITY.first ? 0 : Math.max(IDENTITY.now - found.data.length, 0);
    return this.program.coder.accounts.decode("agentIdentity", Buffer.concat([found.data, Buffer.alloc(zeros)]));
  }

  /** Sets where an agent is paid; the wallet signs too (R3). */
  async setWallet(agent: string, wallet: Keypair): Promise<T.Landed> {
    const call = this.program.methods.setAgentWallet();
    const accounts = { owner: this.key, nftMint: mintOf(agent), newWallet: wallet.publicKey };
    return this.send([await call.accounts(accounts).instruction()], "agentWalletSet", { signers: [wallet] });
  }

  /** Authorizes a client to give feedback (R9). `signer` is the agent's feedback authority, or its owner (R7). */
  authorize(signer: Keypair, grant: { agent: string; client: string; indexLimit: bigint; expiry: bigint }): T.FeedbackAuth {
    const { indexLimit, expiry } = grant;
    const [agent, client] = [mintOf(grant.agent), keyOf("client", grant.client)] as const;
    const signed = this.authMessage(signer.publicKey.toBase58(), agent.toBase58(), client.toBase58(), grant);
    const secretKey = signer.secretKey.slice(0, 32);
    const authorization = this.canonical.sign({ algorithm: "ed25519", message: signed, secretKey });
    return { indexLimit, expiry, authorization };
  }

  private authMessage(signer: string, agent: string, client: string, bounds: { indexLimit: bigint; expiry: bigint }): T.Hex {
    const signed = this.canonical.feedbackAuth({
      scheme: "svm",
      agentId: agent,
      clientAddress: client,
      indexLimit: bounds.indexLimit,
      expiry: bounds.expiry,
      chainId: this.options.network,
      identityRegistry: this.program.programId.toBase58(),
      signerAddress: signer,
    });
    if (!("message" in signed)) throw new ClientError("Solana signs a message");
    return signed.message;
  }

  async give(review: T.Review): Promise<T.Given> {
    const fitting = portable(review);
    const { agent } = fitting;
    mintOf(agent);
    const { network } = this.options;
    requireSame(fitting, { registry: `${network}:${this.program.programId.toBase58()}`, client: `${network}:${this.address}` });
    const published = await this.file(fitting.file);
    const kind = "score" in fitting ? "authorized" : "open";
    return this.inTurn(`${kind} ${agent}`, async () => {
      const index = (await this.lastIndex(kind, agent, this.address)) + 1n; // R12
      const landed = "score" in fitting ? this.giveScore(fitting, index, published) : this.giveValue(fitting, index, published);
      return { ...(await landed), kind, agent, client: this.address, index };
    });
  }

  /** Gives one feedback after the other: two at once would take the same index. */
  private inTurn<A>(about: string, give: () => Promise<A>): Promise<A> {
    const given = (this.giving.get(about) ?? Promise.resolve()).then(give);
    const over = given.catch(() => undefined).then(() => {
      if (this.giving.get(about) === over) this.giving.delete(about);
    });
    this.giving.set(about, over);
    return given;
  }

  private async giveScore(review: T.Review & T.ScoreRating, index: bigint, { uri, hash }: T.Published): Promise<T.Landed> {
    const { agent, score, auth } = review;
    const bounds = { indexLimit: new BN(`${auth.indexLimit}`), expiry: new BN(`${auth.expiry}`) };
    const tags = [this.tag(review.tag1), this.tag(review.tag2)] as const;
    const call = this.program.methods.giveFeedback(new BN(`${index}`), score, ...tags, uri, this.bytes(hash), { bounded: bounds });
    const give = await call.accounts({ reviewer: this.key, nftMint: mintOf(agent) }).instruction();
    return this.send([await this.verification(agent, auth), give], "feedbackGiven"); // R11: directly before
  }

  private async giveValue(review: T.Review & T.ValueRating, index: bigint, { uri, hash }: T.Published): Promise<T.Landed> {
    const { agent, tag1 = "", tag2 = "", endpoint = "" } = review;
    const value = new BN(`${review.value}`);
    const words = [tag1, tag2, endpoint, uri] as const;
    const call = this.program.methods.giveOpenFeedback(new BN(`${index}`), value, review.decimals, ...words, this.bytes(hash));
    const give = await call.accounts({ client: this.key, nftMint: mintOf(agent) }).instruction();
    return this.send([give], "openFeedbackGiven");
  }

  /** The precompile's instruction for an authorization, by the one key that counts (R7). */
  private async verification(agent: string, auth: T.FeedbackAuth): Promise<Instruction> {
    const found = await this.identity(agent);
    if (!found) throw new ClientError(`there is no agent ${agent}`, { errorClass: "AgentNotFound" });
    const { feedbackAuthority, owner } = found;
    const signer = feedbackAuthority.equals(PublicKey.default) ? owner : feedbackAuthority;
    const message = this.authMessage(signer.toBase58(), agent, this.address, auth);
    return Ed25519Program.createInstructionWithPublicKey({
      publicKey: signer.toBytes(),
      message: Uint8Array.from(this.bytes(message)),
      signature: Uint8Array.from(this.bytes(auth.authorization)),
    });
  }

  private async lastIndex(kind: T.Kind, agent: string, client: string): Promise<bigint> {
    const account = kind === "open" ? ("open_client" as const) : ("client" as const);
    const place = this.place({ account, mint: agent, client });
    const { openClientIndex, clientIndex } = this.program.account;
    const found = await asked((kind === "open" ? openClientIndex : clientIndex).fetchNullable(place, COMMITMENT));
    return found ? BigInt(found.lastIndex.toString()) : 0n;
  }

  async get({ kind, agent, client, index }: T.FeedbackRef): Promise<T.StoredFeedback | undefined> {
    const at = { mint: mintOf(agent).toBase58(), client: keyOf("client", client).toBase58(), index };
    return kind === "open" ? this.openFeedback(at) : this.authorizedFeedback(at);
  }

  private async openFeedback(at: { mint: string; client: string; index: bigint }): Promise<T.StoredFeedback | undefined> {
    const place = this.place({ account: "open_feedback", ...at });
    const found = await asked(this.program.account.openFeedback.fetchNullable(place, COMMITMENT));
    if (!found) return undefined;
    const { valueDecimals: decimals, tag1, tag2, revoked: isRevoked } = found;
    return { kind: "open", value: BigInt(found.value.toString()), decimals, tag1, tag2, isRevoked };
  }

  private async authorizedFeedback(at: { mint: string; client: string; index: bigint }): Promise<T.StoredFeedback | undefined> {
    const place = this.place({ account: "feedback", ...at });
    const found = await asked(this.program.account.feedbackEntry.fetchNullable(place, COMMITMENT));
    if (!found) return undefined;
    const hex = (bytes: number[]): T.Hex => `0x${Buffer.from(bytes).toString("hex")}`;
    const { score, hasPaymentProof, revoked: isRevoked } = found;
    return { kind: "authorized", score, tag1: hex(found.tag1), tag2: hex(found.tag2), hasPaymentProof, isRevoked };
  }

  async revoke({ kind, agent, ...named }: Omit<T.FeedbackRef, "client">): Promise<T.Landed> {
    const index = integer("index", named.index, "u64");
    const [at, nftMint] = [new BN(`${index}`), mintOf(agent)];
    const { methods } = this.program;
    const call =
      kind === "open"
        ? methods.revokeOpenFeedback(at).accounts({ client: this.key, nftMint })
        : methods.revokeFeedback(at).accounts({ reviewer: this.key, nftMint });
    return this.send([await call.instruction()], kind === "open" ? "openFeedbackRevoked" : "feedbackRevoked");
  }

  async respond({ kind, agent, client, ...at }: T.FeedbackRef, file: T.Document): Promise<T.Landed> {
    const index = integer("index", at.index, "u64");
    const [nftMint, to] = [mintOf(agent), keyOf("client", client)];
    const { uri, hash } = await this.file(file);
    const { methods } = this.program;
    const words = [to, new BN(`${index}`), uri, this.bytes(hash)] as const;
    const call = kind === "open" ? methods.appendOpenResponse(...words) : methods.appendResponse(...words);
    const respond = await call.accounts({ responder: this.key, nftMint }).instruction();
    return this.send([respond], kind === "open" ? "openResponseAppended" : "responseAppended");
  }

  /** The entries are read and summed by the canonical crate, as the program does it (R16, R47). */
  async summary(agent: string, reviewers: T.Reviewers, tags: T.Tags = {}): Promise<T.Summary> {
    mintOf(agent);
    const listed = await addressesOf(reviewers, () => this.canonical); // R48
    const clients = listed ?? (await this.clients("open", agent));
    const stated = { agent, reviewers: listed ?? ("everyone" as const), tags };
    if (clients.length === 0) return { ...stated, count: 0n, value: 0n, decimals: 0 };
    const feedback = [];
    for (const client of new Set(clients)) {
      const places = await this.places("open_feedback", agent, client);
      for (const entry of await this.entries(client, places, (some) => this.program.account.openFeedback.fetchMultiple(some, COMMITMENT))) {
        const { value, valueDecimals, tag1, tag2, revoked } = entry;
        feedback.push({ client, value: value.toString(), valueDecimals, tag1, tag2, revoked });
      }
    }
    const query = { clients, tag1: tags.tag1 ?? "", tag2: tags.tag2 ?? "" };
    const { count, value, valueDecimals } = this.canonical.summary({ feedback, query });
    return { ...stated, count: BigInt(count), value, decimals: valueDecimals };
  }

  /** The entries are read, as for `summary`. */
  async scores(agent: string, reviewers: T.Reviewers, weighting: T.Weighting, tags: T.Tags = {}): Promise<T.ScoreSummary> {
    mintOf(agent);
    const listed = await addressesOf(reviewers, () => this.canonical); // R48
    const clients = listed ?? (await this.clients("authorized", agent));
    const wanted = [tags.tag1, tags.tag2].map((tag) => (tag ? `${this.tag(tag)}` : undefined)); // an empty tag matches all
    const tallies = { proven: NO_FEEDBACK, others: NO_FEEDBACK };
    for (const client of clients) {
      const places = await this.places("feedback", agent, client);
      const entries = await this.entries(client, places, (some) => this.program.account.feedbackEntry.fetchMultiple(some, COMMITMENT));
      for (const { score, tag1, tag2, revoked, hasPaymentProof } of entries) {
        const matches = [tag1, tag2].every((tag, at) => wanted[at] === undefined || wanted[at] === `${tag}`);
        if (revoked || !matches) continue;
        const of = hasPaymentProof ? "proven" : "others";
        tallies[of] = { count: tallies[of].count + 1n, sum: tallies[of].sum + BigInt(score) };
      }
    }
    const stated = { agent, reviewers: listed ?? ("everyone" as const), tags };
    return { ...stated, ...scoresOf(this.canonical, weighting, tallies.proven, tallies.others) };
  }

  /** The accounts of all feedback that a client gave. */
  private async places(account: "feedback" | "open_feedback", agent: string, client: string): Promise<PublicKey[]> {
    const last = await this.lastIndex(account === "feedback" ? "authorized" : "open", agent, client);
    return Array.from({ length: Number(last) }, (_, at) => this.place({ account, mint: agent, client, index: at + 1 }));
  }

  private async entries<E>(client: string, places: PublicKey[], fetch: (some: PublicKey[]) => Promise<(E | null)[]>): Promise<E[]> {
    const entries: (E | null)[] = [];
    for (let at = 0; at < places.length; at += TOGETHER) entries.push(...(await asked(fetch(places.slice(at, at + TOGETHER)))));
    return entries.map((entry, at) => {
      if (!entry) throw new ClientError(`the endpoint does not have feedback ${at + 1} of ${client}`);
      return entry;
    });
  }

  /** Everyone who gave feedback of a kind. The endpoint's list must have as many as the agent counts (R46). */
  private async clients(kind: T.Kind, agent: string): Promise<string[]> {
    const found = await this.identity(agent);
    if (!found) return []; // as the contracts answer
    const name = kind === "open" ? "openClientIndex" : "clientIndex";
    const { accounts } = this.program.coder;
    const filters = [{ memcmp: accounts.memcmp(name) }, { memcmp: { offset: 8, bytes: agent } }];
    const { connection } = this.options;
    const listed = await asked(connection.getProgramAccounts(this.program.programId, { commitment: COMMITMENT, filters }));
    const [has, counted] = [listed.length, Number(kind === "open" ? found.openClientCount : found.clientCount)];
    if (has !== counted) throw new ClientError(`the endpoint lists ${has} clients, and the agent has ${counted}`);
    return listed.map(({ account }) => accounts.decode<{ client: PublicKey }>(name, account.data).client.toBase58());
  }

  async requestValidation({ agent, request, file, tag = "", ...named }: T.ValidationRequest): Promise<T.Landed> {
    const [nftMint, validator] = [mintOf(agent), keyOf("validator", named.validator)];
    checkText("tag", tag, "tag");
    const { uri } = await this.file(file);
    const validationRequest = this.place({ account: "val_request", mint: agent, validator: named.validator, requestHash: request });
    const call = this.program.methods.validationRequest(validator, this.bytes(request), this.tag(tag), uri);
    const accounts = { owner: this.key, nftMint, validationRequest };
    return this.send([await call.accountsPartial(accounts).instruction()], "validationRequested");
  }

  async answerValidation({ agent, request, file, tag = "", ...answered }: T.ValidationAnswer): Promise<T.Landed> {
    const nftMint = mintOf(agent);
    const score = Number(integer("score", answered.score, "u8", "ScoreOutOfRange"));
    checkText("tag", tag, "tag");
    const { uri, hash } = await this.file(file);
    const at = { mint: agent, validator: this.address, requestHash: request };
    const accounts = {
      validator: this.key,
      nftMint,
      validationRequest: this.place({ account: "val_request", ...at }),
      validationResponse: this.place({ account: "val_response", ...at }),
    };
    const call = this.program.methods.validationResponse(this.bytes(request), score, this.tag(tag), uri, this.bytes(hash));
    return this.send([await call.accountsPartial(accounts).instruction()], "validationResponded");
  }

  /** Sends instructions once, and waits for their event. */
  private send(instructions: Instruction[], event: string, more: Pick<Call, "signers" | "units"> = {}): Promise<T.Landed> {
    return this.sender.send({ instructions, event, ...more });
  }
}

/** Reads an address. `PublicKey` takes numbers and bytes too. */
function keyOf(field: string, text: string, expected = "an address in base58"): PublicKey {
  try {
    const key = new PublicKey(text);
    if (key.toBase58() === text) return key;
  } catch {
    // not base58, or not of 32 bytes
  }
  throw malformed(field, text, expected);
}

/** Reads an agent's id, its mint. */
const mintOf = (agent: string): PublicKey => keyOf("agent", agent, "a mint in base58");
