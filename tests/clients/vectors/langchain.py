"""langchain-erc8004: the consent of an agent's wallet, EIP-712 domains, and summaries that it computes as the registry does."""

from langchain_erc8004.registries.reputation import summarise_like_chain
from langchain_erc8004.typed_data import agent_wallet_digest, domain_separator

from protocol import Unsupported, hexadecimal, serve

VALUE_MAX, DECIMALS_MAX = 10**38, 18


def agent_wallet_set(agent_id, deadline, chain_id, **addresses):
    digest = agent_wallet_digest(agent_id=int(agent_id), deadline=int(deadline), chain_id=int(chain_id), **addresses)
    return {"digest": hexadecimal(digest)}


def eip712_domain(name, version, chain_id, verifying_contract):
    return hexadecimal(domain_separator(name, version, int(chain_id), verifying_contract))


def as_read(entry):
    """An entry as the library reads it from a registry, which has checked its bounds."""
    value, decimals = int(entry["value"]), entry["value_decimals"]
    if abs(value) > VALUE_MAX or decimals > DECIMALS_MAX:
        raise Unsupported
    return {"value": value, "value_decimals": decimals, "is_revoked": entry["revoked"]}


def summary(feedback, query):
    """The registry applies the filters for it, and refuses an empty list of clients."""
    if not query["clients"]:
        raise Unsupported
    has_tags = lambda entry: all(query[tag] in ("", entry[tag]) for tag in ("tag1", "tag2"))
    matching = (entry for client in query["clients"] for entry in feedback if entry["client"] == client and has_tags(entry))
    count, value, decimals = summarise_like_chain([as_read(entry) for entry in matching])
    return {"count": count, "value": str(value), "value_decimals": decimals}


serve({"agent_wallet_set": agent_wallet_set, "eip712_domain": eip712_domain, "summary": summary})
