export { ClientError, IndexError, type IndexFault, type Sent } from "./errors.js";
export { type EvmAddresses, EvmClient, type EvmOptions } from "./evm.js";
export { IndexClient, type Page, type ReputationFilter } from "./index-client.js";
export type * from "./types.js";
