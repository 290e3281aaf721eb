#!/usr/bin/env python3
"""A small identity registry in memory that speaks docs/ADAPTER.md: an example to start from.

It keeps the rules of an EVM registry for the identity profile, and nothing else. With --faulty a
transfer leaves the old owner's wallet in place, and with --faulty-view a view forgets operators, both
of which a run must notice. schema.json, beside it, has the form of every line.
"""

import json
import sys

PROTOCOL = 1
PROFILES = ["identity"]
NAME = "identity-py"
RESERVED_KEY = "agentWallet"
# How the labels of contracts begin that refuse tokens.
REFUSES_TOKENS = "contract-closed-"
OPERATIONS = [
    "register",
    "set_agent_uri",
    "set_metadata",
    "set_agent_wallet",
    "unset_agent_wallet",
    "transfer",
    "approve",
    "set_operator",
]
# ERC-165, ERC-721, its metadata, ERC-4906.
INTERFACES = ["0x01ffc9a7", "0x80ac58cd", "0x5b5e139f", "0x49064906"]
DEADLINE_MAX = 300  # seconds from now: the longest that a wallet's consent may be good for


class Refused(Exception):
    """A rule was broken; the message is the error class."""


class Registry:
    def __init__(self, keeps_wallet=False, forgets_operators=False):
        self.keeps_wallet = keeps_wallet
        self.forgets_operators = forgets_operators
        self.time = 0
        self.agents = {}
        self.approved = {}  # by agent: the one who may act for this token
        self.operators = set()  # (owner, whoever may act for all of their tokens)
        self.used_consents = set()

    def agent(self, label):
        if label not in self.agents:
            raise Refused("AgentNotFound")
        return self.agents[label]

    def may_act(self, label, by):
        """The owner, and those whom the owner approved."""
        owner = self.agent(label)["owner"]
        return by in (owner, self.approved.get(label)) or (owner, by) in self.operators

    def managed(self, label, by):
        if not self.may_act(label, by):
            raise Refused("NotAuthorized")
        return self.agent(label)

    def register(self, agent, by, uri, metadata=()):
        if any(entry["key"] == RESERVED_KEY for entry in metadata):
            raise Refused("ReservedKey")
        if by.startswith(REFUSES_TOKENS):
            raise Refused("ReceiverRefused")
        self.agents[agent] = new_agent(by, uri)
        events = [{"AgentRegistered": {"agent": agent, "owner": by, "uri": uri}}]
        for entry in metadata:
            events += self.set_metadata(agent, by, entry["key"], entry["value"])
        return events

    def set_agent_uri(self, agent, by, uri):
        self.managed(agent, by)["uri"] = uri
        return [{"AgentUriSet": {"agent": agent, "by": by, "uri": uri}}]

    def set_metadata(self, agent, by, key, value):
        known = self.managed(agent, by)
        if key == RESERVED_KEY:
            raise Refused("ReservedKey")
        known["metadata"][key] = value
        return [{"MetadataSet": {"agent": agent, "key": key, "value": value}}]

    def set_agent_wallet(self, agent, by, wallet, consent=None):
        known = self.managed(agent, by)
        if wallet is None:
            raise Refused("WalletZero")
        if consent is None:
            raise Refused("WalletConsentMissing")
        if consent["deadline"] < self.time:
            raise Refused("DeadlinePassed")
        if consent["deadline"] > self.time + DEADLINE_MAX:
            raise Refused("DeadlineTooFar")
        # What the wallet's holder must have signed, and whose key must have done it.
        digest = (agent, wallet, known["owner"], consent["deadline"])
        if digest in self.used_consents:
            raise Refused("WalletConsentUsed")
        signed = (consent["agent"], consent["wallet"], consent["owner"], consent["deadline"])
        if signed != digest or consent["signer"] != wallet:
            raise Refused("WalletConsentMissing")
        self.used_consents.add(digest)
        known["wallet"] = wallet
        return [{"AgentWalletSet": {"agent": agent, "wallet": wallet}}]

    def unset_agent_wallet(self, agent, by):
        self.managed(agent, by)["wallet"] = None
        return [{"AgentWalletSet": {"agent": agent, "wallet": None}}]

    def transfer(self, agent, by, to, into_mutable_account=False):
        known = self.agent(agent)
        if not self.may_act(agent, by):
            raise Refused("TransferNotAllowed")
        self.approved.pop(agent, None)
        if to == known["owner"]:
            return []
        known["owner"] = to
        if not self.keeps_wallet:
            known["wallet"] = None
        return [{"AgentWalletSet": {"agent": agent, "wallet": None}}]

    def approve(self, agent, by, operator):
        owner = self.agent(agent)["owner"]
        if by != owner and (owner, by) not in self.operators:
            raise Refused("TransferNotAllowed")
        self.approved[agent] = operator
        return []

    def set_operator(self, by, operator, approved):
        change = self.operators.add if approved else self.operators.discard
        change((by, operator))
        return []

    # What clients read. Each is asked at the end of a scenario.

    def balance_of(self, owner):
        return str(sum(known["owner"] == owner for known in self.agents.values()))

    def wallet_of(self, agent):
        return self.agents[agent]["wallet"] if agent in self.agents else None

    def approved_for(self, agent):
        self.agent(agent)
        return self.approved.get(agent)

    def metadata_of(self, agent, key):
        return self.agent(agent)["metadata"].get(key, "0x")

    def is_operator(self, owner, operator):
        return (owner, operator) in self.operators

    def has_rights(self, agent, spender):
        if self.forgets_operators:
            return spender in (self.agent(agent)["owner"], self.approved.get(agent))
        return self.may_act(agent, spender)


