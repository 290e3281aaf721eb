// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";
import {Registries} from "../Registries.sol";

contract FeedbackAuthSignatureTest is RegistryTest {
    uint256 private constant SECP256K1_N = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141;

    function test_WhenOwnerSignsTypedData_Accepts_R6() external {
        _assertAccepted(_granted(agentId, client));
    }

    function test_RevertWhen_AnotherKeySigns_R7() external {
        _assertRefused(_blob(_auth(agentId, client), newOwner));
    }

    function test_RevertWhen_SIsHigh_R6() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(owner, _digest(auth));
        bytes32 highS = bytes32(SECP256K1_N - uint256(s));
        uint8 otherV = v == 27 ? 28 : 27;
        // The same key made it, as far as the precompile is concerned.
        assertEq(ecrecover(_digest(auth), otherV, r, highS), owner.addr);
        _assertRefused(bytes.concat(auth.fields(), abi.encodePacked(r, highS, otherV)));
    }

    function testFuzz_RevertWhen_VIsNeither27Nor28_R6(uint8 v) external {
        vm.assume(v != 27 && v != 28);
        FeedbackAuthWords memory auth = _auth(agentId, client);
        (uint8 rightV, bytes32 r, bytes32 s) = vm.sign(owner, _digest(auth));
        _assertRefused(bytes.concat(auth.fields(), abi.encodePacked(r, s, v)));
        _assertRefused(bytes.concat(auth.fields(), abi.encodePacked(r, s, rightV - 27)));
    }

    function test_RevertWhen_SignatureIsZero_R6() external {
        _assertRefused(bytes.concat(_auth(agentId, client).fields(), new bytes(65)));
    }

    function test_RevertWhen_AnyFieldIsChanged_R5() external {
        FeedbackAuthWords memory signed = _auth(agentId, client);
        bytes memory signature = _signature(owner, _digest(signed));

        // Fields that the call itself fixes are changed on the signed side, the others on the presented one.
        signed.indexLimit += 1;
        _assertRefused(bytes.concat(signed.fields(), signature));
        signed = _auth(agentId, client);
        signed.expiry += 1;
        _assertRefused(bytes.concat(signed.fields(), signature));

        bytes memory presented = _auth(agentId, client).fields();
        signed = _auth(agentId, client);
        signed.agentId = otherAgentId;
        _assertRefused(bytes.concat(presented, _signature(owner, _digest(signed))));
        signed = _auth(agentId, client);
        signed.clientAddress = uint160(stranger);
        _assertRefused(bytes.concat(presented, _signature(owner, _digest(signed))));
        signed = _auth(agentId, client);
        signed.chainId += 1;
        _assertRefused(bytes.concat(presented, _signature(owner, _digest(signed))));
        signed = _auth(agentId, client);
        signed.identityRegistry = uint160(stranger);
        _assertRefused(bytes.concat(presented, _signature(owner, _digest(signed))));
        signed = _auth(agentId, client);
        signed.signerAddress = uint160(stranger);
        _assertRefused(bytes.concat(presented, _signature(owner, _digest(signed))));
        _assertAccepted(bytes.concat(presented, signature));
    }

    function test_GivenDraftIsAccepted_AcceptsEip191_R6() external {
        _acceptDraftV1();
        _assertAccepted(_signedOver(_auth(agentId, client).eip191Digest()));
    }

    function test_RevertGiven_DraftIsNotAccepted_R6() external {
        _assertRefused(_signedOver(_auth(agentId, client).eip191Digest()));
    }

    function test_GivenDraftIsNotAccepted_AcceptsEip712_R6() external {
        _assertAccepted(_granted(agentId, client));
    }

    function test_RevertWhen_FiveFieldStructIsSigned_R5() external {
        _acceptDraftV1();
        _assertRefused(_signedOver(_auth(agentId, client).fiveFieldDigest(CHAIN_ID, address(reputation))));
    }

    function test_RevertWhen_PackedHashIsSigned_R6() external {
        _acceptDraftV1();
        bytes32 packedHash = _auth(agentId, client).packedHash();
        _assertRefused(_signedOver(packedHash));
        _assertRefused(_signedOver(keccak256(bytes.concat("\x19Ethereum Signed Message:\n32", packedHash))));
    }

    function test_RevertWhen_BareHashIsSigned_R6() external {
        _acceptDraftV1();
        _assertRefused(_signedOver(keccak256(_auth(agentId, client).fields())));
    }

    function test_RevertWhen_ReplayedOnAnotherReputationRegistry_R6() external {
        bytes memory blob = _granted(agentId, client);
        _assertAccepted(blob);
        reputation = Registries.newAuthorizedReputationRegistry(address(identity), false);
        _assertRefused(blob);
    }

    function test_RevertWhen_DomainIsAnotherChains_R6() external {
        vm.chainId(CHAIN_ID + 1);
        FeedbackAuthWords memory auth = _auth(agentId, client);
        assertEq(auth.chainId, CHAIN_ID + 1);
        _assertRefused(_signedOver(auth.eip712Digest(CHAIN_ID, address(reputation))));
        _assertAccepted(_signedOver(auth.eip712Digest(CHAIN_ID + 1, address(reputation))));
    }

    function _signedOver(bytes32 digest) private returns (bytes memory) {
        return bytes.concat(_auth(agentId, client).fields(), _signature(owner, digest));
    }

    function _assertAccepted(bytes memory blob) private {
        uint64 before = reputation.getLastIndex(agentId, client);
        _give(blob);
        assertEq(reputation.getLastIndex(agentId, client), before + 1);
    }

    function _assertRefused(bytes memory blob) private {
        vm.expectRevert(abi.encodeWithSelector(IReputation.AuthBadSignature.selector), address(reputation));
        _give(blob);
    }
}
