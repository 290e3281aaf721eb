// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {IReputationRegistry as IReputation} from "../../src/interfaces/IReputationRegistry.sol";
import {listOf} from "../actors/AddressLists.sol";
import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";

contract GiveOpenFeedbackTest is OpenRegistryTest {
    int128 private constant BOUND = 100000000000000000000000000000000000000;

    function test_WhenInBounds_StoresFeedback_R16() external {
        _give(client, VALUE, DECIMALS);
        _assertStored(1, VALUE, DECIMALS, TAG1, TAG2);
        assertEq(reputation.getLastIndex(agentId, client), 1);
        _give(client, -5, 18);
        _assertStored(2, -5, 18, TAG1, TAG2);
        _assertStored(1, VALUE, DECIMALS, TAG1, TAG2);
        assertEq(reputation.getLastIndex(agentId, client), 2);
    }

    function test_WhenInBounds_EmitsNewFeedback_R2() external {
        vm.recordLogs();
        _give(client, VALUE, DECIMALS);
        _give(client, VALUE, DECIMALS);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 2);
        assertEq(logs[1].emitter, address(reputation));
        assertEq(logs[1].topics.length, 4);
        assertEq(logs[1].topics[0], 0x6a4a61743519c9d648a14e6493f47dbe3ff1aa29e7785c96c8326a205e58febc);
        assertEq(logs[1].topics[1], bytes32(agentId));
        assertEq(logs[1].topics[2], bytes32(uint256(uint160(client))));
        assertEq(logs[1].topics[3], keccak256(bytes(TAG1)));
        assertEq(logs[1].data, abi.encode(uint64(2), VALUE, DECIMALS, TAG1, TAG2, ENDPOINT, FILE_URI, FILE_HASH));
    }

    function test_WhenClientGivesAgain_ListedOnce() external {
        _give(client, 1, 0);
        _give(otherClient, 1, 0);
        _give(client, 2, 0);
        assertEq(reputation.getClients(agentId), listOf(client, otherClient));
    }

    function test_WhenTwoClientsAndAgents_IndicesAreSeparate_R8() external {
        _give(client, 1, 0);
        _give(client, 2, 0);
        _give(otherClient, 3, 0);
        _give(client, otherAgentId, 4, 0, "", "");
        assertEq(reputation.getLastIndex(agentId, client), 2);
        assertEq(reputation.getLastIndex(agentId, otherClient), 1);
        assertEq(reputation.getLastIndex(otherAgentId, client), 1);
        assertEq(reputation.getClients(otherAgentId), listOf(client));
    }

    function test_WhenValueIsAtABound_Accepts_R16() external {
        _give(client, BOUND, 18);
        _give(client, -BOUND, 0);
        _assertStored(1, BOUND, 18, TAG1, TAG2);
        _assertStored(2, -BOUND, 0, TAG1, TAG2);
    }

    function test_WhenTagsAreLongOrHoldNul_StoresThem_R17() external {
        string memory long = string(new bytes(300));
        _give(client, agentId, 1, 0, long, "");
        _give(client, agentId, 1, 0, "a\x00b", "12345678901234567890123456789012345");
        _assertStored(1, 1, 0, long, "");
        _assertStored(2, 1, 0, "a\x00b", "12345678901234567890123456789012345");
    }

    function test_WhenWalletIsClient_Accepts_R18() external {
        // The agent's wallet is its owner only until a transfer; nobody but owner and operators is refused.
        vm.prank(owner);
        identity.transferFrom(owner, stranger, agentId);
        _give(owner, 1, 0);
        assertEq(reputation.getLastIndex(agentId, owner), 1);
    }

    function testFuzz_StoresAnyFeedback(int128 value, uint8 decimals, string calldata tag1, string calldata tag2)
        external
    {
        value = int128(bound(value, -BOUND, BOUND));
        decimals = uint8(bound(decimals, 0, 18));
        vm.expectEmit(address(reputation));
        emit IReputation.NewFeedback(
            agentId, client, 1, value, decimals, tag1, tag1, tag2, ENDPOINT, FILE_URI, FILE_HASH
        );
        _give(client, agentId, value, decimals, tag1, tag2);
        _assertStored(1, value, decimals, tag1, tag2);
    }

    function testFuzz_RevertWhen_DecimalsAreAbove18_R16(uint8 decimals) external {
        decimals = uint8(bound(decimals, 19, 255));
        // Everything else is wrong as well: the decimals come first.
        _expect(abi.encodeWithSelector(IReputation.DecimalsOutOfRange.selector, decimals));
        _give(owner, UNKNOWN_AGENT, BOUND + 1, decimals, "", "");
    }

    function test_RevertWhen_ValueIsOutOfRange_R16() external {
        int128[4] memory values = [BOUND + 1, -BOUND - 1, type(int128).max, type(int128).min];
        for (uint256 i = 0; i < values.length; ++i) {
            _expect(abi.encodeWithSelector(IReputation.ValueOutOfRange.selector, values[i]));
            _give(owner, UNKNOWN_AGENT, values[i], 18, "", "");
        }
    }

    function test_RevertWhen_AgentIsUnknown() external {
        vm.expectRevert(
            abi.encodeWithSelector(IBoundRegistry.ERC721NonexistentToken.selector, UNKNOWN_AGENT), address(identity)
        );
        _give(owner, UNKNOWN_AGENT, 1, 0, "", "");
    }

    function test_RevertWhen_ClientIsOwner_R18() external {
        _expect(abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, owner));
        _give(owner, 1, 0);
    }

    function test_RevertWhen_ClientIsApproved_R18() external {
        vm.prank(owner);
        identity.approve(client, agentId);
        _expect(abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, client));
        _give(client, 1, 0);
    }

    function test_RevertWhen_ClientIsOperator_R18() external {
        vm.prank(owner);
        identity.setApprovalForAll(client, true);
        _expect(abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, client));
        _give(client, 1, 0);
    }

    function test_RevertWhen_IndexIsExhausted_R8() external {
        _storeLastIndex(type(uint64).max - 1);
        _give(client, 7, 0);
        _assertStored(type(uint64).max, 7, 0, TAG1, TAG2);
        _expect(abi.encodeWithSelector(IBoundRegistry.CounterExhausted.selector));
        _give(client, 7, 0);
    }

    function _expect(bytes memory revertData) private {
        vm.expectRevert(revertData, address(reputation));
    }

    /// @dev Writes the index behind getLastIndex, which takes 2^64 feedbacks to do properly.
    function _storeLastIndex(uint64 index) private {
        _give(client, 1, 0);
        vm.record();
        reputation.getLastIndex(agentId, client);
        (bytes32[] memory reads,) = vm.accesses(address(reputation));
        uint256 word = uint256(vm.load(address(reputation), reads[0]));
        uint256 position = 160; // after value, decimals, isRevoked and tagShape
        assertEq((word >> position) & type(uint64).max, 1);
        word = word & ~(uint256(type(uint64).max) << position) | (uint256(index) << position);
        vm.store(address(reputation), reads[0], bytes32(word));
        assertEq(reputation.getLastIndex(agentId, client), index);
    }

    function _assertStored(uint64 index, int128 value, uint8 decimals, string memory tag1, string memory tag2)
        private
        view
    {
        (int128 v, uint8 d, string memory t1, string memory t2, bool isRevoked) =
            reputation.readFeedback(agentId, client, index);
        assertEq(v, value);
        assertEq(d, decimals);
        assertEq(t1, tag1);
        assertEq(t2, tag2);
        assertFalse(isRevoked);
    }
}
