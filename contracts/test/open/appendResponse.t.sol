// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";

contract OpenResponsesTest is OpenRegistryTest {
    string private constant RESPONSE_URI = "ipfs://response";
    bytes32 private constant RESPONSE_HASH = keccak256("response file");

    function setUp() public override {
        super.setUp();
        _give(client, 10, 0);
        _give(client, 20, 0);
        _give(otherClient, 30, 0);
    }

    function test_WhenFeedbackExists_EmitsResponseAppended_R2() external {
        vm.recordLogs();
        _respond(stranger, client, 2);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].topics.length, 4);
        assertEq(logs[0].topics[0], 0xb1c6be0b5b8aef6539e2fac0fd131a2faa7b49edf8e505b5eb0ad487d56051d4);
        assertEq(logs[0].topics[1], bytes32(agentId));
        assertEq(logs[0].topics[2], bytes32(uint256(uint160(client))));
        assertEq(logs[0].topics[3], bytes32(uint256(uint160(stranger))));
        assertEq(logs[0].data, abi.encode(uint64(2), RESPONSE_URI, RESPONSE_HASH));
    }

    function test_WhenAnyoneAnswers_Counts_R19() external {
        _respond(stranger, client, 1);
        _respond(stranger, client, 1);
        _respond(owner, client, 1);
        _respond(client, client, 2);
        _respond(stranger, otherClient, 1);
        _assertCount(client, 1, new address[](0), 3);
        _assertCount(client, 1, _list(stranger), 2);
        _assertCount(client, 1, _list(owner), 1);
        _assertCount(client, 1, _list(client), 0);
        _assertCount(client, 2, new address[](0), 1);
        _assertCount(otherClient, 1, new address[](0), 1);
    }

    function test_WhenFeedbackIsRevoked_Accepts_R19() external {
        vm.prank(client);
        reputation.revokeFeedback(agentId, 1);
        _respond(stranger, client, 1);
        _assertCount(client, 1, new address[](0), 1);
    }

    function test_RevertWhen_IndexIsZero_R19() external {
        _expectNotFound(agentId, client, 0);
        reputation.appendResponse(agentId, client, 0, "", RESPONSE_HASH);
    }

    function test_RevertWhen_UriIsEmpty_R19() external {
        vm.expectRevert(IFeedback.EmptyUri.selector);
        reputation.appendResponse(agentId, client, 1, "", RESPONSE_HASH);
        vm.expectRevert(IFeedback.EmptyUri.selector);
        reputation.appendResponse(agentId, client, 3, "", RESPONSE_HASH);
        _assertCount(client, 0, new address[](0), 0);
    }

    function test_RevertWhen_FeedbackIsNotThere_R19() external {
        _expectNotFound(agentId, client, 3);
        reputation.appendResponse(agentId, client, 3, RESPONSE_URI, RESPONSE_HASH);
        _expectNotFound(agentId, stranger, 1);
        reputation.appendResponse(agentId, stranger, 1, RESPONSE_URI, RESPONSE_HASH);
        _expectNotFound(99, client, 1);
        reputation.appendResponse(99, client, 1, RESPONSE_URI, RESPONSE_HASH);
    }

    function test_RevertWhen_CountIsExhausted_R8() external {
        vm.record();
        reputation.getResponseCount(agentId, client, 1, new address[](0));
        (bytes32[] memory reads,) = vm.accesses(address(reputation));
        vm.store(address(reputation), reads[0], bytes32(uint256(type(uint64).max - 1)));
        _respond(stranger, client, 1);
        _assertCount(client, 1, new address[](0), type(uint64).max);
        vm.expectRevert(IFeedback.CounterExhausted.selector);
        _respond(stranger, client, 1);
    }

    function test_WhenIndexIsZero_CountsAllOfTheClients() external {
        _respondToAll();
        _assertCount(client, 0, new address[](0), 3);
        _assertCount(client, 0, _list(stranger), 2);
        _assertCount(otherClient, 0, new address[](0), 1);
    }

    function test_WhenClientIsZero_CountsEverybodys() external {
        _respondToAll();
        _assertCount(address(0), 0, new address[](0), 4);
        _assertCount(address(0), 1, new address[](0), 4);
        _assertCount(address(0), 77, _list(stranger), 3);
    }

    function test_WhenResponderIsListedTwice_CountsTwice() external {
        _respondToAll();
        _assertCount(client, 2, _list(stranger, stranger), 2);
        _assertCount(client, 0, _list(stranger, owner), 3);
    }

    function test_GivenNoSuchFeedback_CountIsZero() external {
        _respondToAll();
        _assertCount(client, 3, new address[](0), 0);
        _assertCount(stranger, 0, new address[](0), 0);
        assertEq(reputation.getResponseCount(99, client, 1, new address[](0)), 0);
        assertEq(reputation.getResponseCount(99, address(0), 0, new address[](0)), 0);
    }

    /// @dev To client's 1: stranger and owner; to client's 2 and to otherClient's 1: stranger.
    function _respondToAll() private {
        _respond(stranger, client, 1);
        _respond(owner, client, 1);
        _respond(stranger, client, 2);
        _respond(stranger, otherClient, 1);
    }

    function _respond(address responder, address to, uint64 index) private {
        vm.prank(responder);
        reputation.appendResponse(agentId, to, index, RESPONSE_URI, RESPONSE_HASH);
    }

    function _expectNotFound(uint256 agent, address to, uint64 index) private {
        vm.expectRevert(abi.encodeWithSelector(IFeedback.FeedbackNotFound.selector, agent, to, index));
    }

    function _assertCount(address to, uint64 index, address[] memory responders, uint64 expected) private view {
        assertEq(reputation.getResponseCount(agentId, to, index, responders), expected);
    }
}
