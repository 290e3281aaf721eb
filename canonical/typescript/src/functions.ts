import type { Bytes, ChainId, Hex, Integer, SolanaKey } from "./values.js";

/** The seven fields of a FeedbackAuth on an EVM chain (R5). */
export interface EvmFeedbackAuth {
  agentId: Integer;
  clientAddress: string;
  indexLimit: Integer;
  /** Unix seconds. */
  expiry: Integer;
  chainId: Integer;
  identityRegistry: string;
  signerAddress: string;
}

/** The seven fields of a FeedbackAuth on Solana (R5). */
export interface SvmFeedbackAuth {
  agentId: SolanaKey;
  clientAddress: SolanaKey;
  indexLimit: Integer;
  /** Unix seconds. */
  expiry: Integer;
  chainId: ChainId;
  identityRegistry: SolanaKey;
  signerAddress: SolanaKey;
}

/** A FeedbackAuth in one of the forms that somebody signs. */
export type FeedbackAuth =
  | ({ scheme: "eip712" | "eip712-fs"; verifyingContract: string } & EvmFeedbackAuth)
  | ({ scheme: "eip191" | "packed" } & EvmFeedbackAuth)
  | ({ scheme: "svm" } & SvmFeedbackAuth)
  | { scheme: "x84"; agentId: SolanaKey; clientAddress: SolanaKey };

/** One feedback of the open profile, as a summary reads it (R16). */
export interface SummaryEntry {
  client: string;
  /** Times 10^valueDecimals. */
  value: Integer;
  /** 0 to 18. */
  valueDecimals: Integer;
  tag1: string;
  tag2: string;
  revoked: boolean;
}

/** An account of the program whose address is derived (section 3b). */
export type DerivedAccount =
  | { account: "registry" }
  | { account: "mint"; payer: SolanaKey; nonce: Integer }
  | { account: "agent"; mint: SolanaKey }
  | { account: "metadata"; mint: SolanaKey; key: string }
  | { account: "feedback" | "open_feedback"; mint: SolanaKey; client: SolanaKey; index: Integer }
  | { account: "client" | "open_client"; mint: SolanaKey; client: SolanaKey }
  | { account: "val_request" | "val_response"; mint: SolanaKey; validator: SolanaKey; requestHash: Bytes }
  | { account: "spent"; hash: Bytes; payer: SolanaKey };

/** What a summary is computed from (R16). Parts of disjoint feedback add up. */
export interface SummaryPart {
  /** Of the values, each times 10^(18 - valueDecimals). */
  sum: bigint;
  count: bigint;
  /** How many values had 0, 1, … 18 decimals. */
  histogram: bigint[];
}

/** The fields and the signature of a blob (R6). */
export interface DecodedFeedbackAuth {
  agentId: bigint;
  clientAddress: Hex;
  indexLimit: bigint;
  expiry: bigint;
  chainId: bigint;
  identityRegistry: Hex;
  signerAddress: Hex;
  signature: Hex;
}

export type Algorithm = "secp256k1" | "ed25519";

/** x402's reputation profiles (R26), by the prefix that their hashes begin with. */
export type Profile = "x402:8004-reputation:v1" | "x402:reputation:v1";

/**
 * Arguments and result of each function, under the name that `concord oracle` gives it. `Canonical` has them as methods
 * in camel case.
 */
