/** Which reputation registry: anyone's values (R16), or scores that the agent authorized (R5). */
export type Kind = "open" | "authorized";

/** Lower-case hexadecimal with `0x`. */
export type Hex = `0x${string}`;

/** A reviewer list as `concord reviewers new` writes it. */
export interface ReviewerList {
  /** `concord-reviewer-list-v1`. */
  readonly type: string;
  readonly reviewers: readonly { readonly account: string }[];
  /** If it is there, it must hold. */
  readonly signature?: ListSignature;
}

/** A signature over the hash of a reviewer list without it. */
export interface ListSignature {
  readonly algorithm: "ed25519" | "secp256k1";
  readonly publicKey: string;
  readonly signature: string;
}

/** Whose feedback counts (R48). There is no default: a summary over everyone is open to anyone who makes accounts. */
export type Reviewers =
  | { readonly listed: readonly string[] }
  | { readonly list: ReviewerList; readonly network: string }
  | "everyone";

/** The tags to match; without one, all. */
export interface Tags {
  readonly tag1?: string;
  readonly tag2?: string;
}

/** Stores a file, and resolves to the URI under which it is found. It runs before the transaction that refers to it is signed. */
export type Upload = (file: Uint8Array) => Promise<string>;

/** Where a file is, and its hash. */
export interface Published {
  readonly uri: string;
  readonly hash: Hex;
}

/** A file that a call refers to: bytes or text to be stored, or one that is published already. */
export type Document = Uint8Array | string | Published;

/** Metadata by its keys, of at most 32 bytes; values of at most 256 (R17). */
export type Metadata = Readonly<Record<string, string>>;

/** An agent to register, and its registration file. */
export interface Registration {
  readonly file: Document;
  /** To begin with. On Solana as much as fits into one transaction. */
  readonly metadata?: Metadata;
}

/** An agent as the chain stores it. */
export interface Agent {
  readonly owner: string;
  /** Where it is paid (R3), if it has a wallet. */
  readonly wallet: string | undefined;
  /** Where its registration file is. */
  readonly uri: string;
}

/** An authorization to give feedback (R5 to R9), as `authorize` makes it. */
export interface FeedbackAuth {
  readonly indexLimit: bigint;
  /** Unix seconds. */
  readonly expiry: bigint;
  /** What the registry takes. */
  readonly authorization: Hex;
}

/** What open feedback says: `value / 10^decimals` (R16). */
export interface ValueRating {
  readonly value: bigint;
  readonly decimals: number;
  readonly endpoint?: string;
}

/** What authorized feedback says: 0 to 100. */
export interface ScoreRating {
  readonly score: number;
  readonly auth: FeedbackAuth;
}

/** What a feedback says. */
export type Rating = ValueRating | ScoreRating;

/** A feedback to give. */
export type Review = { readonly agent: string; readonly file?: Document } & Tags & Rating;

/** A feedback by name. `index` counts from 1 (R44). */
export interface FeedbackRef {
  readonly kind: Kind;
  readonly agent: string;
  readonly client: string;
  readonly index: bigint;
}

/** A call that landed. */
export interface Landed {
  readonly transaction: string;
  /** The block, or the slot. */
  readonly block: bigint;
}

/** A feedback that landed. */
export type Given = Landed & FeedbackRef;

/** A feedback as the chain stores it. */
export type StoredFeedback =
  | { readonly kind: "open"; readonly value: bigint; readonly decimals: number; readonly tag1: string; readonly tag2: string; readonly isRevoked: boolean }
  | {
      readonly kind: "authorized";
      readonly score: number;
      readonly tag1: Hex;
      readonly tag2: Hex;
      /** Whether a facilitator proved its payment (R13). Never on EVM chains, which have no such proofs. */
      readonly hasPaymentProof: boolean;
      readonly isRevoked: boolean;
    };

/** A summary of open feedback, which states whose it is (R48). */
export interface Summary {
  readonly agent: string;
  readonly reviewers: readonly string[] | "everyone";
  readonly tags: Tags;
  readonly count: bigint;
  /** The average times 10^decimals, truncated toward zero (R16). */
  readonly value: bigint;
  readonly decimals: number;
}

/** How much an authorized feedback counts: each as much as any other (R15), or one with a payment proof three times as much (X84). */
export type Weighting = "equal" | "payment-proof";

/** A summary of authorized feedback, which states whose it is (R48) and how it is weighted. */
export interface ScoreSummary {
  readonly agent: string;
  readonly reviewers: readonly string[] | "everyone";
  readonly tags: Tags;
  readonly weighting: Weighting;
  readonly count: bigint;
  /** Those with a payment proof (R13). */
  readonly verifiedCount: bigint;
  /** 0 to 100, rounded down; 0 if there is no feedback. */
  readonly score: bigint;
}

/** A request for validation (R20). */
export interface ValidationRequest {
  readonly agent: string;
  readonly validator: string;
  readonly request: Hex;
  readonly file: Document;
  /** On Solana. Requests on EVM chains have none. */
  readonly tag?: string;
}

/** A validator's answer (R20). */
export interface ValidationAnswer {
  readonly agent: string;
  readonly request: Hex;
  /** 0 to 100. */
  readonly score: number;
  readonly file?: Document;
  readonly tag?: string;
}

/** What an account does at the registries of a chain, the same on each. Every call resolves when its event was seen. */
export interface RegistryClient {
  /** The account's address. */
  readonly address: string;
  /** Registers an agent of the account; resolves to its id too. */
  register(agent: Registration): Promise<Landed & { agent: string }>;
  /** Reads an agent; `undefined` if there is none. */
  agent(agent: string): Promise<Agent | undefined>;
  /** Gives feedback. */
  give(review: Review): Promise<Given>;
  /** Reads one feedback; `undefined` if there is none. */
  get(feedback: FeedbackRef): Promise<StoredFeedback | undefined>;
  /** Revokes a feedback of the account. */
  revoke(feedback: Omit<FeedbackRef, "client">): Promise<Landed>;
  /** Responds to a feedback (R19). */
  respond(feedback: FeedbackRef, file: Document): Promise<Landed>;
  /** Summarises open feedback. */
  summary(agent: string, reviewers: Reviewers, tags?: Tags): Promise<Summary>;
  /** Summarises authorized feedback. */
  scores(agent: string, reviewers: Reviewers, weighting: Weighting, tags?: Tags): Promise<ScoreSummary>;
  /** Asks a validator to validate an agent of the account. */
  requestValidation(request: ValidationRequest): Promise<Landed>;
  /** Answers a request as its validator. */
  answerValidation(answer: ValidationAnswer): Promise<Landed>;
}
