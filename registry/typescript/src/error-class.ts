import { canonicalTexts } from "./generated/canonical-texts.js";
import { errorClasses } from "./generated/error-classes.js";

/** What is known of an error class: the rule that a call broke, and the native errors that mean it (R25). */
export type ErrorClassInfo = (typeof errorClasses)[number];

/** The name of an error class. */
export type ErrorClass = ErrorClassInfo["name"];

/** A program on Solana that numbers its own errors, besides the registry. */
export type Framework = "Anchor" | "System" | "Token2022" | "Ed25519";

const ERROR_STRING = "0x08c379a0";
/** Longer than every text of the canonical contracts. */
const LONGEST_TEXT = 64;

const byText = new Map<string, ErrorClassInfo>();
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
  for (const [text, name] of Object.entries(canonicalTexts)) if (name === info.name) byText.set(text, info);
}

/**
 * The class of a contract's revert data (or of its first four bytes); `undefined` for an error that no rule explains. The canonical
 * ERC-8004 contracts refuse with texts: one of those has their class, whoever reverts with it. Any other text is a receiver's.
 */
export function errorClassOfRevert(data: string): ErrorClassInfo | undefined {
  return byText.get(textOf(data) ?? "") ?? bySelector.get(data.slice(0, 10).toLowerCase());
}

/** The text of an `Error(string)`, if it is a short one. */
function textOf(data: string): string | undefined {
  const words = data.slice(ERROR_STRING.length);
  if (data.slice(0, ERROR_STRING.length).toLowerCase() !== ERROR_STRING || words.length < 128) return undefined;
  const length = Number(`0x${words.slice(64, 128)}`);
  if (length > LONGEST_TEXT) return undefined;
  const digits = words.slice(128, 128 + 2 * length).match(/../g) ?? [];
  return String.fromCharCode(...digits.map((it) => Number.parseInt(it, 16)));
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
