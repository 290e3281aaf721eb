// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {IReputationRegistry} from "./interfaces/IReputationRegistry.sol";
import {OpenFeedbackLedger} from "./libraries/OpenFeedbackLedger.sol";
import {ResponseCount, ResponseCounts} from "./libraries/ResponseCounts.sol";
import {SummaryParts} from "./libraries/SummaryParts.sol";
import {TagFilter, TagPair, TagPairs} from "./libraries/TagPairs.sol";
import {Windows} from "./libraries/Windows.sol";

/// @title ReputationRegistry
/// @dev Documented in IReputationRegistry. The identity registry is called by STATICCALL only.
contract ReputationRegistry is IReputationRegistry {
    using OpenFeedbackLedger for OpenFeedbackLedger.Ledger;
    using ResponseCounts for ResponseCount;
    using ResponseCounts for mapping(uint64 index => ResponseCount);
    using SummaryParts for SummaryPart;
    using TagPairs for TagPair;
    using Windows for address[];

    IIdentityRegistry private immutable IDENTITY_REGISTRY;

    mapping(uint256 agentId => OpenFeedbackLedger.Ledger) private _ledgers;

    constructor(address identityRegistry) {
        if (identityRegistry == address(0)) revert RegistryZero();
        IDENTITY_REGISTRY = IIdentityRegistry(identityRegistry);
    }

    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string calldata tag1,
        string calldata tag2,
        string calldata endpoint,
        string calldata feedbackURI,
        bytes32 feedbackHash
    ) external {
        if (valueDecimals > SummaryParts.DECIMALS_MAX) {
            revert DecimalsOutOfRange(valueDecimals); // R16
        }
        if (value > SummaryParts.VALUE_MAX || value < -SummaryParts.VALUE_MAX) revert ValueOutOfRange(value); // R16
        // Reverts for an unknown agent, so that AgentNotFound comes before SelfFeedback.
        if (IDENTITY_REGISTRY.isAuthorizedOrOwner(msg.sender, agentId)) revert SelfFeedback(agentId, msg.sender); // R18

        uint64 index = _ledgers[agentId].append(msg.sender, value, valueDecimals, tag1, tag2);
        emit NewFeedback(
            agentId, msg.sender, index, value, valueDecimals, tag1, tag1, tag2, endpoint, feedbackURI, feedbackHash
        );
    }

    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        OpenFeedbackLedger.Entry storage entry = _existing(agentId, msg.sender, feedbackIndex);
        if (entry.feedback.isRevoked) revert AlreadyRevoked(agentId, msg.sender, feedbackIndex);

        entry.feedback.isRevoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external {
        // §3a: an index that can never be answers before the URI, one that is not yet answers after it.
        if (feedbackIndex == 0) revert FeedbackNotFound(agentId, clientAddress, 0);
        if (bytes(responseURI).length == 0) revert EmptyUri(); // R19
        _existing(agentId, clientAddress, feedbackIndex);

        _ledgers[agentId].responses[clientAddress][feedbackIndex].append(msg.sender);
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    function getSummary(uint256 agentId, address[] calldata clientAddresses, string calldata tag1, string calldata tag2)
        external
        view
        returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals)
    {
        return getSummaryPart(agentId, clientAddresses, tag1, tag2).finish();
    }

    function getSummaryPart(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2
    ) public view returns (SummaryPart memory part) {
        if (clientAddresses.length == 0) revert EmptyClients(); // R16
        TagFilter memory filter = TagPairs.filter(tag1, tag2);
        OpenFeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        for (uint256 i = 0; i < clientAddresses.length; ++i) {
            _addClient(part, ledger.entries[clientAddresses[i]], filter);
        }
    }

    function getSummaryPartOfClients(
        uint256 agentId,
        uint256 start,
        uint256 limit,
        string calldata tag1,
        string calldata tag2
    ) external view returns (SummaryPart memory part) {
        TagFilter memory filter = TagPairs.filter(tag1, tag2);
        OpenFeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        address[] memory clients = ledger.clients.slice(start, limit);
        for (uint256 i = 0; i < clients.length; ++i) {
            _addClient(part, ledger.entries[clients[i]], filter);
        }
    }

    function getSummaryPartOfIndices(
        uint256 agentId,
        address clientAddress,
        uint64 start,
        uint64 limit,
        string calldata tag1,
        string calldata tag2
    ) external view returns (SummaryPart memory part) {
        TagFilter memory filter = TagPairs.filter(tag1, tag2);
        mapping(uint64 => OpenFeedbackLedger.Entry) storage entries = _ledgers[agentId].entries[clientAddress];
        (uint256 from, uint256 to) = Windows.indices(start, limit, _ledgers[agentId].lastIndex(clientAddress));
        for (uint256 index = from; index < to; ++index) {
            // At most the last index, which is a uint64.
            // forge-lint: disable-next-line(unsafe-typecast)
            OpenFeedbackLedger.Entry storage entry = entries[uint64(index)];
            _addEntry(part, entry, filter);
        }
    }

    function finishSummary(SummaryPart[] calldata parts)
        external
        pure
        returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals)
    {
        SummaryPart memory whole;
        for (uint256 i = 0; i < parts.length; ++i) {
            if (!SummaryParts.isPossible(parts[i])) revert SummaryPartMismatch(i);
            whole.merge(parts[i]);
        }
        return whole.finish();
    }

    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        OpenFeedbackLedger.Entry storage entry = _existing(agentId, clientAddress, feedbackIndex);
        OpenFeedbackLedger.Feedback memory feedback = entry.feedback;
        (tag1, tag2) = entry.tags.read(feedback.tagShape);
        return (feedback.value, feedback.decimals, tag1, tag2, feedback.isRevoked);
    }

    function readAllFeedback(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2,
        bool includeRevoked
    )
        external
        view
        returns (
            address[] memory clients,
            uint64[] memory feedbackIndexes,
            int128[] memory values,
            uint8[] memory valueDecimals,
            string[] memory tag1s,
            string[] memory tag2s,
            bool[] memory revokedStatuses
        )
    {
        OpenFeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        clients = clientAddresses;
        if (clients.length == 0) clients = ledger.clients;
        (clients, feedbackIndexes) = ledger.find(clients, TagPairs.filter(tag1, tag2), includeRevoked);
        values = new int128[](clients.length);
        valueDecimals = new uint8[](clients.length);
        tag1s = new string[](clients.length);
        tag2s = new string[](clients.length);
        revokedStatuses = new bool[](clients.length);
        for (uint256 i = 0; i < clients.length; ++i) {
            OpenFeedbackLedger.Entry storage entry = ledger.entries[clients[i]][feedbackIndexes[i]];
            OpenFeedbackLedger.Feedback memory feedback = entry.feedback;
            values[i] = feedback.value;
            valueDecimals[i] = feedback.decimals;
            (tag1s[i], tag2s[i]) = entry.tags.read(feedback.tagShape);
            revokedStatuses[i] = feedback.isRevoked;
        }
    }

    function readFeedbackWindow(uint256 agentId, address clientAddress, uint64 start, uint64 limit)
        external
        view
        returns (FeedbackRecord[] memory records)
    {
        OpenFeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        (uint256 from, uint256 to) = Windows.indices(start, limit, ledger.lastIndex(clientAddress));
        records = new FeedbackRecord[](to - from);
        for (uint256 i = 0; i < records.length; ++i) {
            // At most the last index, which is a uint64.
            // forge-lint: disable-next-line(unsafe-typecast)
            uint64 index = uint64(from + i);
            OpenFeedbackLedger.Entry storage entry = ledger.entries[clientAddress][index];
            OpenFeedbackLedger.Feedback memory feedback = entry.feedback;
            (string memory tag1, string memory tag2) = entry.tags.read(feedback.tagShape);
            records[i] = FeedbackRecord({
                feedbackIndex: index,
                value: feedback.value,
                valueDecimals: feedback.decimals,
                tag1: tag1,
                tag2: tag2,
                isRevoked: feedback.isRevoked,
                responseCount: ledger.responses[clientAddress][index].total
            });
        }
    }

    function getResponseCount(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        address[] calldata responders
    ) external view returns (uint64 count) {
        OpenFeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        if (clientAddress == address(0)) {
            address[] memory clients = ledger.clients;
            for (uint256 i = 0; i < clients.length; ++i) {
                count += ledger.responses[clients[i]].countUpTo(ledger.lastIndex(clients[i]), responders);
            }
        } else if (feedbackIndex == 0) {
            count = ledger.responses[clientAddress].countUpTo(ledger.lastIndex(clientAddress), responders);
        } else {
            count = ledger.responses[clientAddress][feedbackIndex].count(responders);
        }
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return _ledgers[agentId].lastIndex(clientAddress);
    }

    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _ledgers[agentId].clients;
    }

    function getClientCount(uint256 agentId) external view returns (uint256) {
        return _ledgers[agentId].clients.length;
    }

    function getClientsWindow(uint256 agentId, uint256 start, uint256 limit) external view returns (address[] memory) {
        return _ledgers[agentId].clients.slice(start, limit);
    }

    function getIdentityRegistry() external view returns (address) {
        return address(IDENTITY_REGISTRY);
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0-concord.1";
    }

    /// @dev Everything that the client gave. The first slot says how much that is.
    function _addClient(
        SummaryPart memory part,
        mapping(uint64 index => OpenFeedbackLedger.Entry) storage entries,
        TagFilter memory filter
    ) private view {
        OpenFeedbackLedger.Entry storage first = entries[1];
        uint64 last = first.feedback.lastIndex;
        if (last == 0) return;
        _addEntry(part, first, filter);
        for (uint64 index = 2; index <= last; ++index) {
            _addEntry(part, entries[index], filter);
        }
    }

    /// @dev R16: revoked feedback is left out, and what the filter does not match.
    function _addEntry(SummaryPart memory part, OpenFeedbackLedger.Entry storage entry, TagFilter memory filter)
        private
        view
    {
        OpenFeedbackLedger.Feedback storage feedback = entry.feedback;
        if (feedback.isRevoked || !entry.tags.matches(feedback.tagShape, filter)) return;
        part.add(feedback.value, feedback.decimals);
    }

    function _existing(uint256 agentId, address client, uint64 feedbackIndex)
        private
        view
        returns (OpenFeedbackLedger.Entry storage)
    {
        OpenFeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        if (!ledger.contains(client, feedbackIndex)) revert FeedbackNotFound(agentId, client, feedbackIndex);
        return ledger.entries[client][feedbackIndex];
    }
}
