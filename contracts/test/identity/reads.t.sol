// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC5267} from "@openzeppelin/contracts/interfaces/IERC5267.sol";
import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";

import {RegistryTest} from "../actors/RegistryTest.sol";

contract IdentityReadsTest is RegistryTest {
    uint256 private constant UNKNOWN_ID = 99;

    function test_GivenAgentIsUnknown_ReadsAreEmpty() external view {
        uint256[2] memory unknown = [uint256(0), UNKNOWN_ID];
        for (uint256 i = 0; i < unknown.length; ++i) {
            assertEq(identity.getAgentWallet(unknown[i]), address(0));
            assertEq(identity.getMetadata(unknown[i], "agentWallet"), "");
            assertEq(identity.getMetadata(unknown[i], "note"), "");
        }
        assertEq(identity.getMetadata(agentId, "note"), "");
    }

    function test_GivenAgentIsNew_WalletIsTheRegistrant_R3() external view {
        assertEq(identity.getAgentWallet(agentId), owner.addr);
        assertEq(identity.getAgentWallet(otherAgentId), stranger);
    }

    function test_WhenKeyIsTheWallets_MetadataIsTheWallet_R3() external view {
        assertEq(identity.getMetadata(agentId, "agentWallet"), abi.encodePacked(owner.addr));
    }

    function test_GivenWalletWasCleared_WalletMetadataIsEmpty_R3() external {
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, stranger, agentId);
        assertEq(identity.getMetadata(agentId, "agentWallet"), "");
    }

    function test_RevertWhen_AuthorizationOfUnknownAgentIsAsked() external {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, UNKNOWN_ID));
        identity.isAuthorizedOrOwner(owner.addr, UNKNOWN_ID);
    }

    function test_WhenOwnerApprovedOrOperator_IsAuthorized_R18() external {
        address operator = makeAddr("operator");
        vm.startPrank(owner.addr);
        identity.approve(client, agentId);
        identity.setApprovalForAll(operator, true);
        assertTrue(identity.isAuthorizedOrOwner(owner.addr, agentId));
        assertTrue(identity.isAuthorizedOrOwner(client, agentId));
        assertTrue(identity.isAuthorizedOrOwner(operator, agentId));
    }

    function test_WhenAnybodyElse_IsNotAuthorized_R18() external view {
        assertFalse(identity.isAuthorizedOrOwner(client, agentId));
        assertFalse(identity.isAuthorizedOrOwner(stranger, agentId));
        assertFalse(identity.isAuthorizedOrOwner(owner.addr, otherAgentId));
        assertFalse(identity.isAuthorizedOrOwner(address(0), agentId));
    }

    function test_RevertWhen_UriOrOwnerOfUnknownAgentIsAsked() external {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, UNKNOWN_ID));
        identity.tokenURI(UNKNOWN_ID);
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, 0));
        identity.ownerOf(0);
    }

    function test_NameSymbolAndVersion_R2() external view {
        assertEq(identity.name(), "AgentIdentity");
        assertEq(identity.symbol(), "AGENT");
        assertEq(identity.getVersion(), "2.0.0+concord.2");
    }

    function test_SupportedInterfaces() external view {
        assertTrue(identity.supportsInterface(0x01ffc9a7), "ERC-165");
        assertTrue(identity.supportsInterface(0x80ac58cd), "ERC-721");
        assertTrue(identity.supportsInterface(0x5b5e139f), "ERC-721 metadata");
        assertTrue(identity.supportsInterface(0x49064906), "ERC-4906");
        assertFalse(identity.supportsInterface(0xffffffff));
    }

    function test_SigningDomainIsTheCanonicalOne_R3() external view {
        (
            bytes1 fields,
            string memory name,
            string memory version,
            uint256 chainId,
            address verifyingContract,
            bytes32 salt,
            uint256[] memory extensions
        ) = IERC5267(address(identity)).eip712Domain();
        assertEq(fields, hex"0f"); // name, version, chain id, contract
        assertEq(name, "ERC8004IdentityRegistry");
        assertEq(version, "1");
        assertEq(chainId, CHAIN_ID);
        assertEq(verifyingContract, address(identity));
        assertEq(salt, 0);
        assertEq(extensions.length, 0);
    }
}
