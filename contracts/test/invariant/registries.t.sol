// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IAuthorizedReputationRegistry} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {listOf} from "../actors/AddressLists.sol";
import {AuthPart, RegistryHandler} from "./RegistryHandler.sol";
import {Registries} from "../Registries.sol";

contract RegistriesInvariantTest is Test {
    bytes32 private constant TAG2 = "b"; // the handler's

    IIdentityRegistry private identity;
    IAuthorizedReputationRegistry private reputation;
    RegistryHandler private handler;

    function setUp() external {
        identity = Registries.newIdentityRegistry();
        reputation = Registries.newAuthorizedReputationRegistry(address(identity), false);
        handler = new RegistryHandler(identity, reputation);
        bytes4[] memory selectors = new bytes4[](8);
        selectors[0] = RegistryHandler.register.selector;
        selectors[1] = RegistryHandler.transfer.selector;
        selectors[2] = RegistryHandler.give.selector;
        selectors[3] = RegistryHandler.revoke.selector;
        selectors[4] = RegistryHandler.revokeAsAnother.selector;
        selectors[5] = RegistryHandler.giveWithoutGrant.selector;
        selectors[6] = RegistryHandler.respond.selector;
        selectors[7] = RegistryHandler.giveLater.selector;
        targetContract(address(handler));
        targetSelector(FuzzSelector(address(handler), selectors));
    }

    /// @dev R1, R3: owners are as transferred, and a wallet is there until the first transfer to another.
    function invariant_OwnerAndWalletAreAsRecorded_R3() external view {
        for (uint256 id = 1; id <= handler.agentCount(); ++id) {
            assertEq(identity.ownerOf(id), handler.expectedOwner(id));
            assertEq(identity.getAgentWallet(id), handler.expectedWallet(id));
        }
        assertEq(identity.getAgentWallet(handler.agentCount() + 1), address(0));
    }

    /// @dev R8: one index for each feedback that was ever accepted, and none beside.
    function invariant_LastIndexCountsAcceptedFeedback_R8() external view {
        for (uint256 id = 1; id <= handler.agentCount(); ++id) {
            for (uint256 i = 0; i < handler.clientCount(); ++i) {
                address client = handler.clientAt(i);
                assertEq(reputation.getLastIndex(id, client), handler.expectedLastIndex(id, client));
            }
        }
    }

    /// @dev R15: the totals are those of a recount, from the registry's own reads and from the record.
    function invariant_TotalsAreThoseOfARecount_R15() external view {
        for (uint256 id = 1; id <= handler.agentCount(); ++id) {
            (uint64 count, uint64 sum) = reputation.getTotals(id);
            (uint256 readCount, uint256 readSum) = _recountReads(id);
            (uint256 givenCount, uint256 givenSum) = _recountRecord(id);
            assertEq(count, readCount);
            assertEq(sum, readSum);
            assertEq(count, givenCount);
            assertEq(sum, givenSum);
            (uint64 summaryCount, uint8 average) = reputation.getSummary(id);
            assertEq(summaryCount, count);
            assertEq(average, count == 0 ? 0 : sum / count);
        }
    }

    /// @dev An entry is revoked if and only if its reviewer revoked it; everything else in it stays as given.
    function invariant_EntriesAreAsTheirReviewersLeftThem() external view {
        for (uint256 i = 0; i < handler.givenCount(); ++i) {
            RegistryHandler.Given memory given = handler.givenAt(i);
            (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 time) =
                reputation.readFeedback(given.agentId, given.client, given.index);
            assertEq(score, given.score);
            assertEq(tag1, given.tag1);
            assertEq(tag2, TAG2);
            assertEq(isRevoked, given.isRevoked);
            assertEq(time, given.time);
            assertEq(
                reputation.getResponseCount(given.agentId, given.client, given.index, new address[](0)), given.responses
            );
        }
    }

    /// @dev R15: a filtered summary is that of the matching in the record: by a tag, and by a tag and a client.
    function invariant_FilteredTotalsAreThoseOfTheRecord_R15() external view {
        address[] memory listed = listOf(handler.clientAt(0));
        for (uint256 id = 1; id <= handler.agentCount(); ++id) {
            _assertFiltered(id, "a", new address[](0));
            _assertFiltered(id, "c", listed);
            _assertFiltered(id, "", listed);
        }
    }

    /// @dev R19: everybody's responses over all agents are those that were sent.
    function invariant_ResponsesAddUp_R19() external view {
        for (uint256 i = 0; i < handler.clientCount(); ++i) {
            address responder = handler.clientAt(i);
            uint256 counted = 0;
            for (uint256 id = 1; id <= handler.agentCount(); ++id) {
                counted += reputation.getResponseCount(id, address(0), 0, listOf(responder));
            }
            assertEq(counted, handler.expectedResponses(responder));
        }
    }

    /// @dev Everybody with an index is listed, once, in the order of the first feedback.
    function invariant_ClientsAreListedOnceInOrder() external view {
        for (uint256 id = 1; id <= handler.agentCount(); ++id) {
            address[] memory clients = reputation.getClients(id);
            uint256 next = 0;
            for (uint256 i = 0; i < handler.givenCount(); ++i) {
                RegistryHandler.Given memory given = handler.givenAt(i);
                if (given.agentId == id && given.index == 1) assertEq(clients[next++], given.client);
            }
            assertEq(clients.length, next);
        }
    }

    /// @dev A run in which an operation never happened has shown nothing about it.
    function afterInvariant() external view {
        assertGt(handler.calls("give"), 0);
        assertGt(handler.calls("transfer"), 0);
        assertGt(handler.calls("revoke"), 0);
        assertGt(handler.calls("revoke as another"), 0);
        assertGt(handler.calls("give with an expired grant"), 0);
        assertGt(handler.calls("give with an older grant"), 0);
        for (uint256 i = 0; i <= uint256(type(AuthPart).max); ++i) {
            assertGt(handler.refusals(AuthPart(i)), 0);
        }
        assertGt(handler.calls("respond"), 0);
    }

    /// @param listed One client, or none for all of them.
    function _assertFiltered(uint256 agentId, bytes32 tag1, address[] memory listed) private view {
        uint256 count = 0;
        uint256 sum = 0;
        for (uint256 i = 0; i < handler.givenCount(); ++i) {
            RegistryHandler.Given memory given = handler.givenAt(i);
            if (given.agentId != agentId || given.isRevoked) continue;
            if (tag1 != 0 && given.tag1 != tag1) continue;
            if (listed.length != 0 && given.client != listed[0]) continue;
            count += 1;
            sum += given.score;
        }
        (uint64 foundCount, uint64 foundSum) = reputation.getTotals(agentId, listed, tag1, TAG2);
        assertEq(foundCount, count);
        assertEq(foundSum, sum);
        (uint64 summaryCount, uint8 average) = reputation.getSummary(agentId, listed, tag1, 0);
        assertEq(summaryCount, count);
        assertEq(average, count == 0 ? 0 : sum / count);
    }

    function _recountReads(uint256 agentId) private view returns (uint256 count, uint256 sum) {
        address[] memory clients = reputation.getClients(agentId);
        for (uint256 i = 0; i < clients.length; ++i) {
            uint64 last = reputation.getLastIndex(agentId, clients[i]);
            for (uint64 index = 1; index <= last; ++index) {
                (uint8 score,,, bool isRevoked,) = reputation.readFeedback(agentId, clients[i], index);
                if (isRevoked) continue;
                count += 1;
                sum += score;
            }
        }
    }

    function _recountRecord(uint256 agentId) private view returns (uint256 count, uint256 sum) {
        for (uint256 i = 0; i < handler.givenCount(); ++i) {
            RegistryHandler.Given memory given = handler.givenAt(i);
            if (given.agentId != agentId || given.isRevoked) continue;
            count += 1;
            sum += given.score;
        }
    }
}
