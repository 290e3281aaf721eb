"""Prints the ABIs that Python's packages have: {package: {registry: ABI}}."""

import json
from importlib.resources import files

from agent0_sdk.core import contracts as agent0


def of_package(package, names):
    folder = files(package)
    abis = {registry: json.loads(folder.joinpath(name).read_text()) for registry, name in names.items()}
    return {registry: abi["abi"] if isinstance(abi, dict) else abi for registry, abi in abis.items()}


print(
    json.dumps(
        {
            "agent0-sdk (Python)": {
                "identity": agent0.IDENTITY_REGISTRY_ABI,
                "reputation": agent0.REPUTATION_REGISTRY_ABI,
                "validation": agent0.VALIDATION_REGISTRY_ABI,
            },
            "erc-8004-py": of_package(
                "erc8004.abis",
                {"identity": "IdentityRegistry.json", "reputation": "ReputationRegistry.json", "validation": "ValidationRegistry.json"},
            ),
            "web3-agent-reputation": of_package(
                "web3_agent_reputation.abi",
                {"identity": "identity.json", "reputation": "reputation.json", "validation": "validation.json"},
            ),
        }
    )
)
