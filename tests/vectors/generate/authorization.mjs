// FeedbackAuth under all its names, its blob, and the other messages that registries check.
// Oracles: viem for EIP-712, EIP-191, ABI and packed encodings; @noble/hashes for Concord's own messages.
import assert from "node:assert/strict";
import { keccak_256 } from "@noble/hashes/sha3.js";
import { base58 } from "@scure/base";
import {
  concat, domainSeparator, encodeAbiParameters, encodePacked, getAddress, hashMessage, hashTypedData, keccak256, parseAbiParameters,
} from "viem";
import { privateKeyToAccount, sign } from "viem/accounts";
import { bytes, hex, integer, join, utf8 } from "./bytes.mjs";
import { decode58, evm, svm } from "./actors.mjs";
import { VectorFile } from "./vector_file.mjs";

const packages = ["viem", "@noble/hashes", "@scure/base"];
const MAX_UINT256 = 2n ** 256n - 1n;

const FIELDS = [
  { name: "agentId", type: "uint256" },
  { name: "clientAddress", type: "address" },
  { name: "indexLimit", type: "uint64" },
  { name: "expiry", type: "uint256" },
  { name: "chainId", type: "uint256" },
  { name: "identityRegistry", type: "address" },
  { name: "signerAddress", type: "address" },
];
const values = (a) => [BigInt(a.agent_id), a.client_address, BigInt(a.index_limit), BigInt(a.expiry), BigInt(a.chain_id), a.identity_registry, a.signer_address].map((v) => (typeof v === "string" ? getAddress(v.toLowerCase()) : v));
const domain = (name, a) => ({ name, version: "1", chainId: BigInt(a.chain_id), verifyingContract: getAddress(a.verifying_contract.toLowerCase()) });
const abi = (a) => encodeAbiParameters(FIELDS, values(a));

function typedDigest(a, fields) {
  const message = Object.fromEntries(fields.map(({ name }, n) => [name, values(a)[n]]));
  return hashTypedData({ domain: domain("ERC8004ReputationRegistry", a), types: { FeedbackAuth: fields }, primaryType: "FeedbackAuth", message });
}

const digests = {
  eip712: (a) => typedDigest(a, FIELDS),
  "eip712-fs": (a) => typedDigest(a, FIELDS.slice(0, 5)),
  eip191: (a) => hashMessage({ raw: keccak256(abi(a)) }),
  packed: (a) => keccak256(encodePacked(FIELDS.map(({ type }) => type), values(a))),
};

const keccak = (...parts) => keccak_256(join(...parts));
const chainWord = (text) => keccak(utf8(text));

function svmMessage(a) {
  const words = [decode58(a.agent_id), decode58(a.client_address), integer(a.index_limit), integer(a.expiry), chainWord(a.chain_id), decode58(a.identity_registry), decode58(a.signer_address)];
  return hex(join(utf8("ERC8004/FEEDBACK-AUTH/v1"), keccak(...words)));
}

const typical = {
  agent_id: "42", client_address: evm.client.address, index_limit: 5, expiry: 1900000000, chain_id: 84532,
  identity_registry: evm.identityRegistry, signer_address: evm.owner.address,
};
const largest = {
  agent_id: MAX_UINT256.toString(), client_address: `0x${"ff".repeat(20)}`, index_limit: (2n ** 64n - 1n).toString(), expiry: MAX_UINT256.toString(),
  chain_id: MAX_UINT256.toString(), identity_registry: `0x${"ff".repeat(20)}`, signer_address: `0x${"ff".repeat(20)}`,
};
const smallest = { agent_id: "0", client_address: `0x${"00".repeat(20)}`, index_limit: 0, expiry: 0, chain_id: 0, identity_registry: `0x${"00".repeat(20)}`, signer_address: `0x${"00".repeat(20)}` };
const svmTypical = { agent_id: svm.mint, client_address: svm.client, index_limit: 5, expiry: 1900000000, chain_id: svm.devnet, identity_registry: svm.program, signer_address: svm.owner };