export interface Functions {
  keccak256: [{ data: Bytes }, Hex];
  sha256: [{ data: Bytes }, Hex];
  request_bytes: [{ method: string; target: string; body: Bytes }, Hex];
  jcs: [{ text: string }, { canonical: string; hash: Hex }];
  data_hash: [{ request: Bytes; response: Bytes }, Hex];
  interaction_hash: [{ profile?: Profile; taskRef: string; dataHash: Bytes }, Hex];
  reviewer_message: [
    {
      agentRegistry: string;
      agentId: string;
      taskRef: string;
      dataHash: Bytes;
      value: Integer;
      valueDecimals: Integer;
      tag1?: string;
      tag2?: string;
    },
    Hex,
  ];
  feedback_auth: [FeedbackAuth, { digest: Hex } | { message: Hex }];
  feedback_auth_blob: [EvmFeedbackAuth & { signature: Bytes }, Hex];
  feedback_auth_blob_decode: [{ blob: Bytes }, DecodedFeedbackAuth];
  payment_proof: [
    {
      agentId: SolanaKey;
      payer: SolanaKey;
      payee: SolanaKey;
      token: SolanaKey;
      amount: Integer;
      taskRef: string;
      paidAt: Integer;
      expiry: Integer;
      chainId: ChainId;
      programId: SolanaKey;
      facilitator: SolanaKey;
    },
    { message: Hex },
  ];
  revoke_message: [
    { agentRegistry: string; agentId: string; taskRef: string; reviewerAddress: string; feedbackHash: Bytes },
    Hex,
  ];
  respond_message: [
    {
      agentRegistry: string;
      agentId: string;
      taskRef: string;
      reviewerAddress: string;
      responseUri: string;
      feedbackHash: Bytes;
      responseHash: Bytes;
    },
    Hex,
  ];
  receipt: [{ previous: Bytes; key: string; payloadDigest: Bytes; acceptedAt: Integer }, Hex];
  validation_request_hash: [
    {
      chainId: ChainId;
      registry: string;
      agentId: Integer | SolanaKey;
      validator: string;
      payloadHash: Bytes;
      nonce: Integer;
    },
    Hex,
  ];
  agent_wallet_set: [
    {
      agentId: Integer;
      newWallet: string;
      owner: string;
      deadline: Integer;
      chainId: Integer;
      verifyingContract: string;
    },
    { digest: Hex },
  ];
  tag: [{ text: string; encoding: "padded" | "hashed" }, Hex];
  tag_decode: [{ bytes: Bytes }, string];
  summary: [
    { feedback: SummaryEntry[]; query: { clients: string[]; tag1: string; tag2: string } },
    { count: number; value: bigint; valueDecimals: number },
  ];
  verify: [{ algorithm: Algorithm; message: Bytes; signature: Bytes; signer: Bytes }, true];
  sign: [{ algorithm: Algorithm; message: Bytes; secretKey: Bytes }, Hex];
  chain_id: [{ text: string }, { namespace: string; reference: string }];
  account_id: [{ text: string }, { chainId: ChainId; address: string }];
  task_ref: [{ text: string }, { chainId: ChainId; transaction: string; dedupeKey: string }];
  pda: [{ programId: SolanaKey } & DerivedAccount, { address: SolanaKey; bump: number }];
  public_key: [{ text: string }, Hex];
  feedback_id: [
    { text: string; base: 0 | 1; target: 0 | 1 },
    { agentId: string; client: string; index: bigint; text: string },
  ];
  weighted_score: [
    {
      verifiedCount: Integer;
      verifiedScoreSum: Integer;
      unverifiedCount: Integer;
      unverifiedScoreSum: Integer;
    },
    bigint,
  ];
  stars_to_value: [{ stars: Integer }, number];
  stars_of_value: [{ value: Integer }, number | null];
  standard_tag: [{ name: string }, { measures: string; unit: string; decimals: number; range: string; tag2: string[] }];
  standard_tag_value: [{ name: string; value: Integer; valueDecimals: Integer }, true];
  x402_tag: [{ tag1: string; tag2: string }, string];
  summary_part: [{ feedback: SummaryEntry[]; query: { clients: string[]; tag1: string; tag2: string } }, SummaryPart];
  summary_merge: [
    { parts: { sum: Integer; count: Integer; histogram: Integer[] }[] },
    { part: SummaryPart; count: bigint; value: bigint; valueDecimals: number },
  ];
  request_length_prefix: [{ length: Integer }, Hex];
  integer_field: [{ literal: string }, number];
  feedback_auth_eoa_blob_decode: [{ blob: Bytes }, DecodedFeedbackAuth];
  eip712_domain: [{ name: string; version: string; chainId: Integer; verifyingContract: string }, Hex];
  recover_address: [{ message: Bytes; signature: Bytes }, Hex];
  ethereum_v: [{ direction: "to" | "from"; signature: Bytes }, Hex];
  low_s: [{ signature: Bytes }, Hex];
  public_key_of_secret: [{ algorithm: Algorithm; secretKey: Bytes }, Hex];
  address_of_public_key: [{ publicKey: Bytes }, Hex];
}

export type FunctionName = keyof Functions;
export type Arguments<F extends FunctionName> = Functions[F][0];
export type Result<F extends FunctionName> = Functions[F][1];

/**
 * Members of results that are wider than 53 bits, by their path (empty: the result itself): the module answers decimal
 * text, and callers get a `bigint`.
 */
export const WIDE: { readonly [F in FunctionName]?: readonly string[] } = {
  feedback_auth_blob_decode: ["agent_id", "index_limit", "expiry", "chain_id"],
  feedback_auth_eoa_blob_decode: ["agent_id", "index_limit", "expiry", "chain_id"],
  summary: ["value"],
  feedback_id: ["index"],
  weighted_score: [""],
  summary_part: ["sum", "count", "histogram"],
  summary_merge: ["part.sum", "part.count", "part.histogram", "count", "value"],
};
