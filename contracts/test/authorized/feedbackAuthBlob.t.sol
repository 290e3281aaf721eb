// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";

contract FeedbackAuthBlobTest is RegistryTest {
    function test_RevertWhen_BlobIsEmpty_R6() external {
        _expect(abi.encodeWithSelector(IReputation.AuthMissing.selector));
        _give("");
    }

    function testFuzz_RevertWhen_BlobIsShorterThanFields_R6(uint256 length) external {
        length = bound(length, 1, 223);
        bytes memory blob = _cut(_granted(agentId, client), length);
        _expect(abi.encodeWithSelector(IReputation.AuthLength.selector, length));
        _give(blob);
    }

    function testFuzz_RevertWhen_BlobIsNot289BytesWithoutCode_R6(uint256 length) external {
        length = bound(length, 224, 600);
        vm.assume(length != 289);
        bytes memory blob = _cut(bytes.concat(_granted(agentId, client), new bytes(311)), length);
        _expect(abi.encodeWithSelector(IReputation.AuthLength.selector, length));
        _give(blob);
    }

    function test_RevertWhen_ByteFollowsSignature_R6() external {
        bytes memory blob = bytes.concat(_granted(agentId, client), hex"00");
        assertEq(blob.length, 290);
        _expect(abi.encodeWithSelector(IReputation.AuthLength.selector, 290));
        _give(blob);
    }

    function test_RevertWhen_AnyHighBitIsSet_R6() external {
        bytes memory clean = _granted(agentId, client);
        _assertHighBitsAreRefused(clean, 1, 160);
        _assertHighBitsAreRefused(clean, 2, 64);
        _assertHighBitsAreRefused(clean, 5, 160);
        _assertHighBitsAreRefused(clean, 6, 160);
        _give(clean);
    }

    function test_RevertWhen_DirtyWordsAreSigned_R6() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.indexLimit |= 1 << 64;
        bytes memory blob = _blob(auth, owner);
        _expect(abi.encodeWithSelector(IReputation.AuthDirtyWord.selector, 2));
        _give(blob);
    }

    function test_RevertWhen_FullWidthFieldHasHighBit_IsNotDirty_R6() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        auth.agentId |= 1 << 255;
        bytes memory blob = _blob(auth, owner);
        _expect(abi.encodeWithSelector(IReputation.AuthWrongAgent.selector, auth.agentId));
        _give(blob);

        auth = _auth(agentId, client);
        auth.chainId |= 1 << 255;
        blob = _blob(auth, owner);
        _expect(abi.encodeWithSelector(IReputation.AuthWrongChain.selector, auth.chainId));
        _give(blob);
    }

    function testFuzz_RevertWhen_BlobIsGarbage_R6(bytes memory blob, bool hasRightLength) external {
        if (hasRightLength) blob = _cut(bytes.concat(blob, new bytes(289)), 289);
        vm.prank(client);
        (bool success, bytes memory answer) = address(reputation)
            .call(abi.encodeCall(IReputation.giveFeedback, (agentId, SCORE, TAG1, TAG2, FILE_URI, FILE_HASH, blob)));
        assertFalse(success);
        // forge-lint: disable-next-line(unsafe-typecast)
        bytes4 selector = bytes4(answer);
        assertTrue(
            selector == IReputation.AuthMissing.selector || selector == IReputation.AuthLength.selector
                || selector == IReputation.AuthDirtyWord.selector || selector == IReputation.AuthExpired.selector
                || selector == IReputation.AuthIndexLimit.selector || selector == IReputation.AuthWrongAgent.selector,
            "an error of the authorization"
        );
    }

    function _assertHighBitsAreRefused(bytes memory clean, uint256 field, uint256 width) private {
        for (uint256 bit = width; bit < 256; ++bit) {
            bytes memory dirty = bytes.concat(clean);
            dirty[32 * field + 31 - bit / 8] |= bytes1(uint8(2 ** (bit % 8)));
            _expect(abi.encodeWithSelector(IReputation.AuthDirtyWord.selector, field));
            _give(dirty);
        }
    }

    function _cut(bytes memory data, uint256 length) private pure returns (bytes memory head) {
        head = new bytes(length);
        for (uint256 i = 0; i < length; ++i) {
            head[i] = data[i];
        }
    }

    function _expect(bytes memory revertData) private {
        vm.expectRevert(revertData, address(reputation));
    }
}
