/** What the WebAssembly module exports. It imports nothing. */
interface Exports {
  memory: WebAssembly.Memory;
  reserve(length: number): number;
  answer(request: number, length: number): number;
  release(bytes: number, length: number): void;
}

/** Bytes before the text of an answer: its length, little endian. */
const HEADER = 4;

/** One instance of the module: text in, text out. */
export class Module {
  readonly #exports: Exports;

  private constructor(instance: WebAssembly.Instance) {
    this.#exports = instance.exports as unknown as Exports;
  }

  static async load(source: WebAssembly.Module | BufferSource): Promise<Module> {
    const module = source instanceof WebAssembly.Module ? source : await WebAssembly.compile(source);
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
