import { type Canonical, load } from "@concord/canonical";
import {
  type ErrorClass,
  authorizedReputationRegistryAbi,
  identityRegistryAbi,
  reputationRegistryAbi,
  validationRegistryAbi,
} from "@concord/registries";
import {
  type Abi,
  type Account,
  type Address,
  type Chain,
  type LocalAccount,
  type PublicClient,
  type Transport,
  type WalletClient,
  isAddress,
  isHex,
  parseEventLogs,
  toHex,
  zeroAddress,
} from "viem";
import { addressesOf, published, requireSame } from "./documents.js";
import { ClientError, malformed } from "./errors.js";
import { refused } from "./evm-faults.js";
import { EvmSender, type Sent } from "./evm-sending.js";
import { readView } from "./evm-texts.js";
import { agentId, checkText, integer, metadataOf, portable } from "./limits.js";
import { NO_FEEDBACK, scoresOf } from "./scores.js";
import type * as T from "./types.js";

/** The contracts of one deployment. */
export interface EvmAddresses {
  readonly identity: Address;
  readonly openReputation?: Address;
  readonly authorizedReputation?: Address;
  readonly validation?: Address;
}

/** What an EVM client needs. */
export interface EvmOptions {
  readonly reader: PublicClient;
  readonly wallet: WalletClient<Transport, Chain, Account>;
  readonly addresses: EvmAddresses;
  /** Stores files. Without it, only published files can be referred to. */
  readonly upload?: T.Upload;
  /** Blocks on a transaction, its own among them. */
  readonly confirmations?: number;
}

const missing = (name: string): never => {
  throw new ClientError(`no ${name} registry is configured`);
};

/** An account at the registries of an EVM chain. */
export class EvmClient implements T.RegistryClient {
  readonly address: Address;
  private readonly sender: EvmSender;

  private constructor(
    private readonly options: EvmOptions,
    private readonly canonical: Canonical,
  ) {
    this.address = options.wallet.account.address;
    this.sender = new EvmSender(options);
  }

  /** Makes a client. */
  static async of(options: EvmOptions): Promise<EvmClient> {
    const { type } = options.wallet.account;
    if (type !== "local" && type !== "json-rpc") throw new ClientError(`an account of type ${type} sends no transactions: wrap it as a wallet`);
    return new EvmClient(options, await load());
  }

  private reputation(kind: T.Kind): Address {
    const { openReputation, authorizedReputation } = this.options.addresses;
    return (kind === "open" ? openReputation : authorizedReputation) ?? missing(`${kind} reputation`);
  }

  private file(document: T.Document | undefined) {
    return published(document, this.options.upload, this.canonical);
  }

  private tag(text: string | undefined): T.Hex {
    return this.canonical.tag({ text: text ?? "", encoding: "padded" });
  }

  async register({ file, metadata = {} }: T.Registration): Promise<T.Landed & { agent: string }> {
    const entries = metadataOf(metadata).map(({ key, value }) => ({ metadataKey: key, metadataValue: toHex(value) }));
    const { uri } = await this.file(file);
    const args = entries.length === 0 ? [uri] : [uri, entries];
    const sent = await this.send(identityRegistryAbi, this.options.addresses.identity, "register", args);
    const events = parseEventLogs({ abi: identityRegistryAbi, eventName: "Registered", logs: sent.logs });
    const { agentId: id } = seen(events, sent, { owner: this.address, agentURI: uri }).args;
    const changes = parseEventLogs({ abi: identityRegistryAbi, eventName: "MetadataSet", logs: sent.logs });
    for (const entry of entries) seen(changes, sent, { agentId: id, ...entry });
    return { ...landed(sent), agent: `${id}` };
  }

  async agent(agent: string): Promise<T.Agent | undefined> {
    const id = agentId(agent);
    const read = <R>(view: string) => this.read<R>(identityRegistryAbi, this.options.addresses.identity, view, [id]);
    const owner = await found(read<Address>("ownerOf"), "AgentNotFound");
    if (owner === undefined) return undefined;
    const [wallet, uri] = await Promise.all([read<Address>("getAgentWallet"), read<string>("tokenURI")]);
    return { owner, wallet: wallet === zeroAddress ? undefined : wallet, uri };
  }

