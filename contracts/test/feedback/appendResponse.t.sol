// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";
import {Vm} from "forge-std/Vm.sol";

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {listOf} from "../actors/AddressLists.sol";
import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";

/// @dev The client has given feedback twice, the other client once, in either profile.
struct Reviewed {
    IFeedback registry;
    uint256 agentId;
    address owner;
    address client;
    address otherClient;
}

/// @dev What responses are like in both profiles.
abstract contract ResponsesTest is Test {
    uint256 private constant NO_AGENT = 99;
    uint256 private constant INDEX_ZERO_BIT = 1 << 0;
    uint256 private constant EMPTY_BIT = 1 << 1;
    uint256 private constant BEYOND_BIT = 1 << 2;
    string private constant RESPONSE_URI = "ipfs://response";
    bytes32 private constant RESPONSE_HASH = keccak256("response file");

    Reviewed private its;
    address private responder = makeAddr("responder");

    function _setUp(Reviewed memory reviewed) internal {
        its = reviewed;
    }

    function test_WhenFeedbackExists_EmitsResponseAppended_R2_R15() external {
        vm.recordLogs();
        _respond(responder, its.client, 2);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].topics.length, 4);
        assertEq(logs[0].topics[0], 0xb1c6be0b5b8aef6539e2fac0fd131a2faa7b49edf8e505b5eb0ad487d56051d4);
        assertEq(logs[0].topics[1], bytes32(its.agentId));
        assertEq(logs[0].topics[2], bytes32(uint256(uint160(its.client))));
        assertEq(logs[0].topics[3], bytes32(uint256(uint160(responder))));
        assertEq(logs[0].data, abi.encode(uint64(2), RESPONSE_URI, RESPONSE_HASH));
    }

    function test_WhenAnyoneAnswers_Counts_R19() external {
        _respond(responder, its.client, 1);
        _respond(responder, its.client, 1);
        _respond(its.owner, its.client, 1);
        _respond(its.client, its.client, 2);
        _respond(responder, its.otherClient, 1);
        _assertCount(its.client, 1, new address[](0), 3);
        _assertCount(its.client, 1, listOf(responder), 2);
        _assertCount(its.client, 1, listOf(its.owner), 1);
        _assertCount(its.client, 1, listOf(its.client), 0);
        _assertCount(its.client, 2, new address[](0), 1);
        _assertCount(its.otherClient, 1, new address[](0), 1);
    }

    function test_WhenFeedbackIsRevoked_Accepts_R19() external {
        vm.prank(its.client);
        its.registry.revokeFeedback(its.agentId, 1);
        _respond(responder, its.client, 1);
        _assertCount(its.client, 1, new address[](0), 1);
    }

    function test_RevertWhen_IndexIsZero_R19() external {
        _expectNotFound(its.agentId, its.client, 0);
        its.registry.appendResponse(its.agentId, its.client, 0, "", RESPONSE_HASH);
    }

    function test_RevertWhen_UriIsEmpty_R19() external {
        vm.expectRevert(IFeedback.EmptyUri.selector);
        its.registry.appendResponse(its.agentId, its.client, 1, "", RESPONSE_HASH);
        vm.expectRevert(IFeedback.EmptyUri.selector);
        its.registry.appendResponse(its.agentId, its.client, 3, "", RESPONSE_HASH);
        _assertCount(its.client, 0, new address[](0), 0);
    }

    function test_RevertWhen_FeedbackIsNotThere_R19() external {
        _expectNotFound(its.agentId, its.client, 3);
        its.registry.appendResponse(its.agentId, its.client, 3, RESPONSE_URI, RESPONSE_HASH);
        _expectNotFound(its.agentId, responder, 1);
        its.registry.appendResponse(its.agentId, responder, 1, RESPONSE_URI, RESPONSE_HASH);
        _expectNotFound(NO_AGENT, its.client, 1);
        its.registry.appendResponse(NO_AGENT, its.client, 1, RESPONSE_URI, RESPONSE_HASH);
    }

    function test_RevertWhen_CountIsExhausted_R8() external {
        vm.record();
        its.registry.getResponseCount(its.agentId, its.client, 1, new address[](0));
        (bytes32[] memory reads,) = vm.accesses(address(its.registry));
        vm.store(address(its.registry), reads[0], bytes32(uint256(type(uint64).max - 1)));
        _respond(responder, its.client, 1);
        _assertCount(its.client, 1, new address[](0), type(uint64).max);
        vm.expectRevert(IBoundRegistry.CounterExhausted.selector);
        _respond(responder, its.client, 1);
    }

    function test_WhenIndexIsZero_CountsAllOfTheClients() external {
        _respondToAll();
        _assertCount(its.client, 0, new address[](0), 3);
        _assertCount(its.client, 0, listOf(responder), 2);
        _assertCount(its.otherClient, 0, new address[](0), 1);
    }

    function test_WhenClientIsZero_CountsEverybodys() external {
        _respondToAll();
        _assertCount(address(0), 0, new address[](0), 4);
        _assertCount(address(0), 1, new address[](0), 4);
        _assertCount(address(0), 77, listOf(responder), 3);
    }

    function test_WhenResponderIsListedTwice_CountsTwice() external {
        _respondToAll();
        _assertCount(its.client, 2, listOf(responder, responder), 2);
        _assertCount(its.client, 0, listOf(responder, its.owner), 3);
    }

    function test_GivenNoSuchFeedback_CountIsZero() external {
        _respondToAll();
        _assertCount(its.client, 3, new address[](0), 0);
        _assertCount(responder, 0, new address[](0), 0);
        assertEq(its.registry.getResponseCount(NO_AGENT, its.client, 1, new address[](0)), 0);
        assertEq(its.registry.getResponseCount(NO_AGENT, address(0), 0, new address[](0)), 0);
    }

    /// @dev §3a: each bit breaks one rule, in the order of the table; the lowest bit names the error.
    function testFuzz_WhenRespondingBreaksSeveralRules_FirstAnswers(uint64 index) external {
        index = uint64(bound(index, 3, type(uint64).max));
        for (uint256 mask = 0; mask < 8; ++mask) {
            uint64 given = mask & INDEX_ZERO_BIT != 0 ? 0 : mask & BEYOND_BIT != 0 ? index : 1;
            if (mask & EMPTY_BIT != 0 && given != 0) {
                vm.expectRevert(IFeedback.EmptyUri.selector);
            } else if (given != 1) {
                _expectNotFound(its.agentId, its.client, given);
            }
            vm.prank(responder);
            its.registry
                .appendResponse(
                    its.agentId, its.client, given, mask & EMPTY_BIT != 0 ? "" : RESPONSE_URI, RESPONSE_HASH
                );
        }
        _assertCount(its.client, 1, new address[](0), 1);
    }

    /// @dev To the client's 1: responder and owner; to the client's 2 and to the other client's 1: responder.
    function _respondToAll() private {
        _respond(responder, its.client, 1);
        _respond(its.owner, its.client, 1);
        _respond(responder, its.client, 2);
        _respond(responder, its.otherClient, 1);
    }

    function _respond(address from, address to, uint64 index) private {
        vm.prank(from);
        its.registry.appendResponse(its.agentId, to, index, RESPONSE_URI, RESPONSE_HASH);
    }

    function _expectNotFound(uint256 agent, address to, uint64 index) private {
        vm.expectRevert(abi.encodeWithSelector(IFeedback.FeedbackNotFound.selector, agent, to, index));
    }

    function _assertCount(address to, uint64 index, address[] memory responders, uint64 expected) private view {
        assertEq(its.registry.getResponseCount(its.agentId, to, index, responders), expected);
    }
}

contract AuthorizedResponsesTest is RegistryTest, ResponsesTest {
    function setUp() public override {
        super.setUp();
        address otherClient = makeAddr("otherClient");
        _give(_granted(agentId, client));
        _give(_granted(agentId, client));
        _give(otherClient, agentId, SCORE, _granted(agentId, otherClient));
        _setUp(Reviewed(reputation, agentId, owner.addr, client, otherClient));
    }
}

contract OpenResponsesTest is OpenRegistryTest, ResponsesTest {
    function setUp() public override {
        super.setUp();
        _give(client, 10, 0);
        _give(client, 20, 0);
        _give(otherClient, 30, 0);
        _setUp(Reviewed(reputation, agentId, owner, client, otherClient));
    }
}
