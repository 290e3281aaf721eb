// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

/// @notice A tag to look for: a text, of which length 0 means any; or a word of 32 bytes alone, of which 0 does.
struct TagPattern {
    uint256 length;
    bytes32 word;
    bytes32 hash;
}

/// @notice The tags to look for; `isAny` where both are any.
struct TagFilter {
    bool isAny;
    TagPattern tag1;
    TagPattern tag2;
}

/// @title TagFilters
/// @notice What a reader looks for among tags: texts, or words of 32 bytes. Word and hash are computed once for all tags
/// that are compared.
library TagFilters {
    /// @notice Looks for two texts; the empty one is any tag (R16).
    function ofTexts(string calldata tag1, string calldata tag2) internal pure returns (TagFilter memory result) {
        result.isAny = bytes(tag1).length == 0 && bytes(tag2).length == 0;
        if (result.isAny) return result;
        result.tag1 = ofText(tag1);
        result.tag2 = ofText(tag2);
    }

    /// @notice Looks for two words; the zero word is any tag (R15).
    function ofWords(bytes32 tag1, bytes32 tag2) internal pure returns (TagFilter memory result) {
        result.tag1.word = tag1;
        result.tag2.word = tag2;
    }

    /// @notice Looks for a text; the empty one is any tag.
    function ofText(string calldata tag) internal pure returns (TagPattern memory) {
        // Of a longer tag the word is never compared: the length differs from any packed tag's.
        // forge-lint: disable-next-line(unsafe-typecast)
        return TagPattern({length: bytes(tag).length, word: bytes32(bytes(tag)), hash: keccak256(bytes(tag))});
    }

    /// @notice Whether a stored text is what is looked for.
    /// @dev Loads a tag only if its length is the sought one: what a reviewer stored must not cost a reader more than
    /// what the reader asks for.
    function matchesText(TagPattern memory sought, string storage tag) internal view returns (bool) {
        if (sought.length == 0) return true;
        return bytes(tag).length == sought.length && keccak256(bytes(tag)) == sought.hash;
    }

    /// @notice Whether a text of at most 32 bytes is what is looked for.
    /// @dev The length distinguishes "a" from "a" with a NUL byte after it.
    function matchesWord(TagPattern memory sought, bytes32 word, uint256 length) internal pure returns (bool) {
        return sought.length == 0 || (sought.length == length && sought.word == word);
    }
}
