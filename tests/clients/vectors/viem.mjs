// viem: hashes, typed data, ABI words, secp256k1, and texts in 32 bytes.
import {
  concat, decodeAbiParameters, domainSeparator, encodeAbiParameters, encodePacked, getAddress, hashMessage, hashTypedData,
  hexToString, keccak256, recoverAddress, recoverPublicKey, serializeSignature, sha256, slice, stringToHex,
} from "viem";
import { privateKeyToAccount, publicKeyToAddress, sign } from "viem/accounts";

import { Unsupported, hex, serve } from "./protocol.mjs";

const AUTH = fields(
  "uint256 agentId,address clientAddress,uint64 indexLimit,uint256 expiry,uint256 chainId,address identityRegistry,address signerAddress",
);
const WALLET = fields("uint256 agentId,address newWallet,address owner,uint256 deadline");
const AUTH_BYTES = 32 * AUTH.length;

function fields(list) {
  return list.split(",").map((field) => {
    const [type, name] = field.split(" ");
    return { name, type };
  });
}

const snake = (name) => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

/** A request's members as the struct's: `agent_id` is `agentId`. */
function message(types, args) {
  const value = ({ name, type }) => (type === "address" ? getAddress(hex(args[snake(name)])) : BigInt(args[snake(name)]));
  return Object.fromEntries(types.map((field) => [field.name, value(field)]));
}

const values = (types, args) => Object.values(message(types, args));
const encoded = (args) => encodeAbiParameters(AUTH, values(AUTH, args));

function typedData(contract, primaryType, types, args) {
  const domain = { name: contract, version: "1", chainId: BigInt(args.chain_id), verifyingContract: getAddress(hex(args.verifying_contract)) };
  const all = primaryType === "FeedbackAuth" ? AUTH : types; // all are read, whichever are signed
  return hashTypedData({ domain, types: { [primaryType]: types }, primaryType, message: message(all, args) });
}

function feedbackAuth(args) {
  switch (args.scheme) {
    case "eip712":
      return { digest: typedData("ERC8004ReputationRegistry", "FeedbackAuth", AUTH, args) };
    case "eip712-fs":
      return { digest: typedData("ERC8004ReputationRegistry", "FeedbackAuth", AUTH.slice(0, 5), args) };
    case "eip191":
      return { digest: hashMessage({ raw: keccak256(encoded(args)) }) };
    case "packed":
      return { digest: keccak256(encodePacked(AUTH.map(({ type }) => type), values(AUTH, args))) };
    default:
      throw new Unsupported();
  }
}

function decodedBlob({ blob }) {
  const data = hex(blob);
  const found = decodeAbiParameters(AUTH, slice(data, 0, AUTH_BYTES));
  const named = AUTH.map(({ name }, at) => [snake(name), String(found[at]).toLowerCase()]);
  return { ...Object.fromEntries(named), signature: `0x${data.slice(2 + 2 * AUTH_BYTES)}` };
}

async function verify({ algorithm, message, signature, signer }) {
  const key = hex(signer);
  const [hash, made] = [hex(message), hex(signature)];
  if (algorithm !== "secp256k1" || key.length === 2 + 66) throw new Unsupported(); // it does not decompress keys
  const found = key.length === 42 ? await recoverAddress({ hash, signature: made }) : await recoverPublicKey({ hash, signature: made });
  if (found.toLowerCase() !== key.toLowerCase()) throw new Error("another signer");
  return true;
}

async function signed({ algorithm, message, secret_key }) {
  if (algorithm !== "secp256k1") throw new Unsupported();
  const { r, s, yParity } = await sign({ hash: hex(message), privateKey: hex(secret_key) });
  return concat([r, s, yParity ? "0x01" : "0x00"]);
}

function publicKeyOfSecret({ algorithm, secret_key }) {
  if (algorithm !== "secp256k1") throw new Unsupported();
  const { publicKey } = privateKeyToAccount(hex(secret_key));
  const isOdd = Number.parseInt(publicKey.at(-1), 16) % 2;
  return concat([isOdd ? "0x03" : "0x02", slice(publicKey, 1, 33)]); // viem has it uncompressed
}

function addressOfPublicKey({ public_key }) {
  if (hex(public_key).length === 2 + 66) throw new Unsupported(); // it does not decompress keys
  return publicKeyToAddress(hex(public_key)).toLowerCase();
}

function ethereumV({ direction, signature }) {
  const made = hex(signature);
  if (direction !== "to") throw new Unsupported();
  return serializeSignature({ r: slice(made, 0, 32), s: slice(made, 32, 64), yParity: Number(slice(made, 64)) });
}

function paddedTag({ text, encoding }) {
  if (encoding !== "padded") throw new Unsupported();
  return stringToHex(text, { size: 32 });
}

await serve({
  keccak256: ({ data }) => keccak256(hex(data)),
  sha256: ({ data }) => sha256(hex(data)),
  feedback_auth: feedbackAuth,
  feedback_auth_blob: (args) => concat([encoded(args), hex(args.signature)]),
  feedback_auth_blob_decode: decodedBlob,
  agent_wallet_set: (args) => ({ digest: typedData("ERC8004IdentityRegistry", "AgentWalletSet", WALLET, args) }),
  eip712_domain: ({ name, version, chain_id, verifying_contract }) =>
    domainSeparator({ domain: { name, version, chainId: BigInt(chain_id), verifyingContract: getAddress(hex(verifying_contract)) } }),
  tag: paddedTag,
  tag_decode: ({ bytes }) => hexToString(hex(bytes), { size: 32 }),
  verify,
  sign: signed,
  recover_address: async ({ message, signature }) => (await recoverAddress({ hash: hex(message), signature: hex(signature) })).toLowerCase(),
  ethereum_v: ethereumV,
  public_key_of_secret: publicKeyOfSecret,
  address_of_public_key: addressOfPublicKey,
});
