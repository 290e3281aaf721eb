import {
  type Abi,
  type AbiFunction,
  type AbiParameter,
  type Address,
  type Hex,
  type PublicClient,
  concat,
  decodeFunctionResult,
  encodeAbiParameters,
  getAbiItem,
  hexToBytes,
  toFunctionSelector,
  toHex,
} from "viem";

/** Added to a byte from 0x80 to 0xFF, this is the private-use character for that byte. */
const STAND_INS = 0x10fe00;
const STAND_IN = /[\u{10FE80}-\u{10FEFF}]/u;
const UTF8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/**
 * The text of what a contract has as one. EVM-31: each byte that is not UTF-8 is one of the characters U+10FE80 to U+10FEFF. So are the four
 * bytes of such a character, so that no two values have the same text.
 */
function textOf(bytes: Uint8Array): string {
  const whole = decoded(bytes);
  if (whole !== undefined) return whole;
  let text = "";
  for (let at = 0; at < bytes.length; ) {
    const first = bytes[at] ?? 0;
    const length = first < 0x80 ? 1 : first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
    const character = decoded(bytes.subarray(at, at + length));
    text += character ?? String.fromCodePoint(STAND_INS + first);
    at += character === undefined ? 1 : length;
  }
  return text;
}

/** `undefined` if the bytes are not UTF-8, or have a stand-in among them. */
function decoded(bytes: Uint8Array): string | undefined {
  try {
    const text = UTF8.decode(bytes);
    return STAND_IN.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The bytes of which `textOf` made the text. */
function bytesOf(text: string): Uint8Array {
  const encoder = new TextEncoder();
  const bytes = Array.from(text, (it) => (STAND_IN.test(it) ? [(it.codePointAt(0) ?? 0) - STAND_INS] : [...encoder.encode(it)]));
  return Uint8Array.from(bytes.flat());
}

const isText = (of: AbiParameter | undefined) => of?.type === "string";
const inBytes = (of: readonly AbiParameter[]) => of.map((it) => (isText(it) ? { ...it, type: "bytes" } : it));

/** Reads a view, with texts in the form of EVM-31: viem has U+FFFD for each byte that is not UTF-8, and sends none. */
export async function readView(
  reader: PublicClient,
  { abi, address, functionName, args }: { abi: Abi; address: Address; functionName: string; args: readonly unknown[] },
): Promise<unknown> {
  const view = getAbiItem({ abi, name: functionName, args }) as AbiFunction;
  const answering = abi.map((it) => (it === view ? { ...view, outputs: inBytes(view.outputs) } : it));
  const answer = await ask();
  const texts = (value: unknown, at: number) => (isText(view.outputs[at]) ? textOf(hexToBytes(value as Hex)) : value);
  return view.outputs.length === 1 ? texts(answer, 0) : (answer as unknown[]).map(texts);

  async function ask(): Promise<unknown> {
    const hasBytes = args.some((it) => typeof it === "string" && STAND_IN.test(it));
    if (!hasBytes) return reader.readContract({ abi: answering, address, functionName, args });
    const encoded = args.map((it, at) => (isText(view.inputs[at]) ? toHex(bytesOf(it as string)) : it));
    const call = concat([toFunctionSelector(view), encodeAbiParameters(inBytes(view.inputs), encoded)]);
    const { data = "0x" } = await reader.call({ to: address, data: call });
    return decodeFunctionResult({ abi: answering, functionName, args, data });
  }
}
