# Records what agent0-sdk 1.7.1 for Python uploads and hashes. Its own giveFeedback runs; the chain and IPFS are stand-ins that note
# what they are given. Run where the package is installed: python3 hash.py > python.json
import json
import pathlib
import types

from agent0_sdk.core.feedback_manager import FeedbackManager
from web3 import Web3

inputs = json.loads((pathlib.Path(__file__).parent / "inputs.json").read_text(encoding="utf-8"))
registry = types.SimpleNamespace(address="0x8004A169FB4a3325136EB29fA0ceB6D2e539a432")


class Chain:
    chain_id = 8453
    account = types.SimpleNamespace(address="0x70997970C51812dc3A010C7d01b50e0d17dc79C8")

    def __init__(self, record):
        self.record = record

    def call_contract(self, *_):
        return 0

    def keccak256(self, data):
        return Web3.keccak(data)

    def transact_contract(self, _contract, _name, *args):
        self.record["hash"] = "0x" + bytes(args[7]).hex()
        return "0x" + "00" * 32


class Ipfs:
    def __init__(self, record):
        self.record = record

    def addFeedbackFile(self, data):
        self.record["uploaded"] = json.dumps(data, indent=2)  # as IPFSClient.add_json does
        return "cid"


records = []
for entry in inputs:
    record = {"name": entry["name"]}
    manager = FeedbackManager(Chain(record), Ipfs(record), registry, registry)
    manager.giveFeedback("8453:42", entry["value"], entry["tag1"], entry["tag2"], entry["endpoint"], entry["file"])
    records.append(record)
print(json.dumps(records, indent=1))
