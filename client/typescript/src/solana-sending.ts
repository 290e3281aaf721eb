import anchor, { type Program } from "@anchor-lang/core";
import type { AgentRegistry } from "@concord/registries";
import { ClientError, wordsOf } from "./errors.js";
import { inTime, polled } from "./polling.js";
import type { SolanaOptions } from "./solana.js";
import { asked, isProcessed, isRefusal, refused } from "./solana-faults.js";
import type * as T from "./types.js";

const { ComputeBudgetProgram, Transaction, VersionedTransaction } = anchor.web3;
type Transaction = anchor.web3.Transaction;

/** What is read is as new as what is waited for. */
export const COMMITMENT = "confirmed";

/** Compute units of the largest call without metadata. */
export const UNITS = 200_000;
/** How many limits of compute units a client uses in turn. */
const LIMITS = 2 ** 16;

/** Instructions of one transaction, which emit an event. */
export interface Call {
  readonly instructions: readonly anchor.web3.TransactionInstruction[];
  readonly event: string;
  /** Who signs beside the account. */
  readonly signers?: readonly anchor.web3.Keypair[];
  readonly units?: number;
}

/** Sends an account's calls, each once. */
export class SolanaSender {
  private signed = Math.floor(Math.random() * LIMITS);

  constructor(
    private readonly options: SolanaOptions,
    private readonly program: Program<AgentRegistry>,
  ) {}

  /** Tries instructions, which costs nothing if they are refused, sends them once, and waits for their event. */
  async send(call: Call): Promise<T.Landed> {
    const latest = await asked(this.options.connection.getLatestBlockhash(COMMITMENT));
    const transaction = this.sign(call, latest);
    const refusal = await this.tried(transaction);
    if (refusal) throw refusal;
    const signature = anchor.utils.bytes.bs58.encode(transaction.signature!);
    await this.sendOnce(transaction, signature);
    const fault = await this.outcome(signature, latest.lastValidBlockHeight);
    if (fault) throw refused(this.programId, { fault, transaction }, { sent: "failed", transaction: signature });
    return this.seen(signature, call.event);
  }

  private get programId(): string {
    return this.program.programId.toBase58();
  }

  /** Signs a call. Equal ones with one blockhash would be one transaction, so each has another limit of compute units, which costs nothing. */
  private sign({ instructions, signers = [], units = UNITS }: Call, latest: anchor.web3.BlockhashWithExpiryBlockHeight): Transaction {
    const { account } = this.options;
    const transaction = new Transaction({ feePayer: account.publicKey, ...latest });
    this.signed = (this.signed + 1) % LIMITS;
    transaction.add(ComputeBudgetProgram.setComputeUnitLimit({ units: units + this.signed }), ...instructions);
    try {
      transaction.sign(account, ...signers);
      transaction.serialize(); // which refuses one that is too large
    } catch (fault) {
      throw new ClientError(wordsOf(fault));
    }
    return transaction;
  }

  /** Tries a transaction. Resolves to its refusal, if it is refused. */
  private async tried(transaction: Transaction): Promise<ClientError | undefined> {
    const tried = new VersionedTransaction(transaction.compileMessage());
    const { value } = await asked(this.options.connection.simulateTransaction(tried, { sigVerify: false, commitment: COMMITMENT }));
    return value.err ? refused(this.programId, { fault: value.err, logs: value.logs, transaction }) : undefined;
  }

  private async sendOnce(transaction: Transaction, signature: string): Promise<void> {
    try {
      await inTime(this.options.connection.sendRawTransaction(transaction.serialize(), { preflightCommitment: COMMITMENT }));
    } catch (fault) {
      if (isProcessed(fault)) return;
      if (!isRefusal(fault)) throw new ClientError(wordsOf(fault), { sent: "maybe", transaction: signature });
      throw await this.explained(fault, transaction);
    }
  }

  /** The class of a transaction that the endpoint did not pass on. web3.js has only words for it: it is tried once more. */
  private async explained(fault: unknown, transaction: Transaction): Promise<ClientError> {
    const refusal = await this.tried(transaction).catch(() => undefined);
    return refusal?.errorClass ? refusal : new ClientError(wordsOf(fault));
  }

  /** Waits until a transaction is confirmed, which a fork that has only processed it is not. Resolves to its fault, if it failed. */
  private async outcome(signature: string, lastValidBlockHeight: number): Promise<anchor.web3.TransactionError | null> {
    const { connection } = this.options;
    const known = { sent: "maybe", transaction: signature } as const;
    let height = 0;
    const question = polled(async () => {
      const { value } = await connection.getSignatureStatuses([signature]);
      const [status] = value;
      if (status?.confirmationStatus && status.confirmationStatus !== "processed") return status;
      if (!status && height > lastValidBlockHeight) return null; // read before the status, which is therefore the last word
      height = await connection.getBlockHeight(COMMITMENT);
      return undefined;
    });
    const status = await asked(question, known);
    if (!status) throw new ClientError(`${signature} was sent, and no block had it until its blockhash expired`, known);
    return status.err;
  }

  /** The event of a transaction that landed: the program emits it in a call of itself. */
  private async seen(signature: string, event: string): Promise<T.Landed> {
    const { connection } = this.options;
    const bounds = { commitment: COMMITMENT, maxSupportedTransactionVersion: 0 } as const;
    const question = polled(async () => (await connection.getTransaction(signature, bounds)) ?? undefined);
    const found = await asked(question, { sent: "landed", transaction: signature });
    const calls = found.meta?.innerInstructions?.flatMap(({ instructions }) => instructions) ?? [];
    const has = calls.some(({ data }) => {
      const bytes = Buffer.from(anchor.utils.bytes.bs58.decode(data));
      const decoded = this.program.coder.events.decode(bytes.subarray(8).toString("base64"));
      return decoded?.name === event;
    });
    if (has) return { transaction: signature, block: BigInt(found.slot) };
    throw new ClientError(`${signature} has no event ${event}`, { sent: "landed", transaction: signature });
  }
}
