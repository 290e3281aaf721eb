// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {AuthorizedReputationRegistry} from "../../src/AuthorizedReputationRegistry.sol";
import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";

/// @dev The reads as a client of the first draft knows them.
interface IFirstDraftReputation {
    function readFeedback(uint256 agentId, address clientAddress, uint64 index)
        external
        view
        returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked);
}

contract ReputationReadsTest is RegistryTest {
    function test_RevertWhen_RegistryIsZero_R2() external {
        vm.expectRevert(IFeedback.RegistryZero.selector);
        new AuthorizedReputationRegistry(address(0), true);
    }

    function test_WhenRegistryIsGiven_KeepsBoth_R6() external {
        AuthorizedReputationRegistry strict = new AuthorizedReputationRegistry(address(identity), false);
        assertEq(reputation.getIdentityRegistry(), address(identity));
        assertTrue(reputation.acceptsDraftV1());
        assertFalse(strict.acceptsDraftV1());
        assertEq(reputation.getVersion(), "2.0.0-concord.1");

        (, string memory name, string memory version, uint256 chainId, address verifyingContract,,) =
            strict.eip712Domain();
        assertEq(name, "ERC8004ReputationRegistry");
        assertEq(version, "1");
        assertEq(chainId, CHAIN_ID);
        assertEq(verifyingContract, address(strict));
    }

    function test_GivenNothing_SummaryIsZero_R15() external view {
        _assertSummary(agentId, 0, 0);
        _assertSummary(99, 0, 0);
    }

    function test_GivenAllRevoked_SummaryIsZero_R15() external {
        _give(_granted(agentId, client));
        vm.prank(client);
        reputation.revokeFeedback(agentId, 1);
        _assertSummary(agentId, 0, 0);
    }

    function test_WhenAverageIsNotWhole_RoundsDown_R15() external {
        _give(client, agentId, 100, _granted(agentId, client));
        _give(client, agentId, 99, _granted(agentId, client));
        _assertSummary(agentId, 2, 99);
        _give(client, agentId, 100, _granted(agentId, client));
        _assertSummary(agentId, 3, 99);
    }

    function test_GivenGreatestTotals_AverageIsExact_R15() external {
        uint64 greatest = type(uint64).max;
        _storeTotals(greatest / 100, greatest);
        _assertSummary(agentId, greatest / 100, 100);
        _storeTotals(greatest, greatest);
        _assertSummary(agentId, greatest, 1);
    }

    function testFuzz_SummaryIsTheMean_R15(uint8[] memory scores) external {
        uint256 length = bound(scores.length, 0, 20);
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.indexLimit = 20;
        bytes memory blob = _blob(auth, owner);
        uint256 sum = 0;
        for (uint256 i = 0; i < length && i < scores.length; ++i) {
            uint8 score = uint8(bound(scores[i], 0, 100));
            _give(client, agentId, score, blob);
            sum += score;
        }
        uint256 count = reputation.getLastIndex(agentId, client);
        _assertSummary(agentId, count, count == 0 ? 0 : sum / count);
    }

    function test_CostOfSummaryIsConstant_R15() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.indexLimit = 200;
        bytes memory blob = _blob(auth, owner);
        _give(blob);
        uint256 first = _gasOfSummary();
        for (uint256 i = 1; i < 200; ++i) {
            _give(blob);
        }
        assertEq(reputation.getLastIndex(agentId, client), 200);
        assertEq(_gasOfSummary(), first);
    }

    function test_GivenNothing_IndexIsZeroAndClientsEmpty() external view {
        assertEq(reputation.getLastIndex(agentId, client), 0);
        assertEq(reputation.getClients(agentId).length, 0);
        assertEq(reputation.getLastIndex(99, client), 0);
        assertEq(reputation.getClients(99).length, 0);
    }

    function test_WhenReadByFirstDraftClient_PrefixIsTheSame_R15() external {
        _give(_granted(agentId, client));
        (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked) =
            IFirstDraftReputation(address(reputation)).readFeedback(agentId, client, 1);
        assertEq(score, SCORE);
        assertEq(tag1, TAG1);
        assertEq(tag2, TAG2);
        assertFalse(isRevoked);
    }

    function test_RevertWhen_FeedbackIsNotThere() external {
        _give(_granted(agentId, client));
        _assertNotFound(agentId, client, 0);
        _assertNotFound(agentId, client, 2);
        _assertNotFound(agentId, stranger, 1);
        _assertNotFound(99, client, 1);
    }

    function _gasOfSummary() private view returns (uint256) {
        uint256 before = gasleft();
        reputation.getSummary(agentId);
        return before - gasleft();
    }

    /// @dev Writes the two counters behind getTotals, which takes 2^64 feedbacks to do properly.
    function _storeTotals(uint64 count, uint64 sum) private {
        vm.record();
        reputation.getTotals(agentId);
        (bytes32[] memory slots,) = vm.accesses(address(reputation));
        vm.store(address(reputation), slots[0], bytes32((uint256(sum) << 64) | count));
    }

    function _assertNotFound(uint256 agent, address from, uint64 index) private {
        vm.expectRevert(abi.encodeWithSelector(IFeedback.FeedbackNotFound.selector, agent, from, index));
        reputation.readFeedback(agent, from, index);
    }

    function _assertSummary(uint256 agent, uint256 expectedCount, uint256 expectedAverage) private view {
        (uint64 count, uint8 average) = reputation.getSummary(agent);
        assertEq(count, expectedCount);
        assertEq(average, expectedAverage);
    }
}
