#!/usr/bin/env python3
"""Records a bundle from anvil, with an RLP and trie encoder of its own.

It uses cast and anvil only, and none of the code under test: what the tests read was made by other programs.
usage: record.py OUT-FOLDER   (contracts/out must be built)
"""
import base64, hashlib, json, subprocess, sys, time, urllib.request

RPC = "http://127.0.0.1:18545"
KEYS = [
    "0xac0974bec39a17e36ba4a6b4d238ff944bacb478cbed5efcae784d7bf4f2ff80",
    "0x59c6995e998f97a5a0044966f0945389dc9e86dae88c7a8412f4603b6b78690d",
]
CHAIN = "eip155:31337"
ENDPOINT = "https://agent.example/quote"


def cast(*arguments):
    return subprocess.run(["cast", *arguments], check=True, capture_output=True, text=True).stdout.strip()


def rpc(method, *params):
    body = json.dumps({"jsonrpc": "2.0", "id": 1, "method": method, "params": params}).encode()
    request = urllib.request.Request(RPC, body, {"content-type": "application/json"})
    answer = json.load(urllib.request.urlopen(request))
    if "error" in answer:
        raise SystemExit(f"{method}: {answer['error']}")
    return answer["result"]


def keccak(data):
    return bytes.fromhex(cast("keccak", "0x" + data.hex())[2:])


def rlp(item):
    if isinstance(item, list):
        payload = b"".join(rlp(part) for part in item)
        return prefix(0xC0, payload) + payload
    if len(item) == 1 and item[0] < 0x80:
        return item
    return prefix(0x80, item) + item


