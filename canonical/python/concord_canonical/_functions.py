import json
from typing import Any, Literal, TypedDict, Union

from ._error import CanonicalError
from ._native import answer

Bytes = Union[bytes, str]
"""Bytes, or hexadecimal with or without `0x`."""

Algorithm = Literal["secp256k1", "ed25519"]

Account = Literal[
    "registry", "mint", "agent", "metadata", "feedback", "open_feedback", "client", "open_client", "val_request", "val_response", "spent"
]
"""An account of the program whose address is derived (section 3b)."""

Profile = Literal["x402:8004-reputation:v1", "x402:reputation:v1"]
"""x402's reputation profiles (R26), by the prefix that their hashes begin with."""

FUNCTIONS = (
    *("keccak256", "sha256", "request_bytes", "jcs", "data_hash", "interaction_hash", "reviewer_message", "feedback_auth"),
    *("feedback_auth_blob", "feedback_auth_blob_decode", "payment_proof", "revoke_message", "respond_message", "receipt"),
    *("validation_request_hash", "agent_wallet_set", "tag", "tag_decode", "summary", "verify", "sign", "chain_id"),
    *("account_id", "task_ref", "pda", "public_key", "feedback_id", "weighted_score", "stars_to_value", "stars_of_value"),
    *("standard_tag", "standard_tag_value", "x402_tag", "summary_part", "summary_merge"),
    *("request_length_prefix", "integer_field", "feedback_auth_eoa_blob_decode", "eip712_domain", "recover_address"),
    *("ethereum_v", "low_s", "public_key_of_secret", "address_of_public_key"),
)
"""The functions, in the order of the protocol of `concord oracle`."""


class SummaryEntry(TypedDict):
    """One feedback of the open profile, as a summary reads it (R16). `value` is times 10**value_decimals."""

    client: str
    value: int
    value_decimals: int
    tag1: str
    tag2: str
    revoked: bool


class Summary(TypedDict):
    """Count and average of feedback (R16)."""

    count: int
    value: int
    value_decimals: int


class SummaryPart(TypedDict):
    """What a summary is computed from (R16): parts of disjoint feedback add up. `sum` is in units of 1e-18, `histogram` says
    how many values had 0, 1, ... 18 decimals."""

    sum: int
    count: int
    histogram: list[int]


class MergedSummary(TypedDict):
    """Parts added up, and what they come to."""

    part: SummaryPart
    count: int
    value: int
    value_decimals: int


class FeedbackId(TypedDict):
    """The parts of a feedback id. `index` is the contract's, from 1."""

    agent_id: str
    client: str
    index: int
    text: str


class StandardTag(TypedDict):
    """A row of the table of tags whose meaning is fixed."""

    measures: str
    unit: str
    decimals: int
    range: str
    tag2: list[str]


class EvmFeedbackAuth(TypedDict):
    """The seven fields of a FeedbackAuth on an EVM chain (R5), and its signature."""

    agent_id: int
    client_address: str
    index_limit: int
    expiry: int
    chain_id: int
    identity_registry: str
    signer_address: str
    signature: str


def _argument(value: Any) -> Any:
    if isinstance(value, (bytes, bytearray, memoryview)):
        return "0x" + bytes(value).hex()
    if isinstance(value, int) and not isinstance(value, bool):
        return str(value)
    if isinstance(value, dict):
        return {name: _argument(member) for name, member in value.items()}
    if isinstance(value, (list, tuple)):
        return [_argument(member) for member in value]
    return value


def _call(name: str, arguments: dict[str, Any]) -> Any:
    given = {argument: _argument(value) for argument, value in arguments.items() if value is not None}
    answered = json.loads(answer(json.dumps({**given, "fn": name})))
    if "error" in answered:
        raise CanonicalError(answered["error"]["class"], answered["error"]["message"])
    return answered["ok"]


def _with_integers(result: dict[str, Any], *names: str) -> dict[str, Any]:
    """The protocol writes integers wider than 53 bits as decimal text."""
    return {name: int(value) if name in names else value for name, value in result.items()}


def keccak256(*, data: Bytes) -> str:
    return str(_call("keccak256", locals()))


def sha256(*, data: Bytes) -> str:
    return str(_call("sha256", locals()))


def request_bytes(*, method: str, target: str, body: Bytes) -> str:
    """The bytes of a request that `data_hash` covers: its body, or its target if it has none (R24, R33)."""
    return str(_call("request_bytes", locals()))


def jcs(*, text: str) -> dict[str, str]:
    """`canonical`: the JSON text in RFC 8785's form; `hash`: keccak256 of its UTF-8."""
    return dict(_call("jcs", locals()))


def data_hash(*, request: Bytes, response: Bytes) -> str:
    return str(_call("data_hash", locals()))


def interaction_hash(*, task_ref: str, data_hash: Bytes, profile: Profile | None = None) -> str:
    """The 32 bytes that an agent signs. Without `profile`, of x402:8004-reputation:v1 (R26)."""
    return str(_call("interaction_hash", locals()))


