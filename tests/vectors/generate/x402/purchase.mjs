// Whole purchases after payment: checks S1 to S11, each accepted purchase with twins in which one thing is changed.
import { secp256k1 } from "@noble/curves/secp256k1.js";
import { keccak256, toHex, concat, numberToHex } from "viem";
import { bytes, utf8 } from "../bytes.mjs";
import { VectorFile } from "../vector_file.mjs";
import { evm, svm } from "../actors.mjs";
import { edit, interaction, packages, registries, signers, transactions } from "../files/form.mjs";

const file = new VectorFile("x402/purchase", {
  description:
    "A paid exchange and what chains and files answer. ok: the state of the whole, and of each step that is not verified. error: the class of the first step that is refuted, and the state of each step that is not verified.",
  packages: [...packages, "viem"],
});

const KEY = "8004-reputation";
const LATER = "reputation";
const network = "eip155:84532";
const payer = evm.client.address;
const wallet = "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC";
const asset = "0x036CbD53842c5426634e7929541eC2318f3dCF7e";
const target = "/weather?city=London&units=metric";
const response = '{"tempC":11}';
const settled = 1800000000;
const offer = { scheme: "exact", network, asset, payTo: wallet, amount: "10000", maxTimeoutSeconds: 60 };
const agent = { agentRegistry: registries.sepolia, agentId: "42" };

/** X402 §1, by viem. */
const dataHash = (request, answer) => keccak256(concat([numberToHex(utf8(request).length, { size: 4 }), toHex(request), toHex(answer)]));
const addressOf = (signer) => {
  const point = secp256k1.Point.fromBytes(bytes(signer.key().slice(2))).toBytes(false);
  return `0x${keccak256(point.slice(1)).slice(-40)}`;
};

const signed = (key = KEY, changes = {}) =>
  interaction(key, { registry: agent.agentRegistry, agentId: agent.agentId, taskRef: `${network}:${transactions.evm}`, dataHash: dataHash(target, response), signer: signers.secp256k1, ...changes });
const settlement = (extensions, changes = {}) => ({ success: true, transaction: transactions.evm, network, payer, extensions, ...changes });
const header = (value) => Buffer.from(JSON.stringify(value)).toString("base64");
const announce = (...keys) => Object.fromEntries(keys.map((key) => [key, { info: { version: "1.0.0", registrations: [agent] } }]));
const listed = (signer, changes = {}) => ({ publicKey: signer.key().slice(2), algorithm: signer.algorithm, validFrom: settled - 100, validUntil: null, ...changes });
const fileOf = (...keys) => ({ registrations: [agent], services: [], signers: keys });
const transfer = { asset, from: payer, to: wallet, amount: "10000" };

const base = {
  target,
  request: "",
  response,
  headers: [header(settlement({ [KEY]: signed() }))],
  offer,
  payer,
  announced: announce(KEY),
  agent: { wallet, is_contract: false, uri: "https://agent.example/agent.json" },
  file: fileOf(listed(signers.secp256k1)),
  contract_accepts: null,
  payment: { succeeded: true, time: settled, transfers: [transfer] },
  live: null,
};
const change = (changes) => edit(base, changes);
const withData = (data, key = KEY) => ({ headers: [header(settlement({ [key]: data }))] });
const accept = (id, comment, changes = {}, state = "verified", steps = {}) => file.ok(id, comment, ["Typical"], { purchase: change(changes) }, { state, steps });
const refuse = (id, comment, changes, className, steps) => file.error(id, comment, ["Typical"], { purchase: change(changes) }, { class: className, steps });
const blocked = (...steps) => Object.fromEntries(steps.map((step) => [step, "cannot-check"]));
const refuted = (...steps) => Object.fromEntries(steps.map((step) => [step, "refuted"]));

accept("typical", "signed with a listed key, paid to the wallet on chain");
accept("published-hash", "request and response of the exchange that was settled with other software", { target, response });

// S1
const after1 = blocked("S2", "S3", "S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11");
refuse("no-header", "no PAYMENT-RESPONSE", { headers: [] }, "SettlementMissing", { ...refuted("S1"), ...after1 });
refuse("two-headers", "PAYMENT-RESPONSE twice", { headers: [...base.headers, ...base.headers] }, "SettlementMissing", { ...refuted("S1"), ...after1 });
refuse("url-safe", "the other alphabet of base64", { headers: ["eyJzdWNjZXNzIjp0cnVlfQ-_"] }, "SettlementMissing", { ...refuted("S1"), ...after1 });
refuse("duplicate-key", "two values for one key (R22)", { headers: [Buffer.from('{"success":true,"success":true}').toString("base64")] }, "SettlementMissing", { ...refuted("S1"), ...after1 });

