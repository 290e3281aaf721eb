// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IReputationRegistry as IReputation} from "../../src/interfaces/IReputationRegistry.sol";
import {listOf} from "../actors/AddressLists.sol";
import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";
import {SummaryReference} from "../actors/SummaryReference.sol";

contract OpenSummaryTest is OpenRegistryTest {
    int128 private constant BOUND = 100000000000000000000000000000000000000;

    address[] private clients;
    SummaryReference.Value[] private kept;

    function test_RevertWhen_ClientsAreEmpty_R16() external {
        vm.expectRevert(IReputation.EmptyClients.selector);
        reputation.getSummary(agentId, new address[](0), "", "");
        vm.expectRevert(IReputation.EmptyClients.selector);
        reputation.getSummaryPart(UNKNOWN_AGENT, new address[](0), "", "");
    }

    function test_GivenNothing_SummaryIsZero_R16() external {
        _assertSummary(listOf(client), 0, 0, 0);
        _give(client, 5, 7);
        _revoke(client, 1);
        _assertSummary(listOf(client), 0, 0, 0);
        (uint64 count, int128 value, uint8 decimals) = reputation.getSummary(UNKNOWN_AGENT, listOf(client), "", "");
        assertEq(count, 0);
        assertEq(value, 0);
        assertEq(decimals, 0);
    }

    /// @dev A value of 0 counts, and a client without feedback does not.
    function test_WhenOnlyValueIsZero_CountsIt_R16() external {
        _give(client, 0, 0);
        _assertSummary(listOf(client, otherClient), 1, 0, 0);
        _give(otherClient, 0, 3);
        _assertSummary(listOf(otherClient), 1, 0, 3);
    }

    /// @dev Measured on the canonical contract.
    function test_WhenAverageIsNegative_TruncatesTowardZero_R16() external {
        _give(client, -32, 1);
        _give(otherClient, -31, 1);
        _assertSummary(listOf(client, otherClient), 2, -31, 1);
    }

    /// @dev Measured on the canonical contract.
    function test_WhenDecimalsTie_TakesTheFewest_R16() external {
        _give(client, 9977, 2);
        _give(otherClient, 100, 0);
        _assertSummary(listOf(client, otherClient), 2, 99, 0);
    }

    /// @dev Measured on the canonical contract.
    function test_WhenClientIsListedTwice_CountsTwice_R16() external {
        _give(client, 10, 0);
        _give(otherClient, 40, 0);
        _assertSummary(listOf(client, otherClient, client), 3, 20, 0);
    }

    function test_WhenClientIsNotListed_LeavesIt_R16() external {
        _give(client, 10, 0);
        _give(otherClient, 40, 0);
        _assertSummary(listOf(otherClient), 1, 40, 0);
    }

    /// @dev The canonical contract wraps here: 1e38 / 3 at 18 decimals has 55 digits.
    function test_WhenAverageDoesNotFit_DropsDecimals_R16() external {
        _give(client, BOUND, 0);
        _give(client, 0, 18);
        _give(client, 0, 18);
        _assertSummary(listOf(client), 3, 33333333333333333333333333333333333333, 0);
        _give(otherClient, -BOUND, 0);
        _give(otherClient, 0, 18);
        _give(otherClient, 0, 18);
        _assertSummary(listOf(otherClient), 3, -33333333333333333333333333333333333333, 0);
    }

    /// @dev 2^127 - 1 and -2^127, and one beyond each, as averages in tenths.
    function test_WhenAverageJustFits_KeepsDecimals_R16() external {
        _giveTenths(client, 17014118346046923173168730371588410572, 7);
        _assertSummary(listOf(client), 10, type(int128).max, 1);
        _giveTenths(otherClient, 17014118346046923173168730371588410572, 8);
        _assertSummary(listOf(otherClient), 10, 17014118346046923173168730371588410572, 0);
        _giveTenths(stranger, -17014118346046923173168730371588410572, -8);
        _assertSummary(listOf(stranger), 10, type(int128).min, 1);
        address last = makeAddr("last");
        _giveTenths(last, -17014118346046923173168730371588410572, -9);
        _assertSummary(listOf(last), 10, -17014118346046923173168730371588410572, 0);
    }

    function test_WhenTagsAreGiven_FiltersByBoth_R16() external {
        _give(client, agentId, 1, 0, "uptime", "high");
        _give(client, agentId, 2, 0, "uptime", "low");
        _give(client, agentId, 4, 0, "", "high");
        _give(client, agentId, 8, 0, "Uptime", "high");
        _give(client, agentId, 16, 0, "uptimehigh", "");
        _assertSum("", "", 31);
        _assertSum("uptime", "", 3);
        _assertSum("", "high", 13);
        _assertSum("uptime", "high", 1);
        _assertSum("up", "", 0);
        _assertSum("uptimehigh", "", 16);
        _assertSum("uptime\x00", "", 0);
    }

    function testFuzz_SummaryIsTheReferences_R16(uint256 seed, uint256 size) external {
        _giveRandomly(seed, bound(size, 0, 24));
        address[] memory list = clients.length == 0 ? listOf(client) : clients;
        (uint64 count, int128 value, uint8 decimals) = SummaryReference.summarize(kept);
        _assertSummary(list, count, value, decimals);
    }

    /// @dev However the clients and their indices are cut, the parts finish to what one call says.
    function testFuzz_PartsAddUpToTheWhole_R16(uint256 seed, uint256 size, uint256 cut) external {
        _giveRandomly(seed, bound(size, 0, 24));
        (uint64 count, int128 value, uint8 decimals) = SummaryReference.summarize(kept);
        cut = bound(cut, 0, clients.length + 1);

        IReputation.SummaryPart[] memory parts = new IReputation.SummaryPart[](2);
        parts[0] = reputation.getSummaryPartOfClients(agentId, 0, cut, "", "");
        parts[1] = reputation.getSummaryPartOfClients(agentId, cut, type(uint256).max, "", "");
        _assertFinish(parts, count, value, decimals);

        parts = new IReputation.SummaryPart[](2 * clients.length);
        for (uint256 i = 0; i < clients.length; ++i) {
            uint64 middle = uint64(1 + uint256(keccak256(abi.encode(seed, i))) % 5);
            parts[2 * i] = reputation.getSummaryPartOfIndices(agentId, clients[i], 0, middle, "", "");
            parts[2 * i + 1] = reputation.getSummaryPartOfIndices(agentId, clients[i], middle, type(uint64).max, "", "");
        }
        _assertFinish(parts, count, value, decimals);
    }

    function test_WhenPartIsAsked_SumsAndCountsExactly_R16() external {
        _give(client, 15, 1);
        _give(client, -2, 0);
        _give(client, 7, 18);
        _give(otherClient, 4, 1);
        IReputation.SummaryPart memory part = reputation.getSummaryPart(agentId, listOf(client, otherClient), "", "");
        assertEq(part.sum, 1.5e18 - 2e18 + 7 + 0.4e18);
        assertEq(part.count, 4);
        for (uint256 i = 0; i < 19; ++i) {
            assertEq(part.histogram[i], i == 0 ? 1 : i == 1 ? 2 : i == 18 ? 1 : 0);
        }
    }

    function test_WhenWindowIsAsked_TakesWhatIsInIt_R16() external {
        _give(client, 1, 0);
        _give(client, 2, 0);
        _give(client, agentId, 4, 0, "other", "");
        _give(otherClient, 8, 0);
        _assertPart(reputation.getSummaryPartOfIndices(agentId, client, 1, 1, "", ""), 1);
        _assertPart(reputation.getSummaryPartOfIndices(agentId, client, 2, 2, "", ""), 6);
        _assertPart(reputation.getSummaryPartOfIndices(agentId, client, 0, 2, "", ""), 1);
        _assertPart(reputation.getSummaryPartOfIndices(agentId, client, 2, type(uint64).max, TAG1, ""), 2);
        _assertPart(reputation.getSummaryPartOfIndices(agentId, client, 4, 9, "", ""), 0);
        _assertPart(reputation.getSummaryPartOfIndices(agentId, client, 0, 0, "", ""), 0);
        _assertPart(reputation.getSummaryPartOfIndices(agentId, stranger, 0, 9, "", ""), 0);
        _assertPart(reputation.getSummaryPartOfClients(agentId, 0, 1, "", ""), 7);
        _assertPart(reputation.getSummaryPartOfClients(agentId, 1, 1, "", TAG2), 8);
        _assertPart(reputation.getSummaryPartOfClients(agentId, 0, 2, "other", ""), 4);
        _assertPart(reputation.getSummaryPartOfClients(agentId, 2, 1, "", ""), 0);
        _assertPart(reputation.getSummaryPartOfClients(UNKNOWN_AGENT, 0, 1, "", ""), 0);
    }

    function test_WhenNoPartsAreGiven_FinishesToZero_R16() external view {
        _assertFinish(new IReputation.SummaryPart[](0), 0, 0, 0);
        _assertFinish(new IReputation.SummaryPart[](3), 0, 0, 0);
    }

    function test_WhenCountsAreTheGreatest_Finishes_R16() external view {
        IReputation.SummaryPart[] memory parts = new IReputation.SummaryPart[](2);
        parts[0] = _uniform(type(uint64).max - 1, 1e56, 0);
        parts[1] = _uniform(1, 1e56, 0);
        _assertFinish(parts, type(uint64).max, BOUND, 0);
        parts[0] = _uniform(type(uint64).max - 1, -1e38, 18);
        parts[1] = _uniform(1, -1e38, 18);
        _assertFinish(parts, type(uint64).max, -BOUND, 18);
    }

    function test_RevertWhen_CountsPassTheGreatest_R8() external {
        IReputation.SummaryPart[] memory parts = new IReputation.SummaryPart[](2);
        parts[0] = _uniform(type(uint64).max, 1e56, 0);
        parts[1] = _uniform(1, 1e56, 0);
        vm.expectRevert(IBoundRegistry.CounterExhausted.selector);
        reputation.finishSummary(parts);
    }

    function test_RevertWhen_PartCannotBe_R16() external {
        IReputation.SummaryPart memory part = _uniform(2, 5, 3);
        part.histogram[3] = 1;
        _assertMismatch(part);
        part.histogram[4] = 2;
        _assertMismatch(part);
        part = _uniform(2, 1e56, 0);
        part.sum += 1;
        _assertMismatch(part);
        part.sum = -2e56 - 1;
        _assertMismatch(part);
        part.sum = type(int256).min;
        _assertMismatch(part);
        part = _uniform(0, 0, 0);
        part.sum = 1;
        _assertMismatch(part);
        _assertMismatch(_uniform(1, 1e56, 18));
        _assertMismatch(_uniform(1, 1e17, 0));
        part = _uniform(0, 0, 0);
        for (uint256 i = 0; i < 19; ++i) {
            part.histogram[i] = type(uint64).max;
        }
        _assertMismatch(part);
    }

    /// @dev At each number of decimals, the largest and the smallest sum, and a unit beyond each; for one value there, and
    /// for one more without decimals.
    function test_WhenSumIsAtBoundOfItsDecimals_FinishesAndNoFurther_R16() external {
        int256 unit = 1e18;
        for (uint256 decimals = 0; decimals < 19; ++decimals) {
            IReputation.SummaryPart memory part = _uniform(1, 1e38 * unit, decimals);
            _assertAtBound(part, unit);
            part.count = 2;
            part.histogram[0] += 1;
            part.sum += 1e56;
            _assertAtBound(part, unit);
            unit /= 10;
        }
    }

    /// @dev 0.03; 0.0301 with a second value of four decimals; 1e-18 with one of eighteen.
    function test_WhenSumIsInWholeUnits_FinishesAndNoOther_R16() external {
        IReputation.SummaryPart memory part = _uniform(1, 3e16, 2);
        _assertFinish(_alone(part), 1, 3, 2);
        part.sum = 3.01e16;
        _assertMismatch(part);
        part.count = 2;
        part.histogram[4] = 1;
        _assertFinish(_alone(part), 2, 1, 2);
        part.sum = -3.01e16;
        _assertFinish(_alone(part), 2, -1, 2);
        part.sum = 3.001e16;
        _assertMismatch(part);
        part.sum = 1;
        _assertMismatch(part);
        part.histogram[4] = 0;
        part.histogram[18] = 1;
        _assertFinish(_alone(part), 2, 0, 2);
    }

    function _assertAtBound(IReputation.SummaryPart memory part, int256 unit) private {
        for (uint256 i = 0; i < 2; ++i) {
            (uint64 count,,) = reputation.finishSummary(_alone(part));
            assertEq(count, part.count);
            part.sum += part.sum > 0 ? unit : -unit;
            _assertMismatch(part);
            part.sum -= part.sum > 0 ? unit : -unit;
            part.sum = -part.sum;
        }
    }

    function _alone(IReputation.SummaryPart memory part) private pure returns (IReputation.SummaryPart[] memory parts) {
        parts = new IReputation.SummaryPart[](1);
        parts[0] = part;
    }

    function _uniform(uint64 count, int256 each, uint256 decimals)
        private
        pure
        returns (IReputation.SummaryPart memory part)
    {
        part.sum = each * int256(uint256(count));
        part.count = count;
        part.histogram[decimals] = count;
    }

    function _assertMismatch(IReputation.SummaryPart memory part) private {
        IReputation.SummaryPart[] memory parts = new IReputation.SummaryPart[](3);
        parts[1] = part;
        vm.expectRevert(abi.encodeWithSelector(IReputation.SummaryPartMismatch.selector, 1));
        reputation.finishSummary(parts);
    }

    /// @dev Ten values that average to `whole` and `tenths` tenths; six of them have one decimal.
    function _giveTenths(address from, int128 whole, int128 tenths) private {
        for (uint256 i = 0; i < 6; ++i) {
            _give(from, 0, 1);
        }
        _give(from, 3 * whole, 0);
        _give(from, 3 * whole, 0);
        _give(from, 4 * whole, 0);
        _give(from, tenths, 0);
    }

    /// @dev Up to five clients; one feedback in five is revoked at once; extremes are frequent.
    function _giveRandomly(uint256 seed, uint256 size) private {
        for (uint256 i = 0; i < size; ++i) {
            uint256 random = uint256(keccak256(abi.encode(seed, i)));
            address from = vm.addr(1 + random % 5);
            int128 value = _randomValue(random >> 8);
            // Few different decimals, or the mode would mostly be a tie of ones.
            uint8 decimals = uint8((random >> 16) % 2 == 0 ? (random >> 24) % 19 : 18 * ((random >> 24) % 2));
            if (reputation.getLastIndex(agentId, from) == 0) clients.push(from);
            _give(from, value, decimals);
            if ((random >> 32) % 5 == 0) _revoke(from, reputation.getLastIndex(agentId, from));
            else kept.push(SummaryReference.Value(value, decimals));
        }
    }

    function _randomValue(uint256 random) private pure returns (int128) {
        if (random % 4 == 0) return BOUND;
        if (random % 4 == 1) return -BOUND;
        // The upper half of the word, modulo 1000.
        // forge-lint: disable-next-line(unsafe-typecast)
        if (random % 4 == 2) return int128(int256(random >> 128) % 1000);
        // Bounded to an int128.
        // forge-lint: disable-next-line(unsafe-typecast)
        return int128(bound(int256(random), -BOUND, BOUND));
    }

    function _assertPart(IReputation.SummaryPart memory part, int256 sum) private pure {
        assertEq(part.sum, sum * 1e18);
    }

    function _assertSum(string memory tag1, string memory tag2, int256 sum) private view {
        _assertPart(reputation.getSummaryPart(agentId, listOf(client), tag1, tag2), sum);
    }

    function _assertFinish(IReputation.SummaryPart[] memory parts, uint64 count, int128 value, uint8 decimals)
        private
        view
    {
        (uint64 c, int128 v, uint8 d) = reputation.finishSummary(parts);
        assertEq(c, count);
        assertEq(v, value);
        assertEq(d, decimals);
    }

    function _assertSummary(address[] memory list, uint64 count, int128 value, uint8 decimals) private view {
        (uint64 c, int128 v, uint8 d) = reputation.getSummary(agentId, list, "", "");
        assertEq(c, count);
        assertEq(v, value);
        assertEq(d, decimals);
    }
}
