// The salts, hashes of the creation code and CREATE2 addresses of a deployment, by viem. The golden file is what
// concord deploy is held to; CONCORD_BLESS=1 writes it anew, from viem and never from concord deploy.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { encodeDeployData, getContractAddress, keccak256, toHex } from "viem";

const ROOT = new URL("../../../", import.meta.url);
const GOLDEN = new URL("deploy/tests/evm/addresses.json", ROOT);
const PROXY = "0x4e59b44847b379578588920cA78FbF26c0B4956C";

function artifact(name) {
  return JSON.parse(fs.readFileSync(new URL(`contracts/out/${name}.sol/${name}.json`, ROOT), "utf8"));
}

function contract(text, name, args) {
  const { abi, bytecode } = artifact(name);
  const salt = keccak256(toHex(`${text}/${name}`));
  const initcodeHash = keccak256(encodeDeployData({ abi, bytecode: bytecode.object, args }));
  const address = getContractAddress({ opcode: "CREATE2", from: PROXY, salt, bytecodeHash: initcodeHash });
  return { salt, initcodeHash, address };
}

function deployment(text) {
  const IdentityRegistry = contract(text, "IdentityRegistry", []);
  const { address } = IdentityRegistry;
  return {
    IdentityRegistry,
    ReputationRegistry: contract(text, "ReputationRegistry", [address]),
    AuthorizedReputationRegistry: contract(text, "AuthorizedReputationRegistry", [address, false]),
    ValidationRegistry: contract(text, "ValidationRegistry", [address]),
  };
}

test("the golden addresses are viem's", () => {
  const actual = { concord: deployment("concord"), another: deployment("another") };
  if (process.env.CONCORD_BLESS) fs.writeFileSync(GOLDEN, `${JSON.stringify(actual, null, 2)}\n`);
  assert.deepEqual(JSON.parse(fs.readFileSync(GOLDEN, "utf8")), actual);
});
