// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {FeedbackAuth, FeedbackAuths} from "../../src/libraries/FeedbackAuths.sol";

/// @dev Proven by halmos for all arguments (scripts/deep), not run by forge: forge runs what begins with test.
contract FeedbackAuthsSymbolic is Test {
    uint256[4] private NARROW = [1, 2, 5, 6];
    uint256[4] private BITS = [160, 64, 160, 160];

    /// @dev For any seven words and any 65 bytes after them.
    function check_DecodesExactlyCleanWords_R6(bytes32[7] memory words, bytes32 r, bytes32 s, uint8 v) external view {
        bytes memory signature = abi.encodePacked(r, s, v);
        bytes memory blob = bytes.concat(abi.encode(words), signature);
        try this.decode(blob) returns (FeedbackAuth memory auth, bytes memory rest) {
            assertEq(_firstDirty(words), 7);
            assertEq(bytes32(auth.agentId), words[0]);
            assertEq(bytes32(uint256(uint160(auth.clientAddress))), words[1]);
            assertEq(bytes32(uint256(auth.indexLimit)), words[2]);
            assertEq(bytes32(auth.expiry), words[3]);
            assertEq(bytes32(auth.chainId), words[4]);
            assertEq(bytes32(uint256(uint160(auth.identityRegistry))), words[5]);
            assertEq(bytes32(uint256(uint160(auth.signerAddress))), words[6]);
            assertEq(keccak256(rest), keccak256(signature));
        } catch (bytes memory reason) {
            uint256 dirty = _firstDirty(words);
            assertLt(dirty, 7);
            assertEq(keccak256(reason), keccak256(abi.encodeWithSelector(IReputation.AuthDirtyWord.selector, dirty)));
        }
    }

    /// @dev For any words that are clean, with a signer that has no code: one byte too few or too many is refused.
    function check_RefusesOtherLengthsWithoutCode_R6(
        uint256 agentId,
        address client,
        uint64 limit,
        uint256 expiry,
        bytes32 r,
        bytes32 s
    ) external view {
        address signer = address(0x51);
        bytes memory words = abi.encode(agentId, client, limit, expiry, uint256(1), address(2), signer);
        _assertLengthRefused(words);
        _assertLengthRefused(bytes.concat(words, r, s));
        _assertLengthRefused(bytes.concat(words, r, s, hex"1b00"));
    }

    function decode(bytes calldata blob) external view returns (FeedbackAuth memory auth, bytes memory signature) {
        return FeedbackAuths.decode(blob);
    }

    function _assertLengthRefused(bytes memory blob) private view {
        try this.decode(blob) {
            assertTrue(false);
        } catch (bytes memory reason) {
            assertEq(keccak256(reason), keccak256(abi.encodeWithSelector(IReputation.AuthLength.selector, blob.length)));
        }
    }

    /// @dev 7 if none is.
    function _firstDirty(bytes32[7] memory words) private view returns (uint256) {
        for (uint256 i = 0; i < NARROW.length; ++i) {
            if (uint256(words[NARROW[i]]) >= 2 ** BITS[i]) return NARROW[i];
        }
        return 7;
    }
}
