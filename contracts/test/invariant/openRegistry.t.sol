// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {IReputationRegistry as IReputation} from "../../src/interfaces/IReputationRegistry.sol";
import {listOf} from "../actors/AddressLists.sol";
import {SummaryReference} from "../actors/SummaryReference.sol";
import {OpenRegistryHandler} from "./OpenRegistryHandler.sol";
import {Registries} from "../Registries.sol";

contract OpenRegistryInvariantTest is Test {
    IReputation private reputation;
    OpenRegistryHandler private handler;

    function setUp() external {
        IIdentityRegistry identity = Registries.newIdentityRegistry();
        reputation = Registries.newReputationRegistry(address(identity));
        handler = new OpenRegistryHandler(identity, reputation);
        bytes4[] memory selectors = new bytes4[](6);
        selectors[0] = OpenRegistryHandler.give.selector;
        selectors[1] = OpenRegistryHandler.giveOutOfRange.selector;
        selectors[2] = OpenRegistryHandler.giveToOneself.selector;
        selectors[3] = OpenRegistryHandler.revoke.selector;
        selectors[4] = OpenRegistryHandler.revokeAsOwner.selector;
        selectors[5] = OpenRegistryHandler.respond.selector;
        targetContract(address(handler));
        targetSelector(FuzzSelector(address(handler), selectors));
    }

    /// @dev R8: one index for each feedback that was ever accepted, and none beside.
    function invariant_LastIndexCountsAcceptedFeedback_R8() external view {
        address[] memory clients = handler.allClients();
        for (uint256 id = 1; id <= handler.AGENTS(); ++id) {
            for (uint256 i = 0; i < clients.length; ++i) {
                assertEq(reputation.getLastIndex(id, clients[i]), handler.expectedLastIndex(id, clients[i]));
            }
        }
    }

    /// @dev R16: the summary is the reference's over the record, whole, filtered, and from parts.
    function invariant_SummaryIsTheReferencesOverTheRecord_R16() external view {
        for (uint256 id = 1; id <= handler.AGENTS(); ++id) {
            _assertSummary(id, "");
            _assertSummary(id, id == 1 ? "quality" : "more than thirty-two bytes in one tag");
        }
    }

    /// @dev An entry is as its reviewer left it, and its responses are counted.
    function invariant_EntriesAreAsTheirReviewersLeftThem_R19() external view {
        for (uint256 i = 0; i < handler.givenCount(); ++i) {
            OpenRegistryHandler.Given memory given = handler.givenAt(i);
            (int128 value, uint8 decimals, string memory tag1, string memory tag2, bool isRevoked) =
                reputation.readFeedback(given.agentId, given.client, given.index);
            assertEq(value, given.value);
            assertEq(decimals, given.decimals);
            assertEq(tag1, given.tag1);
            assertEq(tag2, given.tag2);
            assertEq(isRevoked, given.isRevoked);
            assertEq(
                reputation.getResponseCount(given.agentId, given.client, given.index, new address[](0)), given.responses
            );
        }
    }

    /// @dev R19: everybody's responses over all agents are those that were sent.
    function invariant_ResponsesAddUp_R19() external view {
        address[] memory clients = handler.allClients();
        for (uint256 i = 0; i < clients.length; ++i) {
            uint256 counted = 0;
            for (uint256 id = 1; id <= handler.AGENTS(); ++id) {
                counted += reputation.getResponseCount(id, address(0), 0, listOf(clients[i]));
            }
            assertEq(counted, handler.expectedResponses(clients[i]));
        }
    }

    /// @dev Everybody with an index is listed, once, in the order of the first feedback.
    function invariant_ClientsAreListedOnceInOrder() external view {
        for (uint256 id = 1; id <= handler.AGENTS(); ++id) {
            address[] memory clients = reputation.getClients(id);
            uint256 next = 0;
            for (uint256 i = 0; i < handler.givenCount(); ++i) {
                OpenRegistryHandler.Given memory given = handler.givenAt(i);
                if (given.agentId == id && given.index == 1) assertEq(clients[next++], given.client);
            }
            assertEq(clients.length, next);
        }
    }

    /// @dev A run in which an operation never happened has shown nothing about it.
    function afterInvariant() external view {
        assertGt(handler.calls("give"), 0);
        assertGt(handler.calls("give out of range"), 0);
        assertGt(handler.calls("give to oneself"), 0);
        assertGt(handler.calls("revoke"), 0);
        assertGt(handler.calls("revoke as owner"), 0);
        assertGt(handler.calls("respond"), 0);
    }

    function _assertSummary(uint256 agentId, string memory tag1) private view {
        (uint64 count, int128 value, uint8 decimals) = SummaryReference.summarize(handler.kept(agentId, tag1));
        (uint64 c, int128 v, uint8 d) = reputation.getSummary(agentId, handler.allClients(), tag1, "");
        assertEq(c, count);
        assertEq(v, value);
        assertEq(d, decimals);
        _assertFinished(_partsOfClients(agentId, tag1), count, value, decimals);
        _assertFinished(_partsOfIndices(agentId, tag1), count, value, decimals);
    }

    function _partsOfClients(uint256 agentId, string memory tag1)
        private
        view
        returns (IReputation.SummaryPart[] memory parts)
    {
        parts = new IReputation.SummaryPart[](2);
        parts[0] = reputation.getSummaryPartOfClients(agentId, 0, 1, tag1, "");
        parts[1] = reputation.getSummaryPartOfClients(agentId, 1, 9, tag1, "");
    }

    function _partsOfIndices(uint256 agentId, string memory tag1)
        private
        view
        returns (IReputation.SummaryPart[] memory parts)
    {
        address[] memory clients = handler.allClients();
        parts = new IReputation.SummaryPart[](2 * clients.length);
        for (uint256 i = 0; i < clients.length; ++i) {
            parts[2 * i] = reputation.getSummaryPartOfIndices(agentId, clients[i], 0, 3, tag1, "");
            parts[2 * i + 1] = reputation.getSummaryPartOfIndices(agentId, clients[i], 3, type(uint64).max, tag1, "");
        }
    }

    function _assertFinished(IReputation.SummaryPart[] memory parts, uint64 count, int128 value, uint8 decimals)
        private
        view
    {
        (uint64 c, int128 v, uint8 d) = reputation.finishSummary(parts);
        assertEq(c, count);
        assertEq(v, value);
        assertEq(d, decimals);
    }
}
