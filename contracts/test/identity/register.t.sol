// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IERC4906} from "@openzeppelin/contracts/interfaces/IERC4906.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";
import {AnsweringRegistrant, ForwardingRegistrant, SilentRegistrant} from "../actors/TokenReceivers.sol";

contract RegisterTest is RegistryTest {
    uint256 private constant NEXT_ID = 3; // after the two of the set-up

    error Refusal(uint256 code);

    function test_GivenOtherAgents_IdIsTheNext_R1() external {
        assertEq(otherAgentId, 1);
        assertEq(agentId, 2);
        vm.startPrank(client);
        assertEq(identity.register(), 3);
        assertEq(identity.register(AGENT_URI), 4);
        assertEq(identity.register(AGENT_URI, new IIdentityRegistry.MetadataEntry[](0)), 5);
        assertEq(identity.balanceOf(client), 3);
    }

    function test_WhenWithoutUri_EmitsInOrder_R2() external {
        vm.recordLogs();
        vm.prank(client);
        identity.register();
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 3);
        _assertTransfer(logs[0]);
        _assertRegistered(logs[1], "");
        _assertMetadataSet(logs[2], "agentWallet", abi.encodePacked(client));
        assertEq(identity.tokenURI(NEXT_ID), "");
    }

    function test_WhenWithUri_EmitsInOrder_R2() external {
        vm.recordLogs();
        vm.prank(client);
        identity.register(AGENT_URI);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 4);
        _assertTransfer(logs[0]);
        _assertMetadataUpdate(logs[1]);
        _assertRegistered(logs[2], AGENT_URI);
        _assertMetadataSet(logs[3], "agentWallet", abi.encodePacked(client));
    }

    function test_WhenWithUri_StoresOwnerUriAndWallet_R3() external {
        vm.prank(client);
        uint256 id = identity.register(AGENT_URI);
        assertEq(identity.ownerOf(id), client);
        assertEq(identity.balanceOf(client), 1);
        assertEq(identity.tokenURI(id), AGENT_URI);
        assertEq(identity.getAgentWallet(id), client);
    }

    function test_WhenUriIsEmpty_Registers() external {
        vm.prank(client);
        uint256 id = identity.register("");
        assertEq(identity.ownerOf(id), client);
        assertEq(identity.tokenURI(id), "");
    }

    function test_WhenWithMetadata_EmitsInOrder_R2() external {
        vm.recordLogs();
        vm.prank(client);
        identity.register(AGENT_URI, _entries("note", "first", "model", "second"));
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 6);
        _assertTransfer(logs[0]);
        _assertMetadataUpdate(logs[1]);
        _assertRegistered(logs[2], AGENT_URI);
        _assertMetadataSet(logs[3], "agentWallet", abi.encodePacked(client));
        _assertMetadataSet(logs[4], "note", "first");
        _assertMetadataSet(logs[5], "model", "second");
    }

    function test_WhenWithMetadata_StoresEachValue() external {
        vm.prank(client);
        uint256 id = identity.register(AGENT_URI, _entries("note", "first", "", "second"));
        assertEq(identity.tokenURI(id), AGENT_URI);
        assertEq(identity.getMetadata(id, "note"), "first");
        assertEq(identity.getMetadata(id, ""), "second");
        assertEq(identity.getMetadata(id, "model"), "");
        assertEq(identity.getMetadata(agentId, "note"), "");
    }

    function test_WhenKeyComesTwice_LastValueStands() external {
        vm.prank(client);
        uint256 id = identity.register(AGENT_URI, _entries("note", "first", "note", "second"));
        assertEq(identity.getMetadata(id, "note"), "second");
    }

    function test_WhenKeyIsAlmostReserved_StoresIt() external {
        vm.prank(client);
        uint256 id = identity.register(AGENT_URI, _entries("AgentWallet", "first", "agentWallet ", "second"));
        assertEq(identity.getMetadata(id, "AgentWallet"), "first");
        assertEq(identity.getMetadata(id, "agentWallet "), "second");
        assertEq(identity.getAgentWallet(id), client);
    }

    function test_RevertWhen_KeyIsReserved() external {
        vm.prank(client);
        vm.expectRevert(IIdentityRegistry.ReservedKey.selector);
        identity.register(AGENT_URI, _entries("note", "first", "agentWallet", "second"));
        assertEq(identity.balanceOf(client), 0);
    }

    function test_RevertWhen_CallerCannotReceive() external {
        SilentRegistrant registrant = new SilentRegistrant();
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721InvalidReceiver.selector, address(registrant)));
        registrant.register(identity);
    }

    function test_RevertWhen_CallerAnswersOtherValue() external {
        AnsweringRegistrant registrant = new AnsweringRegistrant(0x150b7a03, "");
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721InvalidReceiver.selector, address(registrant)));
        registrant.register(identity, AGENT_URI);
    }

    /// @dev Whoever has code is asked, however little. 0xfe is the invalid instruction, which burns what gas it is given.
    function test_RevertWhen_CallerHasOneByteOfCode() external {
        vm.etch(client, hex"fe");
        vm.prank(client);
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721InvalidReceiver.selector, client));
        identity.register{gas: 1_000_000}();
    }

    function test_RevertWhen_CallerRefusesWithReason() external {
        bytes memory reason = abi.encodeWithSelector(Refusal.selector, 7);
        AnsweringRegistrant registrant = new AnsweringRegistrant(0x150b7a02, reason);
        vm.expectRevert(reason);
        registrant.register(identity, AGENT_URI);
    }

    /// @dev R25: the one way to `Error(string)`, which no contract of ours raises.
    function test_RevertWhen_CallerRefusesWithText_R25() external {
        bytes memory reason = abi.encodeWithSignature("Error(string)", "no agents, please");
        AnsweringRegistrant registrant = new AnsweringRegistrant(0x150b7a02, reason);
        vm.expectRevert(reason);
        registrant.register(identity, AGENT_URI);
    }

    /// @dev R25: the one way to `Panic(uint256)`. A length of 2^64 is more than solc's decoder allots memory for; other
    /// calldata that does not decode is answered without data.
    function test_RevertWhen_UriClaimsAbsurdLength_R25() external {
        bytes memory head = abi.encodePacked(bytes4(keccak256("register(string)")), uint256(32));
        (bool success, bytes memory reason) = address(identity).call(bytes.concat(head, bytes32(uint256(2 ** 64))));
        assertFalse(success);
        assertEq(reason, abi.encodeWithSignature("Panic(uint256)", 0x41));
        (success, reason) = address(identity).call(bytes.concat(head, bytes32(uint256(33)), bytes32(0)));
        assertFalse(success);
        assertEq(reason.length, 0);
    }

    function test_RevertWhen_KeyIsReservedAndCallerRefuses_KeyComesFirst() external {
        ForwardingRegistrant registrant = new ForwardingRegistrant(identity, address(0)); // its transfer would revert
        vm.expectRevert(IIdentityRegistry.ReservedKey.selector);
        registrant.register(AGENT_URI, _entries("note", "first", "agentWallet", "second"));
    }

    function test_WhenCallerAccepts_Registers() external {
        AnsweringRegistrant registrant = new AnsweringRegistrant(0x150b7a02, "");
        uint256 id = registrant.register(identity, AGENT_URI);
        assertEq(identity.ownerOf(id), address(registrant));
        assertEq(identity.getAgentWallet(id), address(registrant));
    }

    function test_WhenCallerForwards_EverythingIsStoredBefore_R3() external {
        ForwardingRegistrant registrant = new ForwardingRegistrant(identity, stranger);
        registrant.register(AGENT_URI, _entries("note", "first", "model", "second"));
        assertEq(registrant.walletSeen(), address(registrant));
        assertEq(registrant.uriSeen(), AGENT_URI);
        assertEq(registrant.noteSeen(), "first");
        assertEq(registrant.nestedAgentId(), NEXT_ID + 1);
    }

    function test_WhenCallerForwards_EventsAgreeWithStorage_R3() external {
        ForwardingRegistrant registrant = new ForwardingRegistrant(identity, stranger);
        vm.recordLogs();
        uint256 id = registrant.register(AGENT_URI, _entries("note", "first", "model", "second"));
        (address ownerTold, address walletTold) = _lastTold(vm.getRecordedLogs(), id);

        assertEq(ownerTold, stranger);
        assertEq(identity.ownerOf(id), ownerTold);
        assertEq(walletTold, address(0));
        assertEq(identity.getAgentWallet(id), walletTold);
    }

    function testFuzz_StoresAnyUriAndMetadata(string calldata uri, string calldata key, bytes calldata value) external {
        vm.assume(keccak256(bytes(key)) != keccak256("agentWallet"));
        vm.prank(client);
        uint256 id = identity.register(uri, _entries(key, value, "note", "second"));
        assertEq(identity.tokenURI(id), uri);
        if (keccak256(bytes(key)) != keccak256("note")) assertEq(identity.getMetadata(id, key), value);
        assertEq(identity.getMetadata(id, "note"), "second");
    }

    /// @dev What an indexer believes at the end: it follows Transfer and the wallet's MetadataSet, and nothing else.
    function _lastTold(Vm.Log[] memory logs, uint256 id) private pure returns (address owner_, address wallet) {
        for (uint256 i = 0; i < logs.length; ++i) {
            bytes32[] memory topics = logs[i].topics;
            if (topics[0] == IERC721.Transfer.selector && uint256(topics[3]) == id) {
                owner_ = address(uint160(uint256(topics[2])));
            } else if (topics[0] == IIdentityRegistry.MetadataSet.selector && uint256(topics[1]) == id) {
                (string memory key, bytes memory value) = abi.decode(logs[i].data, (string, bytes));
                // forge-lint: disable-next-line(unsafe-typecast)
                if (keccak256(bytes(key)) == keccak256("agentWallet")) wallet = address(bytes20(value));
            }
        }
    }

    function _entries(string memory key1, bytes memory value1, string memory key2, bytes memory value2)
        private
        pure
        returns (IIdentityRegistry.MetadataEntry[] memory entries)
    {
        entries = new IIdentityRegistry.MetadataEntry[](2);
        entries[0] = IIdentityRegistry.MetadataEntry(key1, value1);
        entries[1] = IIdentityRegistry.MetadataEntry(key2, value2);
    }

    function _assertTransfer(Vm.Log memory log) private view {
        assertEq(log.topics[0], IERC721.Transfer.selector);
        assertEq(log.topics[1], bytes32(0));
        assertEq(log.topics[2], bytes32(uint256(uint160(client))));
        assertEq(log.topics[3], bytes32(NEXT_ID));
    }

    function _assertMetadataUpdate(Vm.Log memory log) private pure {
        assertEq(log.topics[0], IERC4906.MetadataUpdate.selector);
        assertEq(log.data, abi.encode(NEXT_ID));
    }

    function _assertRegistered(Vm.Log memory log, string memory uri) private view {
        assertEq(log.topics[0], IIdentityRegistry.Registered.selector);
        assertEq(log.topics[1], bytes32(NEXT_ID));
        assertEq(log.topics[2], bytes32(uint256(uint160(client))));
        assertEq(log.data, abi.encode(uri));
    }

    function _assertMetadataSet(Vm.Log memory log, string memory key, bytes memory value) private pure {
        assertEq(log.topics[0], IIdentityRegistry.MetadataSet.selector);
        assertEq(log.topics[1], bytes32(NEXT_ID));
        assertEq(log.topics[2], keccak256(bytes(key)));
        assertEq(log.data, abi.encode(key, value));
    }
}
