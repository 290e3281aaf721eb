// Compiled with the README's examples: names and arguments that the registries do not have are refused by the compiler.
import type { Program } from "@anchor-lang/core";
import { type AgentRegistry, type ErrorClass, type ErrorClassInfo, authorizedReputationRegistryAbi, errorClassOfProgram } from "@concord/registries";
import type { Address, PublicClient } from "viem";

export async function viemInfers(reader: PublicClient, address: Address) {
  const at = { abi: authorizedReputationRegistryAbi, address } as const;
  const [count, average]: readonly [bigint, number] = await reader.readContract({ ...at, functionName: "getSummary", args: [1n] });
  // @ts-expect-error: there is no such function
  await reader.readContract({ ...at, functionName: "getSumary", args: [1n] });
  // @ts-expect-error: an agent's id is a bigint
  await reader.readContract({ ...at, functionName: "getSummary", args: ["1"] });
  return { count, average };
}

export async function anchorInfers(program: Program<AgentRegistry>, place: Address) {
  const { score, revoked }: { score: number; revoked: boolean } = await program.account.feedbackEntry.fetch(place);
  // @ts-expect-error: there is no such account
  await program.account.feedback.fetch(place);
  // @ts-expect-error: a nonce is a BN
  program.methods.registerAgent(7, "ipfs://agent");
  return { score, revoked };
}

export function classesAreNamed(code: number) {
  const found: ErrorClassInfo | undefined = errorClassOfProgram(code);
  const name: ErrorClass = found?.name ?? "BadRequest";
  // @ts-expect-error: there is no such class
  return name === "NoSuchClass";
}
