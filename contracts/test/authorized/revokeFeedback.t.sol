// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";

contract RevokeFeedbackTest is RegistryTest {
    function setUp() public override {
        super.setUp();
        _give(client, agentId, 90, _granted(agentId, client));
        _give(client, agentId, 41, _granted(agentId, client));
    }

    function test_WhenOwnFeedback_MarksIt() external {
        vm.warp(NOW + 60);
        _revoke(client, 1);
        (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp) =
            reputation.readFeedback(agentId, client, 1);
        assertEq(score, 90);
        assertEq(tag1, TAG1);
        assertEq(tag2, TAG2);
        assertTrue(isRevoked);
        assertEq(timestamp, NOW);
        (,,, isRevoked,) = reputation.readFeedback(agentId, client, 2);
        assertFalse(isRevoked);
    }

    function test_WhenOwnFeedback_LeavesTotals_R15() external {
        _revoke(client, 1);
        _assertTotals(1, 41);
        _revoke(client, 2);
        _assertTotals(0, 0);
    }

    function test_WhenOwnFeedback_IndexStays_R8() external {
        _revoke(client, 2);
        assertEq(reputation.getLastIndex(agentId, client), 2);
        assertEq(reputation.getClients(agentId).length, 1);
    }

    function test_WhenOwnFeedback_EmitsFeedbackRevoked_R15() external {
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
        _give(_granted(agentId, client));
        assertEq(reputation.getLastIndex(agentId, client), 3);
        _assertTotals(2, 41 + SCORE);
    }

    function test_GivenAgentWasTransferred_Revokes() external {
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        _revoke(client, 1);
        _assertTotals(1, 41);
    }

    function test_RevertWhen_IndexIsZero() external {
        _assertNotFound(client, agentId, 0);
    }

    function test_RevertWhen_IndexIsBeyondLast() external {
        _assertNotFound(client, agentId, 3);
        _assertNotFound(client, agentId, type(uint64).max);
    }

    function test_RevertWhen_AgentIsUnknown() external {
        _assertNotFound(client, 99, 1);
    }

    function test_RevertWhen_FeedbackIsAnotherClients() external {
        _assertNotFound(stranger, agentId, 1);
        _assertNotFound(owner.addr, agentId, 1);
        _assertTotals(2, 131);
    }

    function test_RevertWhen_RevokedAlready() external {
        _revoke(client, 1);
        vm.expectRevert(abi.encodeWithSelector(IFeedback.AlreadyRevoked.selector, agentId, client, 1));
        _revoke(client, 1);
        _assertTotals(1, 41);
    }

    function testFuzz_TotalsAreThoseOfTheRest(uint8[20] memory scores, uint256 revoked) external {
        FeedbackAuthWords memory auth = _auth(agentId, stranger);
        auth.indexLimit = 20;
        bytes memory blob = _blob(auth, owner);
        uint64 count = 2;
        uint64 sum = 131;
        for (uint256 i = 0; i < scores.length; ++i) {
            scores[i] = uint8(bound(scores[i], 0, 100));
            _give(stranger, agentId, scores[i], blob);
        }
        for (uint64 i = 0; i < scores.length; ++i) {
            if ((revoked >> i) & 1 == 1) {
                _revoke(stranger, i + 1);
            } else {
                count += 1;
                sum += scores[i];
            }
        }
        _assertTotals(count, sum);
    }

    function _assertTotals(uint64 expectedCount, uint64 expectedSum) private view {
        (uint64 count, uint64 sum) = reputation.getTotals(agentId);
        assertEq(count, expectedCount);
        assertEq(sum, expectedSum);
    }

    function _assertNotFound(address from, uint256 agent, uint64 index) private {
        vm.prank(from);
        vm.expectRevert(abi.encodeWithSelector(IFeedback.FeedbackNotFound.selector, agent, from, index));
        reputation.revokeFeedback(agent, index);
    }

    function _revoke(address from, uint64 index) private {
        vm.prank(from);
        reputation.revokeFeedback(agentId, index);
    }
}
