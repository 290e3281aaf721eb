// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @dev R16 once more, by other means: magnitudes and signs apart, the scales by repeated multiplication, the mode from
/// the top down, the fit by comparison. Nothing here comes from contracts/src.
library SummaryReference {
    struct Value {
        int128 value;
        uint8 decimals;
    }

    function summarize(Value[] memory values) internal pure returns (uint64 count, int128 value, uint8 decimals) {
        count = uint64(values.length);
        if (count == 0) return (0, 0, 0);
        (uint256 magnitude, bool isNegative) = average(values);
        decimals = mode(values);
        // The magnitude of the smallest int128 is one more than the largest's.
        uint256 largest = isNegative ? 2 ** 127 : 2 ** 127 - 1;
        while (magnitude / scale(18 - decimals) > largest) --decimals;
        uint256 scaled = magnitude / scale(18 - decimals);
        // The loop above has seen that it fits.
        // forge-lint: disable-next-line(unsafe-typecast)
        value = isNegative ? int128(-int256(scaled)) : int128(int256(scaled));
    }

    /// @dev In 18 decimals.
    function average(Value[] memory values) internal pure returns (uint256 magnitude, bool isNegative) {
        uint256 above = 0;
        uint256 below = 0;
        for (uint256 i = 0; i < values.length; ++i) {
            int256 v = values[i].value;
            // Magnitudes of int128 values.
            // forge-lint: disable-next-line(unsafe-typecast)
            if (v < 0) below += uint256(-v) * scale(18 - values[i].decimals);
            // forge-lint: disable-next-line(unsafe-typecast)
            else above += uint256(v) * scale(18 - values[i].decimals);
        }
        isNegative = below > above;
        magnitude = (isNegative ? below - above : above - below) / values.length;
    }

    function mode(Value[] memory values) internal pure returns (uint8 best) {
        uint256[19] memory frequencies;
        for (uint256 i = 0; i < values.length; ++i) {
            ++frequencies[values[i].decimals];
        }
        best = 18;
        for (uint256 step = 1; step <= 18; ++step) {
            // At most 18.
            // forge-lint: disable-next-line(unsafe-typecast)
            if (frequencies[18 - step] >= frequencies[best]) best = uint8(18 - step);
        }
    }

    function scale(uint256 zeros) internal pure returns (uint256 factor) {
        factor = 1;
        for (uint256 i = 0; i < zeros; ++i) {
            factor *= 10;
        }
    }
}
