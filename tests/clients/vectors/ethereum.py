"""eth-account, eth-keys, eth-abi and eth-utils, which web3.py uses: hashes, typed data, ABI words, secp256k1."""

from eth_abi import decode, encode
from eth_abi.packed import encode_packed
from eth_account import Account
from eth_account.messages import encode_defunct, encode_typed_data
from eth_keys import keys
from eth_utils import keccak, to_checksum_address

from protocol import Unsupported, hexadecimal, octets, serve

AUTH = {
    "agentId": "uint256",
    "clientAddress": "address",
    "indexLimit": "uint64",
    "expiry": "uint256",
    "chainId": "uint256",
    "identityRegistry": "address",
    "signerAddress": "address",
}
WALLET = {"agentId": "uint256", "newWallet": "address", "owner": "address", "deadline": "uint256"}
DOMAIN = {"name": "string", "version": "string", "chainId": "uint256", "verifyingContract": "address"}
AUTH_BYTES = 32 * len(AUTH)


def snake(name):
    return "".join(f"_{letter.lower()}" if letter.isupper() else letter for letter in name)


def address(text):
    return to_checksum_address("0x" + text.removeprefix("0x"))


def message(types, arguments):
    read = {"address": address}
    return {name: read.get(kind, int)(arguments[snake(name)]) for name, kind in types.items()}


def fields(types):
    return [{"name": name, "type": kind} for name, kind in types.items()]


def typed_data(contract, name, types, arguments, values):
    domain = {
        "name": contract,
        "version": "1",
        "chainId": int(arguments["chain_id"]),
        "verifyingContract": address(arguments["verifying_contract"]),
    }
    signed = {field: values[field] for field in types}
    return encode_typed_data(domain, {name: fields(types)}, signed)


def digest(signable):
    return hexadecimal(keccak(b"\x19" + signable.version + signable.header + signable.body))


def encoded(arguments):
    return encode(list(AUTH.values()), list(message(AUTH, arguments).values()))


def feedback_auth(scheme, **arguments):
    if scheme in ("svm", "x84"):
        raise Unsupported
    values = message(AUTH, arguments)
    if scheme == "eip191":
        return {"digest": digest(encode_defunct(keccak(encoded(arguments))))}
    if scheme == "packed":
        return {"digest": hexadecimal(keccak(encode_packed(list(AUTH.values()), list(values.values()))))}
    types = AUTH if scheme == "eip712" else dict(list(AUTH.items())[:5])
    return {"digest": digest(typed_data("ERC8004ReputationRegistry", "FeedbackAuth", types, arguments, values))}


def feedback_auth_blob_decode(blob):
    data = octets(blob)
    found = decode(list(AUTH.values()), data[:AUTH_BYTES])
    named = {snake(name): str(value) for name, value in zip(AUTH, found)}
    return {**named, "signature": hexadecimal(data[AUTH_BYTES:])}


def agent_wallet_set(**arguments):
    values = message(WALLET, arguments)
    return {"digest": digest(typed_data("ERC8004IdentityRegistry", "AgentWalletSet", WALLET, arguments, values))}


def eip712_domain(name, version, chain_id, verifying_contract):
    domain = {"name": name, "version": version, "chainId": int(chain_id), "verifyingContract": address(verifying_contract)}
    return hexadecimal(encode_typed_data(domain, {"Empty": []}, {}).header)


def recover_address(message, signature):
    return Account._recover_hash(octets(message), signature=octets(signature)).lower()


def key_of(text):
    data = octets(text)
    if len(data) == 33:
        return keys.PublicKey.from_compressed_bytes(data)
    if data[:1] != b"\x04":
        raise ValueError("not SEC 1")  # eth-keys takes x and y alone
    return keys.PublicKey(data[1:])


def verify(algorithm, message, signature, signer):
    if algorithm != "secp256k1":
        raise Unsupported
    if len(octets(signer)) == 20:
        found, wanted = recover_address(message, signature), hexadecimal(octets(signer))
    else:
        made = keys.Signature(octets(signature))
        found, wanted = made.recover_public_key_from_msg_hash(octets(message)), key_of(signer)
    if found != wanted:
        raise ValueError("another signer")
    return True


def sign(algorithm, message, secret_key):
    if algorithm != "secp256k1":
        raise Unsupported
    return hexadecimal(keys.PrivateKey(octets(secret_key)).sign_msg_hash(octets(message)).to_bytes())


def public_key_of_secret(algorithm, secret_key):
    if algorithm != "secp256k1":
        raise Unsupported
    return hexadecimal(keys.PrivateKey(octets(secret_key)).public_key.to_compressed_bytes())


serve(
    {
        "keccak256": lambda data: hexadecimal(keccak(octets(data))),
        "feedback_auth": feedback_auth,
        "feedback_auth_blob": lambda signature, **arguments: hexadecimal(encoded(arguments) + octets(signature)),
        "feedback_auth_blob_decode": feedback_auth_blob_decode,
        "agent_wallet_set": agent_wallet_set,
        "eip712_domain": eip712_domain,
        "verify": verify,
        "sign": sign,
        "recover_address": recover_address,
        "public_key_of_secret": public_key_of_secret,
        "address_of_public_key": lambda public_key: key_of(public_key).to_address(),
    }
)
