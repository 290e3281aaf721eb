// EIP-3009's TransferWithAuthorization as viem hashes and signs it, for the buyer of x402's scheme `exact`.
import { hashTypedData } from "viem";
import { privateKeyToAccount } from "viem/accounts";
import { VectorFile } from "../vector_file.mjs";
import { evm } from "../actors.mjs";

const file = new VectorFile("x402/transfer_authorization", {
  description:
    "An offer, the payer, a nonce and the time. ok: the EIP-712 digest, and the payload that pays the offer. error: the offer's field for which it cannot be paid.",
  packages: ["viem"],
});

const account = privateKeyToAccount(evm.client.secret);
const types = {
  // written out: viem would leave out an empty version, which contracts do not
  EIP712Domain: [
    { name: "name", type: "string" },
    { name: "version", type: "string" },
    { name: "chainId", type: "uint256" },
    { name: "verifyingContract", type: "address" },
  ],
  TransferWithAuthorization: [
    { name: "from", type: "address" },
    { name: "to", type: "address" },
    { name: "value", type: "uint256" },
    { name: "validAfter", type: "uint256" },
    { name: "validBefore", type: "uint256" },
    { name: "nonce", type: "bytes32" },
  ],
};
const base = {
  scheme: "exact",
  network: "eip155:84532",
  asset: "0x036CbD53842c5426634e7929541eC2318f3dCF7e",
  payTo: "0x3C44CdDdB6a900fa2b585dd299e03d12FA4293BC",
  amount: "10000",
  maxTimeoutSeconds: 300,
  extra: { name: "USDC", version: "2" },
};
const nonce = `0x${"5a".repeat(32)}`;
const now = 1800000000;

const input = (offer, more) => ({ transfer: { offer, secret: evm.client.secret, nonce, now, ...more } });

async function accept(id, comment, flags, changes = {}, more = {}) {
  const offer = { ...base, ...changes };
  const { nonce: word, now: at } = input(offer, more).transfer;
  const validAfter = BigInt(Math.max(at - 600, 0));
  const validBefore = BigInt(at) + BigInt(offer.maxTimeoutSeconds);
  const typed = {
    types,
    primaryType: "TransferWithAuthorization",
    domain: { name: offer.extra.name, version: offer.extra.version, chainId: BigInt(offer.network.slice(7)), verifyingContract: offer.asset },
    message: { from: account.address, to: offer.payTo, value: BigInt(offer.amount), validAfter, validBefore, nonce: word },
  };
  const authorization = {
    from: account.address,
    to: offer.payTo,
    value: offer.amount,
    validAfter: `${validAfter}`,
    validBefore: `${validBefore}`,
    nonce: word,
  };
  const payload = { signature: await account.signTypedData(typed), authorization };
  file.ok(id, comment, flags, input(offer, more), { digest: hashTypedData(typed), payload });
}

const refuse = (id, comment, flags, changes, field) => file.error(id, comment, flags, input({ ...base, ...changes }), { field });

await accept("typical", "USDC on Base Sepolia", ["Typical"]);
await accept("base", "another chain, another domain", ["Typical"], { network: "eip155:8453", asset: "0x833589fCD6eDb6E08f4c7C32D4f71b54bdA02913", extra: { name: "USD Coin", version: "2" } });
await accept("method-named", "the transfer method is named", ["Typical"], { extra: { name: "USDC", version: "2", assetTransferMethod: "eip3009" } });
await accept("name-unicode", "a token's name beyond ASCII", ["Unicode"], { extra: { name: "Zürich€", version: "1" } });
await accept("name-empty", "an empty name and an empty version are a domain of their own", ["Empty"], { extra: { name: "", version: "" } });
await accept("amount-largest", "the largest amount", ["Boundary"], { amount: `${2n ** 256n - 1n}` });
await accept("amount-zero", "nothing is paid", ["Boundary"], { amount: "0" });
await accept("chain-largest", "the largest chain id of 64 bits", ["Boundary"], { network: `eip155:${2n ** 64n - 1n}` });
await accept("no-time", "valid for no second", ["Boundary"], { maxTimeoutSeconds: 0 });
await accept("early", "a clock before 600 seconds", ["Boundary"], {}, { now: 599 });
await accept("nonce-zero", "a nonce of zeros", ["Boundary"], {}, { nonce: `0x${"00".repeat(32)}` });

refuse("scheme-other", "another scheme", ["Shape"], { scheme: "upto" }, "scheme");
refuse("permit2", "another transfer method", ["Shape"], { extra: { ...base.extra, assetTransferMethod: "permit2" } }, "extra.assetTransferMethod");
refuse("no-extra", "no domain", ["Empty"], { extra: undefined }, "extra.name");
refuse("no-version", "half a domain", ["Empty"], { extra: { name: "USDC" } }, "extra.version");
refuse("version-number", "the version is a number", ["Shape"], { extra: { name: "USDC", version: 2 } }, "extra.version");
refuse("chain-beyond", "a chain id beyond 64 bits", ["Boundary"], { network: `eip155:${2n ** 64n}` }, "network");
