// Registration files, as X402 and FS describe them and as they are found on Base.
import { VectorFile } from "../vector_file.mjs";
import { evm, svm } from "../actors.mjs";
import { canonicalHash, edit, packages, registries, rename, signers } from "./form.mjs";

const file = new VectorFile("files/registration", {
  description:
    "Registration files. ok: the mappings in any order (name and path), the wallets, keccak256 of the file's RFC 8785 form, and of its current form, or what a writer refuses. error: the path and the rule that is broken first.",
  packages,
});
const TYPE = "https://eips.ethereum.org/EIPS/eip-8004#registration-v1";
const wallets = [`eip155:8453:${evm.owner.address}`, `${svm.mainnet}:${svm.payee}`];
const x402 = {
  type: TYPE, name: "Agent Name", description: "Agent description", image: "https://agent.example/image.png", x402Support: true, supportedTrust: ["reputation"],
  services: [
    { name: "MCP", endpoint: "https://mcp.agent.example/", version: "2025-06-18" },
    { name: "agentWallet", endpoint: wallets[0] },
    { name: "agentWallet", endpoint: wallets[1] },
  ],
  registrations: [{ agentId: svm.mint, agentRegistry: registries.solana }, { agentId: "42", agentRegistry: registries.base }],
  signers: [
    { publicKey: signers.ed25519.key().slice(2), algorithm: "ed25519", validFrom: 1737763200, validUntil: null, comment: "Hot wallet for Solana signing" },
    { publicKey: signers.secp256k1.key(false).slice(2), algorithm: "secp256k1", validFrom: 1737763200, validUntil: null, comment: "Signing key for EVM chains" },
  ],
};
const current = edit(x402, { "signers.1.publicKey": signers.secp256k1.key().slice(2) });

function accept(id, comment, flags, content, mappings, wanted, found = wallets) {
  const text = typeof content === "string" ? content : JSON.stringify(content);
  file.ok(id, comment, flags, { text }, {
    mappings,
    wallets: found,
    hash: canonicalHash(JSON.parse(text)),
    current: wanted.refused ? wanted : { hash: canonicalHash(wanted) },
  });
}
const refuse = (id, comment, flags, content, path, rule) =>
  file.error(id, comment, flags, { text: typeof content === "string" ? content : JSON.stringify(content) }, { path, rule });

accept("x402-example", "X402, Registration File; its keys are written compressed", ["Published"], x402, [], current);
accept("current", "the current form is its own", ["Typical"], current, [], current);
accept("endpoints", "services under its older name", ["Wording"], rename(current, "services", "endpoints"), ["endpoints-key $.endpoints"], current);
accept("endpoints-and-services-alike", "both names, one content", ["Wording"], { ...current, endpoints: current.services }, [], current);
accept("type-and-url", "a service's older names", ["Wording"], edit(current, { "services.0": { type: "MCP", url: "https://mcp.agent.example/", version: "2025-06-18" } }), ["service-type-key $.services[0].type", "service-url-key $.services[0].url"], current);
accept("type-beside-name", "a service may have a type of its own", ["Unchecked"], edit(current, { "services.0.type": "tool" }), [], edit(current, { "services.0.type": "tool" }));
accept("x402support", "as agent0-sdk wrote it", ["Wording"], rename(current, "x402Support", "x402support"), ["x402support-key $.x402support"], current);
accept("supportedTrusts", "the plural", ["Wording"], rename(current, "supportedTrust", "supportedTrusts"), ["supported-trusts-key $.supportedTrusts"], current);
accept("id-number", "an id as a number", ["Wording"], edit(current, { "registrations.1.agentId": 42 }), ["agent-id-number $.registrations[1].agentId"], current);
accept("id-null", "made before the registration", ["Wording"], edit(current, { "registrations.1.agentId": null }), ["agent-id-null $.registrations[1].agentId"], { refused: "$.registrations[1].agentId missing" });
accept("registration-keys", "more than two keys: written with exactly two", ["Wording"], edit(current, { "registrations.0.role": "owner" }), ["registration-keys $.registrations[0]"], current);
accept("key-0x", "a signer's key with 0x", ["Wording"], edit(current, { "signers.0.publicKey": signers.ed25519.key() }), ["public-key-prefix $.signers[0].publicKey"], current);
accept("unknown-members", "unknown members survive", ["Unchecked"], { ...current, updatedAt: 1758628800, metadata: { a: [1.5, null] } }, [], { ...current, updatedAt: 1758628800, metadata: { a: [1.5, null] } });
accept("no-signers", "without signers the wallet on chain signs", ["Typical"], edit(current, { signers: undefined }), [], edit(current, { signers: undefined }));
accept("empty-signers", "an empty list is none (R29)", ["Empty"], edit(current, { signers: [] }), [], edit(current, { signers: undefined }));
accept("valid-until", "a key that expires", ["Typical"], edit(current, { "signers.0.validUntil": 1769299200 }), [], edit(current, { "signers.0.validUntil": 1769299200 }));
accept("never-valid", "a key that could never sign is not written", ["Writer"], edit(current, { "signers.0.validUntil": 1737763200 }), [], { refused: "$.signers[0].validUntil range" });
accept("null-image", "agent0-sdk's null", ["Wording"], edit(current, { image: null }), ["null-as-absent $.image"], edit(current, { image: undefined }));
const fs = { name: "Memecoin Strategy", description: "A strategy provider", tags: ["memecoin", "trading"], endpoints: [{ name: "A2A", endpoint: "https://agent.example/a2a" }], supportedTrust: ["reputation"] };
accept("fs", "FS, Agent Metadata: no type, no registrations; a writer wants the type", ["Published"], fs, ["endpoints-key $.endpoints"], { refused: "$.type missing" }, []);
accept("agent0", "as agent0-sdk publishes: skills beside the endpoint, an id as a number", ["Typical"],
  { type: TYPE, name: "a", description: "b", services: [{ name: "OASF", endpoint: "https://github.com/agntcy/oasf/", version: "v0.8.0", skills: ["s"], domains: [] }], registrations: [{ agentId: 7, agentRegistry: registries.base }], supportedTrust: ["reputation"], active: true, x402Support: false },
  ["agent-id-number $.registrations[0].agentId"],
  { type: TYPE, name: "a", description: "b", services: [{ name: "OASF", endpoint: "https://github.com/agntcy/oasf/", version: "v0.8.0", skills: ["s"], domains: [] }], registrations: [{ agentId: "7", agentRegistry: registries.base }], supportedTrust: ["reputation"], active: true, x402Support: false }, []);
