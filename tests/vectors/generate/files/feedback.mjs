// Feedback files. The examples are those of the source documents with shortened addresses and hashes written out.
import assert from "node:assert/strict";
import { VectorFile } from "../vector_file.mjs";
import { evm, svm } from "../actors.mjs";
import { canonicalHash, clients, dataHash, edit, interaction, packages, registries, rename, signers, transactions, x402File } from "./form.mjs";

const file = new VectorFile("files/feedback", {
  description:
    "Feedback files. ok: the dialect, the mappings in any order (name and path), keccak256 of the file's RFC 8785 form, and of its current form, or what a writer refuses. error: the path and the rule that is broken first.",
  packages,
});

/** `current`: the object that a writer emits, by default the same; or {refused}. */
function accept(id, comment, flags, content, dialect, mappings = [], current = content) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  const parsed = JSON.parse(text);
  const wanted = typeof current === "string" ? JSON.parse(current) : current;
  file.ok(id, comment, flags, { text }, {
    dialect,
    mappings,
    hash: canonicalHash(parsed),
    current: wanted.refused ? wanted : { hash: canonicalHash(wanted) },
  });
}
function refuse(id, comment, flags, content, path, rule) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  file.error(id, comment, flags, { text }, { path, rule });
}

// PROFILE
const auth = `0x${"12".repeat(289)}`;
const owner = `eip155:84532:${evm.owner.address}`;
const profilePayment = {
  fromAddress: clients.sepolia, toAddress: owner, chainId: 84532, txHash: transactions.evm,
  amount: "100000000000000000", currency: "ETH", protocol: "x402",
};
const simple = {
  agentRegistry: registries.first, agentId: 22, clientAddress: clients.sepolia, createdAt: "2025-12-20T12:00:00Z", feedbackAuth: auth, score: 95,
  reasoning: "Great DeFi analytics agent. Quick response time and accurate insights.", tag1: "defi", tag2: "analytics",
};
const attachments = [
  { name: "Market Analysis Report", uri: "ipfs://QmXnnyufdzAWL5CqZ2RnSNgPbvCc1ALT73s6epPrRnZ1Xy", mimeType: "application/pdf", size: 2048000, description: "75-page comprehensive market analysis with charts and predictions", uploadedAt: "2025-12-20T14:00:00Z" },
  { name: "Raw Data", uri: "ipfs://QmYwAPJzv5CZsnA625s3Xf2nemtYgPpHdWEz79ojWnPbdG", mimeType: "text/csv", size: 500000, description: "Historical price data used for analysis", uploadedAt: "2025-12-20T14:00:00Z" },
];
const detailed = {
  ...simple, agentId: 45, createdAt: "2025-12-20T14:30:00Z", score: 100, reasoning: "Exceptional market analysis service. Provided comprehensive report with actionable insights.",
  tag1: "trading", tag2: "research", skill: "analytical_skills/market_analysis", context: "Analyzed crypto market trends for Q4 2025", task: "Generate comprehensive market analysis report with predictions",
  proof_of_payment: { ...profilePayment, amount: "500000000000000000" }, attachments,
  rating_breakdown: { depth: 100, accuracy: 100, timeliness: 95, presentation: 100 }, interaction_id: "550e8400-e29b-41d4-a716-446655440000",
};
const mcpTool = {
  ...simple, agentRegistry: "eip155:11155111:0x8004C269D0A5647E51E121FeB226200ECE932d55", agentId: 78, clientAddress: `eip155:11155111:${evm.client.address}`, createdAt: "2025-12-20T16:00:00Z", score: 90,
  reasoning: "Blockchain analyzer MCP tool worked well. Accurate transaction parsing.", tag1: "mcp", tag2: "tools", capability: "tools", name: "blockchain_transaction_parser",
  rating_breakdown: { accuracy: 95, speed: 85, reliability: 90 },
};
const suggested = { ...detailed, agentId: 22, capability: "tools", name: "blockchain_analyzer", proof_of_payment: profilePayment };
accept("profile-suggested-schema", "PROFILE, Suggested Schema", ["Published"], suggested, "profile");
accept("profile-example-1", "PROFILE, Example 1", ["Published"], simple, "profile");
accept("profile-example-2", "PROFILE, Example 2: A2A, payment, attachments, members of its own", ["Published"], detailed, "profile");
accept("profile-example-3", "PROFILE, Example 3: MCP", ["Published"], mcpTool, "profile");
accept("profile-usdc", "PROFILE, USDC payment, with its token", ["Published"], edit(detailed, { "proof_of_payment.currency": "USDC", "proof_of_payment.amount": "100000000", "proof_of_payment.tokenAddress": "eip155:84532:0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913" }), "profile");
accept("profile-all-payment-fields", "timestamp and invoice of a payment", ["Typical"], edit(detailed, { "proof_of_payment.timestamp": "2025-12-20T11:45:00Z", "proof_of_payment.invoiceId": "INV-1" }), "profile");
const v11 = { ...edit(simple, { feedbackAuth: undefined }), endpoint: "https://agent.example/a2a" };
accept("profile-1.1", "PROFILE 1.1: no feedbackAuth, an endpoint", ["Published"], v11, "profile-1.1");
accept("profile-attachment-without-size", "PROFILE's own receipts have no size; a writer wants one", ["Published"], edit(detailed, { attachments: [{ name: "Service Receipt", uri: "ipfs://QmXnnyufdzAWL5CqZ2RnSNgPbvCc1ALT73s6epPrRnZ1Xy", mimeType: "application/pdf", description: "Official receipt showing completed deliverables" }] }), "profile", [], { refused: "$.attachments[0].size missing" });
accept("profile-other-payment-key", "the later key; it is kept (R37)", ["Wording"], rename(detailed, "proof_of_payment", "proofOfPayment"), "profile", ["proof-of-payment-key $.proofOfPayment"]);
accept("profile-chain-id-text", "chainId as text; it is kept (R37)", ["Wording"], edit(detailed, { "proof_of_payment.chainId": "84532" }), "profile", ["chain-id-text $.proof_of_payment.chainId"]);
accept("profile-agent-id-text", "agentId as text (R37)", ["Wording"], edit(simple, { agentId: "22" }), "profile", ["agent-id-text $.agentId"], simple);
accept("profile-score-zero", "the lowest score", ["Boundary"], edit(simple, { score: 0 }), "profile");
accept("profile-null", "null for an optional field", ["Wording"], edit(simple, { reasoning: null }), "profile", ["null-as-absent $.reasoning"], edit(simple, { reasoning: undefined }));
refuse("profile-score-101", "a score above 100", ["Boundary"], edit(simple, { score: 101 }), "$.score", "range");
refuse("profile-score-negative", "a score below 0", ["Boundary"], edit(simple, { score: -1 }), "$.score", "range");
refuse("profile-score-fraction", "half a point", ["Number"], edit(simple, { score: 95.5 }), "$.score", "integer");
refuse("profile-score-text", "a score as text", ["Shape"], edit(simple, { score: "95" }), "$.score", "type");
refuse("profile-auth-not-hex", "PROFILE's own example, 0xghi789", ["Shape"], edit(simple, { feedbackAuth: "0xghi789" }), "$.feedbackAuth", "hex");
refuse("profile-auth-empty", "no bytes", ["Empty"], edit(simple, { feedbackAuth: "0x" }), "$.feedbackAuth", "hex");
refuse("profile-auth-without-score", "an authorization and no score", ["Shape"], edit(simple, { score: undefined }), "$.score", "missing");
refuse("profile-attachment-without-uri", "an attachment that is nowhere", ["Shape"], edit(detailed, { "attachments.1.uri": undefined }), "$.attachments[1].uri", "missing");
refuse("profile-attachments-object", "one attachment, not a list", ["Shape"], edit(detailed, { attachments: attachments[0] }), "$.attachments", "type");
refuse("profile-both-payment-keys", "two proofs of payment", ["Conflict"], { ...detailed, proofOfPayment: profilePayment }, "$.proofOfPayment", "exclusive");
refuse("profile-payment-short-hash", "PROFILE's shortened hash", ["Shape"], edit(detailed, { "proof_of_payment.txHash": "0xabc123" }), "$.proof_of_payment.txHash", "task-ref");
refuse("profile-payment-without-chain", "no chainId", ["Shape"], edit(detailed, { "proof_of_payment.chainId": undefined }), "$.proof_of_payment.chainId", "missing");
refuse("profile-client-without-chain", "PROFILE's bad example: an address alone", ["Shape"], edit(simple, { clientAddress: evm.client.address }), "$.clientAddress", "account-id");
refuse("profile-time-zone", "a time that is not UTC", ["Shape"], edit(simple, { createdAt: "2025-12-20T12:00:00+02:00" }), "$.createdAt", "timestamp");
refuse("profile-day-31", "a day that does not exist", ["Shape"], edit(simple, { createdAt: "2025-11-31T12:00:00Z" }), "$.createdAt", "timestamp");

