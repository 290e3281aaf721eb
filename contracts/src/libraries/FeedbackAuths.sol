// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {MessageHashUtils} from "@openzeppelin/contracts/utils/cryptography/MessageHashUtils.sol";

import {IAuthorizedReputationRegistry} from "../interfaces/IAuthorizedReputationRegistry.sol";

/// @notice R5: the signer allows `clientAddress` to give feedback on `agentId` of `identityRegistry` on chain
/// `chainId`, while its last index is below `indexLimit` and the time (in seconds) below `expiry`.
struct FeedbackAuth {
    uint256 agentId;
    address clientAddress;
    uint64 indexLimit;
    uint256 expiry;
    uint256 chainId;
    address identityRegistry;
    address signerAddress;
}

/// @title FeedbackAuths
/// @notice Decodes the blob `abi.encode(FeedbackAuth) ‖ signature` (R6) and hashes what is signed.
library FeedbackAuths {
    /// @dev R5: the seven fields in the order of the blob.
    bytes32 internal constant TYPEHASH = keccak256(
        "FeedbackAuth(uint256 agentId,address clientAddress,uint64 indexLimit,uint256 expiry,uint256 chainId,address identityRegistry,address signerAddress)"
    );

    /// @dev Bytes before the signature, and of a whole blob with an ECDSA signature (R6).
    uint256 internal constant FIELDS_LENGTH = 7 * 32;
    uint256 internal constant ECDSA_BLOB_LENGTH = FIELDS_LENGTH + 65;

    /// @dev R25: not `abi.decode`, whose answer to a dirty word is an empty revert, which has no class.
    function decode(bytes calldata blob) internal view returns (FeedbackAuth memory auth, bytes calldata signature) {
        if (blob.length == 0) revert IAuthorizedReputationRegistry.AuthMissing();
        if (blob.length < FIELDS_LENGTH) revert IAuthorizedReputationRegistry.AuthLength(blob.length); // R6
        auth.agentId = _word(blob, 0);
        auth.clientAddress = _address(blob, 1);
        auth.indexLimit = uint64(_narrow(blob, 2, 64));
        auth.expiry = _word(blob, 3);
        auth.chainId = _word(blob, 4);
        auth.identityRegistry = _address(blob, 5);
        auth.signerAddress = _address(blob, 6);
        // R6: without code only ECDSA remains, and a byte after its signature would make a second blob of one grant.
        if (blob.length != ECDSA_BLOB_LENGTH && auth.signerAddress.code.length == 0) {
            revert IAuthorizedReputationRegistry.AuthLength(blob.length);
        }
        signature = blob[FIELDS_LENGTH:];
    }

    /// @notice EIP-712 `hashStruct`.
    function structHash(FeedbackAuth memory auth) internal pure returns (bytes32) {
        return keccak256(abi.encode(TYPEHASH, auth));
    }

    /// @notice The EIP-191 digest of the first ERC-8004 draft. It binds no reputation registry.
    function draftV1Digest(FeedbackAuth memory auth) internal pure returns (bytes32) {
        return MessageHashUtils.toEthSignedMessageHash(keccak256(abi.encode(auth)));
    }

    /// @dev R6: an address in a word whose upper 12 bytes are zero.
    function _address(bytes calldata blob, uint256 position) private pure returns (address) {
        return address(uint160(_narrow(blob, position, 160)));
    }

    /// @dev R6: a word whose bits above `bits` are zero.
    function _narrow(bytes calldata blob, uint256 position, uint256 bits) private pure returns (uint256 word) {
        word = _word(blob, position);
        if (word >> bits != 0) revert IAuthorizedReputationRegistry.AuthDirtyWord(position); // R6
    }

    /// @dev The word at `position`, counted in words from 0.
    function _word(bytes calldata blob, uint256 position) private pure returns (uint256) {
        return uint256(bytes32(blob[32 * position:]));
    }
}