  /** Sets where an agent is paid, with the wallet's consent (R3). `deadline`: unix seconds, at most 300 ahead. */
  async setWallet(agent: string, wallet: LocalAccount, deadline: bigint): Promise<T.Landed> {
    const identity = this.options.addresses.identity;
    const id = agentId(agent);
    const owner = await this.read<Address>(identityRegistryAbi, identity, "ownerOf", [id]);
    const { digest } = this.canonical.agentWalletSet({
      agentId: agent,
      newWallet: wallet.address,
      owner,
      deadline,
      chainId: this.options.wallet.chain.id,
      verifyingContract: identity,
    });
    const signature = await signHash(wallet, digest);
    const sent = await this.send(identityRegistryAbi, identity, "setAgentWallet", [id, wallet.address, deadline, signature]);
    const events = parseEventLogs({ abi: identityRegistryAbi, eventName: "MetadataSet", logs: sent.logs });
    seen(events, sent, { agentId: id, metadataKey: "agentWallet" });
    return landed(sent);
  }

  /** Authorizes a client to give feedback (R5). `owner` owns the agent (R7). */
  async authorize(owner: LocalAccount, grant: { agent: string; client: string; indexLimit: bigint; expiry: bigint }): Promise<T.FeedbackAuth> {
    const { agent, client, indexLimit, expiry } = grant;
    const fields = {
      agentId: agentId(agent),
      clientAddress: addressOf("client", client),
      indexLimit,
      expiry,
      chainId: this.options.wallet.chain.id,
      identityRegistry: this.options.addresses.identity,
      signerAddress: owner.address,
    };
    const signed = this.canonical.feedbackAuth({ scheme: "eip712", verifyingContract: this.reputation("authorized"), ...fields });
    if (!("digest" in signed)) throw new ClientError("an EVM chain signs a digest");
    const signature = await signHash(owner, signed.digest);
    return { indexLimit, expiry, authorization: this.canonical.feedbackAuthBlob({ ...fields, signature }) };
  }

  async give(review: T.Review): Promise<T.Given> {
    const fitting = portable(review);
    const { agent, tag1 = "", tag2 = "" } = fitting;
    const id = agentId(agent);
    const kind = "score" in fitting ? "authorized" : "open";
    const to = this.reputation(kind);
    const { chain } = this.options.wallet;
    const registry = `eip155:${chain.id}:${this.options.addresses.identity}`;
    requireSame(fitting, { registry, client: `eip155:${chain.id}:${this.address}` });
    const { uri, hash } = await this.file(fitting.file);
    const by = { agentId: id, clientAddress: this.address, feedbackHash: hash };
    if ("score" in fitting) {
      const tags = [this.tag(tag1), this.tag(tag2)] as const;
      const args = [id, fitting.score, ...tags, uri, hash, fitting.auth.authorization];
      const sent = await this.send(authorizedReputationRegistryAbi, to, "giveFeedback", args);
      const given = parseEventLogs({ abi: authorizedReputationRegistryAbi, eventName: "NewFeedback", logs: sent.logs });
      seen(given, sent, { ...by, score: fitting.score, tag1: tags[0], tag2: tags[1], feedbackUri: uri });
      const events = parseEventLogs({ abi: authorizedReputationRegistryAbi, eventName: "FeedbackIndexed", logs: sent.logs });
      const { args: indexed } = seen(events, sent, { agentId: id, clientAddress: this.address });
      return { ...landed(sent), kind, agent, client: this.address, index: indexed.feedbackIndex };
    }
    const { value, decimals, endpoint = "" } = fitting;
    const args = [id, value, decimals, tag1, tag2, endpoint, uri, hash];
    const sent = await this.send(reputationRegistryAbi, to, "giveFeedback", args);
    const events = parseEventLogs({ abi: reputationRegistryAbi, eventName: "NewFeedback", logs: sent.logs });
    const expected = { ...by, value, valueDecimals: decimals, tag1, tag2, endpoint, feedbackURI: uri };
    return { ...landed(sent), kind, agent, client: this.address, index: seen(events, sent, expected).args.feedbackIndex };
  }

