// One digest for the same fields (R3, R6): viem's, `forge eip712`'s, `cast wallet sign`'s, `concord oracle`'s, and the one
// that the deployed contract checks.
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { after, before, test } from "node:test";
import {
  concat, createWalletClient, encodeAbiParameters, hashMessage, hashTypedData, http, keccak256, maxUint256, maxUint64,
  pad, toHex, zeroHash,
} from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { foundry } from "viem/chains";

import { ADDRESSES, CHAIN_ID, KEYS, startChain } from "./local_chain.mjs";

const ROOT = new URL("../../../", import.meta.url);
const AGENT_ID = 2n;
const SCORE = 87;
const TAG = zeroHash;
const TYPES = {
  FeedbackAuth: fields(
    "uint256 agentId,address clientAddress,uint64 indexLimit,uint256 expiry,uint256 chainId,address identityRegistry,address signerAddress",
  ),
  AgentWalletSet: fields("uint256 agentId,address newWallet,address owner,uint256 deadline"),
  EIP712Domain: fields("string name,string version,uint256 chainId,address verifyingContract"),
};
// Index limit and expiry (seconds): the least that does, something ordinary, the most there is.
const GRANTS = [
  [1n, 4_000_000_000n],
  [2n ** 32n, 2n ** 40n],
  [maxUint64, maxUint256],
];

const owner = privateKeyToAccount(KEYS.owner);
let chain, identity, reputation, typeHashes;

function fields(list) {
  return list.split(",").map((field) => {
    const [type, name] = field.split(" ");
    return { name, type };
  });
}

function run(program, args, options = {}) {
  return execFileSync(program, args, { cwd: ROOT, encoding: "utf8", stdio: ["pipe", "pipe", "inherit"], ...options });
}

/** What forge makes of a file's structs; in a folder of its own, as it writes artifacts without bytecode. */
function forgeTypeHashes(file) {
  const env = { ...process.env, FOUNDRY_OUT: "contracts/cache/eip712/out", FOUNDRY_CACHE_PATH: "contracts/cache/eip712" };
  const printed = JSON.parse(run("forge", ["eip712", "--json", file], { env }));
  return Object.fromEntries(printed.map(({ path, hash }) => [path, hash]));
}

const word = (value) => (typeof value === "string" ? pad(value) : toHex(value, { size: 32 }));
const domainOf = (name, contract) => ({ name, version: "1", chainId: CHAIN_ID, verifyingContract: contract.address });

function forgeDigest({ domain, primaryType, message }) {
  const name = keccak256(toHex(domain.name));
  const version = keccak256(toHex(domain.version));
  const separator = keccak256(
    concat([typeHashes.EIP712Domain, name, version, word(BigInt(CHAIN_ID)), word(domain.verifyingContract)]),
  );
  const values = TYPES[primaryType].map((field) => word(message[field.name]));
  return keccak256(concat(["0x1901", separator, keccak256(concat([typeHashes[primaryType], ...values]))]));
}

function castSignature({ domain, primaryType, message }, key) {
  const text = (value) => (typeof value === "bigint" ? String(value) : value);
  const plain = Object.fromEntries(Object.entries(message).map(([name, value]) => [name, text(value)]));
  const types = { [primaryType]: TYPES[primaryType], EIP712Domain: TYPES.EIP712Domain };
  const document = JSON.stringify({ types, primaryType, domain, message: plain });
  return run("cast", ["wallet", "sign", "--private-key", key, "--data", document]).trim();
}

// With other packages chosen than scripts/test has, cargo would compile again.
const CONCORD = process.env.CONCORD_BINARY
  ? [process.env.CONCORD_BINARY]
  : ["cargo", "run", "--locked", "--quiet", "-p", "concord", "--"];

function oracleDigest(fn, request) {
  const line = JSON.stringify({ id: 1, fn, chain_id: CHAIN_ID, ...request });
  const [program, ...command] = CONCORD;
  const answer = JSON.parse(run(program, [...command, "oracle"], { input: `${line}\n` }));
  assert.ok(answer.ok, JSON.stringify(answer));
  return answer.ok.digest;
}

function authOf([indexLimit, expiry]) {
  const signed = { agentId: AGENT_ID, clientAddress: ADDRESSES.client, indexLimit, expiry, chainId: BigInt(CHAIN_ID) };
  const message = { ...signed, identityRegistry: identity.address, signerAddress: owner.address };
  const domain = domainOf("ERC8004ReputationRegistry", reputation);
  return { domain, types: { FeedbackAuth: TYPES.FeedbackAuth }, primaryType: "FeedbackAuth", message };
}