accept("least", "an object with nothing in it is read; it is not written", ["Empty"], {}, [], { refused: "$.type missing" }, []);
accept("other-type", "another type is read; it is not written", ["Writer"], edit(current, { type: "agent" }), [], { refused: "$.type name" });
accept("no-name", "nor is a file without a name", ["Writer"], edit(current, { name: "" }), [], { refused: "$.name missing" });

refuse("array", "a list", ["Shape"], "[]", "$", "type");
refuse("duplicate-key", "one key twice (R22)", ["DuplicateKey"], '{"name":"a","name":"b"}', "$", "duplicate-key");
refuse("services-conflict", "both names, two contents", ["Conflict"], { ...current, endpoints: [] }, "$.endpoints", "conflict");
refuse("x402-conflict", "two answers to one question", ["Conflict"], { ...current, x402support: false }, "$.x402support", "conflict");
refuse("trust-conflict", "two lists", ["Conflict"], { ...current, supportedTrusts: [] }, "$.supportedTrusts", "conflict");
refuse("service-without-endpoint", "a service that is nowhere", ["Shape"], edit(current, { "services.1.endpoint": undefined }), "$.services[1].endpoint", "missing");
refuse("service-without-name", "a service without a kind", ["Shape"], edit(current, { "services.1.name": undefined }), "$.services[1].name", "missing");
refuse("service-text", "a service is an object", ["Shape"], edit(current, { "services.0": "https://agent.example" }), "$.services[0]", "type");
refuse("services-object", "services are a list", ["Shape"], edit(current, { services: { MCP: "https://agent.example" } }), "$.services", "type");
refuse("name-number", "a name is text", ["Shape"], edit(current, { name: 1 }), "$.name", "type");
refuse("x402-text", "a yes in words", ["Shape"], edit(current, { x402Support: "true" }), "$.x402Support", "type");
refuse("id-missing", "a registration without an id", ["Shape"], edit(current, { "registrations.0.agentId": undefined }), "$.registrations[0].agentId", "missing");
refuse("id-2^53", "a number beyond 2^53 - 1 (R22)", ["Boundary"], JSON.stringify(current).replace('"agentId":"42"', '"agentId":9007199254740993'), "$.registrations[1].agentId", "integer");
refuse("registry-without-chain", "an address alone", ["Shape"], edit(current, { "registrations.1.agentRegistry": evm.identityRegistry }), "$.registrations[1].agentRegistry", "account-id");
for (const field of ["publicKey", "algorithm", "validFrom", "validUntil"]) refuse(`signer-without-${field}`, "X402 requires it", ["Shape"], edit(current, { [`signers.0.${field}`]: undefined }), `$.signers[0].${field}`, "missing");
refuse("signer-role", "an algorithm that X402 has not", ["Shape"], edit(current, { "signers.0.algorithm": "Ed25519" }), "$.signers[0].algorithm", "name");
refuse("signer-key-of-another-algorithm", "a secp256k1 key labelled Ed25519", ["Conflict"], edit(current, { "signers.1.algorithm": "ed25519" }), "$.signers[1].publicKey", "hex");
refuse("signer-key-small-order", "a key for which anybody can sign", ["SmallOrder"], edit(current, { "signers.0.publicKey": `01${"00".repeat(31)}` }), "$.signers[0].publicKey", "public-key");
refuse("signer-fraction", "half a second", ["Number"], edit(current, { "signers.0.validFrom": 1.5 }), "$.signers[0].validFrom", "integer");
refuse("signer-negative", "a time before 1970", ["Boundary"], edit(current, { "signers.0.validFrom": -1 }), "$.signers[0].validFrom", "range");
refuse("signer-date", "a date in words", ["Shape"], edit(current, { "signers.0.validUntil": "2026-01-26T12:00:00Z" }), "$.signers[0].validUntil", "type");
