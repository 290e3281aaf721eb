import { errorClasses } from "./generated/error-classes.js";

/** What is known of an error class: the rule that a call broke, and the native errors that mean it (R25). */
export type ErrorClassInfo = (typeof errorClasses)[number];

/** The name of an error class. */
export type ErrorClass = ErrorClassInfo["name"];

/** A program on Solana that numbers its own errors, besides the registry. */
export type Framework = "Anchor" | "System" | "Token2022" | "Ed25519";

const bySelector = new Map<string, ErrorClassInfo>();
const byProgramCode = new Map<number, ErrorClassInfo>();
const byFrameworkCode = new Map<string, ErrorClassInfo>();
const byRuntimeError = new Map<string, ErrorClassInfo>();

for (const info of errorClasses) {
  for (const selector of info.selectors) bySelector.set(selector, info);
  for (const code of info.programCodes) byProgramCode.set(code, info);
  for (const [framework, codes] of Object.entries<readonly number[]>(info.frameworkCodes)) {
    for (const code of codes) byFrameworkCode.set(`${framework} ${code}`, info);
  }
  for (const name of info.runtimeErrors) byRuntimeError.set(name, info);
}

/** The class of a contract's revert data (or of its first four bytes); `undefined` for an error that no rule explains. */
export function errorClassOfRevert(data: string): ErrorClassInfo | undefined {
  return bySelector.get(data.slice(0, 10).toLowerCase());
}

/** The class of an error code of the program: 6000 and above. */
export function errorClassOfProgram(code: number): ErrorClassInfo | undefined {
  return byProgramCode.get(code);
}

/** The class of an error code of a program that the registry calls, or that is called beside it. */
export function errorClassOfFramework(framework: Framework, code: number): ErrorClassInfo | undefined {
  return byFrameworkCode.get(`${framework} ${code}`);
}

/** The class of an error of Solana's runtime, by its name in `InstructionError` or `TransactionError`. */
export function errorClassOfRuntime(name: string): ErrorClassInfo | undefined {
  return byRuntimeError.get(name);
}
