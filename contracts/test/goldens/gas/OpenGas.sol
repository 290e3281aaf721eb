// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IReputationRegistry} from "../../../src/interfaces/IReputationRegistry.sol";
import {listOf} from "../../actors/AddressLists.sol";
import {GasTable} from "./GasTable.sol";
import {Registries} from "../../Registries.sol";

abstract contract OpenGas is GasTable {
    // 23 and 22 bytes, as in the canonical measurements.
    string private constant X402_TAG1 = "proof-of-participation1";
    string private constant X402_TAG2 = "x402:8004-reputation:1";

    IReputationRegistry private open;
    uint256 private rated;
    address[] private clients;

    /// @dev "The agent already has one client" (SPEC §8).
    function _measureOpen() internal {
        assertEq(bytes(X402_TAG1).length + bytes(X402_TAG2).length, 45);
        open = Registries.newReputationRegistry(address(identity));
        rated = _register(makeAddr("owner of the rated"));
        _giveFrom(makeAddr("earlier"), "quality", "latency", "", "", 0);
        _measureGiving();
        _measureRevokingAndResponding();
        _measureViews();
        _measureLongTags();
        _assertTable("open reputation", "ReputationRegistry.gas.json");
    }

    function _measureGiving() private {
        _giveFrom(client, "quality", "latency", "", "", 0);
        _row("giveFeedback", "two 7-byte tags, new client", 193_667, 70);
        _giveFrom(client, "quality", "latency", "", "", 0);
        _row("giveFeedback", "two 7-byte tags, again", 128_923, 80);
        _giveFrom(otherClient, "", "", "", "", 0);
        _row("giveFeedback", "no tags, new client", 169_893, NO_BAR);
        _giveFrom(otherClient, "", "", "", "", 0);
        _row("giveFeedback", "no tags, again", 88_049, NO_BAR);
        _giveFrom(makeAddr("a"), "quality", "latency", MCP, URI, FILE_HASH);
        _row("giveFeedback", "7-byte tags, endpoint 31, URI 66, hash, new", 196_812, NO_BAR);
        _giveFrom(client, X402_TAG1, X402_TAG2, MCP, URI, FILE_HASH);
        _row("giveFeedback", "tags 23 and 22, endpoint, URI, hash, again", 132_416, NO_BAR);
        _giveFrom(makeAddr("b"), "a tag with one and thirty bytes", "", "", "", 0);
        _row("giveFeedback", "one 31-byte tag, new client", 173_516, NO_BAR);
        _giveFrom(makeAddr("c"), "a tag with two and thirty bytes!", "", "", "", 0);
        _row("giveFeedback", "one 32-byte tag, new client", 195_781, NO_BAR);
    }

    function _measureRevokingAndResponding() private {
        bytes memory response = abi.encodeCall(open.appendResponse, (rated, client, 1, URI, FILE_HASH));
        _transact(client, address(open), abi.encodeCall(open.revokeFeedback, (rated, 1)));
        _row("revokeFeedback", "", 36_232, NO_BAR);
        _transact(stranger, address(open), response);
        _row("appendResponse", "URI 66, hash; first", 125_407, NO_BAR);
        _transact(stranger, address(open), response);
        _row("appendResponse", "URI 66, hash; same responder again", 43_357, NO_BAR);
    }

    function _measureViews() private {
        rated = _register(makeAddr("owner of the listed"));
        for (uint256 i = 0; i < 100; ++i) {
            clients.push(makeAddr(string.concat("listed ", vm.toString(i))));
            vm.prank(clients[i]);
            open.giveFeedback(rated, 95, 0, "quality", "latency", MCP, URI, FILE_HASH);
        }
        _summary("no tags", "", "", 635_348, 45);
        _summary("one tag", "quality", "", 886_644, NO_BAR);
        _summary("both tags", "quality", "latency", 1_149_001, NO_BAR);
        _look(address(open), abi.encodeCall(open.readAllFeedback, (rated, clients, "", "", false)));
        _row("readAllFeedback", "100 clients", 1_664_367, NO_BAR);
        _look(address(open), abi.encodeCall(open.getClients, (rated)));
        _row("getClients", "100 clients", 238_403, NO_BAR);
    }

    /// @dev The attack of a reviewer whose tags nobody can afford to read. The canonical figure is known to a thousand.
    function _measureLongTags() private {
        rated = _register(makeAddr("owner of the attacked"));
        bytes memory long = new bytes(20_000);
        for (uint256 i = 0; i < long.length; ++i) {
            long[i] = "a";
        }
        for (uint256 i = 0; i < 10; ++i) {
            vm.prank(client);
            open.giveFeedback(rated, 95, 0, string(long), "t", "", "", 0);
        }
        _summaryOfLong("tag2 sought", "", "t", 76_000, 120);
        _summaryOfLong("another tag1 sought", "quality", "", NOT_MEASURED, NO_BAR);
        _summaryOfLong("their tag1 sought", string(long), "", NOT_MEASURED, NO_BAR);
    }

    function _summaryOfLong(
        string memory sought,
        string memory tag1,
        string memory tag2,
        uint256 canonical,
        uint256 bar
    ) private {
        _look(address(open), abi.encodeCall(open.getSummary, (rated, listOf(client), tag1, tag2)));
        _row("getSummary", string.concat("10 feedbacks with a tag1 of 20,000 bytes, ", sought), canonical, bar);
    }

    function _summary(string memory tags, string memory tag1, string memory tag2, uint256 canonical, uint256 bar)
        private
    {
        _look(address(open), abi.encodeCall(open.getSummary, (rated, clients, tag1, tag2)));
        _row("getSummary", string.concat("100 clients, ", tags), canonical, bar);
    }

    function _giveFrom(
        address from,
        string memory tag1,
        string memory tag2,
        string memory endpoint,
        string memory uri,
        bytes32 hash
    ) private {
        _transact(
            from, address(open), abi.encodeCall(open.giveFeedback, (rated, 95, 0, tag1, tag2, endpoint, uri, hash))
        );
    }
}
