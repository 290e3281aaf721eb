import { errorClassOfRevert } from "@concord/registries";
import {
  BaseError,
  ChainMismatchError,
  ContractFunctionRevertedError,
  RpcError,
  UnknownRpcError,
  UserRejectedRequestError,
  isHex,
} from "viem";
import { ClientError, wordsOf, wordsOfClass } from "./errors.js";

/** The class of a revert (R25). */
export function refused(fault: unknown): ClientError {
  if (fault instanceof ClientError) return fault;
  const data = revertData(fault);
  const info = data === undefined ? undefined : errorClassOfRevert(data);
  return new ClientError(info ? wordsOfClass(info) : wordsOf(fault), { errorClass: info?.name });
}

/** The data of a revert: viem has it by itself for a call of a contract, and for a gas estimate only as the node's answer. */
function revertData(fault: unknown): string | undefined {
  if (!(fault instanceof BaseError)) return undefined;
  const revert = fault.walk((it) => it instanceof ContractFunctionRevertedError);
  if (revert instanceof ContractFunctionRevertedError) return revert.raw;
  const answer = fault.walk((it) => isHex(answered(it)));
  return answer === null ? undefined : answered(answer);
}

/** What a node answers beside its words. */
function answered(fault: unknown): string | undefined {
  const data = (fault as { data?: unknown } | null)?.data;
  const bytes = typeof data === "object" ? (data as { data?: unknown } | null)?.data : data; // some nodes nest it
  return typeof bytes === "string" ? bytes : undefined;
}

/** The node has the transaction already. Nodes have words for it, and no code. */
export const isKnown = (fault: unknown) =>
  fault instanceof BaseError && /already (known|imported)|\bknown transaction/i.test(fault.details);

/** What the node said. viem's own words are the same for every refusal of a signed transaction. */
export function refusalOf(fault: unknown): string {
  const isRefusal = (it: unknown) => it instanceof RpcError && !(it instanceof UnknownRpcError);
  const refusal = fault instanceof BaseError && fault.walk(isRefusal);
  return refusal instanceof RpcError ? `the node refuses the transaction: ${refusal.details}` : wordsOf(fault);
}

/** The user declined, or the wallet is on another chain and was not asked. */
export const isDeclined = (fault: unknown) =>
  fault instanceof BaseError && fault.walk((it) => it instanceof UserRejectedRequestError || it instanceof ChainMismatchError) !== null;