def prefix(base, payload):
    length = len(payload)
    if length < 56:
        return bytes([base + length])
    size = length.to_bytes((length.bit_length() + 7) // 8, "big")
    return bytes([base + 55 + len(size)]) + size


def data(text):
    return bytes.fromhex(text[2:])


def number(text):
    value = int(text, 16)
    return value.to_bytes((value.bit_length() + 7) // 8, "big")


def header(block):
    words = ["parentHash", "sha3Uncles", "miner", "stateRoot", "transactionsRoot", "receiptsRoot", "logsBloom"]
    items = [data(block[key]) for key in words]
    items += [number(block[key]) for key in ["difficulty", "number", "gasLimit", "gasUsed", "timestamp"]]
    items += [data(block[key]) for key in ["extraData", "mixHash", "nonce"]]
    later = [("baseFeePerGas", number), ("withdrawalsRoot", data), ("blobGasUsed", number)]
    later += [("excessBlobGas", number), ("parentBeaconBlockRoot", data), ("requestsHash", data)]
    items += [read(block[key]) for key, read in later if block.get(key) is not None]
    encoded = rlp(items)
    assert keccak(encoded) == data(block["hash"]), "the header does not hash to its name"
    return encoded


def receipt(found):
    logs = [[data(log["address"]), [data(topic) for topic in log["topics"]], data(log["data"])] for log in found["logs"]]
    items = [number(found["status"]), number(found["cumulativeGasUsed"]), data(found["logsBloom"]), logs]
    kind = int(found["type"], 16)
    return (bytes([kind]) if kind else b"") + rlp(items)


def only_leaf(value, root):
    """The trie of a block with one item: a leaf under the key 0x80."""
    node = rlp([bytes([0x20, 0x80]), value])
    assert keccak(node) == data(root), "the trie of one leaf has another root"
    return ["0x" + node.hex()]


def word(text):
    return "0x" + number(text).rjust(32, b"\0").hex()


def account(block, address, slots):
    proof = rpc("eth_getProof", address, slots, block["number"])
    return {
        "block": block["hash"],
        "address": address.lower(),
        "nonce": int(proof["nonce"], 16),
        "balance": "0x" + number(proof["balance"]).hex(),
        "storageHash": proof["storageHash"],
        "codeHash": proof["codeHash"],
        "proof": proof["accountProof"],
        "slots": {word(it["key"]): {"value": word(it["value"]), "proof": it["proof"]} for it in proof["storageProof"]},
    }


def transaction(hash, block):
    found = rpc("eth_getTransactionReceipt", hash)
    raw = data(rpc("eth_getRawTransactionByHash", hash))
    encoded = receipt(found)
    return {
        "block": block["hash"],
        "index": int(found["transactionIndex"], 16),
        "raw": "0x" + raw.hex(),
        "proof": only_leaf(raw, block["transactionsRoot"]),
        "receipt": "0x" + encoded.hex(),
        "receiptProof": only_leaf(encoded, block["receiptsRoot"]),
    }


def artifact(name):
    return json.load(open(f"contracts/out/{name}.sol/{name}.json"))["bytecode"]["object"]


def send(key, *arguments):
    sent = cast("send", "--rpc-url", RPC, "--private-key", key, "--json", *arguments)
    return json.loads(sent)


def deploy(name, *arguments):
    code = artifact(name)
    if arguments:
        code += cast("abi-encode", *arguments)[2:]
    return cast("to-check-sum-address", send(KEYS[0], "--create", code)["contractAddress"])


def index(kind, key, slot):
    return cast("index", kind, key, slot)


def plus(slot, offset):
    return "0x%064x" % (int(slot, 16) + offset)


def uri_slots(slot, length):
    first = "0x" + keccak(data(slot)).hex()
    return [slot] + [plus(first, place) for place in range((max(length - 31, 0) + 31) // 32)]


def canonical(value):
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)


def cid(content):
    """CIDv1, raw, SHA-256, base32."""
    multihash = bytes([1, 0x55, 0x12, 0x20]) + hashlib.sha256(content).digest()
    return "b" + base64.b32encode(multihash).decode().lower().rstrip("=")


def field(number, content):
    """A protobuf field: bytes, or a number."""
    if isinstance(content, int):
        return varint(number << 3) + varint(content)
    return varint(number << 3 | 2) + varint(len(content)) + content


def varint(value):
    out = b""
    while value >= 0x80:
        out += bytes([value & 0x7F | 0x80])
        value >>= 7
    return out + bytes([value])


def tree(content):
    """A CID of dag-pb and its blocks: a UnixFS file of two raw leaves."""
    leaves = [content[:100], content[100:]]
    unixfs = field(1, 2) + field(3, len(content)) + b"".join(field(4, len(leaf)) for leaf in leaves)
    links = b""
    for leaf in leaves:
        raw = bytes([1, 0x55, 0x12, 0x20]) + hashlib.sha256(leaf).digest()
        links += field(2, field(1, raw) + field(2, b"") + field(3, len(leaf)))
    root = links + field(1, unixfs)
    multihash = bytes([1, 0x70, 0x12, 0x20]) + hashlib.sha256(root).digest()
    name = "b" + base64.b32encode(multihash).decode().lower().rstrip("=")
    return name, ["0x" + block.hex() for block in [root, *leaves]]


class World:
    def __init__(self):
        self.owner, self.client = [cast("wallet", "address", key) for key in KEYS]
        self.identity = deploy("IdentityRegistry")
        self.open = deploy("ReputationRegistry", "f(address)", self.identity)
        self.authorized = deploy("AuthorizedReputationRegistry", "f(address,bool)", self.identity, "true")
        self.registry = f"{CHAIN}:{self.identity}"
        self.uri = 'data:,{"registrations":[{"agentId":"1","agentRegistry":"%s"}]}' % self.registry
        send(KEYS[0], self.identity, "register(string)", self.uri)

    def file(self, **rating):
        head = {
            "agentId": 1, "agentRegistry": self.registry, "clientAddress": f"{CHAIN}:{self.client}",
            "createdAt": "2026-01-02T03:04:05Z", "endpoint": ENDPOINT, "tag1": "starred", "tag2": "quote",
        }
        return canonical({**head, **rating}).encode()

    def identity_slots(self):
        owners = [index("uint256", "1", "2"), index("uint256", "1", "4")]
        owners.append(index("address", self.client, index("address", self.owner, "5")))
        return owners + uri_slots(index("uint256", "1", "9"), len(self.uri))

    def feedback_slot(self, profile, number):
        ledger = index("uint256", "1", "1" if profile == "open" else "3")
        if profile == "open" and number == 1:
            return index("address", self.client, plus(ledger, 1))
        return index("uint64", str(number), index("address", self.client, plus(ledger, 2)))

    def accounts(self, block, profile, number):
        reputation = self.open if profile == "open" else self.authorized
        slots = [self.feedback_slot(profile, number)]
        return [account(block, reputation, slots), account(block, self.identity, self.identity_slots())]

    def bundle(self, given, profile, number, files):
        block = rpc("eth_getBlockByHash", given["blockHash"], False)
        hash = given["transactionHash"]
        chain = {
            "anchor": block["hash"],
            "headers": {block["hash"]: "0x" + header(block).hex()},
            "transactions": {hash: transaction(hash, block)},
            "accounts": self.accounts(block, profile, number),
        }
        feedback = {
            "agentRegistry": self.registry, "reputationRegistry": self.open if profile == "open" else self.authorized,
            "profile": profile, "agentId": "1", "client": self.client, "index": number, "transaction": hash,
            "atBlock": int(block["number"], 16),
        }
        bundle = {"format": "concord-explain/1", "feedback": feedback, "evm": {CHAIN: chain}}
        if files:
            bundle["files"] = files
        return bundle

    def book(self):
        """An address book; the code hashes are those of the code itself, not of any proof."""
        names = [("ReputationRegistry", self.open), ("AuthorizedReputationRegistry", self.authorized)]
        names.append(("IdentityRegistry", self.identity))
        code = {name: data(rpc("eth_getCode", address, "latest")) for name, address in names}
        contracts = {name: {"address": address, "codeHash": "0x" + keccak(code[name]).hex()} for name, address in names}
        return {"chains": {CHAIN: {"contracts": contracts}}}

    def give_open(self, uri, content):
        return send(
            KEYS[1], self.open, "giveFeedback(uint256,int128,uint8,string,string,string,string,bytes32)",
            "1", "87", "0", "starred", "quote", ENDPOINT, uri, "0x" + keccak(content).hex(),
        )

    def grant(self):
        fields = [
            ("agentId", "uint256", "1"), ("clientAddress", "address", self.client), ("indexLimit", "uint64", "9"),
            ("expiry", "uint256", "1900000000"), ("chainId", "uint256", "31337"),
            ("identityRegistry", "address", self.identity), ("signerAddress", "address", self.owner),
        ]
        domain = {
            "name": "ERC8004ReputationRegistry", "version": "1", "chainId": 31337, "verifyingContract": self.authorized,
        }
        kinds = [("name", "string"), ("version", "string"), ("chainId", "uint256"), ("verifyingContract", "address")]
        typed = {
            "types": {
                "EIP712Domain": [{"name": name, "type": kind} for name, kind in kinds],
                "FeedbackAuth": [{"name": name, "type": kind} for name, kind, _ in fields],
            },
            "primaryType": "FeedbackAuth", "domain": domain, "message": {name: value for name, _, value in fields},
        }
        signature = cast("wallet", "sign", "--private-key", KEYS[0], "--data", json.dumps(typed))
        types = ",".join(kind for _, kind, _ in fields)
        return cast("abi-encode", f"f({types})", *[value for _, _, value in fields]) + signature[2:]

    def give_authorized(self, uri, content):
        tags = [cast("format-bytes32-string", tag) for tag in ["starred", "quote"]]
        return send(
            KEYS[1], self.authorized, "giveFeedback(uint256,uint8,bytes32,bytes32,string,bytes32,bytes)",
            "1", "87", *tags, uri, "0x" + keccak(content).hex(), self.grant(),
        )


def record(folder):
    world = World()
    content = world.file(value=87, valueDecimals=0)
    held = "data:application/json;base64," + base64.b64encode(content).decode()
    hosted, by_cid = "https://files.example/feedback.json", "ipfs://" + cid(content)
    bytes_of = {"bytes": "0x" + content.hex()}
    uris = [("open", held, {}), ("hosted", hosted, {hosted: {**bytes_of, "host": "files.example"}})]
    uris.append(("cid", by_cid, {by_cid: bytes_of}))
    (root, blocks) = tree(content)
    by_tree = "ipfs://" + root
    uris.append(("tree", by_tree, {by_tree: {**bytes_of, "blocks": blocks}}))
    for number, (name, uri, files) in enumerate(uris, 1):
        bundle = world.bundle(world.give_open(uri, content), "open", number, files)
        write(folder, f"{name}.json", bundle)
    write(folder, "addresses.json", world.book())
    write(folder, "rpc.json", answers(bundle))
    scored = world.file(score=87)
    uri = "data:application/json;base64," + base64.b64encode(scored).decode()
    write(folder, "authorized.json", world.bundle(world.give_authorized(uri, scored), "authorized", 1, {}))
    record_revoked(folder, world)


def answers(bundle):
    """What a node answers about a block and a receipt, and the bytes that this script makes of it."""
    chain = bundle["evm"][CHAIN]
    (hash, made), (block, header) = [*chain["transactions"].items()][0], [*chain["headers"].items()][0]
    return {
        "block": rpc("eth_getBlockByHash", block, False), "header": header,
        "receipts": rpc("eth_getBlockReceipts", block), "receipt": made["receipt"],
    }


def record_revoked(folder, world):
    """The last of the open ones, one block later: two headers, and the newer one is the anchor."""
    uri = "https://files.example/gone.json"
    content = world.file(value=87, valueDecimals=0)
    given = world.give_open(uri, content)
    bundle = world.bundle(given, "open", 5, {uri: {"bytes": "0x" + content.hex(), "host": "files.example"}})
    revoked = send(KEYS[1], world.open, "revokeFeedback(uint256,uint64)", "1", "5")
    later = rpc("eth_getBlockByHash", revoked["blockHash"], False)
    chain = bundle["evm"][CHAIN]
    chain["anchor"] = later["hash"]
    chain["headers"][later["hash"]] = "0x" + header(later).hex()
    chain["accounts"] += world.accounts(later, "open", 5)
    bundle["feedback"]["atBlock"] = int(later["number"], 16)
    write(folder, "revoked.json", bundle)


def write(folder, name, value):
    with open(f"{folder}/{name}", "w") as file:
        file.write(canonical(value))


def main():
    anvil = subprocess.Popen(["anvil", "--port", "18545", "--silent", "--hardfork", "prague", "--timestamp", "1800000000"])
    try:
        for _ in range(100):
            try:
                rpc("eth_chainId")
                break
            except OSError:
                time.sleep(0.1)
        record(sys.argv[1])
    finally:
        anvil.terminate()


main()
