// CAIP-2, CAIP-10 and task references. Expected values: the CAIPs' own examples and regular expressions,
// and @scure/base for the length of base58 text.
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { base58 } from "@scure/base";
import { stream } from "./bytes.mjs";
import { evm, svm } from "./actors.mjs";
import { VectorFile } from "./vector_file.mjs";

const packages = ["@scure/base"];
const published = JSON.parse(readFileSync(new URL("./published/caip.json", import.meta.url), "utf8"));

const CHAIN_ID = /^([-a-z0-9]{3,8}):([-_a-zA-Z0-9]{1,32})$/;
const ACCOUNT_ID = /^([-a-z0-9]{3,8}:[-_a-zA-Z0-9]{1,32}):([-.%a-zA-Z0-9]{1,128})$/;

{
  const file = new VectorFile("chain_id", { description: "CAIP-2 chain ids; eip155 and solana are held to their own form.", packages });
  const add = (id, comment, flags, text) => {
    const [, namespace, reference] = CHAIN_ID.exec(text);
    file.ok(id, comment, flags, { text }, { namespace, reference });
  };
  published.chain_ids.forEach((text, n) => add(`caip2-${n + 1}`, "CAIP-2's list of examples", ["Published"], text));
  for (const text of [svm.devnet, svm.mainnet, "solana:4uhcVJyU9pJkvQyS88uRDiswHXSCkY3z", svm.localnet, "eip155:84532", "eip155:31337"]) add(text.replace(":", "-"), "a chain that Concord serves", ["Typical"], text);
  add("eip155-zero", "0 has no leading zero", ["Boundary"], "eip155:0");
  add("eip155-32-digits", "a reference of 32 digits", ["Boundary"], `eip155:${"9".repeat(32)}`);
  add("shortest", "a namespace of 3 and a reference of 1", ["Boundary"], "a-0:_");
  add("case-of-reference", "a reference may have capitals", ["CaseSensitive"], "cosmos:COSMOSHUB-2");
  for (const [id, text, comment] of [
    ["empty", "", "nothing"], ["no-colon", "eip155", "no colon"], ["no-namespace", ":1", "nothing before the colon"], ["no-reference", "eip155:", "nothing after the colon"],
    ["upper-case-namespace", "EIP155:1", "capitals in the namespace"], ["mixed-case-namespace", "Solana:localnet", "a capital in the namespace"],
    ["namespace-2", "ab:1", "a namespace of 2"], ["namespace-9", "abcdefghi:1", "a namespace of 9"], ["reference-33", `cosmos:${"a".repeat(33)}`, "a reference of 33"], ["eip155-33-digits", `eip155:${"1".repeat(33)}`, "a reference of 33"],
    ["three-parts", "eip155:1:0xab", "a colon in the reference"], ["space", "eip155: 1", "a space"], ["trailing-space", "eip155:1 ", "a space at the end"], ["line-break", "eip155:1\n", "a line break at the end"], ["underscore-namespace", "eip_155:1", "an underscore in the namespace"], ["dot", "cosmos:a.b", "a dot"], ["not-ascii", "cosmos:é", "a letter beyond ASCII"], ["nul", "cosmos:a\u0000", "a NUL byte"],
  ]) {
    assert.ok(!CHAIN_ID.test(text) || text.endsWith("\n"), text);
    file.error(id, comment, ["Shape"], { text }, "MalformedChainId");
  }
  for (const [id, text, comment] of [
    ["eip155-leading-zero", "eip155:01", "two texts for one chain"], ["eip155-hex", "eip155:0x1", "eip155 references are decimal"], ["eip155-letters", "eip155:main", "eip155 references are decimal"], ["eip155-negative", "eip155:-1", "eip155 references have no sign"],
    ["solana-31", svm.devnet.slice(0, -1), "one character of the genesis hash short"], ["solana-33", `${svm.devnet}x`.slice(0, 7 + 33), "one character of the genesis hash too many"], ["solana-not-base58", `solana:0${svm.devnet.slice(8)}`, "base58 has no 0"], ["solana-name", "solana:devnet", "a cluster's name instead of its genesis hash"],
  ]) file.error(id, comment, ["Shape"], { text }, "MalformedChainId");
}