def reviewer_message(
    *,
    agent_registry: str,
    agent_id: str,
    task_ref: str,
    data_hash: Bytes,
    value: int,
    value_decimals: int,
    tag1: str = "",
    tag2: str = "",
) -> str:
    """The 32 bytes that a reviewer signs."""
    return str(_call("reviewer_message", locals()))


def feedback_auth(
    *,
    scheme: Literal["eip712", "eip712-fs", "eip191", "packed", "svm", "x84"],
    agent_id: int | str,
    client_address: str,
    index_limit: int | None = None,
    expiry: int | None = None,
    chain_id: int | str | None = None,
    identity_registry: str | None = None,
    signer_address: str | None = None,
    verifying_contract: str | None = None,
) -> dict[str, str]:
    """`digest` on an EVM chain, `message` on Solana (`svm`, `x84`), of a FeedbackAuth (R5 to R7)."""
    return dict(_call("feedback_auth", locals()))


def feedback_auth_blob(
    *,
    agent_id: int,
    client_address: str,
    index_limit: int,
    expiry: int,
    chain_id: int,
    identity_registry: str,
    signer_address: str,
    signature: Bytes,
) -> str:
    """The bytes that the authorized registry takes: the fields' ABI encoding, then the signature (R6)."""
    return str(_call("feedback_auth_blob", locals()))


def feedback_auth_blob_decode(*, blob: Bytes) -> EvmFeedbackAuth:
    decoded = _call("feedback_auth_blob_decode", locals())
    return EvmFeedbackAuth(**_with_integers(decoded, "agent_id", "index_limit", "expiry", "chain_id"))  # type: ignore[typeddict-item]


def payment_proof(
    *,
    agent_id: str,
    payer: str,
    payee: str,
    token: str,
    amount: int,
    task_ref: str,
    paid_at: int,
    expiry: int,
    chain_id: str,
    program_id: str,
    facilitator: str,
) -> dict[str, str]:
    """`message`: the 56 bytes that a facilitator signs (R13)."""
    return dict(_call("payment_proof", locals()))


def revoke_message(
    *, agent_registry: str, agent_id: str, task_ref: str, reviewer_address: str, feedback_hash: Bytes
) -> str:
    """The 32 bytes that a reviewer signs to revoke through an aggregator (R58)."""
    return str(_call("revoke_message", locals()))


def respond_message(
    *,
    agent_registry: str,
    agent_id: str,
    task_ref: str,
    reviewer_address: str,
    response_uri: str,
    feedback_hash: Bytes,
    response_hash: Bytes,
) -> str:
    """The 32 bytes that an agent signs to respond to feedback through an aggregator (R58)."""
    return str(_call("respond_message", locals()))


def receipt(*, previous: Bytes, key: str, payload_digest: Bytes, accepted_at: int) -> str:
    """An aggregator's receipt, which names the one before it (R57)."""
    return str(_call("receipt", locals()))


def validation_request_hash(
    *, chain_id: str, registry: str, agent_id: int | str, validator: str, payload_hash: Bytes, nonce: int
) -> str:
    return str(_call("validation_request_hash", locals()))


def agent_wallet_set(
    *, agent_id: int, new_wallet: str, owner: str, deadline: int, chain_id: int, verifying_contract: str
) -> dict[str, str]:
    """`digest`: what a wallet signs to become an agent's (R3)."""
    return dict(_call("agent_wallet_set", locals()))


def tag(*, text: str, encoding: Literal["padded", "hashed"]) -> str:
    return str(_call("tag", locals()))


def tag_decode(*, bytes: Bytes) -> str:
    return str(_call("tag_decode", locals()))


def summary(*, feedback: list[SummaryEntry], clients: list[str], tag1: str = "", tag2: str = "") -> Summary:
    """Count and average of what `clients` gave with these tags and did not revoke (R16). An empty tag matches all."""
    query = {"clients": clients, "tag1": tag1, "tag2": tag2}
    result = _with_integers(_call("summary", {"feedback": feedback, "query": query}), "value")
    return Summary(**result)  # type: ignore[typeddict-item]


def verify(*, algorithm: Algorithm, message: Bytes, signature: Bytes, signer: Bytes) -> Literal[True]:
    """True, or `CanonicalError` with the class `BadSignature`, `MalformedSignature` or `MalformedKey` (R23)."""
    _call("verify", locals())
    return True


def sign(*, algorithm: Algorithm, message: Bytes, secret_key: Bytes) -> str:
    """64 bytes Ed25519, or 65 bytes r, s, v with v 0 or 1; both are deterministic."""
    return str(_call("sign", locals()))


def chain_id(*, text: str) -> dict[str, str]:
    """`namespace` and `reference` of a CAIP-2 id."""
    return dict(_call("chain_id", locals()))


def account_id(*, text: str) -> dict[str, str]:
    """`chain_id` and `address` of a CAIP-10 id."""
    return dict(_call("account_id", locals()))


def task_ref(*, text: str) -> dict[str, str]:
    """`chain_id`, `transaction` and `dedupe_key` of a task reference (R31, R32)."""
    return dict(_call("task_ref", locals()))