  async get({ kind, agent, client, index }: T.FeedbackRef): Promise<T.StoredFeedback | undefined> {
    const at = [agentId(agent), addressOf("client", client), index];
    return found(kind === "open" ? this.openFeedback(at) : this.authorizedFeedback(at), "FeedbackNotFound");
  }

  private async openFeedback(at: readonly unknown[]): Promise<T.StoredFeedback> {
    type Found = [bigint, number, string, string, boolean];
    const [value, decimals, tag1, tag2, isRevoked] = await this.read<Found>(reputationRegistryAbi, this.reputation("open"), "readFeedback", at);
    return { kind: "open", value, decimals, tag1, tag2, isRevoked };
  }

  private async authorizedFeedback(at: readonly unknown[]): Promise<T.StoredFeedback> {
    const to = this.reputation("authorized");
    type Found = [number, T.Hex, T.Hex, boolean, bigint];
    const [score, tag1, tag2, isRevoked] = await this.read<Found>(authorizedReputationRegistryAbi, to, "readFeedback", at);
    return { kind: "authorized", score, tag1, tag2, hasPaymentProof: false, isRevoked };
  }

  async revoke({ kind, agent, ...at }: Omit<T.FeedbackRef, "client">): Promise<T.Landed> {
    const [id, index] = [agentId(agent), integer("index", at.index, "u64")];
    const sent = await this.send(reputationRegistryAbi, this.reputation(kind), "revokeFeedback", [id, index]);
    const events = parseEventLogs({ abi: reputationRegistryAbi, eventName: "FeedbackRevoked", logs: sent.logs });
    seen(events, sent, { agentId: id, clientAddress: this.address, feedbackIndex: index });
    return landed(sent);
  }

  async respond({ kind, agent, ...at }: T.FeedbackRef, file: T.Document): Promise<T.Landed> {
    const [id, client, index] = [agentId(agent), addressOf("client", at.client), integer("index", at.index, "u64")];
    const { uri, hash } = await this.file(file);
    const sent = await this.send(reputationRegistryAbi, this.reputation(kind), "appendResponse", [id, client, index, uri, hash]);
    const events = parseEventLogs({ abi: reputationRegistryAbi, eventName: "ResponseAppended", logs: sent.logs });
    const about = { agentId: id, clientAddress: client, feedbackIndex: index };
    seen(events, sent, { ...about, responder: this.address, responseURI: uri, responseHash: hash });
    return landed(sent);
  }

  async summary(agent: string, reviewers: T.Reviewers, tags: T.Tags = {}): Promise<T.Summary> {
    const id = agentId(agent);
    const listed = await addressesOf(reviewers, () => this.canonical); // R48
    const to = this.reputation("open");
    const clients = listed ?? (await this.read<Address[]>(reputationRegistryAbi, to, "getClients", [id]));
    const stated = { agent, reviewers: listed ?? ("everyone" as const), tags };
    if (clients.length === 0) return { ...stated, count: 0n, value: 0n, decimals: 0 }; // there is no feedback
    const args = [id, clients, tags.tag1 ?? "", tags.tag2 ?? ""];
    const [count, value, decimals] = await this.read<[bigint, bigint, number]>(reputationRegistryAbi, to, "getSummary", args);
    return { ...stated, count, value, decimals };
  }

  async scores(agent: string, reviewers: T.Reviewers, weighting: T.Weighting, tags: T.Tags = {}): Promise<T.ScoreSummary> {
    const id = agentId(agent);
    const listed = await addressesOf(reviewers, () => this.canonical); // R48
    const to = this.reputation("authorized");
    const abi = authorizedReputationRegistryAbi;
    const clients = listed ?? (await this.read<Address[]>(abi, to, "getClients", [id]));
    const stated = { agent, reviewers: listed ?? ("everyone" as const), tags };
    if (clients.length === 0) return { ...stated, ...scoresOf(this.canonical, weighting, NO_FEEDBACK, NO_FEEDBACK) };
    const args = [id, clients, this.tag(tags.tag1), this.tag(tags.tag2)];
    const [count, sum] = await this.read<[bigint, bigint]>(abi, to, "getTotals", args);
    return { ...stated, ...scoresOf(this.canonical, weighting, NO_FEEDBACK, { count, sum }) }; // payment proofs are Solana's
  }

