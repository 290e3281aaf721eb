// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {TagFilter, TagFilters, TagPattern} from "./TagFilters.sol";

/// @notice How a pair of tags is stored: the length of each in bytes, tag1's in the high byte; or `LONG`. It is kept by
/// whoever keeps the pair, in a slot that has room.
type TagShape is uint16;

/// @notice The two tags of one feedback: side by side in `packed` where both fit there, else in the strings.
struct TagPair {
    bytes32 packed;
    string tag1;
    string tag2;
}

/// @title TagPairs
/// @notice Two tags of together at most 32 bytes cost one slot instead of two, and two empty ones none.
library TagPairs {
    using TagFilters for TagPattern;

    /// @dev Bytes of both tags together that fit one slot.
    uint256 private constant PACKED_MAX = 32;
    TagShape private constant LONG = TagShape.wrap(0xffff);

    /// @dev For a pair that was never written: nothing is cleared.
    function write(TagPair storage pair, string calldata tag1, string calldata tag2) internal returns (TagShape) {
        uint256 length1 = bytes(tag1).length;
        uint256 length2 = bytes(tag2).length;
        if (length1 + length2 > PACKED_MAX) {
            pair.tag1 = tag1;
            pair.tag2 = tag2;
            return LONG;
        }
        if (length1 + length2 != 0) {
            // Neither tag is longer than a word here.
            // forge-lint: disable-next-line(unsafe-typecast)
            pair.packed = bytes32(bytes(tag1)) | (bytes32(bytes(tag2)) >> (8 * length1));
        }
        // Both lengths are at most 32.
        // forge-lint: disable-next-line(unsafe-typecast)
        return TagShape.wrap(uint16((length1 << 8) | length2));
    }

    /// @notice The two tags as they were given.
    function read(TagPair storage pair, TagShape shape) internal view returns (string memory, string memory) {
        if (_isLong(shape)) return (pair.tag1, pair.tag2);
        (uint256 length1, uint256 length2) = _lengths(shape);
        if (length1 + length2 == 0) return ("", "");
        bytes32 packed = pair.packed;
        return (_text(packed, length1), _text(packed << (8 * length1), length2));
    }

    /// @dev Reads storage only where there is something to look for.
    function matches(TagPair storage pair, TagShape shape, TagFilter memory sought) internal view returns (bool) {
        if (sought.isAny) return true;
        if (_isLong(shape)) return sought.tag1.matchesText(pair.tag1) && sought.tag2.matchesText(pair.tag2);
        (uint256 length1, uint256 length2) = _lengths(shape);
        bytes32 packed = pair.packed;
        bytes32 word1 = packed & bytes32(~(type(uint256).max >> (8 * length1)));
        return sought.tag1.matchesWord(word1, length1) && sought.tag2.matchesWord(packed << (8 * length1), length2);
    }

    /// @dev Whether the tags are in the strings.
    function _isLong(TagShape shape) private pure returns (bool) {
        return TagShape.unwrap(shape) == TagShape.unwrap(LONG);
    }

    /// @dev The lengths of a pair that shares a slot.
    function _lengths(TagShape shape) private pure returns (uint256 length1, uint256 length2) {
        length1 = TagShape.unwrap(shape) >> 8;
        length2 = TagShape.unwrap(shape) & 0xff;
    }

    /// @dev The first `length` bytes of `word`, at most 32.
    function _text(bytes32 word, uint256 length) private pure returns (string memory) {
        bytes memory text = abi.encodePacked(word);
        assembly ("memory-safe") {
            mstore(text, length)
            // What follows the text in its last word is zero, as it is in any other string.
            mstore(add(text, 32), and(word, not(shr(shl(3, length), not(0)))))
        }
        return string(text);
    }
}
