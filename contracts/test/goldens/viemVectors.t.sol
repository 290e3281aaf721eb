// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {stdJson} from "forge-std/StdJson.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";

/// @dev The contract, put where each vector of viem's says that it is, accepts viem's signatures over the two accepted
/// forms and refuses those over the two others: so it computes viem's digests.
contract ViemVectorsTest is RegistryTest {
    using stdJson for string;

    string private vectors;
    uint256 private vectorCount;

    function setUp() public override {
        vectors = vm.readFile("contracts/test/fixtures/feedback-auth.viem.json");
        assertEq(vectors.readString(".generator"), "viem 2.45.0");
        while (vm.keyExistsJson(vectors, _path(vectorCount, ""))) ++vectorCount;
        assertEq(vectorCount, 4);
    }

    function test_WhenFieldsAreTheVectors_DigestsAreViems_R6() external view {
        for (uint256 i = 0; i < vectorCount; ++i) {
            FeedbackAuthWords memory auth = _fields(i);
            address verifyingContract = vectors.readAddress(_path(i, ".verifyingContract"));
            assertEq(auth.fields(), vectors.readBytes(_path(i, ".encoded")));
            assertEq(auth.eip712Digest(auth.chainId, verifyingContract), _word(i, ".eip712Digest"));
            assertEq(auth.eip191Digest(), _word(i, ".eip191Digest"));
            assertEq(auth.fiveFieldDigest(auth.chainId, verifyingContract), _word(i, ".fiveFieldDigest"));
            assertEq(auth.packedHash(), _word(i, ".packedHash"));
        }
    }

    function test_WhenVectorIsTheFirst_ItIsThePublishedOne_R6() external view {
        assertEq(_word(0, ".eip712Digest"), 0x6ca1e04f7b076e6662687904a846344937a3d941a9d97945570755a7e0b074a4);
        assertEq(_word(0, ".eip191Digest"), 0xa1932d92cdbca8517f072ee66647404017533e7a2d593cc9e7198b48de525827);
        assertEq(_word(0, ".packedHash"), 0xb9e1779732bf6f83fd0f3e68c066847a27e8d949d24523fd1961346af4dd5ada);
        assertEq(_fields(0).agentId, 42);
        assertEq(_fields(0).chainId, 84_532);
        assertEq(vectors.readAddress(_path(0, ".verifyingContract")), 0x8004B663056A597Dffe9eCcC1965A193B7388713);
    }

    function test_WhenViemSigns_AcceptsBothForms_R6() external {
        for (uint256 i = 0; i < vectorCount; ++i) {
            _deployFor(i, true);
            uint256 snapshot = vm.snapshotState();
            _assertAccepted(i, ".eip712Signature");
            assertTrue(vm.revertToState(snapshot)); // the smallest vector allows one feedback
            _assertAccepted(i, ".eip191Signature");
        }
    }

    function test_RevertWhen_ViemSignsFormsThatAreAcceptedNowhere_R6() external {
        for (uint256 i = 0; i < vectorCount; ++i) {
            _deployFor(i, true);
            _assertRefused(i, ".fiveFieldSignature");
            _assertRefused(i, ".packedHashSignature");
            _deployFor(i, false);
            _assertRefused(i, ".eip191Signature");
            _assertAccepted(i, ".eip712Signature");
        }
    }

    /// @dev Both registries at the vector's addresses, on its chain, and the agent in the signer's hands. Ids up to
    /// 2^256 - 1 cannot be reached by registering, so the owner is written.
    function _deployFor(uint256 i, bool acceptsDraftV1) private {
        FeedbackAuthWords memory auth = _fields(i);
        vm.chainId(auth.chainId);
        vm.warp(NOW);
        address identityAt = address(uint160(auth.identityRegistry));
        address reputationAt = vectors.readAddress(_path(i, ".verifyingContract"));
        deployCodeTo("IdentityRegistry.sol:IdentityRegistry", identityAt);
        deployCodeTo(
            "AuthorizedReputationRegistry.sol:AuthorizedReputationRegistry",
            abi.encode(identityAt, acceptsDraftV1),
            reputationAt
        );
        identity = IIdentityRegistry(identityAt);
        reputation = IReputation(reputationAt);
        vm.store(identityAt, keccak256(abi.encode(auth.agentId, _ownersSlot())), bytes32(auth.signerAddress));
        assertEq(identity.ownerOf(auth.agentId), address(uint160(auth.signerAddress)));
    }

    function _assertAccepted(uint256 i, string memory signatureKey) private {
        uint64 before = reputation.getLastIndex(_fields(i).agentId, _client(i));
        _giveAs(i, signatureKey);
        assertEq(reputation.getLastIndex(_fields(i).agentId, _client(i)), before + 1);
    }

    function _assertRefused(uint256 i, string memory signatureKey) private {
        vm.expectRevert(abi.encodeWithSelector(IReputation.AuthBadSignature.selector), address(reputation));
        _giveAs(i, signatureKey);
    }

    function _giveAs(uint256 i, string memory signatureKey) private {
        bytes memory signature = vectors.readBytes(_path(i, signatureKey));
        _give(_client(i), _fields(i).agentId, SCORE, bytes.concat(_fields(i).fields(), signature));
    }

    function _client(uint256 i) private view returns (address) {
        return address(uint160(_fields(i).clientAddress));
    }

    function _fields(uint256 i) private view returns (FeedbackAuthWords memory) {
        return abi.decode(vectors.readBytes(_path(i, ".encoded")), (FeedbackAuthWords));
    }

    function _word(uint256 i, string memory key) private view returns (bytes32) {
        return vectors.readBytes32(_path(i, key));
    }

    function _path(uint256 i, string memory key) private pure returns (string memory) {
        return string.concat(".vectors[", vm.toString(i), "]", key);
    }

    /// @dev OpenZeppelin's ERC721 keeps the owners after name and symbol; the assertion above holds it to that.
    function _ownersSlot() private pure returns (uint256) {
        return 2;
    }
}
