// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {listOf} from "../actors/AddressLists.sol";
import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";

contract RevokeOpenFeedbackTest is OpenRegistryTest {
    function setUp() public override {
        super.setUp();
        _give(client, 10, 0);
        _give(client, 20, 0);
    }

    function test_WhenOwnFeedback_MarksIt() external {
        _revoke(client, 1);
        (int128 value, uint8 decimals, string memory tag1, string memory tag2, bool isRevoked) =
            reputation.readFeedback(agentId, client, 1);
        assertEq(value, 10);
        assertEq(decimals, 0);
        assertEq(tag1, TAG1);
        assertEq(tag2, TAG2);
        assertTrue(isRevoked);
        (,,,, isRevoked) = reputation.readFeedback(agentId, client, 2);
        assertFalse(isRevoked);
    }

    function test_WhenOwnFeedback_LeavesSummary_R16() external {
        _revoke(client, 1);
        (uint64 count, int128 value,) = reputation.getSummary(agentId, listOf(client), "", "");
        assertEq(count, 1);
        assertEq(value, 20);
    }

    function test_WhenOwnFeedback_EmitsFeedbackRevoked_R2() external {
        vm.recordLogs();
        _revoke(client, 2);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].topics.length, 4);
        assertEq(logs[0].topics[0], 0x25156fd3288212246d8b008d5921fde376c71ed14ac2e072a506eb06fde6d09d);
        assertEq(logs[0].topics[1], bytes32(agentId));
        assertEq(logs[0].topics[2], bytes32(uint256(uint160(client))));
        assertEq(logs[0].topics[3], bytes32(uint256(2)));
        assertEq(logs[0].data, "");
    }

    function test_WhenFirstIsRevoked_IndexGoesOn_R8() external {
        _revoke(client, 1);
        assertEq(reputation.getLastIndex(agentId, client), 2);
        _give(client, 30, 0);
        assertEq(reputation.getLastIndex(agentId, client), 3);
        assertEq(reputation.getClients(agentId), listOf(client));
        (,,,, bool isRevoked) = reputation.readFeedback(agentId, client, 1);
        assertTrue(isRevoked);
    }

    function test_RevertWhen_IndexIsZeroOrBeyondLast() external {
        _assertNotFound(client, agentId, 0);
        _assertNotFound(client, agentId, 3);
        _assertNotFound(client, agentId, type(uint64).max);
    }

    function test_RevertWhen_AgentIsUnknown() external {
        _assertNotFound(client, UNKNOWN_AGENT, 1);
    }

    function test_RevertWhen_FeedbackIsAnotherClients() external {
        _assertNotFound(stranger, agentId, 1);
        _assertNotFound(owner, agentId, 1);
    }

    function test_RevertWhen_RevokedAlready() external {
        _revoke(client, 1);
        vm.expectRevert(abi.encodeWithSelector(IFeedback.AlreadyRevoked.selector, agentId, client, 1));
        _revoke(client, 1);
    }

    function _assertNotFound(address from, uint256 agent, uint64 index) private {
        vm.prank(from);
        vm.expectRevert(abi.encodeWithSelector(IFeedback.FeedbackNotFound.selector, agent, from, index));
        reputation.revokeFeedback(agent, index);
    }
}
