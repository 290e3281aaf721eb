/** Lower-case hexadecimal with `0x`. */
export type Hex = `0x${string}`;

/** Bytes: an array, or hexadecimal with or without `0x`. */
export type Bytes = Uint8Array | string;

/** An integer: of any size as `bigint` or decimal text; a `number` only within 2^53 - 1 (R22). */
export type Integer = bigint | number | string;

/** A Solana public key in base58. */
export type SolanaKey = string;

/** A chain id in CAIP-2 form, such as `eip155:84532`. */
export type ChainId = string;
