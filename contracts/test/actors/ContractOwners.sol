// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

/// @dev An ERC-1271 owner that approved one digest with one signature of any length.
contract ApprovingOwner {
    bytes32 private immutable APPROVAL;

    constructor(bytes32 digest, bytes memory signature) {
        APPROVAL = keccak256(abi.encode(digest, signature));
    }

    function isValidSignature(bytes32 digest, bytes calldata signature) external view returns (bytes4) {
        return keccak256(abi.encode(digest, signature)) == APPROVAL ? bytes4(0x1626ba7e) : bytes4(0xffffffff);
    }
}

/// @dev An owner that answers every call with the same bytes.
contract AnsweringOwner {
    bytes private answer;

    constructor(bytes memory answer_) {
        answer = answer_;
    }

    fallback(bytes calldata) external returns (bytes memory) {
        return answer;
    }
}

/// @dev An owner that answers the magic value, followed by `length - 32` bytes of zeros.
contract FloodingOwner {
    uint256 private immutable LENGTH;

    constructor(uint256 length) {
        LENGTH = length;
    }

    fallback() external {
        uint256 length = LENGTH;
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            return(0, length)
        }
    }
}

/// @dev An owner that reverts, with the magic value as its reason.
contract RevertingOwner {
    fallback() external {
        assembly {
            mstore(0, 0x1626ba7e00000000000000000000000000000000000000000000000000000000)
            revert(0, 32)
        }
    }
}

/// @dev An owner that uses up the gas that it is given.
contract BurningOwner {
    fallback() external {
        assembly {
            invalid()
        }
    }
}

/// @dev An owner that counts the questions: what a view-only call does not let it do.
contract WritingOwner {
    uint256 public questions;

    function isValidSignature(bytes32, bytes calldata) external returns (bytes4) {
        ++questions;
        return 0x1626ba7e;
    }
}

/// @dev Code that a delegated EOA (EIP-7702) points to; it refuses whatever it is asked.
contract RefusingDelegate {
    function isValidSignature(bytes32, bytes calldata) external pure returns (bytes4) {
        return 0xffffffff;
    }
}