{
  const file = new VectorFile("feedback_auth", {
    description: "FeedbackAuth's digest or message in each scheme (R5, R6, R9, R10). eip712-fs and packed are accepted nowhere.",
    packages,
  });
  const contract = { verifying_contract: evm.reputationRegistry };
  const measured = {
    eip712: "0x6ca1e04f7b076e6662687904a846344937a3d941a9d97945570755a7e0b074a4",
    eip191: "0xa1932d92cdbca8517f072ee66647404017533e7a2d593cc9e7198b48de525827",
    packed: "0xb9e1779732bf6f83fd0f3e68c066847a27e8d949d24523fd1961346af4dd5ada",
  };
  for (const scheme of Object.keys(digests)) {
    const typed = scheme.startsWith("eip712") ? contract : {};
    const add = (id, comment, flags, change) => {
      const args = { scheme, ...typical, ...typed, ...change };
      file.ok(`${scheme}-${id}`, comment, flags, args, { digest: digests[scheme](args) });
    };
    if (measured[scheme]) assert.equal(digests[scheme]({ ...typical, ...typed }), measured[scheme]);
    add("typical", "the canonical registries of Base Sepolia, anvil's first two accounts", measured[scheme] ? ["Typical", "Measured"] : ["Typical"], {});
    add("largest", "every field at its maximum", ["Boundary"], { ...largest, ...(typed.verifying_contract && { verifying_contract: `0x${"ff".repeat(20)}` }) });
    add("smallest", "every field zero", ["Boundary"], smallest);
    add("lower-case", "addresses are read in either case", ["Unchecked"], { client_address: typical.client_address.toLowerCase(), signer_address: typical.signer_address.toLowerCase() });
    for (const [field, value] of [
      ["agent_id", "43"], ["client_address", evm.owner.address], ["index_limit", 6], ["expiry", 1900000001], ["chain_id", 8453],
      ["identity_registry", evm.reputationRegistry], ["signer_address", evm.client.address],
    ]) add(`other-${field}`, "one field differs", ["Typical"], { [field]: value });
    if (typed.verifying_contract) add("other-verifying-contract", "another reputation registry on the same identity registry", ["Typical"], { verifying_contract: evm.identityRegistry });
    const refuse = (id, comment, flags, change, errorClass) => file.error(`${scheme}-${id}`, comment, flags, { scheme, ...typical, ...typed, ...change }, errorClass);
    refuse("index-limit-2-64", "one more than a uint64 holds", ["Request", "Boundary"], { index_limit: (2n ** 64n).toString() }, "NumberOutOfRange");
    refuse("agent-id-2-256", "one more than a uint256 holds", ["Boundary"], { agent_id: (2n ** 256n).toString() }, "NumberOutOfRange");
    refuse("short-address", "19 bytes", ["Shape"], { client_address: `0x${"11".repeat(19)}` }, "MalformedAddress");
    refuse("base58-address", "a Solana key on an EVM scheme", ["Shape"], { signer_address: svm.owner }, "MalformedAddress");
  }

  const addSvm = (id, comment, flags, change) => {
    const args = { scheme: "svm", ...svmTypical, ...change };
    file.ok(`svm-${id}`, comment, flags, args, { message: svmMessage(args) });
  };
  addSvm("typical", "devnet", ["Typical"], {});
  addSvm("mainnet", "another cluster", ["Typical"], { chain_id: svm.mainnet });
  addSvm("localnet", "the cluster name of local tests", ["Typical"], { chain_id: svm.localnet });
  addSvm("largest", "index limit and expiry at the maximum of a u64", ["Boundary"], { index_limit: (2n ** 64n - 1n).toString(), expiry: (2n ** 64n - 1n).toString() });
  addSvm("smallest", "index limit and expiry zero", ["Boundary"], { index_limit: 0, expiry: 0 });
  addSvm("zero-keys", "keys of 32 zero bytes", ["Boundary"], { agent_id: "1".repeat(32), client_address: "1".repeat(32), identity_registry: "1".repeat(32), signer_address: "1".repeat(32) });
  for (const [field, value] of [["agent_id", svm.owner], ["client_address", svm.owner], ["index_limit", 6], ["expiry", 1900000001], ["identity_registry", svm.owner], ["signer_address", svm.client]]) {
    addSvm(`other-${field}`, "one field differs", ["Typical"], { [field]: value });
  }
  const refuseSvm = (id, comment, flags, change, errorClass) => file.error(`svm-${id}`, comment, flags, { scheme: "svm", ...svmTypical, ...change }, errorClass);
  refuseSvm("expiry-2-64", "expiry is a u64 on Solana; larger ones are refused when made (R9)", ["Request", "Boundary"], { expiry: (2n ** 64n).toString() }, "NumberOutOfRange");
  refuseSvm("index-limit-2-64", "one more than a u64 holds", ["Request", "Boundary"], { index_limit: (2n ** 64n).toString() }, "NumberOutOfRange");
  refuseSvm("evm-address", "an EVM address on Solana", ["Shape"], { client_address: evm.client.address }, "MalformedAddress");
  refuseSvm("key-31", "base58 of 31 bytes", ["Shape", "Truncated"], { agent_id: base58.encode(new Uint8Array(31).fill(7)) }, "MalformedAddress");
  refuseSvm("key-33", "base58 of 33 bytes", ["Shape", "TooLong"], { agent_id: base58.encode(new Uint8Array(33).fill(7)) }, "MalformedAddress");
  refuseSvm("not-base58", "a letter that base58 does not have", ["Shape"], { agent_id: `0${svm.mint.slice(1)}` }, "MalformedAddress");
  refuseSvm("chain-id", "a cluster reference of 33 characters", ["Shape"], { chain_id: `${svm.devnet}1` }, "MalformedChainId");

  const x84 = (a) => ({ message: hex(join(decode58(a.client_address), decode58(a.agent_id))) });
  for (const [id, args] of [["typical", { agent_id: svm.mint, client_address: svm.client }], ["swapped", { agent_id: svm.client, client_address: svm.mint }]]) {
    file.ok(`x84-${id}`, "reviewer, then mint: 64 bytes without a hash", ["Typical"], { scheme: "x84", ...args }, x84(args));
  }
  file.error("x84-extra", "x84 has two fields", ["Request"], { scheme: "x84", ...svmTypical }, "BadRequest");
  file.error("unknown-scheme", "a scheme that does not exist", ["Request"], { scheme: "eip2612", ...typical }, "BadRequest");
  const { signer_address: _, ...six } = typical;
  file.error("missing-field", "six of the seven fields", ["Request"], { scheme: "eip191", ...six }, "BadRequest");
  file.error("missing-contract", "EIP-712 needs a verifying contract", ["Request"], { scheme: "eip712", ...typical }, "BadRequest");
}

