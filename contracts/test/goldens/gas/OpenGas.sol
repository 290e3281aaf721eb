// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ReputationRegistry} from "../../../src/ReputationRegistry.sol";
import {GasTable} from "./GasTable.sol";

abstract contract OpenGas is GasTable {
    // 23 and 22 bytes, as in the canonical measurements.
    string private constant X402_TAG1 = "proof-of-participation1";
    string private constant X402_TAG2 = "x402:8004-reputation:1";

    ReputationRegistry private open;
    uint256 private rated;
    address[] private clients;

    /// @dev "The agent already has one client" (SPEC §8).
    function _measureOpen() internal {
        assertEq(bytes(X402_TAG1).length + bytes(X402_TAG2).length, 45);
        open = new ReputationRegistry(address(identity));
        rated = _register(makeAddr("owner of the rated"));
        _giveFrom(makeAddr("earlier"), "quality", "latency", "", "", 0);
        _measureGiving();
        _measureRevokingAndResponding();
        _measureViews();
        _assertTable("open reputation", "ReputationRegistry.gas.json");
    }

    function _measureGiving() private {
        _giveFrom(client, "quality", "latency", "", "", 0);
        _row("giveFeedback", "two 7-byte tags, new client", 193_667, _used(), 70);
        _giveFrom(client, "quality", "latency", "", "", 0);
        _row("giveFeedback", "two 7-byte tags, again", 128_923, _used(), 80);
        _giveFrom(otherClient, "", "", "", "", 0);
        _row("giveFeedback", "no tags, new client", 169_893, _used(), NO_BAR);
        _giveFrom(otherClient, "", "", "", "", 0);
        _row("giveFeedback", "no tags, again", 88_049, _used(), NO_BAR);
        _giveFrom(makeAddr("a"), "quality", "latency", MCP, URI, FILE_HASH);
        _row("giveFeedback", "7-byte tags, endpoint 31, URI 66, hash, new", 196_812, _used(), NO_BAR);
        _giveFrom(client, X402_TAG1, X402_TAG2, MCP, URI, FILE_HASH);
        _row("giveFeedback", "tags 23 and 22, endpoint, URI, hash, again", 132_416, _used(), NO_BAR);
        _giveFrom(makeAddr("b"), "a tag with one and thirty bytes", "", "", "", 0);
        _row("giveFeedback", "one 31-byte tag, new client", 173_516, _used(), NO_BAR);
        _giveFrom(makeAddr("c"), "a tag with two and thirty bytes!", "", "", "", 0);
        _row("giveFeedback", "one 32-byte tag, new client", 195_781, _used(), NO_BAR);
    }

    function _measureRevokingAndResponding() private {
        vm.prank(client);
        open.revokeFeedback(rated, 1);
        _row("revokeFeedback", "", 36_232, _used(), NO_BAR);
        vm.prank(stranger);
        open.appendResponse(rated, client, 1, URI, FILE_HASH);
        _row("appendResponse", "URI 66, hash; first", 125_407, _used(), NO_BAR);
        vm.prank(stranger);
        open.appendResponse(rated, client, 1, URI, FILE_HASH);
        _row("appendResponse", "URI 66, hash; same responder again", 43_357, _used(), NO_BAR);
    }

    function _measureViews() private {
        rated = _register(makeAddr("owner of the listed"));
        for (uint256 i = 0; i < 100; ++i) {
            clients.push(makeAddr(string.concat("listed ", vm.toString(i))));
            _giveFrom(clients[i], "quality", "latency", MCP, URI, FILE_HASH);
        }
        _summary("no tags", "", "", 635_348, 60);
        _summary("one tag", "quality", "", 886_644, NO_BAR);
        _summary("both tags", "quality", "latency", 1_149_001, NO_BAR);
        vm.cool(address(open));
        open.readAllFeedback(rated, clients, "", "", false);
        _row("readAllFeedback", "100 clients", 1_664_367, _used(), NO_BAR);
        vm.cool(address(open));
        open.getClients(rated);
        _row("getClients", "100 clients", 238_403, _used(), NO_BAR);
    }

    function _summary(string memory tags, string memory tag1, string memory tag2, uint256 canonical, uint256 bar)
        private
    {
        vm.cool(address(open));
        open.getSummary(rated, clients, tag1, tag2);
        _row("getSummary", string.concat("100 clients, ", tags), canonical, _used(), bar);
    }

    function _giveFrom(
        address from,
        string memory tag1,
        string memory tag2,
        string memory endpoint,
        string memory uri,
        bytes32 hash
    ) private {
        vm.prank(from);
        open.giveFeedback(rated, 95, 0, tag1, tag2, endpoint, uri, hash);
    }
}
