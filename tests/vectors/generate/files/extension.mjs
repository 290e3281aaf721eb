// X402's extension: what a 402 announces and what a paid response carries, in both profiles.
import { VectorFile } from "../vector_file.mjs";
import { svm } from "../actors.mjs";
import { canonicalHash, dataHash, edit, interaction, packages, registries, rename, signers, transactions } from "./form.mjs";

const profiles = { "8004-reputation": "8004-reputation", reputation: "reputation" };
const found = (key, value, mappings = []) => ({ profile: profiles[key], current: canonicalHash(value), mappings });

{
  const file = new VectorFile("files/info", {
    description: "The extensions object of a 402. ok: for each profile found, the mappings and keccak256 of the info's current form. error: the path and the rule that is broken first.",
    packages,
  });
  const info = { version: "1.0.0", registrations: [{ agentRegistry: registries.base, agentId: "42" }], feedbackAggregator: "https://feedback.example/submit" };
  const multi = { version: "1.0.0", registrations: [...info.registrations, { agentRegistry: registries.solana, agentId: svm.mint }] };
  const accept = (id, comment, flags, extensions, answers) => file.ok(id, comment, flags, { text: JSON.stringify(extensions) }, answers);
  const refuse = (id, comment, flags, extensions, path, rule) => file.error(id, comment, flags, { text: JSON.stringify(extensions) }, { path, rule });
  const key = "8004-reputation";
  const wrap = (value, name = key) => ({ [name]: { info: value, schema: { type: "object" } } });
  accept("x402-single-chain", "X402, Single-Chain Agent", ["Published"], wrap(info), [found(key, info)]);
  accept("x402-multi-chain", "X402, Multi-Chain Agent", ["Published"], wrap(multi), [found(key, multi)]);
  accept("later-name", "the later key (R26)", ["Typical"], wrap(info, "reputation"), [found("reputation", info)]);
  accept("both", "a server may announce both (R26)", ["Typical"], { ...wrap(info), ...wrap(multi, "reputation") }, [found(key, info), found("reputation", multi)]);
  accept("none", "other extensions are ignored", ["Empty"], { "offer-receipt": { info: {} } }, []);
  accept("feedback-endpoint", "as 8004-solana spells it (R35)", ["Wording"], wrap(rename(info, "feedbackAggregator", "feedbackEndpoint")), [found(key, info, ["feedback-endpoint-key $[\"8004-reputation\"].info.feedbackEndpoint"])]);
  accept("both-spellings", "both spellings, one URL", ["Wording"], wrap({ ...info, feedbackEndpoint: info.feedbackAggregator }), [found(key, info)]);
  accept("id-number", "an id as a number (R37)", ["Wording"], wrap(edit(info, { "registrations.0.agentId": 42 })), [found(key, info, ["agent-id-number $[\"8004-reputation\"].info.registrations[0].agentId"])]);
  accept("unknown-members", "unknown members survive", ["Unchecked"], wrap({ ...info, note: 1 }), [found(key, { ...info, note: 1 })]);
  const at = (path) => `$["8004-reputation"]${path}`;
  refuse("no-info", "a key without info", ["Shape"], { [key]: {} }, at(".info"), "missing");
  refuse("spellings-conflict", "two aggregators", ["Conflict"], wrap({ ...info, feedbackEndpoint: "https://other.example" }), at(".info.feedbackEndpoint"), "conflict");
  refuse("no-registrations", "an agent of no registry", ["Empty"], wrap({ ...info, registrations: [] }), at(".info.registrations"), "empty");
  refuse("no-version", "no version", ["Shape"], wrap(edit(info, { version: undefined })), at(".info.version"), "missing");
  refuse("version-two-parts", "a version of two numbers", ["Shape"], wrap(edit(info, { version: "1.0" })), at(".info.version"), "name");
  refuse("version-letters", "a version with a label", ["Shape"], wrap(edit(info, { version: "1.0.0-rc" })), at(".info.version"), "name");
  refuse("aggregator-scheme", "an aggregator behind another scheme", ["Shape"], wrap(edit(info, { feedbackAggregator: "file:///etc/passwd" })), at(".info.feedbackAggregator"), "name");
  refuse("id-null", "an agent that is not registered", ["Shape"], wrap(edit(info, { "registrations.0.agentId": null })), at(".info.registrations[0].agentId"), "type");
  refuse("array", "extensions are an object", ["Shape"], [], "$", "type");
}

