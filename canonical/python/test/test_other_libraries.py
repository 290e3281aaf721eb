"""The package against eth-account and PyNaCl, with the package's own types."""

import unittest

import nacl.exceptions
import nacl.signing
from eth_account import Account
from eth_account.messages import encode_typed_data
from eth_hash.auto import keccak

import concord_canonical as canonical

SECRET = bytes([0x11]) * 32
FIELDS = {
    "agent_id": 2**200 + 7,
    "client_address": "0x70997970C51812dc3A010C7d01b50e0d17dc79C8",
    "index_limit": 2**63 + 1,
    "expiry": 1_900_000_000,
    "chain_id": 84532,
    "identity_registry": "0x8004A818BFB912233c491871b3d84c89A494BD9e",
    "signer_address": "0xf39Fd6e51aad88F6F4ce6aB8827279cffFb92266",
}
TYPES = {
    "EIP712Domain": [
        {"name": "name", "type": "string"},
        {"name": "version", "type": "string"},
        {"name": "chainId", "type": "uint256"},
        {"name": "verifyingContract", "type": "address"},
    ],
    "FeedbackAuth": [
        {"name": "agentId", "type": "uint256"},
        {"name": "clientAddress", "type": "address"},
        {"name": "indexLimit", "type": "uint64"},
        {"name": "expiry", "type": "uint256"},
        {"name": "chainId", "type": "uint256"},
        {"name": "identityRegistry", "type": "address"},
        {"name": "signerAddress", "type": "address"},
    ],
}


def camel(name):
    first, *rest = name.split("_")
    return first + "".join(word.capitalize() for word in rest)


class OtherLibraries(unittest.TestCase):
    def test_r5_hashes_a_feedback_auth_as_eth_account_does(self):
        contract = "0x8004B663056A597Dffe9eCcC1965A193B7388713"
        domain = {"name": "ERC8004ReputationRegistry", "version": "1", "chainId": 84532, "verifyingContract": contract}
        message = {camel(name): value for name, value in FIELDS.items()}
        typed = {"types": TYPES, "primaryType": "FeedbackAuth", "domain": domain, "message": message}
        signable = encode_typed_data(full_message=typed)
        digest = keccak(b"\x19" + signable.version + signable.header + signable.body)
        found = canonical.feedback_auth(scheme="eip712", verifying_contract=contract, **FIELDS)
        self.assertEqual(found, {"digest": "0x" + digest.hex()})

    def test_signs_as_eth_account_does(self):
        digest = keccak(b"message")
        theirs = Account.unsafe_sign_hash(digest, SECRET)
        ours = bytes.fromhex(canonical.sign(algorithm="secp256k1", message=digest, secret_key=SECRET)[2:])
        self.assertEqual(int.from_bytes(ours[:32]), theirs.r)
        self.assertEqual(int.from_bytes(ours[32:64]), theirs.s)
        self.assertEqual(ours[64] + 27, theirs.v)
        signer = Account.from_key(SECRET).address
        self.assertTrue(canonical.verify(algorithm="secp256k1", message=digest, signature=ours, signer=signer))

    def test_signs_as_nacl_does(self):
        key = nacl.signing.SigningKey(SECRET)
        ours = bytes.fromhex(canonical.sign(algorithm="ed25519", message=b"message", secret_key=SECRET)[2:])
        self.assertEqual(ours, key.sign(b"message").signature)
        with self.assertRaises(nacl.exceptions.BadSignatureError):
            key.verify_key.verify(b"another", ours)
        with self.assertRaises(canonical.CanonicalError) as refused:
            canonical.verify(algorithm="ed25519", message=b"another", signature=ours, signer=bytes(key.verify_key))
        self.assertEqual(refused.exception.error_class, "BadSignature")

    def test_names_what_was_wrong_and_no_secret(self):
        with self.assertRaises(canonical.CanonicalError) as refused:
            canonical.sign(algorithm="ed25519", message=b"", secret_key="ab" * 31 + "xy")
        self.assertIn("secret_key", str(refused.exception))
        self.assertNotIn("abab", str(refused.exception))
        with self.assertRaises(canonical.CanonicalError) as refused:
            canonical.tag(text="x" * 33, encoding="padded")
        self.assertEqual(refused.exception.error_class, "MalformedTag")
        self.assertIn("33", str(refused.exception))


if __name__ == "__main__":
    unittest.main()