{
  const file = new VectorFile("account_id", { description: "CAIP-10 account ids; eip155 and solana addresses are held to their own form.", packages });
  const add = (id, comment, flags, text) => {
    const [, chain_id, address] = ACCOUNT_ID.exec(text);
    file.ok(id, comment, flags, { text }, { chain_id, address });
  };
  published.account_ids.forEach((text, n) => add(`caip10-${n + 1}`, "CAIP-10's lists of examples", ["Published"], text));
  add("evm-checksum", "an EIP-55 address", ["Typical"], `eip155:84532:${evm.identityRegistry}`);
  add("evm-lower-case", "the sources write addresses in either case", ["Unchecked"], `eip155:84532:${evm.identityRegistry.toLowerCase()}`);
  add("evm-wrong-checksum", "checksums are not judged", ["Unchecked"], `eip155:84532:0x${evm.identityRegistry.slice(2).toUpperCase()}`);
  add("solana", "a program", ["Typical"], `${svm.devnet}:${svm.program}`);
  add("solana-zeros", "the system program, 32 zero bytes", ["Boundary"], `${svm.mainnet}:${"1".repeat(32)}`);
  add("longest", "an address of 128", ["Boundary"], `chainstd:1:${"a".repeat(128)}`);
  add("punctuation", "the characters that CAIP-10 allows beside letters and digits", ["Boundary"], "cosmos:hub:a-b.c%20d");
  for (const [id, text, comment] of [
    ["empty", "", "nothing"], ["chain-only", "eip155:1", "no address"], ["empty-address", "eip155:1:", "nothing after the last colon"], ["no-reference", `eip155::${evm.owner.address}`, "an empty reference"], ["upper-case-namespace", `EIP155:1:${evm.owner.address}`, "capitals in the namespace"], ["reference-33", `cosmos:${"a".repeat(33)}:addr`, "a reference of 33"],
    ["address-129", `chainstd:1:${"a".repeat(129)}`, "an address of 129"], ["four-parts", "cosmos:hub:a:b", "a colon in the address"], ["slash", "cosmos:hub:a/b", "a slash"], ["not-ascii", "cosmos:hub:é", "a letter beyond ASCII"],
  ]) {
    assert.ok(!ACCOUNT_ID.test(text), text);
    file.error(id, comment, ["Shape"], { text }, "MalformedAccountId");
  }
  for (const [id, text, comment] of [
    ["evm-no-prefix", `eip155:1:${evm.owner.address.slice(2)}`, "no 0x"], ["evm-19", `eip155:1:0x${"11".repeat(19)}`, "19 bytes"], ["evm-21", `eip155:1:0x${"11".repeat(21)}`, "21 bytes"], ["evm-odd", `eip155:1:0x${"1".repeat(39)}`, "half a byte"], ["evm-not-hex", `eip155:1:0x${"g".repeat(40)}`, "no hex digit"], ["evm-capital-x", `eip155:1:0X${"11".repeat(20)}`, "0X instead of 0x"],
    ["evm-base58", `eip155:1:${svm.owner}`, "a Solana key"], ["solana-hex", `${svm.devnet}:${evm.owner.address}`, "an EVM address"], ["solana-31", `${svm.devnet}:${base58.encode(stream("short key", 31))}`, "31 bytes"], ["solana-33", `${svm.devnet}:${base58.encode(stream("long key", 33))}`, "33 bytes"], ["solana-not-base58", `${svm.devnet}:l${svm.owner.slice(1)}`, "base58 has no l"], ["solana-extra-one", `${svm.devnet}:1${svm.owner}`, "a leading 1 is a byte more"],
  ]) file.error(id, comment, ["Shape"], { text }, "MalformedAccountId");
}

{
  const file = new VectorFile("task_ref", { description: "Task references in their chain's own form, and the key under which a payment counts once (R24).", packages });
  const add = (id, comment, flags, chain_id, transaction, key = transaction) =>
    file.ok(id, comment, flags, { text: `${chain_id}:${transaction}` }, { chain_id, transaction, dedupe_key: `${chain_id}:${key}` });
  const hash = `0x${"ab".repeat(32)}`;
  add("evm", "a transaction hash", ["Typical"], "eip155:84532", hash);
  add("evm-upper-case", "hex digits of either case are one payment", ["CaseSensitive"], "eip155:84532", `0x${"AB".repeat(32)}`, hash);
  add("evm-mixed-case", "hex digits of either case are one payment", ["CaseSensitive"], "eip155:8453", `0x${"aB".repeat(32)}`, hash);
  add("solana", "a signature in base58, whose case counts", ["Typical"], svm.devnet, svm.signature);
  add("solana-longest", "64 bytes of 0xff: 88 characters", ["Boundary"], svm.mainnet, base58.encode(new Uint8Array(64).fill(255)));
  add("solana-zeros", "64 zero bytes: 64 characters", ["Boundary"], svm.mainnet, base58.encode(new Uint8Array(64)));
  add("solana-localnet", "a local test's payment", ["Typical"], svm.localnet, svm.signature);
  add("other-namespace", "a chain whose form is not known keeps its case", ["Unchecked"], "cosmos:cosmoshub-3", "AbCd");
  for (const [id, text, comment] of [
    ["empty", "", "nothing"], ["two-parts", "eip155:84532", "no transaction"], ["empty-transaction", "eip155:84532:", "nothing after the last colon"], ["empty-reference", `eip155::${hash}`, "an empty reference"], ["upper-case-namespace", `EIP155:1:${hash}`, "capitals in the namespace"],
    ["evm-31", `eip155:1:0x${"ab".repeat(31)}`, "31 bytes"], ["evm-33", `eip155:1:0x${"ab".repeat(33)}`, "33 bytes"], ["evm-no-prefix", `eip155:1:${"ab".repeat(32)}`, "no 0x"], ["evm-not-hex", `eip155:1:0x${"zz".repeat(32)}`, "no hex digit"], ["evm-leading-zero", `eip155:01:${hash}`, "a chain id with a leading zero"],
    ["solana-63", `${svm.devnet}:${base58.encode(new Uint8Array(63).fill(90))}`, "63 bytes"], ["solana-65", `${svm.devnet}:${base58.encode(new Uint8Array(65).fill(90))}`, "65 bytes"], ["solana-hex", `${svm.devnet}:${hash}`, "an EVM hash"], ["solana-sig", `${svm.devnet}:sig`, "a placeholder"], ["four-parts", `eip155:1:${hash}:1`, "a fourth part"], ["space", `eip155:1: ${hash}`, "a space"], ["reference-33", `cosmos:${"a".repeat(33)}:AB`, "a reference of 33"],
  ]) file.error(id, comment, ["Shape"], { text }, "MalformedTaskRef");
}
