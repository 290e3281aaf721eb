// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {stdJson} from "forge-std/StdJson.sol";

import {IIdentityRegistry as IIdentity} from "../../src/interfaces/IIdentityRegistry.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";
import {WalletConsent} from "../actors/WalletConsent.sol";

/// @dev The contract, put where each vector of viem's says that it is, accepts viem's signature and names viem's digest:
/// so it computes that digest.
contract WalletVectorsTest is RegistryTest {
    using stdJson for string;

    string private vectors;
    uint256 private vectorCount;

    function setUp() public override {
        vectors = vm.readFile("contracts/test/fixtures/agent-wallet.viem.json");
        assertEq(vectors.readString(".generator"), "viem 2.57.1");
        while (vm.keyExistsJson(vectors, _path(vectorCount, ""))) ++vectorCount;
        assertEq(vectorCount, 4);
    }

    function test_WhenVectorIsTheFirst_ItIsThePublishedOne_R3() external view {
        assertEq(_word(0, ".structHash"), 0xe0ac0a4475575eba4f639665ffa3a1673c7fccefd08d6a89d4f9942184369e80);
        assertEq(_word(0, ".digest"), 0x9a48b5a854359f35bcddcd7887db1efa9cc8ef6180ec49a0993d97353baa9247);
        assertEq(
            vectors.readBytes(_path(0, ".signature")),
            hex"247cd2d974a1a435c8b8dcd2962a419e40f4686a4c125bfc7dc731e2d498ec4e337911ef8a503369418a3c02af244c734e4f5905e63a2f9fd5f891de92a8bed01b"
        );
        assertEq(_consent(0).agentId, 42);
        assertEq(_chainId(0), 84_532);
        assertEq(_registry(0), 0x8004A818BFB912233c491871b3d84c89A494BD9e);
    }

    function test_WhenFieldsAreTheVectors_DigestsAreViems_R3() external view {
        for (uint256 i = 0; i < vectorCount; ++i) {
            assertEq(_consent(i).structHash(), _word(i, ".structHash"));
            assertEq(_consent(i).digest(_chainId(i), _registry(i)), _word(i, ".digest"));
        }
    }

    function test_WhenViemSigns_SetsWalletOnce_R3() external {
        for (uint256 i = 0; i < vectorCount; ++i) {
            _deployFor(i);
            _set(i);
            assertEq(identity.getAgentWallet(_consent(i).agentId), _consent(i).newWallet);
            vm.expectRevert(abi.encodeWithSelector(IIdentity.WalletConsentUsed.selector, _word(i, ".digest")));
            _set(i);
        }
    }

    function test_RevertWhen_ViemSignedForAnotherChain_R3() external {
        for (uint256 i = 0; i < vectorCount; ++i) {
            _deployFor(i);
            vm.chainId(_chainId(i) + 1);
            vm.expectPartialRevert(IIdentity.WalletConsentMissing.selector);
            _set(i);
        }
    }

    /// @dev Ids up to 2^256 - 1 cannot be reached by registering, so the owner is written.
    function _deployFor(uint256 i) private {
        WalletConsent memory consent = _consent(i);
        vm.chainId(_chainId(i));
        vm.warp(consent.deadline);
        deployCodeTo("IdentityRegistry.sol:IdentityRegistry", _registry(i));
        identity = IIdentity(_registry(i));
        bytes32 slot = keccak256(abi.encode(consent.agentId, _ownersSlot()));
        vm.store(address(identity), slot, bytes32(uint256(uint160(consent.owner))));
        assertEq(identity.ownerOf(consent.agentId), consent.owner);
    }

    function _set(uint256 i) private {
        WalletConsent memory consent = _consent(i);
        bytes memory signature = vectors.readBytes(_path(i, ".signature"));
        vm.prank(consent.owner);
        identity.setAgentWallet(consent.agentId, consent.newWallet, consent.deadline, signature);
    }

    function _consent(uint256 i) private view returns (WalletConsent memory) {
        return WalletConsent({
            agentId: vectors.readUint(_path(i, ".consent.agentId")),
            newWallet: vectors.readAddress(_path(i, ".consent.newWallet")),
            owner: vectors.readAddress(_path(i, ".consent.owner")),
            deadline: vectors.readUint(_path(i, ".consent.deadline"))
        });
    }

    function _chainId(uint256 i) private view returns (uint256) {
        return vectors.readUint(_path(i, ".chainId"));
    }

    function _registry(uint256 i) private view returns (address) {
        return vectors.readAddress(_path(i, ".verifyingContract"));
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
