/** What the WebAssembly module exports. It imports nothing. */
interface Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  answer(request: number, length: number): number;
  release(bytes: number, length: number): void;
}

/** Bytes before the text of an answer: its length, little endian. */
const HEADER = 4;

function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  return Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
}

/** One instance of the module: text in, text out. */
export class Module {
  readonly #exports: Exports;

  private constructor(instance: WebAssembly.Instance) {
    this.#exports = instance.exports as unknown as Exports;
  }

  /** @param source  the compiled module, its bytes, or its bytes in base64 */
  static async load(source: WebAssembly.Module | BufferSource | string): Promise<Module> {
    const bytes = typeof source === "string" ? decodeBase64(source) : source;
    const module = bytes instanceof WebAssembly.Module ? bytes : await WebAssembly.compile(bytes);
    return new Module(await WebAssembly.instantiate(module, {}));
  }

  answer(request: string): string {
    const { memory, reserve, answer, release } = this.#exports;
    const bytes = new TextEncoder().encode(request);
    const at = reserve(bytes.length);
    new Uint8Array(memory.buffer, at, bytes.length).set(bytes);
    bytes.fill(0); // a request can hold a secret key
    const answered = answer(at, bytes.length);
    release(at, bytes.length);
    const length = new DataView(memory.buffer).getUint32(answered >>> 0, true);
    const text = new TextDecoder().decode(new Uint8Array(memory.buffer, (answered >>> 0) + HEADER, length));
    release(answered, HEADER + length);
    return text;
  }
}
