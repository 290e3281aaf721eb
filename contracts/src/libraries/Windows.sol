// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

/// @title Windows
/// @notice The part of a sequence that a caller asks for, by its start and the most it wants.
library Windows {
    /// @notice Where a window over the positions 0 to `length - 1` begins and, exclusively, ends.
    function bounds(uint256 start, uint256 limit, uint256 length) internal pure returns (uint256 from, uint256 to) {
        from = start < length ? start : length;
        to = limit < length - from ? from + limit : length;
    }

    /// @notice The elements of a window over a list; none beyond its end.
    function slice(bytes32[] storage list, uint256 start, uint256 limit) internal view returns (bytes32[] memory part) {
        (uint256 from, uint256 to) = bounds(start, limit, list.length);
        part = new bytes32[](to - from);
        for (uint256 i = 0; i < part.length; ++i) {
            part[i] = list[from + i];
        }
    }

    /// @notice The same over addresses, each of which is a word too, in storage and in memory.
    function slice(address[] storage list, uint256 start, uint256 limit) internal view returns (address[] memory part) {
        bytes32[] storage words;
        assembly ("memory-safe") {
            words.slot := list.slot
        }
        bytes32[] memory found = slice(words, start, limit);
        assembly ("memory-safe") {
            part := found
        }
    }

    /// @notice Where a window over the indices 1 to `last` begins and, exclusively, ends. No entry has index 0.
    function indices(uint64 start, uint64 limit, uint64 last) internal pure returns (uint256 from, uint256 to) {
        (from, to) = bounds(start, limit, uint256(last) + 1);
        if (from == 0 && to != 0) from = 1;
    }
}
