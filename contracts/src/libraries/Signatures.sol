// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

/// @title Signatures
/// @notice Whether an account, key or contract, signed a digest (R3, R7).
library Signatures {
    /// @param signer Not the zero address, which is what a failed recovery yields.
    /// @dev ECDSA comes first, because a delegated EOA (EIP-7702) has code and still signs with its key. The ERC-1271
    /// check compares the first word of the answer and copies no more of it; an address without code answers with none.
    /// R25: what a contract reverts with is not passed on, as it would have no class.
    function isSigned(address signer, bytes32 digest, bytes calldata signature) internal view returns (bool) {
        (address recovered,,) = ECDSA.tryRecoverCalldata(digest, signature);
        if (recovered == signer) return true;
        return SignatureChecker.isValidERC1271SignatureNowCalldata(signer, digest, signature);
    }
}
