// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {FeedbackRegistry} from "./FeedbackRegistry.sol";
import {IFeedback} from "./interfaces/IFeedback.sol";
import {IReputationRegistry} from "./interfaces/IReputationRegistry.sol";
import {OpenFeedbackLedger} from "./libraries/OpenFeedbackLedger.sol";
import {SummaryParts} from "./libraries/SummaryParts.sol";
import {TagFilter, TagFilters} from "./libraries/TagFilters.sol";
import {TagPair, TagPairs, TagShape} from "./libraries/TagPairs.sol";
import {Windows} from "./libraries/Windows.sol";

/// @title ReputationRegistry
/// @dev Documented in IReputationRegistry. The identity registry is called by STATICCALL only.
contract ReputationRegistry is FeedbackRegistry, IReputationRegistry {
    using OpenFeedbackLedger for OpenFeedbackLedger.Ledger;
    using SummaryParts for SummaryPart;
    using SummaryParts for int256[19];
    using TagPairs for TagPair;
    using Windows for address[];

    /// @dev Private: reads go through the interface alone.
    mapping(uint256 agentId => OpenFeedbackLedger.Ledger) private _ledgers;

    constructor(address identityRegistry) FeedbackRegistry(identityRegistry) {}

    /// @inheritdoc IReputationRegistry
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
        _requireNotSelf(agentId); // R18

        uint64 index = _ledgers[agentId].append(msg.sender, value, valueDecimals, tag1, tag2);
        emit NewFeedback(
            agentId, msg.sender, index, value, valueDecimals, tag1, tag1, tag2, endpoint, feedbackURI, feedbackHash
        );
    }

    /// @inheritdoc IFeedback
    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        _requireFeedback(agentId, msg.sender, feedbackIndex);
        OpenFeedbackLedger.Feedback storage feedback = _ledgers[agentId].entry(msg.sender, feedbackIndex).feedback;
        if (feedback.isRevoked) revert AlreadyRevoked(agentId, msg.sender, feedbackIndex);

        feedback.isRevoked = true;
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    /// @inheritdoc IReputationRegistry
    function getSummary(uint256 agentId, address[] calldata clientAddresses, string calldata tag1, string calldata tag2)
        external
        view
        returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals)
    {
        return getSummaryPart(agentId, clientAddresses, tag1, tag2).finish();
    }

    /// @inheritdoc IReputationRegistry
    function getSummaryPart(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2
    ) public view returns (SummaryPart memory part) {
        if (clientAddresses.length == 0) revert EmptyClients(); // R16
        TagFilter memory filter = TagFilters.ofTexts(tag1, tag2);
        OpenFeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        int256[19] memory tally;
        // Not shared with the function below: to copy the list to memory costs 65 gas a client.
        for (uint256 i = 0; i < clientAddresses.length; ++i) {
            _tallyClient(tally, ledger, clientAddresses[i], filter);
        }
        part = tally.toPart();
    }

    /// @inheritdoc IReputationRegistry
    function getSummaryPartOfClients(
        uint256 agentId,
        uint256 start,
        uint256 limit,
        string calldata tag1,
        string calldata tag2
    ) external view returns (SummaryPart memory part) {
        TagFilter memory filter = TagFilters.ofTexts(tag1, tag2);
        OpenFeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        address[] memory clients = ledger.clients.slice(start, limit);
        int256[19] memory tally;
        for (uint256 i = 0; i < clients.length; ++i) {
            _tallyClient(tally, ledger, clients[i], filter);
        }
        part = tally.toPart();
    }

    /// @inheritdoc IReputationRegistry
    function getSummaryPartOfIndices(
        uint256 agentId,
        address clientAddress,
        uint64 start,
        uint64 limit,
        string calldata tag1,
        string calldata tag2
    ) external view returns (SummaryPart memory part) {
        TagFilter memory filter = TagFilters.ofTexts(tag1, tag2);
        OpenFeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        (uint256 from, uint256 to) = Windows.indices(start, limit, ledger.lastIndex(clientAddress));
        int256[19] memory tally;
        for (uint256 index = from; index < to; ++index) {
            // At most the last index, which is a uint64.
            // forge-lint: disable-next-line(unsafe-typecast)
            _tallyEntry(tally, ledger.entry(clientAddress, uint64(index)), filter);
        }
        part = tally.toPart();
    }

    /// @inheritdoc IReputationRegistry
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

    /// @inheritdoc IReputationRegistry
    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked)
    {
        _requireFeedback(agentId, clientAddress, feedbackIndex);
        OpenFeedbackLedger.Entry storage entry = _ledgers[agentId].entry(clientAddress, feedbackIndex);
        OpenFeedbackLedger.Feedback memory feedback = entry.feedback;
        (tag1, tag2) = entry.tags.read(feedback.tagShape);
        return (feedback.value, feedback.decimals, tag1, tag2, feedback.isRevoked);
    }

    /// @inheritdoc IReputationRegistry
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
        (clients, feedbackIndexes) = _find(agentId, clientAddresses, TagFilters.ofTexts(tag1, tag2), includeRevoked);
        values = new int128[](clients.length);
        valueDecimals = new uint8[](clients.length);
        tag1s = new string[](clients.length);
        tag2s = new string[](clients.length);
        revokedStatuses = new bool[](clients.length);
        for (uint256 i = 0; i < clients.length; ++i) {
            OpenFeedbackLedger.Entry storage entry = ledger.entry(clients[i], feedbackIndexes[i]);
            OpenFeedbackLedger.Feedback memory feedback = entry.feedback;
            values[i] = feedback.value;
            valueDecimals[i] = feedback.decimals;
            (tag1s[i], tag2s[i]) = entry.tags.read(feedback.tagShape);
            revokedStatuses[i] = feedback.isRevoked;
        }
    }

    /// @inheritdoc IReputationRegistry
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
            OpenFeedbackLedger.Entry storage entry = ledger.entry(clientAddress, index);
            OpenFeedbackLedger.Feedback memory feedback = entry.feedback;
            (string memory tag1, string memory tag2) = entry.tags.read(feedback.tagShape);
            records[i] = FeedbackRecord({
                feedbackIndex: index,
                value: feedback.value,
                valueDecimals: feedback.decimals,
                tag1: tag1,
                tag2: tag2,
                isRevoked: feedback.isRevoked,
                responseCount: _responseCount(agentId, clientAddress, index)
            });
        }
    }

    /// @dev Takes in everything that the client gave. Its first entry says how much that is, and is not left to
    /// `_tallyEntry`, because that costs 150 gas for each client.
    function _tallyClient(
        int256[19] memory tally,
        OpenFeedbackLedger.Ledger storage ledger,
        address client,
        TagFilter memory filter
    ) private view {
        OpenFeedbackLedger.Entry storage first = ledger.firsts[client];
        OpenFeedbackLedger.Feedback storage feedback = first.feedback;
        (uint64 last, bool isRevoked, TagShape shape) = (feedback.lastIndex, feedback.isRevoked, feedback.tagShape);
        (int128 value, uint8 decimals) = (feedback.value, feedback.decimals);
        if (last == 0) return;
        if (!isRevoked && (filter.isAny || first.tags.matches(shape, filter))) tally.add(value, decimals);
        for (uint64 index = 2; index <= last; ++index) {
            _tallyEntry(tally, ledger.others[client][index], filter);
        }
    }

    /// @dev R16: takes the entry in unless it is revoked or the filter does not match it. The fields are read together,
    /// here and above, because they share a slot, which is then loaded once.
    function _tallyEntry(int256[19] memory tally, OpenFeedbackLedger.Entry storage entry, TagFilter memory filter)
        private
        view
    {
        OpenFeedbackLedger.Feedback storage feedback = entry.feedback;
        (bool isRevoked, TagShape shape) = (feedback.isRevoked, feedback.tagShape);
        (int128 value, uint8 decimals) = (feedback.value, feedback.decimals);
        if (!isRevoked && (filter.isAny || entry.tags.matches(shape, filter))) tally.add(value, decimals);
    }

    /// @inheritdoc FeedbackRegistry
    function _clients(uint256 agentId) internal view override returns (address[] storage) {
        return _ledgers[agentId].clients;
    }

    /// @inheritdoc FeedbackRegistry
    function _lastIndex(uint256 agentId, address client) internal view override returns (uint64) {
        return _ledgers[agentId].lastIndex(client);
    }

    /// @inheritdoc FeedbackRegistry
    function _matches(uint256 agentId, address client, uint64 index, TagFilter memory sought, bool includeRevoked)
        internal
        view
        override
        returns (bool)
    {
        OpenFeedbackLedger.Entry storage entry = _ledgers[agentId].entry(client, index);
        OpenFeedbackLedger.Feedback storage feedback = entry.feedback;
        (bool isRevoked, TagShape shape) = (feedback.isRevoked, feedback.tagShape);
        return (includeRevoked || !isRevoked) && entry.tags.matches(shape, sought);
    }
}