def pda(
    *,
    program_id: str,
    account: Account,
    mint: str | None = None,
    key: str | None = None,
    client: str | None = None,
    index: int | None = None,
    validator: str | None = None,
    request_hash: Bytes | None = None,
    hash: Bytes | None = None,
    payer: str | None = None,
    nonce: int | None = None,
) -> dict[str, Any]:
    """`address` and `bump` of one of the program's accounts (section 3b)."""
    return dict(_call("pda", locals()))


def public_key(*, text: str) -> str:
    """The one normal form of a public key, whatever its `0x`, case or compression (R23)."""
    return str(_call("public_key", locals()))


def feedback_id(*, text: str, base: Literal[0, 1], target: Literal[0, 1]) -> FeedbackId:
    """The parts of `agentId:client:index`, whose index counts from `base` there and from `target` in the answer's text."""
    return FeedbackId(**_with_integers(_call("feedback_id", locals()), "index"))  # type: ignore[typeddict-item]


def weighted_score(
    *, verified_count: int, verified_score_sum: int, unverified_count: int, unverified_score_sum: int
) -> int:
    """X84's score: a feedback with payment proof weighs three times; 0 if there is none."""
    return int(_call("weighted_score", locals()))


def stars_to_value(*, stars: int) -> int:
    """20, 40, 60, 80 or 100 points for 1 to 5 stars."""
    return int(_call("stars_to_value", locals()))


def stars_of_value(*, value: int) -> int | None:
    """The stars that are exactly so many points, if any are."""
    stars = _call("stars_of_value", locals())
    return None if stars is None else int(stars)


def standard_tag(*, name: str) -> StandardTag:
    """What a tag of the standard table measures, and in which unit."""
    return StandardTag(**_call("standard_tag", locals()))  # type: ignore[typeddict-item]


def standard_tag_value(*, name: str, value: int, value_decimals: int) -> Literal[True]:
    """True, or `CanonicalError` with the class `ValueOutOfRange`."""
    _call("standard_tag_value", locals())
    return True


def x402_tag(*, tag1: str, tag2: str) -> str:
    """What a pair of x402's tags says."""
    return str(_call("x402_tag", locals()))


def _part(answered: dict[str, Any]) -> SummaryPart:
    histogram = [int(count) for count in answered["histogram"]]
    return SummaryPart(sum=int(answered["sum"]), count=int(answered["count"]), histogram=histogram)


def summary_part(
    *, feedback: list[SummaryEntry], clients: list[str], tag1: str = "", tag2: str = ""
) -> SummaryPart:
    """The part that a summary with the same arguments is computed from (R16)."""
    query = {"clients": clients, "tag1": tag1, "tag2": tag2}
    return _part(_call("summary_part", {"feedback": feedback, "query": query}))


def summary_merge(*, parts: list[SummaryPart]) -> MergedSummary:
    """Parts of disjoint feedback, from any chain, as one summary (R16)."""
    answered = _call("summary_merge", locals())
    return MergedSummary(
        part=_part(answered["part"]),
        count=int(answered["count"]),
        value=int(answered["value"]),
        value_decimals=answered["value_decimals"],
    )


def request_length_prefix(*, length: int) -> str:
    """The four bytes before a request of so many bytes in `data_hash`."""
    return str(_call("request_length_prefix", locals()))


def integer_field(*, literal: str) -> int:
    """The value of a JSON number, however written, in a field that is an integer (R22)."""
    return int(_call("integer_field", locals()))


def feedback_auth_eoa_blob_decode(*, blob: Bytes) -> EvmFeedbackAuth:
    """A blob whose signer has no code: exactly 289 bytes (R6)."""
    decoded = _call("feedback_auth_eoa_blob_decode", locals())
    return EvmFeedbackAuth(**_with_integers(decoded, "agent_id", "index_limit", "expiry", "chain_id"))  # type: ignore[typeddict-item]


def eip712_domain(*, name: str, version: str, chain_id: int, verifying_contract: str) -> str:
    """An EIP-712 domain separator."""
    return str(_call("eip712_domain", locals()))


def recover_address(*, message: Bytes, signature: Bytes) -> str:
    """The Ethereum address whose key signed a digest of 32 bytes (R23)."""
    return str(_call("recover_address", locals()))


def ethereum_v(*, direction: Literal["to", "from"], signature: Bytes) -> str:
    """`to` Ethereum's v, 27 or 28, or `from` it (R23)."""
    return str(_call("ethereum_v", locals()))


def low_s(*, signature: Bytes) -> str:
    """The same signature with the lower of its two s."""
    return str(_call("low_s", locals()))


def public_key_of_secret(*, algorithm: Algorithm, secret_key: Bytes) -> str:
    """33 bytes secp256k1, compressed, or 32 bytes Ed25519."""
    return str(_call("public_key_of_secret", locals()))


def address_of_public_key(*, public_key: Bytes) -> str:
    """The Ethereum address of a secp256k1 key of 33 or 65 bytes."""
    return str(_call("address_of_public_key", locals()))
