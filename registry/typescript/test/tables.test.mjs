// The package's tables against the published files and the other packages.
import assert from "node:assert/strict";
import fs from "node:fs";
import { test } from "node:test";
import { encodeErrorResult, parseAbi, toFunctionSelector } from "viem";
import { formatAbiItem } from "viem/utils";
import * as registries from "../dist/index.js";

const ROOT = new URL("../../../", import.meta.url);
const readJson = (path) => JSON.parse(fs.readFileSync(new URL(path, ROOT), "utf8"));
const NAMES = ["IdentityRegistry", "ReputationRegistry", "AuthorizedReputationRegistry", "ValidationRegistry"];
const abiOf = (name) => registries[`${name[0].toLowerCase()}${name.slice(1)}Abi`];
// Raised by a constructor only, on constants of ours: no user can cause them (R25).
const WITHOUT_CLASS = ["InvalidShortString", "StringTooLong"];

test("the ABIs, selectors and interface description are the published ones", () => {
  for (const name of NAMES) assert.deepEqual(abiOf(name), readJson(`contracts/abi/${name}.json`), name);
  assert.deepEqual(registries.selectors, readJson("contracts/abi/selectors.json"));
  const idl = readJson("programs/agent-registry/idl/agent_registry.json");
  assert.deepEqual(registries.agentRegistryIdl, idl);
  assert.deepEqual(readJson("registry/typescript/dist/agent_registry.json"), idl);
});

test("every error of a contract has one class (R25)", () => {
  const errors = NAMES.flatMap((name) => abiOf(name).filter(({ type }) => type === "error"));
  for (const error of errors) {
    const data = `${toFunctionSelector(`function ${formatAbiItem(error)}`)}00`;
    const found = registries.errorClassOfRevert(data);
    assert.equal(found === undefined, WITHOUT_CLASS.includes(error.name), error.name);
  }
  const all = registries.errorClasses.flatMap(({ selectors }) => selectors);
  assert.equal(new Set(all).size, all.length);
});

test("a text of the canonical contracts has its class, and any other is a receiver's (R25)", () => {
  const abi = parseAbi(["error Error(string)"]);
  const classOf = (text) => registries.errorClassOfRevert(encodeErrorResult({ abi, errorName: "Error", args: [text] }))?.name;
  assert.equal(classOf("Self-feedback not allowed"), "SelfFeedback");
  assert.equal(classOf("index out of bounds"), "FeedbackNotFound");
  assert.equal(classOf("Already revoked"), "AlreadyRevoked");
  for (const text of ["", "paused", "already revoked", "Already revoked ", "x".repeat(10_000)]) assert.equal(classOf(text), "ReceiverRefused", text);
  assert.equal(Object.keys(registries.canonicalTexts).length, 19);
  const names = new Set(registries.errorClasses.map(({ name }) => name));
  for (const [text, name] of Object.entries(registries.canonicalTexts)) assert.ok(names.has(name) && classOf(text) === name, text);
});

test("every error of the program has one class (R25)", () => {
  for (const { name, code } of registries.agentRegistryIdl.errors) assert.ok(registries.errorClassOfProgram(code), name);
  const all = registries.errorClasses.flatMap(({ programCodes }) => programCodes);
  assert.equal(all.length, registries.agentRegistryIdl.errors.length);
});

test("the classes are those of @concord/canonical", () => {
  const list = fs.readFileSync(new URL("canonical/typescript/src/error-class.ts", ROOT), "utf8");
  const names = [...list.matchAll(/^  "(\w+)",$/gm)].map(([, name]) => name);
  assert.deepEqual(registries.errorClasses.map(({ name }) => name), names);
});

test("the same mistake has the same class on both chains", () => {
  const named = (name) => registries.agentRegistryIdl.errors.find((error) => error.name === name).code;
  const pairs = [
    ["ERC721NonexistentToken(uint256)", "AgentNotFound", "AgentNotFound"],
    ["AuthExpired(uint256,uint256)", "AuthExpired", "AuthExpired"],
    ["AuthWrongSigner(address,address)", "AuthWrongSigner", "AuthNotGranted"],
    ["ScoreOutOfRange(uint8)", "ScoreOutOfRange", "ScoreOutOfRange"],
    ["RequestExists(bytes32)", "RequestExists", "RequestExists"],
  ];
  for (const [solidity, program, expected] of pairs) {
    assert.equal(registries.errorClassOfRevert(toFunctionSelector(`function ${solidity}`)).name, expected);
    assert.equal(registries.errorClassOfProgram(named(program)).name, expected);
  }
});

test("errors of frameworks and of the runtime have classes", () => {
  assert.equal(registries.errorClassOfFramework("Ed25519", 2).name, "AuthNotGranted"); // variance 1
  assert.equal(registries.errorClassOfFramework("Anchor", 3010).name, "SignatureMissing");
  assert.equal(registries.errorClassOfFramework("Token2022", 901_952_960).name, "TokenOperationRefused");
  assert.equal(registries.errorClassOfRuntime("InsufficientFundsForFee").name, "InsufficientLamports");
  assert.equal(registries.errorClassOfFramework("System", 2), undefined);
  assert.equal(registries.errorClassOfProgram(5999), undefined);
  assert.equal(registries.errorClassOfRevert("0x"), undefined);
});
