#!/usr/bin/env python3
"""A small identity registry in memory that speaks docs/ADAPTER.md: an example to start from.

It keeps the rules of an EVM registry for the five operations that it declares, and nothing else.
With --faulty a transfer leaves the old owner's wallet in place, which a run must notice.
"""

import json
import sys

PROTOCOL = 1
PROFILES = ["identity"]
NAME = "identity-py"
RESERVED_KEY = "agentWallet"
OPERATIONS = ["register", "set_agent_uri", "set_metadata", "unset_agent_wallet", "transfer"]


class Refused(Exception):
    """A rule was broken; the message is the error class."""


class Registry:
    def __init__(self, keeps_wallet):
        self.keeps_wallet = keeps_wallet
        self.time = 0
        self.agents = {}

    def agent(self, label):
        if label not in self.agents:
            raise Refused("AgentNotFound")
        return self.agents[label]

    def owned(self, label, by):
        agent = self.agent(label)
        if agent["owner"] != by:
            raise Refused("NotAuthorized")
        return agent

    def register(self, agent, by, uri, metadata=()):
        if any(entry["key"] == RESERVED_KEY for entry in metadata):
            raise Refused("ReservedKey")
        self.agents[agent] = new_agent(by, uri)
        events = [{"AgentRegistered": {"agent": agent, "owner": by, "uri": uri}}]
        for entry in metadata:
            events += self.set_metadata(agent, by, entry["key"], entry["value"])
        return events

    def set_agent_uri(self, agent, by, uri):
        self.owned(agent, by)["uri"] = uri
        return [{"AgentUriSet": {"agent": agent, "by": by, "uri": uri}}]

    def set_metadata(self, agent, by, key, value):
        known = self.owned(agent, by)
        if key == RESERVED_KEY:
            raise Refused("ReservedKey")
        known["metadata"][key] = value
        return [{"MetadataSet": {"agent": agent, "key": key, "value": value}}]

    def unset_agent_wallet(self, agent, by):
        self.owned(agent, by)["wallet"] = None
        return [{"AgentWalletSet": {"agent": agent, "wallet": None}}]

    def transfer(self, agent, by, to, into_mutable_account=False):
        known = self.agent(agent)
        if known["owner"] != by:
            raise Refused("TransferNotAllowed")
        if to == by:
            return []
        known["owner"] = to
        if not self.keeps_wallet:
            known["wallet"] = None
        return [{"AgentWalletSet": {"agent": agent, "wallet": None}}]


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
    def __init__(self, keeps_wallet):
        self.keeps_wallet = keeps_wallet
        self.registry = Registry(keeps_wallet)

    def hello(self, protocol, chain):
        return {"protocol": PROTOCOL, "name": NAME, "operations": OPERATIONS, "profiles": PROFILES}

    def reset(self, start, actors):
        self.registry = Registry(self.keeps_wallet)
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


def main():
    adapter = Adapter(keeps_wallet="--faulty" in sys.argv[1:])
    asked = {"hello": adapter.hello, "reset": adapter.reset, "execute": adapter.execute}
    asked |= {"state": adapter.state, "agent_state": adapter.agent_state}
    for line in sys.stdin:
        request = json.loads(line)
        number = request.pop("id")
        ((name, arguments),) = request.items()
        answer = {"id": number, "ok": asked[name](**arguments)}
        print(json.dumps(answer), flush=True)


if __name__ == "__main__":
    main()