// BP
const best = {
  agentRegistry: registries.base, agentId: 42, clientAddress: clients.base, createdAt: "2025-09-23T12:00:00Z", value: 85, valueDecimals: 0, tag1: "starred", tag2: "finance", endpoint: "https://mcp.agent.example.com",
  mcp: { tool: "financial_analyzer" },
  a2a: { skills: ["trading_analysis"], contextId: "ctx-123", taskId: "task-456" },
  oasf: { skills: ["analytical_skills/mathematical_reasoning"], domains: ["finance_and_business"] },
  proofOfPayment: { fromAddress: evm.client.address, toAddress: evm.owner.address, chainId: "8453", txHash: transactions.evm },
};
const least = { agentRegistry: registries.base, agentId: 42, clientAddress: clients.base, createdAt: "2025-09-23T12:00:00Z", value: 85, valueDecimals: 0 };
accept("bp-example", "BP, Off-Chain Feedback File", ["Published"], best, "best-practices");
accept("bp-least", "the fields that ERC-8004 requires", ["Typical"], least, "best-practices");
accept("bp-solana", "an agent on Solana: its mint is text in every dialect", ["Typical"], { ...least, agentRegistry: registries.solana, agentId: svm.mint, clientAddress: clients.solana }, "best-practices");
accept("bp-solana-payment", "a payment on Solana", ["Typical"], edit(best, { "proofOfPayment.chainId": svm.mainnet, "proofOfPayment.txHash": transactions.solana, "proofOfPayment.fromAddress": svm.client, "proofOfPayment.toAddress": svm.payee }), "best-practices");
accept("bp-agent-id-max", "2^53 - 1, the largest number that readers agree on (R37)", ["Boundary"], edit(least, { agentId: 9007199254740991 }), "best-practices");
accept("bp-agent-id-exponent", "42 written another way", ["Number"], JSON.stringify(least).replace('"agentId":42', '"agentId":4.2e1'), "best-practices");
accept("bp-agent-id-large", "a larger id is read as text; a writer of this dialect refuses it (R37)", ["Boundary"], edit(least, { agentId: "9007199254740992" }), "best-practices", [], { refused: "$.agentId range" });
accept("bp-value-max", "R16's bound, as text beyond 2^53 - 1", ["Boundary"], edit(least, { value: `1${"0".repeat(38)}`, valueDecimals: 18 }), "best-practices");
accept("bp-value-text", "a small value as text", ["Wording"], edit(least, { value: "-32", valueDecimals: 1 }), "best-practices", ["value-text $.value"], edit(least, { value: -32, valueDecimals: 1 }));
accept("bp-value-negative", "BP's trading yield", ["Published"], edit(least, { value: -32, valueDecimals: 1, tag1: "tradingYield", tag2: "month" }), "best-practices");
accept("bp-value-1.0", "an integer with a fraction of zero is an integer (R22)", ["Number"], JSON.stringify(least).replace('"value":85', '"value":85.0'), "best-practices");
accept("bp-chain-id-number", "chainId as a number; it is kept (R37)", ["Wording"], edit(best, { "proofOfPayment.chainId": 8453 }), "best-practices", ["chain-id-number $.proofOfPayment.chainId"]);
accept("bp-first-payment-key", "PROFILE's key; it is kept (R37)", ["Wording"], rename(best, "proofOfPayment", "proof_of_payment"), "best-practices", ["proof-of-payment-key $.proof_of_payment"]);
accept("bp-unknown-members", "unknown members survive", ["Unchecked"], { ...best, "x-note": { deep: [1, null, { é: 1e300 }] }, mcp: { tool: "t", version: 2 } }, "best-practices");
accept("bp-endpoint-query", "a reader takes a query; a writer refuses it (R39)", ["Writer"], edit(best, { endpoint: "https://agent.example/weather?city=London" }), "best-practices", [], { refused: "$.endpoint endpoint" });
accept("bp-endpoint-fragment", "the same for a fragment (R39)", ["Writer"], edit(best, { endpoint: "https://agent.example/weather#now" }), "best-practices", [], { refused: "$.endpoint endpoint" });
accept("bp-endpoint-user", "the same for user info (R39)", ["Writer"], edit(best, { endpoint: "https://user:pass@agent.example/" }), "best-practices", [], { refused: "$.endpoint endpoint" });
accept("bp-endpoint-200", "200 bytes (R17)", ["Boundary"], edit(best, { endpoint: `https://agent.example/${"x".repeat(178)}` }), "best-practices");
accept("bp-endpoint-201", "201 bytes: a writer refuses (R17)", ["Boundary", "Writer"], edit(best, { endpoint: `https://agent.example/${"x".repeat(179)}` }), "best-practices", [], { refused: "$.endpoint length" });
accept("bp-tag-32", "32 bytes (R17)", ["Boundary"], edit(best, { tag1: "é".repeat(16) }), "best-practices");
accept("bp-tag-33", "33 bytes: a writer refuses (R17)", ["Boundary", "Writer"], edit(best, { tag1: `${"é".repeat(16)}x` }), "best-practices", [], { refused: "$.tag1 length" });
accept("bp-tag-nul", "a NUL: a writer refuses (R17)", ["Writer"], edit(best, { tag2: "a\u0000b" }), "best-practices", [], { refused: "$.tag2 length" });
accept("bp-pretty", "white space and order of members change nothing", ["Ordering"], JSON.stringify(Object.fromEntries(Object.entries(best).reverse()), null, 2), "best-practices", [], best);
refuse("bp-agent-id-2^53", "a number beyond 2^53 - 1 (R22, R37)", ["Boundary"], JSON.stringify(least).replace('"agentId":42', '"agentId":9007199254740992'), "$.agentId", "integer");
refuse("bp-agent-id-negative", "an id has no sign", ["Boundary"], edit(least, { agentId: -1 }), "$.agentId", "range");
refuse("bp-agent-id-leading-zero", "two texts for one id", ["Shape"], edit(least, { agentId: "042" }), "$.agentId", "integer");
refuse("bp-agent-id-2^256", "an id beyond uint256", ["Boundary"], edit(least, { agentId: (2n ** 256n).toString() }), "$.agentId", "integer");
refuse("bp-agent-id-null", "a feedback is about an agent", ["Shape"], edit(least, { agentId: null }), "$.agentId", "type");
refuse("bp-mint-on-evm", "a mint on an EVM registry", ["Shape"], edit(least, { agentId: svm.mint }), "$.agentId", "integer");
refuse("bp-number-on-solana", "a number on a Solana registry", ["Shape"], edit(least, { agentRegistry: registries.solana }), "$.agentId", "address");
refuse("bp-value-fraction", "8004scan's 4.75: the value is the integer on chain", ["Number"], edit(least, { value: 4.75, valueDecimals: 2 }), "$.value", "integer");
refuse("bp-value-decimal-text", "the same as text", ["Number"], edit(least, { value: "4.75", valueDecimals: 2 }), "$.value", "integer");
refuse("bp-value-2^53", "a number that JCS maps to its neighbour (R22)", ["Boundary"], JSON.stringify(least).replace('"value":85', '"value":9007199254740993'), "$.value", "integer");
refuse("bp-value-1e38+1", "one beyond R16's bound", ["Boundary"], edit(least, { value: (10n ** 38n + 1n).toString() }), "$.value", "range");
refuse("bp-decimals-19", "one beyond R16's bound", ["Boundary"], edit(least, { valueDecimals: 19 }), "$.valueDecimals", "range");
refuse("bp-decimals-missing", "a value without its decimals", ["Shape"], edit(least, { valueDecimals: undefined }), "$.valueDecimals", "missing");
refuse("bp-score-and-value", "two ratings", ["Conflict"], { ...least, score: 85 }, "$.value", "exclusive");
refuse("bp-registry-placeholder", "agent0's placeholder", ["Shape"], edit(least, { agentRegistry: "eip155:1:{identityRegistry}" }), "$.agentRegistry", "account-id");
refuse("bp-registry-short", "agent0's 0x0", ["Shape"], edit(least, { agentRegistry: "eip155:1:0x0" }), "$.agentRegistry", "account-id");
refuse("bp-registry-missing", "no registry", ["Shape"], edit(least, { agentRegistry: undefined }), "$.agentRegistry", "missing");
refuse("bp-skills-text", "one skill, not a list", ["Shape"], edit(best, { "a2a.skills": "trading_analysis" }), "$.a2a.skills", "type");
refuse("bp-skill-number", "a skill that is not text", ["Shape"], edit(best, { "oasf.skills": ["a", 1] }), "$.oasf.skills[1]", "type");
refuse("bp-mcp-text", "mcp is an object", ["Shape"], edit(best, { mcp: "tool" }), "$.mcp", "type");
refuse("bp-payment-other-chain", "an EVM hash on Solana", ["Conflict"], edit(best, { "proofOfPayment.chainId": svm.mainnet }), "$.proofOfPayment.txHash", "task-ref");
refuse("bp-payment-chain-name", "a chain's name", ["Shape"], edit(best, { "proofOfPayment.chainId": "base" }), "$.proofOfPayment.chainId", "chain-id");

