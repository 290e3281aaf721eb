// Records what agent0-sdk 1.7.1 for TypeScript uploads and hashes. Its own giveFeedback runs; the chain and IPFS are stand-ins that
// note what they are given. Run where the package is installed: node hash.mjs > typescript.json
import { readFileSync } from "node:fs";
import { FeedbackManager } from "agent0-sdk";
import { keccak256, toBytes } from "viem";

const inputs = JSON.parse(readFileSync(new URL("./inputs.json", import.meta.url), "utf8"));
const registry = "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";
const records = [];
for (const { name, value, tag1, tag2, endpoint, file } of inputs) {
  const record = { name };
  const chain = {
    chainId: 8453,
    ensureAddress: async () => "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    readContract: async () => 0n,
    keccak256Utf8: (text) => keccak256(toBytes(text)),
    writeContract: async ({ args }) => {
      record.hash = args[7];
      return `0x${"00".repeat(32)}`;
    },
  };
  const ipfs = {
    addJson: async (data) => {
      record.uploaded = JSON.stringify(data, null, 2); // as IPFSClient.addJson does
      return "cid";
    },
  };
  const manager = new FeedbackManager(chain, ipfs, registry, registry);
  await manager.giveFeedback("8453:42", value, tag1, tag2, endpoint, file);
  records.push(record);
}
console.log(JSON.stringify(records, null, 1));