const digest = digests.eip191(typical);
const account = privateKeyToAccount(evm.owner.secret);
assert.equal(account.address, evm.owner.address);
const signature = await sign({ hash: digest, privateKey: evm.owner.secret, to: "hex" });
assert.equal(signature, "0xc0c1b26d675fc4ee6f486d6d7f6441a6f9d93774d54b6971e7249984d3908ca332b16eccb911a2b05b511cf16d55de1d16f65f7692323780025a8e01b6dc6baa1c");
const canonicalFields = (a) => ({
  agent_id: String(a.agent_id), client_address: a.client_address.toLowerCase(), index_limit: String(a.index_limit), expiry: String(a.expiry),
  chain_id: String(a.chain_id), identity_registry: a.identity_registry.toLowerCase(), signer_address: a.signer_address.toLowerCase(),
});

{
  const encode = new VectorFile("feedback_auth_blob", { description: "abi.encode(fields) ‖ signature (R6).", packages });
  const decode = new VectorFile("feedback_auth_blob_decode", { description: "The fields and the signature of a blob: at least 224 bytes, no dirty word (R6).", packages });
  const both = (id, comment, flags, args, sig) => {
    const blob = concat([abi(args), sig]);
    encode.ok(id, comment, flags, { ...args, signature: sig }, blob);
    decode.ok(id, comment, flags, { blob }, { ...canonicalFields(args), signature: sig });
  };
  both("eoa", "289 bytes: a key's signature, v 27 or 28 as contracts take it", ["Typical", "Measured"], typical, signature);
  assert.equal(bytes(encode.vectors[0].ok).length, 289);
  both("erc1271-empty", "an ERC-1271 owner's signature may be empty: 224 bytes", ["Empty", "Boundary"], typical, "0x");
  both("erc1271-long", "an ERC-1271 owner's signature may have any length", ["Typical"], typical, `0x${"5a".repeat(300)}`);
  both("largest", "every field at its maximum", ["Boundary"], largest, signature);
  both("smallest", "every field zero", ["Boundary"], smallest, signature);

  const blob = bytes(concat([abi(typical), signature]));
  decode.error("empty", "no blob at all", ["Empty"], { blob: "0x" }, "AuthMissing");
  for (const length of [1, 32, 223]) decode.error(`length-${length}`, "cut inside the seven words", ["Truncated"], { blob: hex(blob.slice(0, length)) }, "AuthMalformed");
  const dirty = (word, at) => { const copy = blob.slice(); copy[32 * word + at] = 1; return hex(copy); };
  for (const [word, at, name] of [[1, 0, "client-first"], [1, 11, "client-last"], [2, 0, "index-limit-first"], [2, 23, "index-limit-last"], [5, 0, "registry-first"], [5, 11, "registry-last"], [6, 0, "signer-first"], [6, 11, "signer-last"]]) {
    decode.error(`dirty-${name}`, "the byte beside the type's highest, or the word's first, is not zero", ["DirtyWord"], { blob: dirty(word, at) }, "AuthMalformed");
  }
  for (const word of [0, 3, 4]) {
    const args = { ...typical, [["agent_id", , , "expiry", "chain_id"][word]]: (BigInt([42, , , 1900000000, 84532][word]) + 2n ** 248n).toString() };
    both(`clean-word-${word}`, "a uint256 uses the whole word", ["Boundary"], args, signature);
    assert.equal(encode.vectors.at(-1).ok, dirty(word, 0));
  }
}

