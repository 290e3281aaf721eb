// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IBoundRegistry} from "../interfaces/IBoundRegistry.sol";
import {IReputationRegistry} from "../interfaces/IReputationRegistry.sol";

/// @title SummaryParts
/// @notice The arithmetic of the open summary (R16).
/// @dev |sum| <= count * 1e56 < 2^64 * 2^187, so no sum of true parts passes 256 bits.
library SummaryParts {
    /// @dev R16: the limits of one value.
    uint8 internal constant DECIMALS_MAX = 18;
    int128 internal constant VALUE_MAX = 1e38;
    /// @dev The width of a count in a tally's word.
    uint256 private constant COUNT_BITS = 64;

    /// @notice Takes one feedback into a tally.
    /// @dev A tally has one word for each number of decimals: the sum of the values, unscaled, in the upper 192 bits and
    /// their count in the lower 64. Fewer than 2^64 values of at most 1e38 < 2^127 sum up to less than 2^191, so that
    /// nothing needs a check. This is the innermost step of a summary: a checked index costs 110 gas for each feedback.
    /// @param value An int128, widened: assembly may not rely on the upper bits of a narrow type.
    /// @param decimals At most 18, as is all that was ever stored (R16).
    function add(int256[19] memory tally, int256 value, uint256 decimals) internal pure {
        assembly ("memory-safe") {
            let word := add(tally, shl(5, decimals))
            mstore(word, add(mload(word), add(shl(64, value), 1)))
        }
    }

    /// @notice The part of everything that a tally took in.
    function toPart(int256[19] memory tally) internal pure returns (IReputationRegistry.SummaryPart memory result) {
        for (uint256 decimals = 0; decimals <= DECIMALS_MAX; ++decimals) {
            int256 word = tally[decimals];
            if (word == 0) continue; // without feedback
            // The lower 64 bits.
            // forge-lint: disable-next-line(unsafe-typecast)
            uint64 count = uint64(uint256(word));
            result.sum += (word >> COUNT_BITS) * _wadFactor(decimals);
            result.count += count;
            result.histogram[decimals] = count;
        }
    }

    /// @notice Takes in what another part took in.
    /// @dev Once the counts fit together, the entries of the histogram do: none is above its count.
    function merge(IReputationRegistry.SummaryPart memory part, IReputationRegistry.SummaryPart calldata other)
        internal
        pure
    {
        if (other.count > type(uint64).max - part.count) revert IBoundRegistry.CounterExhausted(); // R8
        part.sum += other.sum;
        part.count += other.count;
        for (uint256 decimals = 0; decimals <= DECIMALS_MAX; ++decimals) {
            part.histogram[decimals] += other.histogram[decimals];
        }
    }

    /// @notice Whether feedback can make the part (R16): the histogram adds up to `count`, |sum| is at most what so many
    /// values of 1e38 make at their decimals, and is a multiple of the smallest unit among them.
    function isPossible(IReputationRegistry.SummaryPart calldata part) internal pure returns (bool) {
        uint256 total = 0;
        int256 bound = 0; // at most 19 * 2^64 * 1e56 < 2^255
        int256 unit = 0;
        for (uint256 decimals = 0; decimals <= DECIMALS_MAX; ++decimals) {
            uint64 count = part.histogram[decimals];
            if (count == 0) continue;
            unit = _wadFactor(decimals);
            total += count;
            bound += int256(uint256(count)) * VALUE_MAX * unit;
        }
        if (total != part.count || part.sum < -bound || part.sum > bound) return false;
        return total == 0 || part.sum % unit == 0;
    }

    /// @notice The summary of everything taken in.
    function finish(IReputationRegistry.SummaryPart memory part)
        internal
        pure
        returns (uint64 count, int128 value, uint8 decimals)
    {
        count = part.count;
        if (count == 0) return (0, 0, 0);
        int256 average = part.sum / int256(uint256(count));
        decimals = _mode(part.histogram);
        int256 scaled = average / _wadFactor(decimals);
        // R16: never wraps. At 0 decimals the average is a value's whole part and fits, so this ends.
        // This cast is the question whether it fits.
        // forge-lint: disable-next-line(unsafe-typecast)
        while (scaled != int128(scaled)) {
            decimals -= 1;
            scaled = average / _wadFactor(decimals);
        }
        // The loop above has seen that it fits.
        // forge-lint: disable-next-line(unsafe-typecast)
        value = int128(scaled);
    }

    /// @dev R16: the most frequent number of decimals; in a tie, the fewest.
    function _mode(uint64[19] memory histogram) private pure returns (uint8 mode) {
        uint64 most = 0;
        for (uint256 decimals = 0; decimals <= DECIMALS_MAX; ++decimals) {
            uint64 frequency = histogram[decimals];
            // At most 18.
            // forge-lint: disable-next-line(unsafe-typecast)
            if (frequency > most) (mode, most) = (uint8(decimals), frequency);
        }
    }

    /// @dev What scales a value to 18 decimals.
    function _wadFactor(uint256 decimals) private pure returns (int256) {
        // At most 1e18.
        // forge-lint: disable-next-line(unsafe-typecast)
        return int256(10 ** (DECIMALS_MAX - decimals));
    }
}