  async requestValidation({ agent, request, file, tag = "", ...named }: T.ValidationRequest): Promise<T.Landed> {
    const to = this.options.addresses.validation ?? missing("validation");
    const [id, validator] = [agentId(agent), addressOf("validator", named.validator)];
    if (tag !== "") throw malformed("tag", tag, "none: requests on EVM chains have none");
    const { uri } = await this.file(file);
    const sent = await this.send(validationRegistryAbi, to, "validationRequest", [validator, id, uri, request]);
    const events = parseEventLogs({ abi: validationRegistryAbi, eventName: "ValidationRequest", logs: sent.logs });
    seen(events, sent, { validatorAddress: validator, agentId: id, requestHash: request, requestURI: uri });
    return landed(sent);
  }

  async answerValidation({ agent, request, file, tag = "", ...answered }: T.ValidationAnswer): Promise<T.Landed> {
    const to = this.options.addresses.validation ?? missing("validation");
    agentId(agent); // the registry finds the agent by the request
    const score = Number(integer("score", answered.score, "u8", "ScoreOutOfRange"));
    checkText("tag", tag, "tag");
    const { uri, hash } = await this.file(file);
    const sent = await this.send(validationRegistryAbi, to, "validationResponse", [request, score, uri, hash, tag]);
    const events = parseEventLogs({ abi: validationRegistryAbi, eventName: "ValidationResponse", logs: sent.logs });
    const answer = { requestHash: request, response: score, responseURI: uri, responseHash: hash, tag };
    seen(events, sent, { validatorAddress: this.address, ...answer });
    return landed(sent);
  }

  /** Reads a view, with texts in the form of EVM-31. */
  private async read<R>(abi: Abi, address: Address, functionName: string, args: readonly unknown[]): Promise<R> {
    try {
      return (await readView(this.options.reader, { abi, address, functionName, args })) as R;
    } catch (fault) {
      throw refused(fault);
    }
  }

  /** Sends a call once, and waits until it has landed. */
  private send(abi: Abi, address: Address, functionName: string, args: readonly unknown[]): Promise<Sent> {
    return this.sender.send({ abi, address, functionName, args });
  }
}

const landed = ({ hash, blockNumber }: Sent): T.Landed => ({ transaction: hash, block: blockNumber });

/** The event of this call: the registry's own, and with what the call said. A transaction can hold other events of the same name. */
function seen<E extends { address: Address; args: object }>(events: readonly E[], { to, hash }: Sent, expected: Record<string, unknown>): E {
  const isOwn = ({ address, args }: E) =>
    isSame(address, to) && Object.entries(expected).every(([name, value]) => isSame((args as Record<string, unknown>)[name], value));
  const event = events.find(isOwn);
  if (event) return event;
  throw new ClientError(`${hash} has no event of this call`, { sent: "landed", transaction: hash });
}

/** Hexadecimal is the same in either case. */
function isSame(one: unknown, other: unknown): boolean {
  const isHexadecimal = typeof one === "string" && typeof other === "string" && isHex(one) && isHex(other);
  return isHexadecimal ? one.toLowerCase() === other.toLowerCase() : one === other;
}

/** `undefined` for what is not there, which the registry refuses by this class. */
async function found<R>(read: Promise<R>, absent: ErrorClass): Promise<R | undefined> {
  try {
    return await read;
  } catch (fault) {
    if (fault instanceof ClientError && fault.errorClass === absent) return undefined;
    throw fault;
  }
}

/** Reads an address, with its checksum if it has capitals (EIP-55). */
function addressOf(field: string, text: string): Address {
  if (isAddress(text)) return text;
  throw malformed(field, text, "0x and 40 hexadecimal digits, in lower case or with their checksum");
}

async function signHash(account: LocalAccount, hash: T.Hex): Promise<T.Hex> {
  if (!account.sign) throw new ClientError(`${account.address} cannot sign a digest`);
  return account.sign({ hash });
}