// S2
const settledAs = (changes) => ({ headers: [header(settlement({ [KEY]: signed() }, changes))] });
accept("payer-case", "addresses of EVM chains have no case", settledAs({ payer: payer.toLowerCase() }));
accept("no-payer", "the settlement names no payer; the chain does", settledAs({ payer: undefined }));
refuse("failed", "the settlement failed", settledAs({ success: false, errorReason: "insufficient_funds" }), "SettlementFailed", refuted("S2"));
refuse("payer-other", "another payer", settledAs({ payer: wallet }), "SettlementMismatch", refuted("S2"));
refuse("network-other", "settled on another chain", settledAs({ network: "eip155:8453" }), "SettlementMismatch", refuted("S2", "S6"));

// S3 and S4
const after3 = blocked("S4", "S5", "S6", "S7", "S8", "S9", "S10", "S11");
const after4 = blocked("S5", "S6", "S7", "S8", "S9", "S10", "S11");
refuse("unsigned", "no interaction data", { headers: [header(settlement({ other: {} }))] }, "NotSigned", { ...refuted("S3"), ...after3 });
refuse("no-extensions", "no extensions at all", { headers: [header(settlement(undefined))] }, "NotSigned", { ...refuted("S3"), ...after3 });
refuse("malformed", "a data hash of 31 bytes", withData(edit(signed(), { dataHash: signed().dataHash.slice(0, -2) })), "InteractionMalformed", { ...refuted("S4"), ...after4 });
accept("under-info", "the data under info (R35)", withData({ info: signed() }));
refuse("info-differs", "data there and under info, which differ (R35)", withData({ ...signed(), info: signed(KEY, { agentId: "43" }) }), "InteractionMalformed", { ...refuted("S4"), ...after4 });

// S5 and the profiles
accept("later-name", "the second profile (R26)", { ...withData(signed(LATER), LATER), announced: announce(LATER) });
accept("both-keys", "both profiles (R26)", { headers: [header(settlement({ [KEY]: signed(), [LATER]: signed(LATER) }))], announced: announce(KEY, LATER) });
accept("both-keys-one-announced", "the announced profile counts", { headers: [header(settlement({ [KEY]: signed(LATER), [LATER]: signed(LATER) }))], announced: announce(LATER) });
refuse("prefix-of-the-other", "signed with the other profile's prefix: never tried (R26)", withData(signed(LATER)), "InteractionHashMismatch", refuted("S8", "S10"));
refuse("announced-under-the-other", "announced under the other key only", { announced: announce(LATER) }, "IdentityChanged", refuted("S5"));
refuse("agent-other", "another agent of the same registry", { ...withData(signed(KEY, { agentId: "43" })), file: { ...base.file, registrations: [agent, { ...agent, agentId: "43" }] } }, "IdentityChanged", refuted("S5"));
accept("registry-case", "the registry's address in another case", withData(signed(KEY, { registry: registries.sepolia.replace(/0x.*/, (it) => it.toLowerCase()) })));

// S6
refuse("replayed", "data of another payment (R31)", { ...withData(signed(KEY, { taskRef: `${network}:0x${"ab".repeat(32)}` })) }, "TaskRefMismatch", refuted("S6"));
refuse("task-ref-case", "byte for byte (R31)", withData(signed(KEY, { taskRef: `${network}:0x${transactions.evm.slice(2).toUpperCase()}` })), "TaskRefMismatch", refuted("S6"));
refuse("task-ref-of-the-registry-s-chain", "the registry's chain instead of the payment's (R31)", withData(signed(KEY, { taskRef: `eip155:8453:${transactions.evm}` })), "TaskRefMismatch", refuted("S6"));

// S7 and S8
const body = '{"city":"London"}';
accept("body", "the body stands for the request", { request: body, ...withData(signed(KEY, { dataHash: dataHash(body, response) })) });
accept("head", "no body in the response (R33)", { response: "", ...withData(signed(KEY, { dataHash: dataHash(target, "") })) });
refuse("response-other", "another response", { response: '{"tempC":12}' }, "DataMismatch", refuted("S7"));
refuse("target-other", "another target (R33)", { target: "/weather?city=Paris" }, "DataMismatch", refuted("S7"));
refuse("boundary-moved", "a byte moved from request to response", { request: "ab", response: "c", ...withData(signed(KEY, { dataHash: dataHash("a", "bc") })) }, "DataMismatch", refuted("S7"));
refuse("hash-stated-wrong", "the stated hash is not what was signed", withData(edit(signed(), { interactionHash: signed().dataHash })), "InteractionHashMismatch", refuted("S8"));