VIEWS = {
    "balanceOf(address)": Registry.balance_of,
    "getAgentWallet(uint256)": Registry.wallet_of,
    "getApproved(uint256)": Registry.approved_for,
    "getMetadata(uint256,string)": Registry.metadata_of,
    "isApprovedForAll(address,address)": Registry.is_operator,
    "isAuthorizedOrOwner(address,uint256)": Registry.has_rights,
    "ownerOf(uint256)": lambda registry, agent: registry.agent(agent)["owner"],
    "supportsInterface(bytes4)": lambda _, interface: interface in INTERFACES,
    "tokenURI(uint256)": lambda registry, agent: registry.agent(agent)["uri"],
}
VIEWS = {f"IdentityRegistry.{signature}": view for signature, view in VIEWS.items()}


def new_agent(owner, uri):
    """An agent as the canonical state has it; of feedback and validations this registry knows none."""
    return {
        "owner": owner,
        "uri": uri,
        "wallet": owner,
        "metadata": {},
        "authorized": {"count": 0, "sum": 0, "average": 0, "clients": [], "entries": {}},
        "open": {"count": 0, "sum": "0", "clients": [], "entries": {}},
        "validations": {"answered": 0, "requests": {}},
    }


class Adapter:
    def __init__(self, **faults):
        self.faults = faults
        self.registry = Registry(**faults)

    def hello(self, protocol, chain):
        answer = {"protocol": PROTOCOL, "name": NAME, "operations": OPERATIONS, "profiles": PROFILES}
        return answer | {"views": list(VIEWS)}

    def reset(self, start, actors):
        self.registry = Registry(**self.faults)
        return {}

    def execute(self, operation, time):
        self.registry.time = time  # a refused transaction takes its time, too
        ((name, arguments),) = operation.items()
        if name not in OPERATIONS:
            raise ValueError(f"operation {name} was not declared")
        try:
            return {"outcome": "ok", "events": getattr(self.registry, name)(**arguments)}
        except Refused as refusal:
            return {"outcome": str(refusal), "native_error": f"Refused({refusal})"}

    def state(self):
        return {"time": self.registry.time, "agents": self.registry.agents}

    def agent_state(self, agent):
        return {"agent": self.registry.agents.get(agent)}

    def view(self, view, arguments):
        try:
            return {"returns": VIEWS[view](self.registry, **arguments)}
        except Refused as refusal:
            return {"refused": str(refusal)}


def main():
    given = sys.argv[1:]
    adapter = Adapter(keeps_wallet="--faulty" in given, forgets_operators="--faulty-view" in given)
    asked = {"hello": adapter.hello, "reset": adapter.reset, "execute": adapter.execute}
    asked |= {"state": adapter.state, "agent_state": adapter.agent_state, "view": adapter.view}
    for line in sys.stdin:
        request = json.loads(line)
        number = request.pop("id")
        ((name, arguments),) = request.items()
        answer = {"id": number, "ok": asked[name](**arguments)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
