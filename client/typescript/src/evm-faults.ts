import { errorClassOfRevert } from "@concord/registries";
import {
  BaseError,
  ChainMismatchError,
  ContractFunctionRevertedError,
  RpcError,
  UnknownRpcError,
  UserRejectedRequestError,
} from "viem";
import { ClientError, wordsOf } from "./errors.js";

/** The class of a revert (R25). */
export function refused(fault: unknown): ClientError {
  if (fault instanceof ClientError) return fault;
  const revert = fault instanceof BaseError && fault.walk((it) => it instanceof ContractFunctionRevertedError);
  const raw = revert instanceof ContractFunctionRevertedError ? revert.raw : undefined;
  return new ClientError(wordsOf(fault), { errorClass: raw && errorClassOfRevert(raw)?.name });
}

/** The node has the transaction already. Nodes have words for it, and no code. */
export const isKnown = (fault: unknown) => fault instanceof BaseError && /already (known|imported)|\bknown transaction/i.test(fault.details);

/** What the node said. viem's own words are the same for every refusal of a signed transaction. */
export function refusalOf(fault: unknown): string {
  const isRefusal = (it: unknown) => it instanceof RpcError && !(it instanceof UnknownRpcError);
  const refusal = fault instanceof BaseError && fault.walk(isRefusal);
  return refusal instanceof RpcError ? `the node refuses the transaction: ${refusal.details}` : wordsOf(fault);
}

/** The user declined, or the wallet is on another chain and was not asked. */
export const isDeclined = (fault: unknown) =>
  fault instanceof BaseError && fault.walk((it) => it instanceof UserRejectedRequestError || it instanceof ChainMismatchError) !== null;
