"""agent0-sdk for Python: hashes, feedback ids and the consent of an agent's wallet."""

from agent0_sdk.core.models import Feedback
from agent0_sdk.core.web3_client import Web3Client
from eth_account.messages import encode_typed_data
from eth_utils import keccak, to_checksum_address
from web3 import Web3

from protocol import hexadecimal, octets, serve

CLIENT = Web3Client.__new__(Web3Client)  # its constructor asks a node
CLIENT.w3 = Web3()


def address(text):
    return to_checksum_address("0x" + text.removeprefix("0x"))


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
    return {"digest": hexadecimal(keccak(b"\x19" + encoded.version + encoded.header + encoded.body))}


serve(
    {
        "keccak256": lambda data: hexadecimal(CLIENT.keccak256(octets(data))),
        "feedback_id": feedback_id,
        "agent_wallet_set": agent_wallet_set,
    }
)
