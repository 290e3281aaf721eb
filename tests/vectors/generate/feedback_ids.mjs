// Feedback ids, agentId:client:index (BP). Expected values: JavaScript's own split, from the right, and BigInt.
import { evm, svm } from "./actors.mjs";
import { VectorFile } from "./vector_file.mjs";

const file = new VectorFile("feedback_id", { description: "The parts of agentId:client:index, whose index counts from 0 in BP's SDK and from 1 on chain.", packages: [] });

const add = (id, comment, flags, text, base, target) => {
  const parts = text.split(":");
  const index = BigInt(parts.pop()) + (base === 0 ? 1n : 0n);
  const client = parts.pop();
  const agent_id = parts.join(":");
  const shown = index - (target === 0 ? 1n : 0n);
  file.ok(id, comment, flags, { text, base, target }, { agent_id, client, index: index.toString(), text: `${agent_id}:${client}:${shown}` });
};
const client = evm.owner.address;
add("bp", "BP's own example", ["Published"], "84532:42:0x742d35Cc6634C0532925a3b844Bc454e4438f44e:0", 0, 1);
add("same-base", "read and written from 1", ["Typical"], `42:${client}:7`, 1, 1);
add("to-zero", "the contract's first is the SDK's 0", ["Typical"], `42:${client}:1`, 1, 0);
add("from-zero", "and back", ["Typical"], `42:${client}:0`, 0, 1);
add("agent-with-colons", "an agent id with its registry", ["Typical"], `eip155:84532:${client}:42:${client}:3`, 1, 0);
add("solana", "base58 on both sides", ["Typical"], `${svm.localnet}:11111111111111111111111111111112:11111111111111111111111111111113:9`, 1, 1);
add("largest-from-1", "2^64 - 1", ["Boundary"], `42:${client}:18446744073709551615`, 1, 0);
add("largest-from-0", "2^64 - 2", ["Boundary"], `42:${client}:18446744073709551614`, 0, 1);

for (const [id, comment, text, base] of [
  ["empty", "nothing", "", 0], ["one-part", "an agent alone", "42", 0], ["two-parts", "no index", "42:7", 0], ["no-agent", "nothing before the client", `:${client}:0`, 0],
  ["no-client", "nothing between the colons", "42::0", 0], ["no-index", "nothing after the last colon", `42:${client}:`, 0], ["negative", "a sign", `42:${client}:-1`, 0],
  ["leading-zero", "01", `42:${client}:01`, 0], ["hex-index", "no decimal digits", `42:${client}:0x1`, 0], ["space", "a space", `42:${client}: 1`, 0], ["not-ascii", "a letter beyond ASCII", "42:é:1", 0],
]) file.error(id, comment, ["Shape"], { text, base, target: 1 }, "MalformedFeedbackId");
file.error("zero-from-1", "indices count from 1 here", ["Boundary"], { text: `42:${client}:0`, base: 1, target: 0 }, "MalformedFeedbackId");
file.error("beyond-from-0", "2^64 - 1 would be 2^64 on chain", ["Boundary"], { text: `42:${client}:18446744073709551615`, base: 0, target: 0 }, "MalformedFeedbackId");
file.error("beyond-from-1", "2^64", ["Boundary"], { text: `42:${client}:18446744073709551616`, base: 1, target: 1 }, "MalformedFeedbackId");
file.error("base-2", "a base that does not exist", ["Request"], { text: `42:${client}:1`, base: 2, target: 1 }, "BadRequest");
file.error("target-2", "a base that does not exist", ["Request"], { text: `42:${client}:1`, base: 1, target: 2 }, "BadRequest");
