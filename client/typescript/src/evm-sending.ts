import {
  type Abi,
  type Address,
  type LocalAccount,
  type Log,
  type ReplacementReason,
  type TransactionReceipt,
  concat,
  encodeFunctionData,
  keccak256,
} from "viem";
import { ClientError, wordsOf } from "./errors.js";
import type { EvmOptions } from "./evm.js";
import { isDeclined, isKnown, refusalOf, refused } from "./evm-faults.js";
import type * as T from "./types.js";

/** A call of a contract. */
export interface Call {
  readonly abi: Abi;
  readonly address: Address;
  readonly functionName: string;
  readonly args: readonly unknown[];
}

/** A transaction that succeeded. */
export interface Sent {
  readonly to: Address;
  readonly hash: T.Hex;
  readonly logs: Log[];
  readonly blockNumber: bigint;
}

/** Sends an account's calls, each once. */
export class EvmSender {
  /** Ends when the last transaction was sent. */
  private sending: Promise<unknown> = Promise.resolve();
  /** Transactions that a node took. */
  private readonly accepted = new Set<T.Hex>();

  constructor(private readonly options: EvmOptions) {}

  /** Tries a call, which costs nothing if it is refused, sends it once, and waits until it has landed. */
  async send(call: Call): Promise<Sent> {
    const receipt = await this.receipt(await this.sendOnce(await this.tried(call)));
    if (receipt.status !== "success") throw await this.failure(call, receipt);
    const { transactionHash: hash, logs, blockNumber } = receipt;
    return { to: call.address, hash, logs, blockNumber };
  }

  /** Waits until a transaction is in a block. The same call for another fee is this call. */
  private async receipt(hash: T.Hex): Promise<TransactionReceipt> {
    const { reader, confirmations = 1 } = this.options;
    let reason: ReplacementReason | undefined;
    const onReplaced = (replacement: { reason: ReplacementReason }) => void (reason = replacement.reason);
    const waiting = reader.waitForTransactionReceipt({ hash, confirmations, onReplaced });
    const receipt = await waiting.catch((fault: unknown) => {
      throw new ClientError(wordsOf(fault), { sent: "maybe", transaction: hash });
    });
    if (receipt.transactionHash === hash || reason === "repriced") return receipt;
    throw new ClientError(`${receipt.transactionHash} took the place of ${hash}`, { sent: "failed", transaction: hash });
  }

  /** Why a transaction failed. A receipt does not tell: the registry says it again, in the state of the block that has it. */
  private async failure(call: Call, { transactionHash: hash, blockNumber }: TransactionReceipt): Promise<ClientError> {
    const { reader, wallet } = this.options;
    const again = reader.simulateContract({ ...call, account: wallet.account, blockNumber });
    const refusal = await again.then(() => undefined, refused);
    const words = refusal?.errorClass ? `: ${refusal.message}` : ""; // without a class, the node did not answer
    return new ClientError(`${hash} failed${words}`, { errorClass: refusal?.errorClass, sent: "failed", transaction: hash });
  }

  /** The call, if the registry does not refuse it. An address without code takes every call that answers nothing. */
  private async tried(call: Call): Promise<Call> {
    const { reader, wallet } = this.options;
    try {
      const { result } = await reader.simulateContract({ ...call, account: wallet.account });
      if (result !== undefined || (await reader.getCode({ address: call.address }))) return call;
    } catch (fault) {
      throw refused(fault);
    }
    throw new ClientError(`there is no contract at ${call.address}`);
  }

  /** Sends a call once. A local account signs it here, so that its hash is known if the node's answer is lost. */
  private async sendOnce(call: Call): Promise<T.Hex> {
    const { account } = this.options.wallet;
    if (account.type !== "local") return this.sendByWallet(call);
    // one after the other: two calls at once would take the same nonce, and if they are equal be one transaction
    const sent = this.sending.then(() => this.signAndSend(account, call));
    this.sending = sent.catch(() => undefined);
    return sent;
  }

  private async signAndSend(account: LocalAccount, call: Call): Promise<T.Hex> {
    const { wallet } = this.options;
    const signed = await this.sign(account, call);
    const hash = keccak256(signed);
    // by a node whose count of pending transactions lags behind
    if (this.accepted.has(hash)) throw new ClientError(`${hash} is another call's: the node does not count it yet`);
    try {
      await wallet.sendRawTransaction({ serializedTransaction: signed });
    } catch (cause) {
      // a node that refuses it proves nothing: another one can have it, as behind viem's `fallback`
      if (!isKnown(cause)) {
        account.nonceManager?.reset({ address: account.address, chainId: wallet.chain.id });
        throw new ClientError(refusalOf(cause), { sent: "maybe", transaction: hash });
      }
    }
    this.accepted.add(hash);
    return hash;
  }

  /** Signs a call as viem does before it sends one. */
  private async sign(account: LocalAccount, call: Call): Promise<T.Hex> {
    const { wallet } = this.options;
    const { chain, dataSuffix: suffix } = wallet;
    const { address, nonceManager } = account;
    const data = concat([encodeFunctionData(call), (typeof suffix === "string" ? suffix : suffix?.value) ?? "0x"]);
    try {
      const request = await wallet.prepareTransactionRequest({ account, chain, to: call.address, data, ...(nonceManager && { nonceManager }) });
      await this.requireFunds(request);
      return await account.signTransaction(request as never, { serializer: chain.serializers?.transaction as never });
    } catch (cause) {
      nonceManager?.reset({ address, chainId: chain.id });
      throw refused(cause); // a gas estimate is a trial too
    }
  }

  /** Requires what a transaction can cost. A node asks for it when the transaction was sent, and then its refusal proves nothing. */
  private async requireFunds(request: { gas?: bigint; gasPrice?: bigint; maxFeePerGas?: bigint }): Promise<void> {
    const { address } = this.options.wallet.account;
    const cost = (request.gas ?? 0n) * (request.maxFeePerGas ?? request.gasPrice ?? 0n);
    const balance = await this.options.reader.getBalance({ address });
    if (balance < cost) throw new ClientError(`${address} holds ${balance} wei, and the transaction can cost ${cost}`);
  }

  /** Sends a call by a wallet, which signs and sends at once. */
  private async sendByWallet(call: Call): Promise<T.Hex> {
    const { wallet } = this.options;
    try {
      return await wallet.writeContract({ ...call, account: wallet.account, chain: wallet.chain });
    } catch (cause) {
      const { errorClass, message } = refused(cause);
      throw new ClientError(message, { errorClass, sent: isDeclined(cause) ? "nothing" : "maybe" });
    }
  }
}