// S9
const ed = signers.ed25519;
accept("ed25519", "a listed Ed25519 key", { ...withData(signed(KEY, { signer: ed })), file: fileOf(listed(ed)) });
accept("second-key", "one of several keys", { file: fileOf(listed(ed), listed(signers.secp256k1)) });
refuse("key-not-listed", "a key that the file does not list (R29)", { ...withData(signed(KEY, { signer: ed })) }, "SignerUnknown", refuted("S9"));
accept("from-now-on", "valid from the second of the settlement (R30)", { file: fileOf(listed(signers.secp256k1, { validFrom: settled })) });
refuse("not-yet", "valid a second later (R30)", { file: fileOf(listed(signers.secp256k1, { validFrom: settled + 1 })) }, "SignerNotValid", refuted("S9"));
accept("last-second", "valid until the second after the settlement (R30)", { file: fileOf(listed(signers.secp256k1, { validUntil: settled + 1 })) });
refuse("no-more", "valid until the second of the settlement (R30)", { file: fileOf(listed(signers.secp256k1, { validUntil: settled })) }, "SignerNotValid", refuted("S9"));
accept("rotated", "one window is over, another has begun", { file: fileOf(listed(signers.secp256k1, { validUntil: settled - 50 }), listed(signers.secp256k1)) });
const until = (end, live) => ({ file: fileOf(listed(signers.secp256k1, { validUntil: end })), live });
accept("live-skew", "a live check allows a minute (R30)", until(settled + 10, settled + 10 + 59));
refuse("live-too-late", "and no more (R30)", until(settled + 10, settled + 10 + 60), "SignerNotValid", refuted("S9"));
accept("not-live", "a later check does not ask for now", until(settled + 10, null));
const ownWallet = addressOf(signers.secp256k1);
const toSigner = { "agent.wallet": ownWallet, "offer.payTo": ownWallet, "payment.transfers.0.to": ownWallet };
accept("wallet-signs", "no listed signer: the wallet signs (R29)", { file: fileOf(), ...toSigner });
accept("wallet-signs-no-file", "no file: the wallet signs (R29)", { "agent.uri": "", file: null, ...toSigner });
refuse("wallet-does-not-sign", "no listed signer, and another key than the wallet's", { file: fileOf() }, "SignerUnknown", refuted("S9"));
refuse("listed-beats-wallet", "with listed signers the wallet may not sign (R29)", { file: fileOf(listed(ed)), ...toSigner }, "SignerUnknown", refuted("S9"));
refuse("algorithm-of-the-message", "an Ed25519 key where an EVM wallet signs (R29)", { ...withData(signed(KEY, { signer: ed })), file: fileOf() }, "SignerUnknown", refuted("S9"));
refuse("wallet-cleared", "a transfer cleared the wallet, and no signer is listed", { file: fileOf(), "agent.wallet": null }, "SignerUnknown", refuted("S9", "S11"));
refuse("not-claimed", "the file does not list the agent, so its signers do not count", { file: { ...base.file, registrations: [] } }, "SignerUnknown", refuted("S9"));
refuse("no-agent", "the agent does not exist", { agent: null }, "SignerUnknown", refuted("S9", "S11"));

// S10
const contract = { file: fileOf(), "agent.is_contract": true };
accept("contract", "a wallet that is a contract accepts (ERC-1271, R29)", { ...contract, contract_accepts: true });
refuse("contract-refuses", "a wallet that is a contract refuses", { ...contract, contract_accepts: false }, "SignatureInvalid", refuted("S10"));
const signature = signed().agentSignature;
const withSignature = (value) => withData(edit(signed(), { agentSignature: value }));
refuse("v-flipped", "the other recovery id (R23)", withSignature(signature.slice(0, -2) + (signature.endsWith("00") ? "01" : "00")), "SignatureInvalid", refuted("S10"));
refuse("ethereum-v", "Ethereum's v (R23)", withSignature(signature.slice(0, -2) + (signature.endsWith("00") ? "1b" : "1c")), "SignatureInvalid", refuted("S10"));
const order = secp256k1.Point.Fn.ORDER;
const highS = (order - BigInt(`0x${signature.slice(66, 130)}`)).toString(16).padStart(64, "0");
refuse("high-s", "the malleable twin (R23)", withSignature(signature.slice(0, 66) + highS + (signature.endsWith("00") ? "01" : "00")), "SignatureInvalid", refuted("S10"));
refuse("signature-of-another", "made by another key", withSignature(signers.client.sign(bytes(signed().interactionHash))), "SignatureInvalid", refuted("S10"));

