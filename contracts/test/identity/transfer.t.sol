// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";
import {SilentRegistrant} from "../actors/TokenReceivers.sol";

contract TransferTest is RegistryTest {
    function test_WhenToAnother_MovesTheAgent() external {
        _transfer(owner.addr, stranger);
        assertEq(identity.ownerOf(agentId), stranger);
        assertEq(identity.balanceOf(owner.addr), 0);
        assertEq(identity.balanceOf(stranger), 2);
    }

    function test_WhenToAnother_ClearsWalletAndTellsBefore_R3() external {
        vm.recordLogs();
        _transfer(owner.addr, stranger);
        Vm.Log[] memory logs = vm.getRecordedLogs();

        assertEq(identity.getAgentWallet(agentId), address(0));
        assertEq(logs.length, 2);
        assertEq(logs[0].topics[0], IIdentityRegistry.MetadataSet.selector);
        assertEq(logs[0].topics[1], bytes32(agentId));
        assertEq(logs[0].topics[2], keccak256("agentWallet"));
        assertEq(logs[0].data, abi.encode("agentWallet", bytes("")));
        assertEq(logs[1].topics[0], IERC721.Transfer.selector);
    }

    function test_WhenToAnother_KeepsUriAndMetadata() external {
        IIdentityRegistry.MetadataEntry[] memory entries = new IIdentityRegistry.MetadataEntry[](1);
        entries[0] = IIdentityRegistry.MetadataEntry("note", "first");
        vm.startPrank(client);
        uint256 id = identity.register(AGENT_URI, entries);
        identity.transferFrom(client, stranger, id);
        assertEq(identity.tokenURI(id), AGENT_URI);
        assertEq(identity.getMetadata(id, "note"), "first");
    }

    function test_GivenAgentComesBack_WalletStaysEmpty_R3() external {
        _transfer(owner.addr, stranger);
        _transfer(stranger, owner.addr);
        assertEq(identity.ownerOf(agentId), owner.addr);
        assertEq(identity.getAgentWallet(agentId), address(0));
    }

    function test_WhenToAnother_OtherAgentsKeepTheirs_R3() external {
        uint256 second = _register(owner.addr);
        _transfer(owner.addr, stranger);
        assertEq(identity.getAgentWallet(second), owner.addr);
        assertEq(identity.getAgentWallet(otherAgentId), stranger);
    }

    function test_WhenToOneself_WalletStays_R3() external {
        vm.recordLogs();
        _transfer(owner.addr, owner.addr);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        assertEq(logs[0].topics[0], IERC721.Transfer.selector);
        assertEq(identity.ownerOf(agentId), owner.addr);
        assertEq(identity.balanceOf(owner.addr), 1);
        assertEq(identity.getAgentWallet(agentId), owner.addr);
    }

    function test_WhenToOneself_ClearedWalletStaysCleared_R3() external {
        _transfer(owner.addr, stranger);
        _transfer(stranger, stranger);
        assertEq(identity.getAgentWallet(agentId), address(0));
    }

    function test_WhenApprovedOrOperatorTransfers_ClearsWallet_R3() external {
        vm.prank(owner.addr);
        identity.approve(client, agentId);
        vm.prank(client);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        assertEq(identity.getAgentWallet(agentId), address(0));

        uint256 second = _register(owner.addr);
        vm.prank(owner.addr);
        identity.setApprovalForAll(client, true);
        vm.prank(client);
        identity.safeTransferFrom(owner.addr, newOwner.addr, second);
        assertEq(identity.ownerOf(second), newOwner.addr);
        assertEq(identity.getAgentWallet(second), address(0));
    }

    function test_RevertWhen_StrangerTransfers() external {
        vm.prank(stranger);
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721InsufficientApproval.selector, stranger, agentId));
        identity.transferFrom(owner.addr, stranger, agentId);
        assertEq(identity.getAgentWallet(agentId), owner.addr);
    }

    function test_RevertWhen_FromIsNotTheOwner() external {
        vm.prank(owner.addr);
        vm.expectRevert(
            abi.encodeWithSelector(IERC721Errors.ERC721IncorrectOwner.selector, client, agentId, owner.addr)
        );
        identity.transferFrom(client, stranger, agentId);
        assertEq(identity.getAgentWallet(agentId), owner.addr);
    }

    function test_RevertWhen_ToIsZero() external {
        vm.prank(owner.addr);
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721InvalidReceiver.selector, address(0)));
        identity.transferFrom(owner.addr, address(0), agentId);
    }

    function test_RevertWhen_AgentIsUnknown() external {
        vm.prank(owner.addr);
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, 99));
        identity.transferFrom(owner.addr, stranger, 99);
    }

    function test_RevertWhen_SafeAndReceiverRefuses() external {
        address receiver = address(new SilentRegistrant());
        vm.prank(owner.addr);
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721InvalidReceiver.selector, receiver));
        identity.safeTransferFrom(owner.addr, receiver, agentId);
        assertEq(identity.getAgentWallet(agentId), owner.addr);
    }

    function testFuzz_WalletIsEmptyOnceTransferred_R3(uint8[6] calldata route) external {
        address[3] memory owners = [owner.addr, newOwner.addr, stranger];
        address holder = owner.addr;
        bool hasLeft = false;
        for (uint256 i = 0; i < route.length; ++i) {
            address to = owners[route[i] % 3];
            _transfer(holder, to);
            hasLeft = hasLeft || to != holder;
            holder = to;
            assertEq(identity.getAgentWallet(agentId), hasLeft ? address(0) : owner.addr);
        }
    }

    function _transfer(address from, address to) private {
        vm.prank(from);
        identity.transferFrom(from, to, agentId);
    }
}
