// Compares the interfaces that published packages have of ERC-8004 registries with Concord's: item by item, as a client of the
// package would call the contracts and the program. With CONCORD_BLESS=1 it writes the committed table.
import assert from "node:assert/strict";
import { readFileSync, writeFileSync } from "node:fs";
import { IDENTITY_REGISTRY_ABI, REPUTATION_REGISTRY_ABI, VALIDATION_REGISTRY_ABI } from "agent0-sdk";
import * as solana8004 from "8004-solana";
import { toEventSelector, toFunctionSelector, toFunctionSignature } from "viem";

const ROOT = new URL("../../../", import.meta.url);
const read = (path) => JSON.parse(readFileSync(new URL(path, ROOT), "utf8"));
const [pythonAbis, table] = process.argv.slice(2);

const OURS = {
  identity: { IdentityRegistry: read("contracts/abi/IdentityRegistry.json") },
  reputation: {
    ReputationRegistry: read("contracts/abi/ReputationRegistry.json"),
    AuthorizedReputationRegistry: read("contracts/abi/AuthorizedReputationRegistry.json"),
  },
  validation: { ValidationRegistry: read("contracts/abi/ValidationRegistry.json") },
};

/** How the proxies of other registries are governed, which no ERC says. */
const GOVERNANCE = /^(initialize|owner|proxiableUUID|renounceOwnership|transferOwnership|upgradeToAndCall|UPGRADE_INTERFACE_VERSION|Initialized|OwnershipTransferred|Upgraded)\(/;

const typeOf = ({ type, components }) => (components ? type.replace("tuple", `(${components.map(typeOf).join(",")})`) : type);

/** A function's selector and what it returns, an event's topic and what is indexed: all that a client depends on. */
function shapeOf(item) {
  if (item.type === "event") {
    return { key: toEventSelector(item), shape: item.inputs.map(({ indexed }) => (indexed ? "topic" : "data")).join(",") };
  }
  return { key: toFunctionSelector(item), shape: (item.outputs ?? []).map(typeOf).join(",") };
}

const isOf = (kind) => (item) => item.type === kind && !GOVERNANCE.test(toFunctionSignature(item));

/** Ours, by selector or topic. */
function known(registries, kind) {
  const items = Object.values(registries).flatMap((abi) => abi.filter(isOf(kind)));
  const found = new Map();
  for (const item of items) {
    const { key, shape } = shapeOf(item);
    found.set(key, [...(found.get(key) ?? []), shape]);
  }
  return found;
}

function compareKind(theirs, registries, kind) {
  const ours = known(registries, kind);
  const result = { same: 0, otherwise: [], unknown: [] };
  for (const item of theirs.filter(isOf(kind))) {
    const { key, shape } = shapeOf(item);
    const shapes = ours.get(key);
    if (shapes === undefined) result.unknown.push(toFunctionSignature(item));
    else if (shapes.includes(shape)) result.same += 1;
    else result.otherwise.push(`${toFunctionSignature(item)}: ${shape || "nothing"}, ours ${shapes.map((it) => it || "nothing").join(" or ")}`);
  }
  return { ...result, otherwise: result.otherwise.sort(), unknown: result.unknown.sort() };
}

const compareAbi = (theirs, registry) => ({
  functions: compareKind(theirs, OURS[registry], "function"),
  events: compareKind(theirs, OURS[registry], "event"),
});

/** Instructions by Anchor's discriminator: the same name is the same eight bytes. */
function compareInstructions(groups) {
  const ours = read("programs/agent-registry/idl/agent_registry.json").instructions;
  const names = new Map(ours.map(({ name, discriminator }) => [Buffer.from(discriminator).toString("hex"), name]));
  const theirs = groups.flatMap((group) => Object.entries(group));
  const split = { same: [], unknown: [] };
  for (const [name, discriminator] of theirs) split[names.has(discriminator.toString("hex")) ? "same" : "unknown"].push(name);
  return { same: split.same.sort(), unknown: split.unknown.sort() };
}

const packages = {
  "agent0-sdk (TypeScript)": { identity: IDENTITY_REGISTRY_ABI, reputation: REPUTATION_REGISTRY_ABI, validation: VALIDATION_REGISTRY_ABI },
  ...JSON.parse(readFileSync(pythonAbis, "utf8")),
};
const { IDENTITY_DISCRIMINATORS, REPUTATION_DISCRIMINATORS, VALIDATION_DISCRIMINATORS } = solana8004;
const found = {
  ...Object.fromEntries(
    Object.entries(packages).map(([name, abis]) => [
      name,
      Object.fromEntries(Object.entries(abis).map(([registry, abi]) => [registry, compareAbi(abi, registry)])),
    ]),
  ),
  "8004-solana": { instructions: compareInstructions([IDENTITY_DISCRIMINATORS, REPUTATION_DISCRIMINATORS, VALIDATION_DISCRIMINATORS]) },
};
assert.ok(found["agent0-sdk (TypeScript)"].reputation.functions.same > 5, "nothing was compared");

if (process.env.CONCORD_BLESS) {
  writeFileSync(table, `${JSON.stringify(found, null, 2)}\n`);
} else {
  assert.deepEqual(found, JSON.parse(readFileSync(table, "utf8")));
}
for (const [name, parts] of Object.entries(found)) {
  for (const [registry, kinds] of Object.entries(parts)) {
    const rows = registry === "instructions" ? { instructions: { ...kinds, same: kinds.same.length, otherwise: [] } } : kinds;
    for (const [kind, { same, otherwise, unknown }] of Object.entries(rows)) {
      console.log(`${name.padEnd(26)}${registry.padEnd(14)}${kind.padEnd(14)}${String(same).padStart(3)} same${String(otherwise.length).padStart(4)} otherwise${String(unknown.length).padStart(4)} unknown`);
    }
  }
}
