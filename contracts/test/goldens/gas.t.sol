// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";

/// @dev What the table of docs/GAS.md says: whole transactions of the writing calls, the execution of the views. Each
/// call is a transaction of its own (`isolate`) under the rules of Prague. The figures are deterministic and equal to
/// the committed ones; `CONCORD_BLESS=1 forge test --match-contract 'GasTest|BytecodeTest'` writes them anew.
/// forge-config: default.isolate = true
/// forge-config: default.evm_version = "prague"
contract GasTest is OpenRegistryTest {
    uint256 private constant NO_BAR = 0;
    string private constant GAS_FILE = "contracts/snapshots/ReputationRegistry.gas.json";
    string private constant TABLE_FILE = "docs/GAS.md";
    string private constant TABLE_BEGIN = "<!-- table: open reputation -->\n";
    string private constant TABLE_END = "<!-- end -->\n";
    // 66, 31, 23 and 22 bytes, as in the canonical measurements.
    string private constant URI = "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
    string private constant MCP = "https://agent.example.org/mcp/1";
    string private constant X402_TAG1 = "proof-of-participation1";
    string private constant X402_TAG2 = "x402:8004-reputation:1";

    string private table;
    string private json;
    address[] private clients;

    /// @dev "The agent already has one client" (SPEC §8); an earlier agent by another owner exists as well.
    function setUp() public override {
        super.setUp();
        _giveFrom(makeAddr("earlier"), 95, "quality", "latency", "", "", 0);
        assertEq(bytes(URI).length + bytes(MCP).length + bytes(X402_TAG1).length + bytes(X402_TAG2).length, 142);
    }

    function test_GasIsTheCommittedOneAndMeetsTheBars() external {
        table =
            string.concat("| call | arguments | canonical | ours | ratio | bar |\n", "|---|---|---:|---:|---:|---:|\n");
        _measureGiving();
        _measureRevokingAndResponding();
        _measureViews();
        json = string.concat("{\n", json, "\n}\n");
        _assertFile(GAS_FILE, json);
        string[] memory document = vm.split(vm.readFile(TABLE_FILE), TABLE_BEGIN);
        string memory tail = string.concat(TABLE_END, vm.split(document[1], TABLE_END)[1]);
        _assertFile(TABLE_FILE, string.concat(document[0], TABLE_BEGIN, table, tail));
    }

    function _measureGiving() private {
        _giveFrom(client, 95, "quality", "latency", "", "", 0);
        _row("giveFeedback", "two 7-byte tags, new client", 193_667, _transaction(), 70);
        _giveFrom(client, 95, "quality", "latency", "", "", 0);
        _row("giveFeedback", "two 7-byte tags, again", 128_923, _transaction(), 80);
        _giveFrom(otherClient, 95, "", "", "", "", 0);
        _row("giveFeedback", "no tags, new client", 169_893, _transaction(), NO_BAR);
        _giveFrom(otherClient, 95, "", "", "", "", 0);
        _row("giveFeedback", "no tags, again", 88_049, _transaction(), NO_BAR);
        _giveFrom(makeAddr("a"), 95, "quality", "latency", MCP, URI, FILE_HASH);
        _row("giveFeedback", "7-byte tags, endpoint 31, URI 66, hash, new", 196_812, _transaction(), NO_BAR);
        _giveFrom(client, 95, X402_TAG1, X402_TAG2, MCP, URI, FILE_HASH);
        _row("giveFeedback", "tags 23 and 22, endpoint, URI, hash, again", 132_416, _transaction(), NO_BAR);
        _giveFrom(makeAddr("b"), 95, "a tag with one and thirty bytes", "", "", "", 0);
        _row("giveFeedback", "one 31-byte tag, new client", 173_516, _transaction(), NO_BAR);
        _giveFrom(makeAddr("c"), 95, "a tag with two and thirty bytes!", "", "", "", 0);
        _row("giveFeedback", "one 32-byte tag, new client", 195_781, _transaction(), NO_BAR);
    }

    function _measureRevokingAndResponding() private {
        vm.prank(client);
        reputation.revokeFeedback(agentId, 1);
        _row("revokeFeedback", "", 36_232, _transaction(), NO_BAR);
        vm.prank(stranger);
        reputation.appendResponse(agentId, client, 1, URI, FILE_HASH);
        _row("appendResponse", "URI 66, hash; first", 125_407, _transaction(), NO_BAR);
        vm.prank(stranger);
        reputation.appendResponse(agentId, client, 1, URI, FILE_HASH);
        _row("appendResponse", "URI 66, hash; same responder again", 43_357, _transaction(), NO_BAR);
    }

    function _measureViews() private {
        uint256 agent = _register(makeAddr("owner of the listed"));
        for (uint256 i = 0; i < 100; ++i) {
            clients.push(makeAddr(string.concat("listed ", vm.toString(i))));
            _give(clients[i], agent, 95, 0, "quality", "latency");
        }
        _summary(agent, "", "", 635_348, 60);
        _summary(agent, "quality", "", 886_644, NO_BAR);
        _summary(agent, "quality", "latency", 1_149_001, NO_BAR);
        vm.cool(address(reputation));
        reputation.readAllFeedback(agent, clients, "", "", false);
        _row("readAllFeedback", "100 clients", 1_664_367, _execution(), NO_BAR);
        vm.cool(address(reputation));
        reputation.getClients(agent);
        _row("getClients", "100 clients", 238_403, _execution(), NO_BAR);
    }

    function _summary(uint256 agent, string memory tag1, string memory tag2, uint256 canonical, uint256 bar) private {
        string memory tags = bytes(tag2).length != 0 ? "both tags" : bytes(tag1).length != 0 ? "one tag" : "no tags";
        vm.cool(address(reputation));
        reputation.getSummary(agent, clients, tag1, tag2);
        _row("getSummary", string.concat("100 clients, ", tags), canonical, _execution(), bar);
    }

    function _giveFrom(
        address from,
        int128 value,
        string memory tag1,
        string memory tag2,
        string memory endpoint,
        string memory uri,
        bytes32 hash
    ) private {
        vm.prank(from);
        reputation.giveFeedback(agentId, value, 0, tag1, tag2, endpoint, uri, hash);
    }

    function _transaction() private view returns (uint256) {
        return vm.lastCallGas().gasTotalUsed;
    }

    /// @dev A view is no transaction, not even here: the figure is its execution alone.
    function _execution() private view returns (uint256) {
        return vm.lastCallGas().gasTotalUsed;
    }

    /// @param bar Percent of the canonical figure, at most.
    function _row(string memory call, string memory arguments, uint256 canonical, uint256 ours, uint256 bar) private {
        string memory name = bytes(arguments).length == 0 ? call : string.concat(call, ": ", arguments);
        if (bar != NO_BAR) assertLe(100 * ours, bar * canonical, name);
        string memory ratio = _hundredths((100 * ours + canonical / 2) / canonical);
        string memory limit = bar == NO_BAR ? "" : string.concat(unicode"≤ ", _hundredths(bar));
        table = string.concat(table, "| `", call, "` | ", arguments, " | ", _thousands(canonical), " | ");
        table = string.concat(table, _thousands(ours), " | ", ratio, " | ", limit, " |\n");
        json = string.concat(json, bytes(json).length == 0 ? '  "' : ',\n  "', name, '": ', vm.toString(ours));
    }

    function _hundredths(uint256 value) private pure returns (string memory) {
        string memory digits = vm.toString(value % 100);
        return string.concat(vm.toString(value / 100), value % 100 < 10 ? ".0" : ".", digits);
    }

    function _thousands(uint256 value) private pure returns (string memory) {
        if (value < 1000) return vm.toString(value);
        uint256 rest = value % 1000;
        string memory zeros = rest < 10 ? ",00" : rest < 100 ? ",0" : ",";
        return string.concat(_thousands(value / 1000), zeros, vm.toString(rest));
    }

    function _assertFile(string memory path, string memory expected) private {
        if (vm.envOr("CONCORD_BLESS", false)) vm.writeFile(path, expected);
        assertEq(vm.readFile(path), expected, path);
    }
}
