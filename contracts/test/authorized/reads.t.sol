// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";

import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {listOf} from "../actors/AddressLists.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";
import {Registries} from "../Registries.sol";

/// @dev The reads as a client of the first draft knows them.
interface IFirstDraftReputation {
    function readFeedback(uint256 agentId, address clientAddress, uint64 index)
        external
        view
        returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked);
}

contract ReputationReadsTest is RegistryTest {
    uint256 private constant CALL_GAS = 1_000_000; // stands for what a node grants a call

    function test_RevertWhen_RegistryIsZero_R2() external {
        vm.expectRevert(IBoundRegistry.RegistryZero.selector);
        Registries.newAuthorizedReputationRegistry(address(0), true);
    }

    function test_WhenRegistryIsGiven_KeepsBoth_R6() external {
        IReputation lenient = Registries.newAuthorizedReputationRegistry(address(identity), true);
        assertEq(reputation.getIdentityRegistry(), address(identity));
        assertFalse(reputation.acceptsDraftV1());
        assertTrue(lenient.acceptsDraftV1());
        assertEq(reputation.getVersion(), "2.0.0+concord.2");

        (, string memory name, string memory version, uint256 chainId, address verifyingContract,,) =
            IERC5267(address(lenient)).eip712Domain();
        assertEq(name, "ERC8004ReputationRegistry");
        assertEq(version, "1");
        assertEq(chainId, CHAIN_ID);
        assertEq(verifyingContract, address(lenient));
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

    function test_WhenFiltered_SummaryIsOfTheMatching_R15() external {
        _fill();
        _assertFiltered(new address[](0), 0, 0, 3, 70); // 100 + 60 + 51 = 211
        _assertFiltered(new address[](0), TAG1, 0, 2, 80);
        _assertFiltered(new address[](0), 0, TAG2, 2, 75);
        _assertFiltered(new address[](0), TAG1, TAG2, 1, 100);
        _assertFiltered(new address[](0), TAG2, 0, 0, 0);
        _assertFiltered(listOf(client, client), 0, 0, 4, 80);
        _assertFiltered(listOf(stranger, stranger), 0, TAG2, 2, 51);
        _assertFiltered(listOf(newOwner.addr, newOwner.addr), 0, 0, 0, 0);
    }

    function test_WhenAsked_FilteredTotalsAddUp_R15() external {
        _fill();
        (uint64 count, uint64 sum) = reputation.getTotals(agentId, new address[](0), 0, 0);
        assertEq(count, 3);
        assertEq(sum, 211);
        (count, sum) = reputation.getTotals(agentId, listOf(client, stranger), TAG1, 0);
        assertEq(count, 2);
        assertEq(sum, 160);
    }

    function test_WhenWindowIsAsked_TotalsAreOfWhatIsInIt_R15() external {
        _fill();
        _assertOfClients(0, 1, 0, 0, 2, 160);
        _assertOfClients(0, 9, 0, 0, 3, 211);
        _assertOfClients(1, type(uint256).max, 0, 0, 1, 51);
        _assertOfClients(0, 2, TAG1, 0, 2, 160);
        _assertOfClients(0, 2, 0, TAG2, 2, 151);
        _assertOfClients(0, 2, "other", TAG2, 1, 51);
        _assertOfClients(0, 2, TAG1, TAG2, 1, 100);
        _assertOfClients(2, 1, 0, 0, 0, 0);
        _assertOfClients(0, 0, 0, 0, 0, 0);
        _assertOfIndices(client, 0, type(uint64).max, 0, 2, 160);
        _assertOfIndices(client, 0, 2, 0, 1, 100);
        _assertOfIndices(client, 1, 1, 0, 1, 100);
        _assertOfIndices(client, 2, 1, 0, 0, 0);
        _assertOfIndices(client, 2, 2, 0, 1, 60);
        _assertOfIndices(client, 1, 3, TAG2, 1, 100);
        _assertOfIndices(client, 4, 9, 0, 0, 0);
        _assertOfIndices(client, 1, 0, 0, 0, 0);
        _assertOfIndices(newOwner.addr, 0, 9, 0, 0, 0);
        (uint64 count,) = reputation.getTotalsOfClients(99, 0, 9, 0, 0);
        assertEq(count, 0);
        (count,) = reputation.getTotalsOfIndices(otherAgentId, client, 0, 9, 0, 0);
        assertEq(count, 0);
    }

    /// @dev However clients and indices are cut, the parts add up to what was given. The expected values are the test's.
    function testFuzz_PartsOfTotalsAddUpToTheWhole_R15(uint256 seed, uint256 size, uint256 cut) external {
        address[2] memory clients = [client, stranger];
        uint64 count = 0;
        uint64 sum = 0;
        for (uint256 i = bound(size, 0, 12); i != 0; --i) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            uint8 score = uint8((random >> 8) % 101);
            _giveWithin12(clients[random % 2], score);
            if ((random >> 16) % 4 == 0) {
                _revoke(clients[random % 2], reputation.getLastIndex(agentId, clients[random % 2]));
                continue;
            }
            count += 1;
            sum += score;
        }
        cut = bound(cut, 0, 3);
        (uint64 firstCount, uint64 firstSum) = reputation.getTotalsOfClients(agentId, 0, cut, 0, 0);
        (uint64 restCount, uint64 restSum) = reputation.getTotalsOfClients(agentId, cut, type(uint256).max, 0, 0);
        assertEq(firstCount + restCount, count);
        assertEq(firstSum + restSum, sum);
        for (uint256 i = 0; i < clients.length; ++i) {
            uint64 middle = uint64(1 + (seed >> (8 * i)) % 8);
            (firstCount, firstSum) = reputation.getTotalsOfIndices(agentId, clients[i], 0, middle, 0, 0);
            (restCount, restSum) = reputation.getTotalsOfIndices(agentId, clients[i], middle, type(uint64).max, 0, 0);
            count -= firstCount + restCount;
            sum -= firstSum + restSum;
        }
        assertEq(count, 0);
        assertEq(sum, 0);
    }

    /// @dev The attack: a client gives so much feedback that no call can sum it up.
    function test_GivenCrowdOfFeedback_PartsReachTheEnd_R15() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.indexLimit = 400;
        bytes memory blob = _blob(auth, owner);
        for (uint256 i = 0; i < 400; ++i) {
            _give(blob);
        }
        vm.cool(address(reputation));
        (bool fits,) = address(reputation).staticcall{gas: CALL_GAS}(
            abi.encodeWithSignature(
                "getTotals(uint256,address[],bytes32,bytes32)", agentId, listOf(client, client), TAG1, bytes32(0)
            )
        );
        assertFalse(fits);
        uint64 count = 0;
        uint64 sum = 0;
        for (uint64 start = 1; start <= 400; start += 100) {
            vm.cool(address(reputation));
            (uint64 countOfPart, uint64 sumOfPart) =
                reputation.getTotalsOfIndices{gas: CALL_GAS}(agentId, client, start, 100, TAG1, 0);
            count += countOfPart;
            sum += sumOfPart;
        }
        assertEq(count, 400);
        assertEq(sum, uint64(400) * SCORE);
    }

    /// @dev A sum loads each entry once beside the client's last index, and no tag that is not asked for.
    function test_WhenTotalsAreAsked_ReadsEachEntryOnce_R15() external {
        _fill();
        vm.record();
        reputation.getTotals(agentId, listOf(client, stranger), 0, 0);
        (bytes32[] memory reads,) = vm.accesses(address(reputation));
        assertEq(reads.length, 2 + 4);
        vm.record();
        reputation.getTotals(agentId, listOf(client, stranger), TAG1, 0);
        (reads,) = vm.accesses(address(reputation));
        assertEq(reads.length, 2 + 4 + 3); // three are not revoked
    }

    function test_WhenNoClientsAreListed_ReadsAll_R15() external {
        _fill();
        (
            address[] memory clients,
            uint8[] memory scores,
            bytes32[] memory tag1s,
            bytes32[] memory tag2s,
            bool[] memory revoked
        ) = reputation.readAllFeedback(agentId, new address[](0), 0, 0, true);
        assertEq(clients.length, 4);
        for (uint256 i = 0; i < 4; ++i) {
            assertEq(clients[i], i < 3 ? client : stranger);
            assertEq(scores[i], [100, 9, 60, 51][i]);
            // A short literal.
            // forge-lint: disable-next-line(unsafe-typecast)
            assertEq(tag1s[i], i < 3 ? TAG1 : bytes32("other"));
            assertEq(tag2s[i], i == 2 ? bytes32(0) : TAG2);
            assertEq(revoked[i], i == 1);
        }
    }

    function test_WhenFiltered_ReadsTheMatching_R15() external {
        _fill();
        _assertRead(new address[](0), 0, 0, false, 3);
        _assertRead(listOf(stranger, client), TAG1, 0, true, 3);
        _assertRead(listOf(stranger, client), TAG1, 0, false, 2);
        _assertRead(listOf(stranger, stranger), 0, TAG2, false, 2);
        _assertRead(new address[](0), "other", "other", true, 0);
        (address[] memory clients, uint8[] memory scores,,,) =
            reputation.readAllFeedback(agentId, listOf(stranger, client), 0, TAG2, false);
        assertEq(clients[0], stranger);
        assertEq(scores[0], 51);
        assertEq(clients[1], client);
        assertEq(scores[1], 100);
    }

    function test_WhenWindowIsAsked_ReadsWhatIsInIt() external {
        _fill();
        reputation.appendResponse(agentId, client, 2, "ipfs://response", 0);
        IReputation.FeedbackRecord[] memory records = reputation.readFeedbackWindow(agentId, client, 2, 9);
        assertEq(records.length, 2);
        assertEq(abi.encode(records[0]), abi.encode(IReputation.FeedbackRecord(2, 9, TAG1, TAG2, true, NOW, 1)));
        assertEq(abi.encode(records[1]), abi.encode(IReputation.FeedbackRecord(3, 60, TAG1, 0, false, NOW + 5, 0)));
        assertEq(reputation.readFeedbackWindow(agentId, client, 0, 2).length, 1);
        assertEq(reputation.readFeedbackWindow(agentId, client, 4, 1).length, 0);
        assertEq(reputation.readFeedbackWindow(99, client, 0, 9).length, 0);
        assertEq(reputation.getClientCount(agentId), 2);
        assertEq(reputation.getClientsWindow(agentId, 1, 9)[0], stranger);
        assertEq(reputation.getClientsWindow(agentId, 0, 1).length, 1);
        assertEq(reputation.getClientsWindow(agentId, 2, 1).length, 0);
    }

    /// @dev client: 100, 9 (revoked), and five seconds later 60 without second tag; stranger: 51 under another tag.
    function _fill() private {
        _give(client, agentId, 100, _granted(agentId, client));
        _give(client, agentId, 9, _granted(agentId, client));
        vm.warp(NOW + 5);
        bytes memory blob = _granted(agentId, client);
        vm.prank(client);
        reputation.giveFeedback(agentId, 60, TAG1, 0, FILE_URI, FILE_HASH, blob);
        blob = _granted(agentId, stranger);
        vm.prank(stranger);
        reputation.giveFeedback(agentId, 51, "other", TAG2, FILE_URI, FILE_HASH, blob);
        vm.prank(client);
        reputation.revokeFeedback(agentId, 2);
    }

    /// @dev With a grant for twelve.
    function _giveWithin12(address from, uint8 score) private {
        FeedbackAuthWords memory auth = _auth(agentId, from);
        auth.indexLimit = 12;
        _give(from, agentId, score, _blob(auth, owner));
    }

    function _revoke(address from, uint64 index) private {
        vm.prank(from);
        reputation.revokeFeedback(agentId, index);
    }

    function _assertOfClients(uint256 start, uint256 limit, bytes32 tag1, bytes32 tag2, uint64 count, uint64 sum)
        private
        view
    {
        (uint64 c, uint64 s) = reputation.getTotalsOfClients(agentId, start, limit, tag1, tag2);
        assertEq(c, count);
        assertEq(s, sum);
    }

    function _assertOfIndices(address from, uint64 start, uint64 limit, bytes32 tag2, uint64 count, uint64 sum)
        private
        view
    {
        (uint64 c, uint64 s) = reputation.getTotalsOfIndices(agentId, from, start, limit, 0, tag2);
        assertEq(c, count);
        assertEq(s, sum);
    }

    function _assertFiltered(address[] memory clients, bytes32 tag1, bytes32 tag2, uint64 count, uint8 average)
        private
        view
    {
        (uint64 c, uint8 a) = reputation.getSummary(agentId, clients, tag1, tag2);
        assertEq(c, count);
        assertEq(a, average);
    }

    function _assertRead(address[] memory clients, bytes32 tag1, bytes32 tag2, bool includeRevoked, uint256 expected)
        private
        view
    {
        (address[] memory c,,,,) = reputation.readAllFeedback(agentId, clients, tag1, tag2, includeRevoked);
        assertEq(c.length, expected);
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
