// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IFeedback} from "../interfaces/IFeedback.sol";
import {IReputationRegistry} from "../interfaces/IReputationRegistry.sol";

/// @title SummaryParts
/// @notice The arithmetic of the open summary (R16).
/// @dev |sum| <= count * 1e56 < 2^64 * 2^187, so no sum of true parts passes 256 bits.
library SummaryParts {
    uint8 internal constant DECIMALS_MAX = 18;
    int128 internal constant VALUE_MAX = 1e38;
    /// @dev The largest value at 18 decimals.
    uint256 private constant WAD_VALUE_MAX = 1e56;

    /// @notice Takes in one feedback.
    function add(IReputationRegistry.SummaryPart memory part, int128 value, uint8 decimals) internal pure {
        part.sum += int256(value) * _wadFactor(decimals);
        part.count += 1;
        part.histogram[decimals] += 1;
    }

    /// @notice Takes in what another part took in.
    /// @dev Once the counts fit together, the entries of the histogram do: none is above its count.
    function merge(IReputationRegistry.SummaryPart memory part, IReputationRegistry.SummaryPart calldata other)
        internal
        pure
    {
        if (other.count > type(uint64).max - part.count) revert IFeedback.CounterExhausted(); // R8
        part.sum += other.sum;
        part.count += other.count;
        for (uint256 decimals = 0; decimals <= DECIMALS_MAX; ++decimals) {
            part.histogram[decimals] += other.histogram[decimals];
        }
    }

    /// @notice Whether the histogram adds up to `count` and |sum| is at most `count` * 1e56.
    function isPossible(IReputationRegistry.SummaryPart calldata part) internal pure returns (bool) {
        uint256 total = 0;
        for (uint256 decimals = 0; decimals <= DECIMALS_MAX; ++decimals) {
            total += part.histogram[decimals];
        }
        // At most 2^64 times 1e56, far below 2^255.
        // forge-lint: disable-next-line(unsafe-typecast)
        int256 bound = int256(uint256(part.count) * WAD_VALUE_MAX);
        return total == part.count && -bound <= part.sum && part.sum <= bound;
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
        for (uint8 decimals = 1; decimals <= DECIMALS_MAX; ++decimals) {
            if (histogram[decimals] > histogram[mode]) mode = decimals;
        }
    }

    /// @dev What scales a value to 18 decimals.
    function _wadFactor(uint8 decimals) private pure returns (int256) {
        return int256(10 ** uint256(DECIMALS_MAX - decimals));
    }
}
