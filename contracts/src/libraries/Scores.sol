// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

/// @title Scores
/// @notice Scores of authorized feedback and of validations, and their mean.
library Scores {
    /// @dev R20: scores are 0 to 100.
    uint8 internal constant MAX = 100;

    /// @notice The average of `count` scores that sum up to `sum`, rounded down; 0 for none (R15, R20).
    function average(uint64 count, uint256 sum) internal pure returns (uint8) {
        // The average of scores is a score and fits.
        // forge-lint: disable-next-line(unsafe-typecast)
        return count == 0 ? 0 : uint8(sum / count);
    }
}