function oracleAuthDigest(scheme, { message }) {
  return oracleDigest("feedback_auth", {
    scheme,
    agent_id: String(message.agentId),
    client_address: message.clientAddress,
    index_limit: String(message.indexLimit),
    expiry: String(message.expiry),
    identity_registry: message.identityRegistry,
    signer_address: message.signerAddress,
    ...(scheme === "eip712" && { verifying_contract: reputation.address }),
  });
}

const encoded = ({ message }) => encodeAbiParameters(TYPES.FeedbackAuth, TYPES.FeedbackAuth.map(({ name }) => message[name]));

/** Whether the contract accepts the owner's signature over `digest`: null, or the name of the error. */
async function refusal(typed, digest, contract = reputation) {
  const blob = concat([encoded(typed), await owner.sign({ hash: digest })]);
  const args = [AGENT_ID, SCORE, TAG, TAG, "", zeroHash, blob];
  return errorOf(chain.reader.simulateContract({ ...contract, functionName: "giveFeedback", args, account: ADDRESSES.client }));
}

async function errorOf(call) {
  try {
    await call;
    return null;
  } catch (error) {
    const { data } = error.walk((cause) => cause.data?.errorName);
    return [data.errorName, ...(data.args ?? [])];
  }
}

before(async () => {
  chain = await startChain();
  identity = await chain.deploy("IdentityRegistry");
  reputation = await chain.deploy("AuthorizedReputationRegistry", [identity.address, true]);
  const sender = createWalletClient({ account: owner, chain: foundry, transport: http(chain.url) });
  for (let id = 1n; id <= AGENT_ID; ++id) {
    const hash = await sender.writeContract({ ...identity, functionName: "register", args: [] });
    await chain.reader.waitForTransactionReceipt({ hash });
  }
  typeHashes = forgeTypeHashes("tests/clients/agent0/typed_data.sol");
});
after(() => chain.stop());

test("forge hashes the contract's own struct as the one that is signed", () => {
  const { FeedbackAuth } = forgeTypeHashes("contracts/src/libraries/FeedbackAuths.sol");
  assert.equal(FeedbackAuth, typeHashes.FeedbackAuth);
});

test("FeedbackAuth as typed data has one digest, which the contract checks (R6)", async () => {
  for (const grant of GRANTS) {
    const typed = authOf(grant);
    const digest = hashTypedData(typed);
    assert.equal(forgeDigest(typed), digest);
    assert.equal(oracleAuthDigest("eip712", typed), digest);
    assert.equal(castSignature(typed, KEYS.owner), await owner.signTypedData(typed));
    assert.equal(await refusal(typed, digest), null);
    assert.deepEqual(await refusal(typed, toHex(BigInt(digest) ^ 1n, { size: 32 })), ["AuthBadSignature"]);
  }
});

test("FeedbackAuth in the first draft's form has one digest, which the contract checks where it is accepted (R6)", async () => {
  const strict = await chain.deploy("AuthorizedReputationRegistry", [identity.address, false]);
  for (const grant of GRANTS) {
    const typed = authOf(grant);
    const raw = keccak256(encoded(typed));
    const digest = hashMessage({ raw });
    assert.equal(oracleAuthDigest("eip191", typed), digest);
    const signature = run("cast", ["wallet", "sign", "--private-key", KEYS.owner, raw]).trim();
    assert.equal(signature, await owner.signMessage({ message: { raw } }));
    assert.equal(await refusal(typed, digest), null);
    assert.deepEqual(await refusal(typed, raw), ["AuthBadSignature"]);
    assert.deepEqual(await refusal(typed, digest, strict), ["AuthBadSignature"]);
  }
});

test("AgentWalletSet has one digest, which the contract names (R3)", async () => {
  const { timestamp } = await chain.reader.getBlock();
  for (const deadline of [timestamp + 60n, timestamp + 299n]) {
    const message = { agentId: AGENT_ID, newWallet: ADDRESSES.wallet, owner: owner.address, deadline };
    const domain = domainOf("ERC8004IdentityRegistry", identity);
    const typed = { domain, types: { AgentWalletSet: TYPES.AgentWalletSet }, primaryType: "AgentWalletSet", message };
    const digest = hashTypedData(typed);
    assert.equal(forgeDigest(typed), digest);
    const request = { agent_id: String(AGENT_ID), new_wallet: message.newWallet, owner: message.owner };
    const deadlines = { deadline: String(deadline), verifying_contract: identity.address };
    assert.equal(oracleDigest("agent_wallet_set", { ...request, ...deadlines }), digest);

    const set = (signature) =>
      errorOf(
        chain.reader.simulateContract({
          ...identity,
          functionName: "setAgentWallet",
          args: [AGENT_ID, message.newWallet, deadline, signature],
          account: owner.address,
        }),
      );
    assert.deepEqual(await set("0x"), ["WalletConsentMissing", ADDRESSES.wallet, digest]);
    assert.equal(await set(castSignature(typed, KEYS.wallet)), null);
  }
});
