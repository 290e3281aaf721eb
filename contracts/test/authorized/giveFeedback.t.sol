// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";

contract GiveFeedbackTest is RegistryTest {
    function test_WhenAuthorized_StoresFeedback_R8() external {
        _give(_granted(agentId, client));
        vm.warp(NOW + 60);
        _give(client, agentId, 12, _granted(agentId, client));

        _assertStored(1, SCORE, NOW);
        _assertStored(2, 12, NOW + 60);
        assertEq(reputation.getLastIndex(agentId, client), 2);
    }

    function test_WhenAuthorized_EmitsBothEvents_R15() external {
        bytes memory blob = _granted(agentId, client);
        vm.recordLogs();
        _give(blob);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 2);

        assertEq(logs[0].topics.length, 4);
        assertEq(logs[0].topics[0], 0x54b3254e4cc01969e70376d20390cc2f6af90539d9adaa78a53ebcda17f78154);
        assertEq(logs[0].topics[1], bytes32(agentId));
        assertEq(logs[0].topics[2], bytes32(uint256(uint160(client))));
        assertEq(logs[0].topics[3], TAG1);
        assertEq(logs[0].data, abi.encode(SCORE, TAG2, FILE_URI, FILE_HASH));

        assertEq(logs[1].topics.length, 4);
        assertEq(logs[1].topics[0], keccak256("FeedbackIndexed(uint256,address,uint64,uint256)"));
        assertEq(logs[1].topics[1], bytes32(agentId));
        assertEq(logs[1].topics[2], bytes32(uint256(uint160(client))));
        assertEq(logs[1].topics[3], bytes32(uint256(1)));
        assertEq(logs[1].data, abi.encode(NOW));
    }

    function test_WhenAuthorized_AddsToTotals_R15() external {
        _give(client, agentId, 80, _granted(agentId, client));
        _give(client, agentId, 1, _granted(agentId, client));
        (uint64 count, uint64 sum) = reputation.getTotals(agentId);
        assertEq(count, 2);
        assertEq(sum, 81);
    }

    function test_WhenClientGivesAgain_ListedOnce() external {
        _give(_granted(agentId, client));
        _give(_granted(agentId, client));
        _give(newOwner.addr, agentId, SCORE, _granted(agentId, newOwner.addr));
        address[] memory clients = reputation.getClients(agentId);
        assertEq(clients.length, 2);
        assertEq(clients[0], client);
        assertEq(clients[1], newOwner.addr);
    }

    function test_WhenTwoClientsAndAgents_IndicesAreSeparate_R8() external {
        uint256 second = _register(owner.addr);
        _give(_granted(agentId, client));
        _give(_granted(agentId, client));
        _give(stranger, agentId, SCORE, _granted(agentId, stranger));
        _give(client, second, SCORE, _granted(second, client));
        assertEq(reputation.getLastIndex(agentId, client), 2);
        assertEq(reputation.getLastIndex(agentId, stranger), 1);
        assertEq(reputation.getLastIndex(second, client), 1);
        assertEq(reputation.getLastIndex(second, stranger), 0);
    }

    function test_WhenScoreIsAtABound_Accepts() external {
        _give(client, agentId, 0, _granted(agentId, client));
        _give(client, agentId, 100, _granted(agentId, client));
        (uint64 count, uint64 sum) = reputation.getTotals(agentId);
        assertEq(count, 2);
        assertEq(sum, 100);
    }

    function test_WhenTagsUriAndHashAreEmpty_Accepts_R14() external {
        bytes memory blob = _granted(agentId, client);
        vm.prank(client);
        reputation.giveFeedback(agentId, SCORE, 0, 0, "", 0, blob);
        (, bytes32 tag1, bytes32 tag2,,) = reputation.readFeedback(agentId, client, 1);
        assertEq(tag1, 0);
        assertEq(tag2, 0);
    }

    function testFuzz_StoresAnyFeedback(
        uint8 score,
        bytes32 tag1,
        bytes32 tag2,
        string calldata uri,
        bytes32 hash,
        uint64 time
    ) external {
        score = uint8(bound(score, 0, 100));
        vm.warp(time);
        bytes memory blob = _granted(agentId, client);
        vm.expectEmit(address(reputation));
        emit IReputation.NewFeedback(agentId, client, score, tag1, tag2, uri, hash);
        vm.expectEmit(address(reputation));
        emit IReputation.FeedbackIndexed(agentId, client, 1, time);
        vm.prank(client);
        reputation.giveFeedback(agentId, score, tag1, tag2, uri, hash, blob);

        (uint8 s, bytes32 t1, bytes32 t2, bool isRevoked, uint64 timestamp) =
            reputation.readFeedback(agentId, client, 1);
        assertEq(s, score);
        assertEq(t1, tag1);
        assertEq(t2, tag2);
        assertFalse(isRevoked);
        assertEq(timestamp, time);
    }

    function testFuzz_RevertWhen_ScoreIsAbove100(uint8 score) external {
        score = uint8(bound(score, 101, 255));
        _expect(abi.encodeWithSelector(IReputation.ScoreOutOfRange.selector, score));
        _give(client, agentId, score, "");
    }

    function test_RevertWhen_AgentIsUnknown() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.agentId = 99;
        bytes memory blob = _blob(auth, owner);
        vm.expectRevert(abi.encodeWithSelector(IBoundRegistry.ERC721NonexistentToken.selector, 99), address(identity));
        _give(client, 99, SCORE, blob);
    }

    function test_RevertWhen_ClientIsOwner_R18() external {
        bytes memory blob = _granted(agentId, owner.addr);
        _expect(abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, owner.addr));
        _give(owner.addr, agentId, SCORE, blob);
    }

    function test_RevertWhen_ClientIsApproved_R18() external {
        vm.prank(owner.addr);
        identity.approve(client, agentId);
        bytes memory blob = _granted(agentId, client);
        _expect(abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, client));
        _give(blob);
    }

    function test_RevertWhen_ClientIsOperator_R18() external {
        vm.prank(owner.addr);
        identity.setApprovalForAll(client, true);
        bytes memory blob = _granted(agentId, client);
        _expect(abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, client));
        _give(blob);
    }

    function test_WhenClientIsNoLongerOperator_Accepts_R18() external {
        vm.startPrank(owner.addr);
        identity.setApprovalForAll(client, true);
        identity.setApprovalForAll(client, false);
        vm.stopPrank();
        _give(_granted(agentId, client));
        assertEq(reputation.getLastIndex(agentId, client), 1);
    }

    function test_WhenOneSecondIsLeft_Accepts_R8() external {
        bytes memory blob = _granted(agentId, client);
        vm.warp(NOW + 1 hours - 1);
        _give(blob);
        assertEq(reputation.getLastIndex(agentId, client), 1);
    }

    function test_RevertWhen_ExpiryIsNow_R8() external {
        bytes memory blob = _granted(agentId, client);
        vm.warp(NOW + 1 hours);
        _expect(abi.encodeWithSelector(IReputation.AuthExpired.selector, NOW + 1 hours, NOW + 1 hours));
        _give(blob);
    }

    function test_RevertWhen_ExpiryHasPassed_R8() external {
        bytes memory blob = _granted(agentId, client);
        vm.warp(NOW + 1 hours + 1);
        _expect(abi.encodeWithSelector(IReputation.AuthExpired.selector, NOW + 1 hours, NOW + 1 hours + 1));
        _give(blob);
    }

    function test_WhenExpiryIsTheGreatest_Accepts_R8() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.expiry = type(uint256).max;
        _give(_blob(auth, owner));
        assertEq(reputation.getLastIndex(agentId, client), 1);
    }

    function test_RevertWhen_LimitIsZero_R8() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.indexLimit = 0;
        bytes memory blob = _blob(auth, owner);
        _expect(abi.encodeWithSelector(IReputation.AuthIndexLimit.selector, 0, 0));
        _give(blob);
    }

    /// @dev FS: a transfer has no impact on the feedback that is there.
    function test_GivenAgentWasTransferred_FeedbackStands() external {
        _give(_granted(agentId, client));
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        _assertStored(1, SCORE, NOW);
        assertEq(reputation.getLastIndex(agentId, client), 1);
        (uint64 count, uint8 average) = reputation.getSummary(agentId);
        assertEq(count, 1);
        assertEq(average, SCORE);
    }

    /// @dev Calldata with bits above a type's width does not decode, and is answered without data.
    function test_RevertWhen_ArgumentIsDirty_StoresNothing() external {
        bytes memory call = abi.encodeCall(
            reputation.giveFeedback, (agentId, SCORE, TAG1, TAG2, FILE_URI, FILE_HASH, _granted(agentId, client))
        );
        call[4 + 32 + 30] = 0x01; // the score's word: 256 more
        vm.prank(client);
        (bool success, bytes memory reason) = address(reputation).call(call);
        assertFalse(success);
        assertEq(reason.length, 0);
        assertEq(reputation.getLastIndex(agentId, client), 0);
    }

    function test_RevertWhen_LimitIsUsedUp_R8() external {
        bytes memory blob = _granted(agentId, client);
        for (uint64 i = 1; i <= INDEX_LIMIT; ++i) {
            _give(blob);
            assertEq(reputation.getLastIndex(agentId, client), i);
        }
        _expect(abi.encodeWithSelector(IReputation.AuthIndexLimit.selector, INDEX_LIMIT, INDEX_LIMIT));
        _give(blob);
    }

    function test_WhenLimitIsRaised_AcceptsAgain_R8() external {
        bytes memory blob = _granted(agentId, client);
        for (uint64 i = 0; i < INDEX_LIMIT; ++i) {
            _give(blob);
        }
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.indexLimit = INDEX_LIMIT + 1;
        _give(_blob(auth, owner));
        assertEq(reputation.getLastIndex(agentId, client), INDEX_LIMIT + 1);

        _expect(abi.encodeWithSelector(IReputation.AuthIndexLimit.selector, INDEX_LIMIT + 1, INDEX_LIMIT));
        _give(blob);
    }

    function test_RevertWhen_LimitIsUsedUpAndOneRevoked_R8() external {
        bytes memory blob = _granted(agentId, client);
        for (uint64 i = 0; i < INDEX_LIMIT; ++i) {
            _give(blob);
        }
        vm.prank(client);
        reputation.revokeFeedback(agentId, INDEX_LIMIT);
        _expect(abi.encodeWithSelector(IReputation.AuthIndexLimit.selector, INDEX_LIMIT, INDEX_LIMIT));
        _give(blob);
    }

    function test_WhenLimitIsTheGreatest_Accepts_R8() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.indexLimit = type(uint64).max;
        _give(_blob(auth, owner));
        assertEq(reputation.getLastIndex(agentId, client), 1);
    }

    function test_RevertWhen_AuthIsForAnotherAgent_R5() external {
        uint256 second = _register(owner.addr);
        bytes memory blob = _granted(second, client);
        _expect(abi.encodeWithSelector(IReputation.AuthWrongAgent.selector, second));
        _give(blob);
    }

    function test_RevertWhen_AnotherClientReplaysAuth_R5() external {
        bytes memory blob = _granted(agentId, client);
        _give(blob);
        _expect(abi.encodeWithSelector(IReputation.AuthWrongClient.selector, client));
        _give(stranger, agentId, SCORE, blob);
    }

    function test_RevertWhen_AuthIsReplayedOnAnotherChain_R5() external {
        bytes memory blob = _granted(agentId, client);
        vm.chainId(CHAIN_ID + 1);
        _expect(abi.encodeWithSelector(IReputation.AuthWrongChain.selector, CHAIN_ID));
        _give(blob);
    }

    function test_RevertWhen_AuthIsForAnotherIdentityRegistry_R5() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.identityRegistry = uint160(address(reputation));
        bytes memory blob = _blob(auth, owner);
        _expect(abi.encodeWithSelector(IReputation.AuthWrongRegistry.selector, address(reputation)));
        _give(blob);
    }

    function test_RevertWhen_StrangerSigns_R7() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.signerAddress = uint160(newOwner.addr);
        bytes memory blob = _blob(auth, newOwner);
        _expect(abi.encodeWithSelector(IReputation.AuthWrongSigner.selector, newOwner.addr, owner.addr));
        _give(blob);
    }

    function test_RevertWhen_OperatorSigns_R7() external {
        vm.prank(owner.addr);
        identity.setApprovalForAll(newOwner.addr, true);
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.signerAddress = uint160(newOwner.addr);
        bytes memory blob = _blob(auth, newOwner);
        _expect(abi.encodeWithSelector(IReputation.AuthWrongSigner.selector, newOwner.addr, owner.addr));
        _give(blob);
    }

    function test_RevertWhen_PreviousOwnerSigned_R7() external {
        bytes memory blob = _granted(agentId, client);
        _give(blob);
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        _expect(abi.encodeWithSelector(IReputation.AuthWrongSigner.selector, owner.addr, newOwner.addr));
        _give(blob);
    }

    function test_WhenNewOwnerSigned_Accepts_R7() external {
        _give(_granted(agentId, client));
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        _give(_blob(_auth(agentId, client), newOwner));
        assertEq(reputation.getLastIndex(agentId, client), 2);
    }

    function test_RevertWhen_CountIsExhausted_R8() external {
        _storeTotals(type(uint64).max, 0);
        bytes memory blob = _granted(agentId, client);
        _expect(abi.encodeWithSelector(IBoundRegistry.CounterExhausted.selector));
        _give(client, agentId, 0, blob);
    }

    function test_RevertWhen_SumIsExhausted_R8() external {
        _storeTotals(1, type(uint64).max - SCORE + 1);
        bytes memory blob = _granted(agentId, client);
        _expect(abi.encodeWithSelector(IBoundRegistry.CounterExhausted.selector));
        _give(blob);
    }

    function test_WhenTotalsJustFit_Accepts_R8() external {
        _storeTotals(type(uint64).max - 1, type(uint64).max - SCORE);
        _give(_granted(agentId, client));
        (uint64 count, uint64 sum) = reputation.getTotals(agentId);
        assertEq(count, type(uint64).max);
        assertEq(sum, type(uint64).max);
    }

    function _expect(bytes memory revertData) private {
        vm.expectRevert(revertData, address(reputation));
    }

    /// @dev Writes the two counters behind getTotals, which takes 2^64 feedbacks to do properly.
    function _storeTotals(uint64 count, uint64 sum) private {
        _give(_granted(agentId, client));
        vm.record();
        reputation.getTotals(agentId);
        (bytes32[] memory reads,) = vm.accesses(address(reputation));
        vm.store(address(reputation), reads[0], bytes32((uint256(sum) << 64) | count));
        (uint64 storedCount, uint64 storedSum) = reputation.getTotals(agentId);
        assertEq(storedCount, count);
        assertEq(storedSum, sum);
    }

    function _assertStored(uint64 index, uint8 score, uint64 time) private view {
        (uint8 s, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp) =
            reputation.readFeedback(agentId, client, index);
        assertEq(s, score);
        assertEq(tag1, TAG1);
        assertEq(tag2, TAG2);
        assertFalse(isRevoked);
        assertEq(timestamp, time);
    }
}
