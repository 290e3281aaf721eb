// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {LibBytes} from "solady/utils/LibBytes.sol";
import {SSTORE2} from "solady/utils/SSTORE2.sol";

/// @notice A URI of any bytes and any length, in the cheaper of two forms.
struct AgentUri {
    LibBytes.BytesStorage head;
}

/// @title AgentUris
/// @notice Short URIs take slots, as LibBytes packs them: their length shares a slot with the first 31 bytes. Longer ones
/// become the code of a contract of their own (SSTORE2), and the slot holds its address.
/// @dev LibBytes writes a length below 255 into the lowest byte of the slot. For a longer one it writes 0xff there and
/// the length above, which leaves the upper 20 bytes zero. 0xff below an address is neither, and is ours.
library AgentUris {
    using LibBytes for LibBytes.BytesStorage;

    /// @dev Up to 159 bytes take at most five slots. From 160 on, code is cheaper than slots even if the URI is replaced
    /// once by one as long: 200 gas a byte, twice, and twice 32,000, against 22,100 and then 5,000 a slot.
    uint256 internal constant SLOTS_LENGTH_MAX = 159;
    /// @dev EIP-170 allows 24,576 bytes of code; the first one stops whoever calls it.
    uint256 internal constant CODE_LENGTH_MAX = 24_575;

    /// @dev The lowest byte of a slot that does not hold its text itself.
    uint256 private constant LONG_MARK = 0xff;
    uint256 private constant ADDRESS_SHIFT = 96;

    /// @dev What is replaced is left where it is: code cannot be taken away, and slots beyond the length are not read.
    function write(AgentUri storage uri, string memory text) internal {
        uint256 length = bytes(text).length;
        if (length <= SLOTS_LENGTH_MAX || length > CODE_LENGTH_MAX) {
            uri.head.set(bytes(text));
        } else {
            uint256 pointer = uint160(SSTORE2.write(bytes(text)));
            uri.head._spacer = bytes32((pointer << ADDRESS_SHIFT) | LONG_MARK);
        }
    }

    /// @dev One slot says which form the URI has, so that neither form costs the other a read.
    function read(AgentUri storage uri) internal view returns (string memory) {
        uint256 word = uint256(uri.head._spacer);
        // casting to 'uint160' is safe because 160 bits are left of a word that was shifted right by 96
        // forge-lint: disable-next-line(unsafe-typecast)
        address pointer = address(uint160(word >> ADDRESS_SHIFT));
        if ((word & LONG_MARK) != LONG_MARK || pointer == address(0)) return string(uri.head.get());
        return string(SSTORE2.read(pointer));
    }
}