// agent0
const { mcp: _mcp, a2a: _a2a, oasf: _oasf, ...plain } = best;
const agent0 = { ...plain, text: "Accurate market analysis with fast response times", mcpTool: "financial_analyzer", mcpPrompt: "p", mcpResource: "r", a2aSkills: ["trading_analysis"], a2aContextId: "ctx-123", a2aTaskId: "task-456", oasfSkills: ["analytical_skills/mathematical_reasoning"], oasfDomains: ["finance_and_business"] };
accept("agent0-full", "every field of agent0-sdk's file", ["Published"], agent0, "agent0");
accept("agent0-text", "text alone makes the dialect", ["Typical"], { ...least, text: "fine" }, "agent0");
accept("agent0-bp-prepare", "BP's prepareFeedbackFile: capability, name, skill, task and context stay members of their own", ["Published"], { ...least, text: "Accurate market analysis with fast response times", capability: "tools", name: "financial_analyzer", skill: "trading_analysis", task: "analyze_portfolio", context: { sessionId: "abc", duration: 1200 } }, "agent0");
refuse("agent0-skills", "skills that are not a list", ["Shape"], edit(agent0, { a2aSkills: "x" }), "$.a2aSkills", "type");

// X402
const evmData = (key) => interaction(key, { registry: registries.sepolia, agentId: "42", taskRef: `eip155:84532:${transactions.evm}`, dataHash, signer: signers.secp256k1 });
const solanaData = (key) => interaction(key, { registry: registries.solana, agentId: svm.mint, taskRef: `${svm.mainnet}:${transactions.solana}`, dataHash, signer: signers.ed25519 });
const evmX402 = x402File("8004-reputation", { data: evmData("8004-reputation"), client: clients.sepolia, reviewer: clients.sepolia, reviewerSigner: signers.client, tag1: "x402-resource-delivered", tag2: "proof-of-participation", comment: "Excellent service", endpoint: "https://agent.example/weather" });
const solanaX402 = x402File("8004-reputation", { data: solanaData("8004-reputation"), client: clients.solana, reviewer: clients.solana, reviewerSigner: signers.solanaClient, tag1: "x402-resource-delivered", tag2: "proof-of-participation", comment: "Excellent service", endpoint: "https://agent.example/weather" });
const laterX402 = x402File("reputation", { data: evmData("reputation"), client: clients.sepolia, reviewer: clients.sepolia, reviewerSigner: signers.client, tag1: "starred", tag2: "x402", comment: "Excellent service" });
const crossed = x402File("8004-reputation", { data: solanaData("8004-reputation"), client: owner, reviewer: clients.sepolia, reviewerSigner: signers.client, value: -5, valueDecimals: 2 });
const first = "x402-8004-reputation";
accept("x402-solana", "X402, feedbackURI JSON Structure, on Solana", ["Published", "Signed"], solanaX402, first);
accept("x402-evm", "the same on EVM", ["Typical", "Signed"], evmX402, first);
accept("x402-later-name", "the profile's later name: prefix, proof field and comment field together (R26)", ["Typical", "Signed"], laterX402, "x402-reputation");
accept("x402-crossed", "submitted by an aggregator on EVM for an agent on Solana; the reviewer is the payer (R38)", ["Typical", "Signed"], crossed, first);
accept("x402-agent-id-number", "a number where X402 wants text (R37)", ["Wording", "Signed"], edit(evmX402, { agentId: 42 }), first, ["agent-id-number $.agentId"], evmX402);
accept("x402-value-beyond-100", "0 to 100 is the range of X402's tags, not of the field (R37)", ["Boundary"], edit(evmX402, { value: 101 }), first);
accept("x402-other-comment-key", "the other profile's comment field", ["Wording", "Signed"], rename(evmX402, "comment", "reasoning"), first, ["comment-key $.reasoning"], evmX402);
accept("x402-both-comment-keys", "the profile's comment field counts; the other is a member of its own (R26)", ["Unchecked", "Signed"], { ...evmX402, reasoning: "in detail" }, first);
accept("x402-key-uncompressed", "the same key, uncompressed; written compressed (R23)", ["Wording", "Signed"], edit(evmX402, { "proofOfParticipation.agentSignerPublicKey": signers.secp256k1.key(false) }), first, [], evmX402);
accept("x402-key-without-0x", "the same key without 0x (R23)", ["Wording", "Signed"], edit(evmX402, { "proofOfParticipation.agentSignerPublicKey": signers.secp256k1.key().slice(2) }), first, ["public-key-prefix $.proofOfParticipation.agentSignerPublicKey"], evmX402);
accept("x402-hex-upper-case", "hexadecimal in upper case; written in lower case", ["CaseSensitive", "Signed"], edit(evmX402, { "proofOfParticipation.dataHash": `0x${dataHash.slice(2).toUpperCase()}` }), first, [], evmX402);
refuse("x402-both-proofs", "a file has one profile (R26)", ["Conflict"], { ...evmX402, proofOfInteraction: evmX402.proofOfParticipation }, "$.proofOfInteraction", "exclusive");
refuse("x402-value-text", "an integer in words", ["Number"], edit(evmX402, { value: "ninety" }), "$.value", "integer");
refuse("x402-tag-nul", "a NUL in a tag", ["Shape"], edit(evmX402, { tag1: "a\u0000b" }), "$.tag1", "tag");
for (const field of Object.keys(evmX402.proofOfParticipation)) {
  refuse(`x402-without-${field}`, "a field of the proof is missing", ["Shape"], edit(evmX402, { [`proofOfParticipation.${field}`]: undefined }), `$.proofOfParticipation.${field}`, "missing");
}
refuse("x402-data-hash-31", "31 bytes", ["Truncated"], edit(evmX402, { "proofOfParticipation.dataHash": dataHash.slice(0, -2) }), "$.proofOfParticipation.dataHash", "hex");
refuse("x402-data-hash-without-0x", "hashes have 0x", ["Shape"], edit(evmX402, { "proofOfParticipation.dataHash": dataHash.slice(2) }), "$.proofOfParticipation.dataHash", "hex");
refuse("x402-task-ref-short", "a shortened transaction", ["Truncated"], edit(evmX402, { "proofOfParticipation.taskRef": "eip155:84532:0xeee9" }), "$.proofOfParticipation.taskRef", "task-ref");
refuse("x402-signature-64", "a secp256k1 signature without v", ["Truncated"], edit(evmX402, { "proofOfParticipation.agentSignature": evmX402.proofOfParticipation.agentSignature.slice(0, -2) }), "$.proofOfParticipation.agentSignature", "hex");
refuse("x402-algorithm-unknown", "an algorithm that X402 has not", ["Shape"], edit(evmX402, { "proofOfParticipation.agentSignatureAlgorithm": "p256" }), "$.proofOfParticipation.agentSignatureAlgorithm", "name");
refuse("x402-algorithm-of-another-key", "an Ed25519 label on a secp256k1 key", ["Conflict"], edit(evmX402, { "proofOfParticipation.agentSignatureAlgorithm": "ed25519" }), "$.proofOfParticipation.agentSignerPublicKey", "hex");
refuse("x402-key-not-a-point", "32 bytes that are not a key", ["Shape"], edit(solanaX402, { "proofOfParticipation.agentSignerPublicKey": `0x${"ff".repeat(32)}` }), "$.proofOfParticipation.agentSignerPublicKey", "public-key");
refuse("x402-reviewer-algorithm", "eip155 addresses sign with secp256k1 (R23)", ["Conflict"], edit(evmX402, { "proofOfParticipation.reviewerSignatureAlgorithm": "ed25519" }), "$.proofOfParticipation.reviewerSignatureAlgorithm", "name");

// the file itself
refuse("empty", "nothing", ["Empty"], "", "$", "json");
refuse("array", "a list", ["Shape"], "[]", "$", "type");
refuse("no-dialect", "an object that is not feedback", ["Shape"], "{}", "$", "dialect");
refuse("trailing-comma", "not JSON", ["Grammar"], '{"score":1,}', "$", "json");
refuse("byte-order-mark", "a byte order mark", ["Grammar"], `\ufeff${JSON.stringify(least)}`, "$", "json");
refuse("duplicate-key", "one key twice (R22)", ["DuplicateKey"], JSON.stringify(least).replace('"value":85', '"value":85,"value":1'), "$", "duplicate-key");
refuse("duplicate-key-escaped", "the same key, once escaped (R22)", ["DuplicateKey"], JSON.stringify(least).replace('"value":85', '"value":85,"\\u0076alue":1'), "$", "duplicate-key");
refuse("lone-surrogate", "half a character (R22)", ["Surrogate"], JSON.stringify(least).replace('"value":85', '"value":85,"x":"\\ud800"'), "$", "lone-surrogate");
refuse("deep", "129 levels", ["Boundary"], `${"[".repeat(129)}${"]".repeat(129)}`, "$", "json");
assert.ok(file.vectors.length > 110);
