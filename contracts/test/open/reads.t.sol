// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {IReputationRegistry as IReputation} from "../../src/interfaces/IReputationRegistry.sol";
import {listOf} from "../actors/AddressLists.sol";
import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";
import {Registries} from "../Registries.sol";

contract OpenReadsTest is OpenRegistryTest {
    string private constant LONG_TAG = "a tag of more than thirty-two bytes";

    struct All {
        address[] clients;
        uint64[] indexes;
        int128[] values;
        uint8[] decimals;
        string[] tag1s;
        string[] tag2s;
        bool[] revoked;
    }

    /// @dev client: 1 (a, b), 2 revoked (a, long), 3 (no tags); otherClient: 1 (a, b).
    function _fill() private {
        _give(client, agentId, 1, 0, "a", "b");
        _give(client, agentId, 2, 1, "a", LONG_TAG);
        _give(otherClient, agentId, 4, 3, "a", "b");
        _give(client, agentId, -3, 2, "", "");
        _revoke(client, 2);
    }

    function test_RevertWhen_RegistryIsZero_R2() external {
        vm.expectRevert(IBoundRegistry.RegistryZero.selector);
        Registries.newReputationRegistry(address(0));
    }

    function test_WhenRegistryIsGiven_KeepsIt_R2() external view {
        assertEq(reputation.getIdentityRegistry(), address(identity));
        assertEq(reputation.getVersion(), "2.0.0+concord.2");
    }

    function test_GivenNothing_ReadsAreEmpty() external view {
        assertEq(reputation.getLastIndex(agentId, client), 0);
        assertEq(reputation.getLastIndex(UNKNOWN_AGENT, client), 0);
        assertEq(reputation.getClients(UNKNOWN_AGENT).length, 0);
        assertEq(reputation.getClientCount(UNKNOWN_AGENT), 0);
        assertEq(reputation.getClientsWindow(UNKNOWN_AGENT, 0, 9).length, 0);
        assertEq(reputation.readFeedbackWindow(UNKNOWN_AGENT, client, 0, 9).length, 0);
        assertEq(_all(new address[](0), "", "", true).clients.length, 0);
    }

    function test_RevertWhen_FeedbackIsNotThere() external {
        _fill();
        _assertNotFound(agentId, client, 0);
        _assertNotFound(agentId, client, 4);
        _assertNotFound(agentId, stranger, 1);
        _assertNotFound(UNKNOWN_AGENT, client, 1);
    }

    function test_WhenNoClientsAreListed_ReadsAll_R2() external {
        _fill();
        All memory all = _all(new address[](0), "", "", true);
        assertEq(all.clients.length, 4);
        _assertRow(all, 0, client, 1, "a", "b");
        _assertRow(all, 1, client, 2, "a", LONG_TAG);
        _assertRow(all, 2, client, 3, "", "");
        _assertRow(all, 3, otherClient, 1, "a", "b");
        assertEq(all.values[0], 1);
        assertEq(all.values[1], 2);
        assertEq(all.values[2], -3);
        assertEq(all.values[3], 4);
        for (uint256 i = 0; i < 4; ++i) {
            assertEq(all.decimals[i], [0, 1, 2, 3][i]);
            assertEq(all.revoked[i], i == 1);
        }
    }

    function test_WhenRevokedAreLeftOut_ReadsTheRest_R2() external {
        _fill();
        All memory all = _all(new address[](0), "", "", false);
        assertEq(all.clients.length, 3);
        _assertRow(all, 0, client, 1, "a", "b");
        _assertRow(all, 1, client, 3, "", "");
        _assertRow(all, 2, otherClient, 1, "a", "b");
        assertEq(all.values.length, 3);
        assertEq(all.decimals.length, 3);
        assertEq(all.revoked.length, 3);
    }

    function test_WhenClientsAreListed_ReadsInTheirOrder_R2() external {
        _fill();
        All memory all = _all(listOf(otherClient, client), "", "", false);
        assertEq(all.clients.length, 3);
        _assertRow(all, 0, otherClient, 1, "a", "b");
        _assertRow(all, 1, client, 1, "a", "b");
        all = _all(listOf(otherClient, otherClient), "", "", false);
        assertEq(all.clients.length, 2);
        assertEq(_all(listOf(stranger), "", "", false).clients.length, 0);
    }

    function test_WhenTagsAreGiven_FiltersByBoth_R2() external {
        _fill();
        assertEq(_all(new address[](0), "a", "", true).clients.length, 3);
        assertEq(_all(new address[](0), "", "b", true).clients.length, 2);
        assertEq(_all(new address[](0), "b", "", true).clients.length, 0);
        All memory all = _all(new address[](0), "a", LONG_TAG, true);
        assertEq(all.clients.length, 1);
        _assertRow(all, 0, client, 2, "a", LONG_TAG);
        assertEq(_all(new address[](0), "a", LONG_TAG, false).clients.length, 0);
    }

    function test_WhenWindowIsAsked_ReadsWhatIsInIt() external {
        _fill();
        reputation.appendResponse(agentId, client, 2, "ipfs://response", 0);
        IReputation.FeedbackRecord[] memory records = reputation.readFeedbackWindow(agentId, client, 2, 9);
        assertEq(records.length, 2);
        assertEq(abi.encode(records[0]), abi.encode(IReputation.FeedbackRecord(2, 2, 1, "a", LONG_TAG, true, 1)));
        assertEq(abi.encode(records[1]), abi.encode(IReputation.FeedbackRecord(3, -3, 2, "", "", false, 0)));
        records = reputation.readFeedbackWindow(agentId, client, 1, 1);
        assertEq(records.length, 1);
        assertEq(abi.encode(records[0]), abi.encode(IReputation.FeedbackRecord(1, 1, 0, "a", "b", false, 0)));
        assertEq(reputation.readFeedbackWindow(agentId, client, 0, 2)[0].feedbackIndex, 1);
        assertEq(reputation.readFeedbackWindow(agentId, client, 0, 1).length, 0);
        assertEq(reputation.readFeedbackWindow(agentId, client, 0, 0).length, 0);
        assertEq(reputation.readFeedbackWindow(agentId, client, 3, type(uint64).max).length, 1);
        assertEq(reputation.readFeedbackWindow(agentId, client, 4, 1).length, 0);
        assertEq(reputation.readFeedbackWindow(agentId, client, type(uint64).max, type(uint64).max).length, 0);
    }

    function test_WhenClientsWindowIsAsked_ListsWhatIsInIt() external {
        _fill();
        assertEq(reputation.getClientCount(agentId), 2);
        assertEq(reputation.getClientsWindow(agentId, 0, 2), listOf(client, otherClient));
        assertEq(reputation.getClientsWindow(agentId, 0, 1), listOf(client));
        assertEq(reputation.getClientsWindow(agentId, 1, type(uint256).max), listOf(otherClient));
        assertEq(reputation.getClientsWindow(agentId, 0, 0).length, 0);
        assertEq(reputation.getClientsWindow(agentId, 2, 1).length, 0);
        assertEq(reputation.getClientsWindow(agentId, type(uint256).max, type(uint256).max).length, 0);
    }

    function _all(address[] memory clients, string memory tag1, string memory tag2, bool includeRevoked)
        private
        view
        returns (All memory all)
    {
        (all.clients, all.indexes, all.values, all.decimals, all.tag1s, all.tag2s, all.revoked) =
            reputation.readAllFeedback(agentId, clients, tag1, tag2, includeRevoked);
    }

    function _assertRow(All memory all, uint256 row, address from, uint64 index, string memory tag1, string memory tag2)
        private
        pure
    {
        assertEq(all.clients[row], from);
        assertEq(all.indexes[row], index);
        assertEq(all.tag1s[row], tag1);
        assertEq(all.tag2s[row], tag2);
    }

    function _assertNotFound(uint256 agent, address from, uint64 index) private {
        vm.expectRevert(abi.encodeWithSelector(IFeedback.FeedbackNotFound.selector, agent, from, index));
        reputation.readFeedback(agent, from, index);
    }
}
