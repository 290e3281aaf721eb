"""Speed of concord-canonical beside eth-account, eth-hash and PyNaCl, in one process; after canonical/python/test/run.

Prints a Markdown table; microseconds are the median of 9 rounds, taken by turns.
"""

import hashlib
import statistics
import time

import nacl.signing
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_hash.auto import keccak
from eth_keys import keys

import concord_canonical as canonical
from test_other_libraries import FIELDS, TYPES, camel

DATA = bytes([7]) * 1024
SECRET = bytes([0x11]) * 32
DIGEST = keccak(DATA)
CONTRACT = "0x8004B663056A597Dffe9eCcC1965A193B7388713"
TYPED = {
    "types": TYPES,
    "primaryType": "FeedbackAuth",
    "domain": {"name": "ERC8004ReputationRegistry", "version": "1", "chainId": 84532, "verifyingContract": CONTRACT},
    "message": {camel(name): value for name, value in FIELDS.items()},
}
KEY = keys.PrivateKey(SECRET)
SIGNATURE = KEY.sign_msg_hash(DIGEST)
NACL = nacl.signing.SigningKey(SECRET)
NACL_SIGNATURE = NACL.sign(DIGEST).signature


def typed_digest():
    signable = encode_typed_data(full_message=TYPED)
    return keccak(b"\x19" + signable.version + signable.header + signable.body)


def ours_auth():
    return canonical.feedback_auth(scheme="eip712", verifying_contract=CONTRACT, **FIELDS)


def ours_sign(algorithm):
    return lambda: canonical.sign(algorithm=algorithm, message=DIGEST, secret_key=SECRET)


def ours_verify(algorithm, signature, signer):
    return lambda: canonical.verify(algorithm=algorithm, message=DIGEST, signature=signature, signer=signer)


CASES = [
    ("keccak256, 1 KiB", lambda: canonical.keccak256(data=DATA), "eth-hash, pycryptodome", lambda: keccak(DATA)),
    ("SHA-256, 1 KiB", lambda: canonical.sha256(data=DATA), "hashlib", lambda: hashlib.sha256(DATA).digest()),
    ("digest of a FeedbackAuth (EIP-712)", ours_auth, "eth-account", typed_digest),
    ("sign, secp256k1", ours_sign("secp256k1"), "eth-account", lambda: Account.unsafe_sign_hash(DIGEST, SECRET)),
    (
        "verify, secp256k1",
        ours_verify("secp256k1", SIGNATURE.to_bytes(), KEY.public_key.to_compressed_bytes()),
        "eth-keys",
        lambda: KEY.public_key.verify_msg_hash(DIGEST, SIGNATURE),
    ),
    ("sign, Ed25519", ours_sign("ed25519"), "PyNaCl", lambda: NACL.sign(DIGEST)),
    (
        "verify, Ed25519",
        ours_verify("ed25519", NACL_SIGNATURE, bytes(NACL.verify_key)),
        "PyNaCl",
        lambda: NACL.verify_key.verify(DIGEST, NACL_SIGNATURE),
    ),
]


def microseconds(call, times=20):
    start = time.perf_counter_ns()
    for _ in range(times):
        call()
    return (time.perf_counter_ns() - start) / 1000 / times


if __name__ == "__main__":
    print("| operation | `concord-canonical`, µs | beside it | µs | ratio |\n|---|---|---|---|---|")
    for name, ours, other, theirs in CASES:
        rounds = [(microseconds(ours), microseconds(theirs)) for _ in range(9)]
        a, b = (statistics.median(column) for column in zip(*rounds))
        print(f"| {name} | {a:.1f} | {other} | {b:.1f} | {a / b:.2f} |")
