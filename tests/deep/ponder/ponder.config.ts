// The open reputation registry of an anvil. tests/deep/backfill/evm.mjs names it.
import fs from "node:fs";
import { createConfig } from "ponder";

const { CONCORD_RPC_URL, CONCORD_REPUTATION, CONCORD_ABI } = process.env;
const { abi } = JSON.parse(fs.readFileSync(CONCORD_ABI!, "utf8"));

export default createConfig({
  chains: { anvil: { id: 31337, rpc: CONCORD_RPC_URL! } },
  contracts: { Reputation: { chain: "anvil", abi, address: CONCORD_REPUTATION as `0x${string}`, startBlock: 0 } },
});