{
  const file = new VectorFile("feedback_auth_eoa_blob_decode", {
    description: "A blob whose signer has no code: exactly 289 bytes (R6).",
    packages,
  });
  const blob = concat([abi(typical), signature]);
  file.ok("length-289", "seven words and r, s, v", ["Typical"], { blob }, { ...canonicalFields(typical), signature });
  file.error("empty", "no blob at all", ["Empty"], { blob: "0x" }, "AuthMissing");
  for (const [length, flag] of [[224, "Truncated"], [288, "Truncated"], [290, "TooLong"], [321, "TooLong"]]) {
    const padded = hex(join(bytes(blob), new Uint8Array(64)).slice(0, length));
    file.error(`length-${length}`, "not 289 bytes", [flag], { blob: padded }, "AuthMalformed");
  }
}

{
  const file = new VectorFile("payment_proof", { description: "What a facilitator signs: \"ERC8004/PAYMENT-PROOF/v2\" ‖ keccak256(eleven words) (R13).", packages });
  const base = {
    agent_id: svm.mint, payer: svm.client, payee: svm.payee, token: svm.token, amount: 1000000, task_ref: `${svm.devnet}:${svm.signature}`,
    paid_at: 1760000000, expiry: 1900000000, chain_id: svm.devnet, program_id: svm.program, facilitator: svm.facilitator,
  };
  const dedupeKey = (task) => (task.startsWith("eip155:") ? task.toLowerCase() : task);
  const message = (p) => {
    const words = [decode58(p.agent_id), decode58(p.payer), decode58(p.payee), decode58(p.token), integer(p.amount), keccak(utf8(dedupeKey(p.task_ref))), integer(p.paid_at), integer(p.expiry), chainWord(p.chain_id), decode58(p.program_id), decode58(p.facilitator)];
    return { message: hex(join(utf8("ERC8004/PAYMENT-PROOF/v2"), keccak(...words))) };
  };
  const add = (id, comment, flags, change) => { const args = { ...base, ...change }; file.ok(id, comment, flags, args, message(args)); };
  add("typical", "one USDC on devnet", ["Typical"], {});
  const largest = (2n ** 64n - 1n).toString();
  add("largest", "amount and both times at the maximum of a u64", ["Boundary"], { amount: largest, paid_at: largest, expiry: largest });
  add("zero-amount", "the message does not judge the amount; the program does", ["Unchecked"], { amount: 0 });
  add("paid-after-expiry", "the message does not compare the times; the program does", ["Unchecked"], { paid_at: 1900000001 });
  add("times-exchanged", "each time has its own place", ["Ordering"], { paid_at: 1900000000, expiry: 1760000000 });
  add("other-time", "one field differs", ["Typical"], { paid_at: 1760000001 });
  add("paid-on-evm", "a payment that settled on Base", ["Typical"], { task_ref: `eip155:8453:0x${"ab".repeat(32)}` });
  add("paid-on-evm-upper-case", "the same payment: the dedupe key is lower case", ["CaseSensitive"], { task_ref: `eip155:8453:0x${"AB".repeat(32)}` });
  assert.equal(file.vectors.at(-1).ok.message, file.vectors.at(-2).ok.message);
  for (const field of ["agent_id", "payer", "payee", "token", "program_id", "facilitator"]) add(`other-${field}`, "one field differs", ["Typical"], { [field]: svm.validator });
  add("other-chain", "one field differs", ["Typical"], { chain_id: svm.mainnet });
  const refuse = (id, comment, flags, change, errorClass) => file.error(id, comment, flags, { ...base, ...change }, errorClass);
  refuse("amount-2-64", "one more than a u64 holds", ["Request", "Boundary"], { amount: (2n ** 64n).toString() }, "NumberOutOfRange");
  refuse("paid-at-2-64", "one more than a u64 holds", ["Request", "Boundary"], { paid_at: (2n ** 64n).toString() }, "NumberOutOfRange");
  refuse("expiry-2-64", "one more than a u64 holds", ["Request", "Boundary"], { expiry: (2n ** 64n).toString() }, "NumberOutOfRange");
  refuse("task-ref", "a dedupe key needs the chain's own form of a transaction", ["Shape"], { task_ref: `${svm.devnet}:sig` }, "MalformedTaskRef");
  refuse("payer", "an EVM address", ["Shape"], { payer: evm.client.address }, "MalformedAddress");
  refuse("chain-id", "no reference", ["Shape"], { chain_id: "solana" }, "MalformedChainId");
}