{
  const file = new VectorFile("files/interaction", {
    description:
      "The extensions object of a settlement. ok: for each profile found, the mappings, keccak256 of the data's current form, and whether the stated hash and the signature hold. error: the path and the rule that is broken first.",
    packages,
  });
  const key = "8004-reputation";
  const of = (name) => interaction(name, { registry: registries.sepolia, agentId: "42", taskRef: `eip155:84532:${transactions.evm}`, dataHash, signer: signers.secp256k1 });
  const data = of(key);
  const solana = interaction(key, { registry: registries.solana, agentId: svm.mint, taskRef: `${svm.mainnet}:${transactions.solana}`, dataHash, signer: signers.ed25519 });
  const good = { hash_holds: true, signature_holds: true };
  const answer = (name, value, mappings = [], holds = good) => ({ ...found(name, value, mappings), ...holds });
  const accept = (id, comment, flags, extensions, answers) => file.ok(id, comment, flags, { text: JSON.stringify(extensions) }, answers);
  const refuse = (id, comment, flags, extensions, path, rule) => file.error(id, comment, flags, { text: JSON.stringify(extensions) }, { path, rule });
  const at = (path) => `$["8004-reputation"]${path}`;
  accept("noble", "settled and signed with other software, on record before this crate", ["Published"], {
    [key]: {
      agentRegistry: "eip155:84532:0x8004A818BFB912233c491871b3d84c89A494BD9e", agentId: "42",
      taskRef: "eip155:84532:0xeee928fc956e4399e2fe18ea303bed895b44f653b8cb2216c1d4ae1ff7a6610c",
      dataHash: "0x621b98ca8048a4feaacac8799e067d05a6953bdce546103cd4f5ea3ab92a7654",
      interactionHash: "0xeef75b68b38ad4d5b826779940c68c7586013336817a7dfd51ac75abaa3523b8",
      agentSignerPublicKey: "0x0256b328b30c8bf5839e24058747879408bdb36241dc9c2e7c619faa12b2920967",
      agentSignature: "0xc70a59219956dfb1af6844c5f13ee0feff3e8781fe05257df12c657cc65657fc532cdcc5d119be73cc30514c6f0a95b2e193335dcb34df341caeb2718b410b7d00",
      agentSignatureAlgorithm: "secp256k1",
    },
  }, [answer(key, data)]);
  accept("solana", "X402's example, on Solana", ["Published"], { [key]: solana }, [answer(key, solana)]);
  accept("later-name", "the later key has its own prefix (R26)", ["Typical"], { reputation: of("reputation") }, [answer("reputation", of("reputation"))]);
  accept("both", "a server may sign both (R26)", ["Typical"], { [key]: data, reputation: of("reputation") }, [answer(key, data), answer("reputation", of("reputation"))]);
  accept("wrong-prefix", "signed for the other profile: the key decides, and nothing else is tried (R26)", ["WrongMessage"], { reputation: data }, [answer("reputation", data, [], { hash_holds: false, signature_holds: false })]);
  accept("under-info", "under info (R35)", ["Wording"], { [key]: { info: data } }, [answer(key, data, [`info-wrapper ${at(".info")}`])]);
  accept("both-places-alike", "in both places, alike (R35)", ["Wording"], { [key]: { ...data, info: Object.fromEntries(Object.entries(data).reverse()) } }, [answer(key, { ...data, info: data })]);
  accept("unknown-members", "unknown members survive", ["Unchecked"], { [key]: { ...data, note: [1] } }, [answer(key, { ...data, note: [1] })]);
  accept("id-number", "an id as a number (R37)", ["Wording"], { [key]: edit(data, { agentId: 42 }) }, [answer(key, data, [`agent-id-number ${at(".agentId")}`])]);
  accept("key-without-0x", "a key without 0x (R23)", ["Wording"], { [key]: edit(data, { agentSignerPublicKey: data.agentSignerPublicKey.slice(2) }) }, [answer(key, data, [`public-key-prefix ${at(".agentSignerPublicKey")}`])]);
  accept("stated-hash-wrong", "a stated hash that is not the recomputed one", ["WrongMessage"], { [key]: edit(data, { interactionHash: dataHash }) }, [answer(key, edit(data, { interactionHash: dataHash }), [], { hash_holds: false, signature_holds: true })]);
  accept("signature-of-another", "somebody else's signature", ["WrongKey"], { [key]: edit(data, { agentSignature: of("reputation").agentSignature }) }, [answer(key, edit(data, { agentSignature: of("reputation").agentSignature }), [], { hash_holds: true, signature_holds: false })]);
  accept("none", "no data", ["Empty"], {}, []);
  for (const field of Object.keys(data)) {
    refuse(`without-${field}`, "a field is missing", ["Shape"], { [key]: edit(data, { [field]: undefined }) }, at(`.${field}`), "missing");
    refuse(`differs-${field}`, "in both places, and they differ (R35)", ["Conflict"], { [key]: { ...data, info: edit(data, { [field]: solana[field] === data[field] ? "x" : solana[field] }) } }, at(`.info.${field}`), "conflict");
  }
  refuse("one-place-lacks", "in both places, one of them incomplete (R35)", ["Conflict"], { [key]: { taskRef: data.taskRef, info: data } }, at(".info.agentRegistry"), "conflict");
  refuse("text", "data is an object", ["Shape"], { [key]: "signed" }, at(""), "type");
  refuse("signature-27", "a signature of 66 bytes", ["TooLong"], { [key]: edit(data, { agentSignature: `${data.agentSignature}00` }) }, at(".agentSignature"), "hex");
}
