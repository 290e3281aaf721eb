// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC4906} from "@openzeppelin/contracts/interfaces/IERC4906.sol";
import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry as IIdentity} from "../../src/interfaces/IIdentityRegistry.sol";
import {WalletTest} from "../actors/WalletTest.sol";

contract SetMetadataTest is WalletTest {
    function test_RevertWhen_MetadataOfUnknownAgentIsSet() external {
        _expectUnknown();
        vm.prank(owner.addr);
        identity.setMetadata(UNKNOWN_ID, "note", "first");
    }

    function test_RevertWhen_StrangerSetsMetadata() external {
        _assertNotAuthorized(stranger);
        identity.setMetadata(agentId, "note", "first");
        assertEq(identity.getMetadata(agentId, "note"), "");
    }

    function test_RevertWhen_MetadataKeyIsReserved_R2() external {
        vm.prank(owner.addr);
        vm.expectRevert(IIdentity.ReservedKey.selector);
        identity.setMetadata(agentId, "agentWallet", abi.encodePacked(client));
        assertEq(identity.getAgentWallet(agentId), owner.addr);
    }

    function test_WhenMetadataKeyIsAlmostReserved_StoresIt() external {
        string[4] memory keys = ["AgentWallet", "agentWallet ", "agentWalle", ""];
        for (uint256 i = 0; i < keys.length; ++i) {
            vm.prank(owner.addr);
            identity.setMetadata(agentId, keys[i], "first");
            assertEq(identity.getMetadata(agentId, keys[i]), "first");
        }
        assertEq(identity.getAgentWallet(agentId), owner.addr);
    }

    function test_WhenOwnerSetsMetadata_StoresAndTells_R2() external {
        vm.recordLogs();
        vm.prank(owner.addr);
        identity.setMetadata(agentId, "note", "first");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].topics[0], IIdentity.MetadataSet.selector);
        assertEq(logs[0].topics[1], bytes32(agentId));
        assertEq(logs[0].topics[2], keccak256("note"));
        assertEq(logs[0].data, abi.encode("note", bytes("first")));
        assertEq(identity.getMetadata(agentId, "note"), "first");
        assertEq(identity.getMetadata(otherAgentId, "note"), "");
    }

    function test_GivenKeyHasAValue_ReplacesIt() external {
        vm.startPrank(owner.addr);
        identity.setMetadata(agentId, "note", new bytes(100));
        identity.setMetadata(agentId, "note", "second");
        assertEq(identity.getMetadata(agentId, "note"), "second");
        identity.setMetadata(agentId, "note", "");
        assertEq(identity.getMetadata(agentId, "note"), "");
    }

    function test_WhenApprovedOrOperatorSetsMetadata_StoresIt() external {
        _approveClientAndOperator();
        vm.prank(client);
        identity.setMetadata(agentId, "note", "first");
        vm.prank(operator);
        identity.setMetadata(agentId, "model", "second");
        assertEq(identity.getMetadata(agentId, "note"), "first");
        assertEq(identity.getMetadata(agentId, "model"), "second");
    }

    function test_GivenAgentWasTransferred_NewOwnerSetsMetadata() external {
        _approveClientAndOperator();
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        address[3] memory former = [owner.addr, client, operator];
        for (uint256 i = 0; i < former.length; ++i) {
            _assertNotAuthorized(former[i]);
            identity.setMetadata(agentId, "note", "first");
        }
        vm.prank(newOwner.addr);
        identity.setMetadata(agentId, "note", "second");
        assertEq(identity.getMetadata(agentId, "note"), "second");
    }

    function testFuzz_StoresAnyMetadata(string calldata key, bytes calldata first, bytes calldata second) external {
        vm.assume(keccak256(bytes(key)) != keccak256("agentWallet"));
        vm.startPrank(owner.addr);
        identity.setMetadata(agentId, key, first);
        assertEq(identity.getMetadata(agentId, key), first);
        identity.setMetadata(agentId, key, second);
        assertEq(identity.getMetadata(agentId, key), second);
    }

    function test_RevertWhen_UriOfUnknownAgentIsSet() external {
        _expectUnknown();
        vm.prank(owner.addr);
        identity.setAgentURI(UNKNOWN_ID, "ipfs://second");
    }

    function test_RevertWhen_StrangerSetsUri() external {
        _assertNotAuthorized(stranger);
        identity.setAgentURI(agentId, "ipfs://second");
        assertEq(identity.tokenURI(agentId), AGENT_URI);
    }

    function test_WhenOwnerSetsUri_StoresAndTells_R2() external {
        _assertSetsUri(owner.addr);
        assertEq(identity.tokenURI(otherAgentId), AGENT_URI);
    }

    function test_WhenApprovedOrOperatorSetsUri_StoresAndNamesThem_R2() external {
        _approveClientAndOperator();
        _assertSetsUri(client);
        _assertSetsUri(operator);
    }

    function test_WhenNewUriIsEmpty_StoresIt() external {
        vm.prank(owner.addr);
        identity.setAgentURI(agentId, "");
        assertEq(identity.tokenURI(agentId), "");
    }

    function testFuzz_StoresAnyUri(string calldata first, string calldata second) external {
        vm.startPrank(owner.addr);
        identity.setAgentURI(agentId, first);
        assertEq(identity.tokenURI(agentId), first);
        identity.setAgentURI(agentId, second);
        assertEq(identity.tokenURI(agentId), second);
    }

    function _assertSetsUri(address caller) private {
        string memory uri = string.concat("ipfs://", vm.toString(caller));
        vm.recordLogs();
        vm.prank(caller);
        identity.setAgentURI(agentId, uri);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 2);
        assertEq(logs[0].topics[0], IERC4906.MetadataUpdate.selector);
        assertEq(logs[0].data, abi.encode(agentId));
        assertEq(logs[1].topics[0], IIdentity.URIUpdated.selector);
        assertEq(logs[1].topics[1], bytes32(agentId));
        assertEq(logs[1].topics[2], bytes32(uint256(uint160(caller))));
        assertEq(logs[1].data, abi.encode(uri));
        assertEq(identity.tokenURI(agentId), uri);
    }

    function _expectUnknown() private {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, UNKNOWN_ID));
    }
}