{
  const file = new VectorFile("validation_request_hash", { description: "keccak256(\"ERC8004/VALIDATION-REQ/v1\" ‖ keccak256(six words)) (R20).", packages });
  const onEvm = { chain_id: "eip155:84532", registry: evm.identityRegistry, agent_id: "42", validator: evm.validator, payload_hash: `0x${"11".repeat(32)}`, nonce: 7 };
  const onSvm = { chain_id: svm.devnet, registry: svm.program, agent_id: svm.mint, validator: svm.validator, payload_hash: `0x${"11".repeat(32)}`, nonce: 7 };
  const hash = (v) => {
    const key = (text) => (v.chain_id.startsWith("solana:") ? decode58(text) : integer(text));
    return hex(keccak(utf8("ERC8004/VALIDATION-REQ/v1"), keccak(chainWord(v.chain_id), key(v.registry), key(v.agent_id), key(v.validator), bytes(v.payload_hash), integer(v.nonce))));
  };
  const add = (id, comment, flags, base, change) => { const args = { ...base, ...change }; file.ok(id, comment, flags, args, hash(args)); };
  for (const [chain, base, other] of [["evm", onEvm, { registry: evm.reputationRegistry, agent_id: "43", validator: evm.owner.address }], ["svm", onSvm, { registry: svm.owner, agent_id: svm.owner, validator: svm.owner }]]) {
    add(`${chain}-typical`, "a request", ["Typical"], base, {});
    add(`${chain}-nonce-max`, "the nonce is a uint256", ["Boundary"], base, { nonce: MAX_UINT256.toString() });
    add(`${chain}-zero`, "payload hash and nonce zero", ["Boundary"], base, { payload_hash: `0x${"00".repeat(32)}`, nonce: 0 });
    for (const [field, value] of Object.entries(other)) add(`${chain}-other-${field}`, "one field differs", ["Typical"], base, { [field]: value });
    file.error(`${chain}-nonce-2-256`, "one more than a uint256 holds", ["Boundary"], { ...base, nonce: (2n ** 256n).toString() }, "NumberOutOfRange");
    file.error(`${chain}-short-payload`, "31 bytes", ["Request", "Truncated"], { ...base, payload_hash: `0x${"11".repeat(31)}` }, "BadRequest");
  }
  file.error("evm-base58", "a Solana key on an EVM chain", ["Shape"], { ...onEvm, validator: svm.validator }, "MalformedAddress");
  file.error("svm-hex", "an EVM address on Solana", ["Shape"], { ...onSvm, validator: evm.validator }, "MalformedAddress");
  file.error("chain-id", "an upper-case namespace", ["Shape"], { ...onEvm, chain_id: "EIP155:84532" }, "MalformedChainId");
}

