"""agent0-sdk for Python: hashes, feedback ids and the consent of an agent's wallet, in the oracle's protocol."""

import json
import sys

from agent0_sdk.core.models import Feedback
from agent0_sdk.core.web3_client import Web3Client
from eth_account.messages import encode_typed_data
from eth_utils import keccak, to_checksum_address
from web3 import Web3

CLIENT = Web3Client.__new__(Web3Client)  # its constructor asks a node
CLIENT.w3 = Web3()


def octets(text):
    return bytes.fromhex(text.removeprefix("0x"))


def address(text):
    return to_checksum_address("0x" + text.removeprefix("0x"))


def keccak256(data):
    return "0x" + bytes(CLIENT.keccak256(octets(data))).hex()


def feedback_id(text, base, target):
    agent, client, index = Feedback.from_id_string(text)
    index += 1 - int(base)  # the contract's, from 1
    made = Feedback.create_id(agent, client, index - 1 + int(target))
    return {"agent_id": agent, "client": client, "index": str(index), "text": ":".join(map(str, made))}


def agent_wallet_set(agent_id, new_wallet, owner, deadline, chain_id, verifying_contract):
    data = CLIENT.build_agent_wallet_set_typed_data(
        agent_id=int(agent_id),
        new_wallet=address(new_wallet),
        owner=address(owner),
        deadline=int(deadline),
        verifying_contract=address(verifying_contract),
        chain_id=int(chain_id),
    )
    encoded = encode_typed_data(full_message=data)
    return {"digest": "0x" + keccak(b"\x19" + encoded.version + encoded.header + encoded.body).hex()}


FUNCTIONS = {"keccak256": keccak256, "feedback_id": feedback_id, "agent_wallet_set": agent_wallet_set}


def outcome(name, arguments):
    if name == "functions":
        return {"ok": list(FUNCTIONS)}
    try:
        return {"ok": FUNCTIONS[name](**arguments)}
    except Exception:  # whatever a library raises is a refusal without a class of the protocol
        return {"error": {"class": "Refused"}}


for line in sys.stdin:
    request = json.loads(line)
    identifier, name = request.pop("id"), request.pop("fn")
    print(json.dumps({"id": identifier, **outcome(name, request)}), flush=True)
