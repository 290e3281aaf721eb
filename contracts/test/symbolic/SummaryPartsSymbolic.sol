// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IReputationRegistry} from "../../src/interfaces/IReputationRegistry.sol";
import {SummaryParts} from "../../src/libraries/SummaryParts.sol";

/// @dev Proven by halmos for all arguments (scripts/deep), not run by forge: forge runs what begins with test. The
/// mean itself is not here: a division of 256 bits is more than the solver does in minutes (testFuzz_SummaryIsTheReferences_R16).
contract SummaryPartsSymbolic is Test {
    using SummaryParts for IReputationRegistry.SummaryPart;
    using SummaryParts for int256[19];

    /// @dev From any sum within the bound, any further value at 18 decimals leads to a sum within the next bound, without
    /// an overflow. The values that are written out come first: on them a fault is found without a division.
    function check_SumStaysWithinItsBound_R16(int256 sum, int128 value) external pure {
        vm.assume(-1e38 <= value && value <= 1e38);
        for (uint64 count = 0; count < 3; ++count) {
            if (!_isWithinValues(sum, count)) continue;
            _assertAdded(sum, count, -1e38);
            _assertAdded(sum, count, 1e38);
            _assertAdded(sum, count, value);
        }
    }

    /// @dev A part passes if and only if its histogram adds up to its count, |sum| is at most 1e56 for each value without
    /// decimals and 1e38 for each with 18, and is whole where none has decimals.
    function check_PossibleIsWithinTheBound_R16(int256 sum, uint64 some, uint64 others) external view {
        for (uint64 count = 0; count < 3; ++count) {
            IReputationRegistry.SummaryPart memory part;
            part.count = count;
            part.sum = sum;
            part.histogram[0] = some;
            part.histogram[18] = others;
            bool isMade = uint256(some) + others == count && _isWithin(sum, some, others);
            if (some != 0 && others == 0) isMade = isMade && sum % 1e18 == 0;
            assertEq(this.isPossible(part), isMade);
        }
    }

    /// @dev Merged counts are exact, or refused with the one error for it exactly where they would not fit.
    function check_MergedCountsNeverWrap_R8(uint64 count, uint64 other) external view {
        IReputationRegistry.SummaryPart memory part;
        part.count = count;
        part.histogram[7] = count;
        IReputationRegistry.SummaryPart memory more;
        more.count = other;
        more.histogram[7] = other;
        bool fits = uint256(count) + other <= type(uint64).max;
        try this.merge(part, more) returns (uint64 merged, uint64 atSeven) {
            assertTrue(fits);
            assertEq(merged, uint256(count) + other);
            assertEq(atSeven, merged);
        } catch (bytes memory reason) {
            assertFalse(fits);
            assertEq(keccak256(reason), keccak256(abi.encodeWithSelector(IBoundRegistry.CounterExhausted.selector)));
        }
    }

    /// @dev The decimals are the most frequent ones, in a tie the fewest.
    function check_DecimalsAreTheMode_R16(uint64 at0, uint64 at9, uint64 at18) external pure {
        IReputationRegistry.SummaryPart memory part;
        part.count = 1;
        part.histogram[0] = at0;
        part.histogram[9] = at9;
        part.histogram[18] = at18;
        (,, uint8 decimals) = part.finish();
        if (at0 >= at9 && at0 >= at18) assertEq(decimals, 0);
        else if (at9 >= at18) assertEq(decimals, 9);
        else assertEq(decimals, 18);
    }

    function isPossible(IReputationRegistry.SummaryPart calldata part) external pure returns (bool) {
        return SummaryParts.isPossible(part);
    }

    function merge(IReputationRegistry.SummaryPart memory part, IReputationRegistry.SummaryPart calldata other)
        external
        pure
        returns (uint64, uint64)
    {
        part.merge(other);
        return (part.count, part.histogram[7]);
    }

    /// @dev At 18 decimals a sum is what a tally holds.
    function _assertAdded(int256 sum, uint64 count, int128 value) private pure {
        int256[19] memory tally;
        tally[18] = sum * 2 ** 64 + int256(uint256(count));
        tally.add(value, 18);
        IReputationRegistry.SummaryPart memory part = tally.toPart();
        assertEq(part.count, count + 1);
        assertEq(part.histogram[18], count + 1);
        assertEq(part.sum, sum + value);
        assertTrue(_isWithinValues(part.sum, count + 1));
    }

    /// @dev Whether `count` values may sum up to it.
    function _isWithinValues(int256 sum, uint64 count) private pure returns (bool) {
        int256 bound = int256(uint256(count)) * 1e38;
        return -bound <= sum && sum <= bound;
    }

    function _isWithin(int256 sum, uint64 some, uint64 others) private pure returns (bool) {
        int256 bound = int256(uint256(some)) * 1e56 + int256(uint256(others)) * 1e38;
        return -bound <= sum && sum <= bound;
    }
}
