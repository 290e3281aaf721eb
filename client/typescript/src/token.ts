/** Bytes of a mint before its extensions, of which the last is the kind of account. */
const BASE = 166;
/** The type of Token-2022's extension with a name, a symbol and a URI. */
const METADATA = 19;
/** Bytes of the update authority and of the mint, with which it begins. */
const KEYS = 64;

/** Reads the URI of a Token-2022 mint from its own metadata (R4). `undefined` for an account of another form. */
export function uriOfMint(account: Uint8Array): string | undefined {
  try {
    const metadata = metadataOf(account);
    metadata.take(KEYS);
    metadata.text(); // its name
    metadata.text(); // its symbol
    return metadata.text();
  } catch {
    return undefined;
  }
}

function metadataOf(account: Uint8Array): Cursor {
  const extensions = new Cursor(account);
  extensions.take(BASE);
  for (;;) {
    const type = extensions.integer(2);
    const value = extensions.take(extensions.integer(2));
    if (type === METADATA) return new Cursor(value);
  }
}

/** Takes bytes from the front. */
class Cursor {
  constructor(private rest: Uint8Array) {}

  take(length: number): Uint8Array {
    if (length > this.rest.length) throw new RangeError(`${length} bytes expected, ${this.rest.length} left`);
    const taken = this.rest.subarray(0, length);
    this.rest = this.rest.subarray(length);
    return taken;
  }

  /** Little-endian. */
  integer(bytes: number): number {
    return this.take(bytes).reduceRight((high, byte) => high * 256 + byte, 0);
  }

  text(): string {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(this.take(this.integer(4)));
  }
}
