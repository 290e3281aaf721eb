// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {TagFilters} from "../../src/libraries/TagFilters.sol";
import {TagPair, TagPairs, TagShape} from "../../src/libraries/TagPairs.sol";

/// @dev The library behind calls, as it takes tags from calldata. Every pair is written once.
contract TagPairsTest is Test {
    using TagPairs for TagPair;

    TagPair[] private pairs;
    TagShape private shape;

    function write(string calldata tag1, string calldata tag2) external {
        shape = pairs.push().write(tag1, tag2);
    }

    function matches(string calldata tag1, string calldata tag2) external view returns (bool) {
        return pairs[pairs.length - 1].matches(shape, TagFilters.ofTexts(tag1, tag2));
    }

    function test_WhenBothFit_WritesOneSlot() external {
        _assertSlots(_tag(16), _tag(16), 1);
        _assertSlots(_tag(32), "", 1);
        _assertSlots("", _tag(32), 1);
        _assertSlots("", _tag(1), 1);
        _assertSlots("", "", 0);
    }

    function test_WhenOneByteIsTooMany_WritesStrings() external {
        _assertSlots(_tag(16), _tag(17), 2);
        _assertSlots(_tag(32), _tag(1), 3);
        _assertSlots("", _tag(33), 3);
        _assertSlots(_tag(33), "", 3);
    }

    /// @dev Every pair of lengths around the bounds, for writing, reading and matching.
    function test_WhenLengthsAreAtBounds_ReadsBack() external {
        for (uint256 length1 = 0; length1 < 36; ++length1) {
            for (uint256 length2 = 0; length2 < 36; ++length2) {
                _assertRoundTrip(_tag(length1), _tag(length2));
            }
        }
        _assertRoundTrip(_tag(255), _tag(256));
    }

    function test_WhenTagsRunTogether_TellsThemApart() external {
        this.write("ab", "c");
        assertTrue(this.matches("ab", "c"));
        assertFalse(this.matches("a", "bc"));
        assertFalse(this.matches("abc", ""));
        assertFalse(this.matches("", "bc"));
        assertFalse(this.matches("ab\x00", ""));
        assertFalse(this.matches("", "c\x00"));
        assertFalse(this.matches("a", ""));
        this.write("ab\x00", "");
        assertFalse(this.matches("ab", ""));
        assertTrue(this.matches("ab\x00", ""));
    }

    function test_WhenTagIsLong_MatchesByAllItsBytes() external {
        this.write(string.concat(_tag(40), "x"), "b");
        assertTrue(this.matches(string.concat(_tag(40), "x"), ""));
        assertTrue(this.matches(string.concat(_tag(40), "x"), "b"));
        assertTrue(this.matches("", "b"));
        assertFalse(this.matches(string.concat(_tag(40), "y"), ""));
        assertFalse(this.matches(string.concat(_tag(40), "x"), "c"));
        assertFalse(this.matches("", string.concat(_tag(40), "x")));
        this.write(_tag(32), "");
        assertFalse(this.matches(string.concat(_tag(32), "x"), ""));
    }

    /// @dev `matches` above reads two slots of this contract, and none of the pair.
    function test_WhenNothingIsSought_ReadsNoTag() external {
        string[3] memory tags = ["", _tag(16), _tag(40)];
        for (uint256 i = 0; i < tags.length; ++i) {
            this.write(tags[i], "b");
            vm.record();
            assertTrue(this.matches("", ""));
            (bytes32[] memory reads,) = vm.accesses(address(this));
            assertGt(reads.length, 0);
            for (uint256 j = 0; j < reads.length; ++j) {
                assertTrue(reads[j] == _lengthSlot() || reads[j] == _shapeSlot(), "reads a tag");
            }
        }
    }

    /// @dev The attack: long tags made every filter load them whole.
    function test_WhenLongTagDiffersInLength_ReadsItsLengthAlone() external {
        this.write(_tag(20_000), "t");
        assertEq(_pairSlotsReadFor("", "t", true), 1);
        assertEq(_pairSlotsReadFor("", "u", false), 1);
        assertEq(_pairSlotsReadFor("a", "", false), 1);
        assertEq(_pairSlotsReadFor(_tag(19_999), "", false), 1);
        assertEq(_pairSlotsReadFor(_tag(20_001), "t", false), 1);
        // The length, and 625 words.
        assertEq(_pairSlotsReadFor(_tag(20_000), "", true), 626);
        this.write("t", _tag(20_000));
        assertEq(_pairSlotsReadFor("t", "", true), 1);
        assertEq(_pairSlotsReadFor("u", _tag(20_000), false), 1);
        assertEq(_pairSlotsReadFor("t", "u", false), 2);
    }

    function testFuzz_ReadsBackWhatWasWritten(bytes calldata tag1, bytes calldata tag2, uint8 cut1, uint8 cut2)
        external
    {
        // Whole or cut to something that may fit.
        bytes calldata a = cut1 < tag1.length ? tag1[:cut1 % 40 < tag1.length ? cut1 % 40 : 0] : tag1;
        bytes calldata b = cut2 < tag2.length ? tag2[:cut2 % 40 < tag2.length ? cut2 % 40 : 0] : tag2;
        _assertRoundTrip(string(a), string(b));
    }

    function testFuzz_MatchesEqualTagsOnly(bytes calldata tag1, bytes calldata tag2, string calldata sought) external {
        string memory a = string(tag1.length > 20 ? tag1[:20] : tag1);
        string memory b = string(tag2.length > 20 ? tag2[:20] : tag2);
        this.write(a, b);
        bool isAny = bytes(sought).length == 0;
        assertEq(this.matches(sought, ""), isAny || keccak256(bytes(sought)) == keccak256(bytes(a)));
        assertEq(this.matches("", sought), isAny || keccak256(bytes(sought)) == keccak256(bytes(b)));
    }

    function _assertRoundTrip(string memory tag1, string memory tag2) private {
        this.write(tag1, tag2);
        (string memory read1, string memory read2) = pairs[pairs.length - 1].read(shape);
        assertEq(read1, tag1);
        assertEq(read2, tag2);
        // The memory after a string is free for the next one, and clean up to the word's end.
        assertEq(keccak256(abi.encode(read1, read2)), keccak256(abi.encode(tag1, tag2)));
        assertEq(_wordRest(read1), 0);
        assertEq(_wordRest(read2), 0);
        assertTrue(this.matches(tag1, tag2));
        assertFalse(this.matches(string.concat(tag1, "\x00"), tag2));
        assertFalse(this.matches(tag1, string.concat(tag2, "\x00")));
    }

    /// @dev How many of the pair's own slots a filter reads, each counted once.
    function _pairSlotsReadFor(string memory tag1, string memory tag2, bool expected) private returns (uint256 count) {
        vm.record();
        assertEq(this.matches(tag1, tag2), expected);
        (bytes32[] memory reads,) = vm.accesses(address(this));
        for (uint256 i = 0; i < reads.length; ++i) {
            bool isNew = reads[i] != _lengthSlot() && reads[i] != _shapeSlot();
            for (uint256 j = 0; isNew && j < i; ++j) {
                isNew = reads[j] != reads[i];
            }
            if (isNew) ++count;
        }
    }

    /// @dev How many slots of the pair's own are not zero: a string of 32 bytes or more has two.
    function _assertSlots(string memory tag1, string memory tag2, uint256 expected) private {
        vm.record();
        this.write(tag1, tag2);
        (, bytes32[] memory writes) = vm.accesses(address(this));
        uint256 written = 0;
        for (uint256 i = 0; i < writes.length; ++i) {
            bool isOfPair = writes[i] != _lengthSlot() && writes[i] != _shapeSlot();
            if (isOfPair && vm.load(address(this), writes[i]) != 0) ++written;
        }
        assertEq(written, expected);
    }

    /// @dev What memory has after the text, in the last word that the text begins; `abi.encode` would not show it.
    function _wordRest(string memory text) private pure returns (uint256 rest) {
        uint256 used = bytes(text).length % 32;
        if (used == 0) return 0;
        assembly ("memory-safe") {
            rest := shl(mul(8, used), mload(add(add(text, 32), sub(mload(text), used))))
        }
    }

    function _lengthSlot() private pure returns (bytes32 slot) {
        assembly {
            slot := pairs.slot
        }
    }

    function _shapeSlot() private pure returns (bytes32 slot) {
        assembly {
            slot := shape.slot
        }
    }

    function _tag(uint256 length) private pure returns (string memory) {
        bytes memory text = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            // A lower-case letter.
            // forge-lint: disable-next-line(unsafe-typecast)
            text[i] = bytes1(uint8(97 + i % 26));
        }
        return string(text);
    }
}