// S11
const paidAs = (changes) => ({ "payment.transfers": [{ ...transfer, ...changes }] });
accept("several-payments", "several payments in one transaction (R32)", { "payment.transfers": [{ ...transfer, amount: "1" }, { ...transfer, from: wallet }, transfer] });
accept("transfer-case", "addresses in another case", paidAs({ to: wallet.toLowerCase(), asset: asset.toUpperCase().replace("0X", "0x") }));
refuse("no-transaction", "the chain has no such transaction", { payment: null }, "PaymentNotFound", { ...blocked("S9"), ...refuted("S11") });
refuse("reverted", "the transaction failed", { "payment.succeeded": false, "payment.transfers": [] }, "PaymentNotFound", refuted("S11"));
refuse("amount-less", "one unit less", paidAs({ amount: "9999" }), "PaymentMismatch", refuted("S11"));
refuse("asset-other", "another token", paidAs({ asset: wallet }), "PaymentMismatch", refuted("S11"));
refuse("payee-other", "paid to somebody else", paidAs({ to: payer }), "PaymentMismatch", refuted("S11"));
refuse("payer-on-chain-other", "paid by somebody else", paidAs({ from: wallet }), "PaymentMismatch", refuted("S11"));
refuse("wallet-swapped", "the recipient is not the agent's wallet (R27)", { "agent.wallet": payer }, "PaymentMismatch", refuted("S11"));
refuse("wallet-undeclared", "no wallet on the payment chain, whatever the file says (R27)", { "agent.wallet": null, file: { ...base.file, services: [{ name: "agentWallet", endpoint: `${network}:${wallet}` }] } }, "PaymentMismatch", refuted("S11"));

// paid on another chain than the registry's
const solana = {
  network: svm.mainnet,
  payTo: "9xQeWvG816bUx9EPjHmaT23yvVM2ZWbrrpZb9PusVFin",
  asset: "EPjFWdd5AufqSSqeM2qN1xzybapC8G4wEGGkZwyTDt1v",
};
const client = "4Nd1mBQtrMJVYVfKf2PJy9NZUZdTAsp7D4xWLs4gDB4T";
const crossed = {
  headers: [header(settlement({ [KEY]: signed(KEY, { taskRef: `${svm.mainnet}:${transactions.solana}` }) }, { network: svm.mainnet, transaction: transactions.solana, payer: client }))],
  offer: { ...offer, ...solana },
  payer: client,
  payment: { succeeded: true, time: settled, transfers: [{ asset: solana.asset, from: client, to: solana.payTo, amount: "10000" }] },
};
const crossedFile = (endpoint) => ({ file: { ...base.file, services: [{ name: "agentWallet", endpoint }] } });
accept("crossed", "paid on Solana to a wallet that only the file names: claimed (R27, R36)", { ...crossed, ...crossedFile(`${svm.mainnet}:${solana.payTo}`) }, "claimed", { S11: "claimed" });
refuse("crossed-unlisted", "the file names no wallet there (R27)", { ...crossed, file: base.file }, "PaymentMismatch", refuted("S11"));
refuse("crossed-other-wallet", "the file names another wallet there (R27)", { ...crossed, ...crossedFile(`${svm.mainnet}:${client}`) }, "PaymentMismatch", refuted("S11"));

// R36: what cannot be read is neither refused nor verified
accept("node-down", "the payment chain cannot be asked (R36)", { payment: "unavailable" }, "cannot-check", blocked("S9", "S11"));
accept("registry-down", "the registry's chain cannot be asked (R36)", { agent: "unavailable" }, "cannot-check", blocked("S9", "S11"));
accept("file-down", "the file cannot be had (R36)", { file: "unavailable" }, "cannot-check", blocked("S9"));
refuse("file-down-and-bad-signature", "what can be checked is checked (R36)", { file: "unavailable", ...withSignature(signature.slice(0, -2) + "1b") }, "SignatureInvalid", { ...blocked("S9"), ...refuted("S10") });
refuse("file-malformed", "a file that breaks its form lists nobody", { file: "malformed" }, "SignerUnknown", refuted("S9"));