{
  const file = new VectorFile("agent_wallet_set", { description: "EIP-712 digest of AgentWalletSet, domain ERC8004IdentityRegistry / 1 (R3).", packages });
  const types = { AgentWalletSet: [{ name: "agentId", type: "uint256" }, { name: "newWallet", type: "address" }, { name: "owner", type: "address" }, { name: "deadline", type: "uint256" }] };
  const hash = (a) => ({
    digest: hashTypedData({
      domain: domain("ERC8004IdentityRegistry", a), types, primaryType: "AgentWalletSet",
      message: { agentId: BigInt(a.agent_id), newWallet: getAddress(a.new_wallet), owner: getAddress(a.owner), deadline: BigInt(a.deadline) },
    }),
  });
  const base = { agent_id: "42", new_wallet: evm.client.address, owner: evm.owner.address, deadline: 1760000200, chain_id: 84532, verifying_contract: evm.identityRegistry };
  const add = (id, comment, flags, change) => { const args = { ...base, ...change }; file.ok(id, comment, flags, args, hash(args)); };
  add("typical", "the digest that the canonical contract accepted", ["Measured"], {});
  assert.equal(file.vectors[0].ok.digest, "0x9a48b5a854359f35bcddcd7887db1efa9cc8ef6180ec49a0993d97353baa9247");
  add("largest", "agent id, deadline and chain id at their maximum", ["Boundary"], { agent_id: MAX_UINT256.toString(), deadline: MAX_UINT256.toString(), chain_id: MAX_UINT256.toString() });
  add("smallest", "everything zero", ["Boundary"], { agent_id: 0, new_wallet: `0x${"00".repeat(20)}`, owner: `0x${"00".repeat(20)}`, deadline: 0, chain_id: 0, verifying_contract: `0x${"00".repeat(20)}` });
  for (const [field, value] of [["agent_id", "43"], ["new_wallet", evm.owner.address], ["owner", evm.client.address], ["deadline", 1760000201], ["chain_id", 8453], ["verifying_contract", evm.reputationRegistry]]) {
    add(`other-${field}`, "one field differs", ["Typical"], { [field]: value });
  }
  file.error("deadline-2-256", "one more than a uint256 holds", ["Boundary"], { ...base, deadline: (2n ** 256n).toString() }, "NumberOutOfRange");
  file.error("wallet", "21 bytes", ["Shape", "TooLong"], { ...base, new_wallet: `0x${"11".repeat(21)}` }, "MalformedAddress");
}

{
  const file = new VectorFile("eip712_domain", { description: "EIP-712 domain separators, and a digest from separator and struct hash.", packages });
  const add = (id, comment, flags, args, expected) => {
    const separator = domainSeparator({ domain: { name: args.name, version: args.version, chainId: BigInt(args.chain_id), verifyingContract: args.verifying_contract } });
    if (expected) assert.equal(separator, expected, id);
    file.ok(id, comment, flags, args, separator);
  };
  const identity = { name: "ERC8004IdentityRegistry", version: "1" };
  const mainnet = "0x8004A169FB4a3325136EB29fA0ceB6D2e539a432";
  add("base-sepolia", "read from the canonical contract", ["Measured"], { ...identity, chain_id: "84532", verifying_contract: evm.identityRegistry }, "0xd7e6057e6aa5ec8e6d96d7194b9f4326106e0f233ab470f9c1b1f19726fcc6c0");
  add("sepolia", "read from the canonical contract", ["Measured"], { ...identity, chain_id: "11155111", verifying_contract: evm.identityRegistry }, "0x4df9eabda5b6ac3ea8e1409dbeedcd742a92769edeb22bb6f8d66475d06f3a07");
  add("anvil", "read from the canonical contract", ["Measured"], { ...identity, chain_id: "31337", verifying_contract: evm.identityRegistry }, "0xaec083a89beb055aa6a6efeef28a25f3e06d0f76ea2f2ebcebb6f70a881179ed");
  add("base", "read from the canonical contract", ["Measured"], { ...identity, chain_id: "8453", verifying_contract: mainnet }, "0x3c574eb86858114261f06b40574c0b741b4f10df45c714346723cdaf021f2d45");
  add("ethereum", "read from the canonical contract", ["Measured"], { ...identity, chain_id: "1", verifying_contract: mainnet }, "0xaf548694a34be1ed51ad7aba41462666ec92faab9e465c70a9ec2bc8ecfbd156");
  add("reputation", "the reputation registry's domain", ["Typical"], { name: "ERC8004ReputationRegistry", version: "1", chain_id: "84532", verifying_contract: evm.reputationRegistry });
  add("ether-mail", "EIP-712's own example", ["Published"], { name: "Ether Mail", version: "1", chain_id: "1", verifying_contract: "0xCcCCccccCCCCcCCCCCCcCcCccCcCCCcCcccccccC" }, "0xf2cee375fa42b42143804025fc449deafd50cc031ca257e0b194a650a912090f");
}
