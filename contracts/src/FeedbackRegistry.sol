// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {BoundRegistry} from "./BoundRegistry.sol";
import {IFeedback} from "./interfaces/IFeedback.sol";
import {ResponseCount, ResponseCounts} from "./libraries/ResponseCounts.sol";
import {TagFilter} from "./libraries/TagFilters.sol";
import {Windows} from "./libraries/Windows.sol";

/// @title FeedbackRegistry
/// @dev What both profiles do alike; documented in IFeedback. Clients and their feedback are kept by each profile in its
/// own form, responses here.
abstract contract FeedbackRegistry is BoundRegistry, IFeedback {
    using ResponseCounts for ResponseCount;
    using ResponseCounts for mapping(uint64 index => ResponseCount);
    using Windows for address[];

    /// @dev Counts only: the responses themselves are in events.
    mapping(uint256 agentId => mapping(address client => mapping(uint64 index => ResponseCount))) private _responses;

    constructor(address identityRegistry) BoundRegistry(identityRegistry) {}

    /// @inheritdoc IFeedback
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
        _requireFeedback(agentId, clientAddress, feedbackIndex);

        _responses[agentId][clientAddress][feedbackIndex].append(msg.sender);
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    /// @inheritdoc IFeedback
    function getResponseCount(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        address[] calldata responders
    ) external view returns (uint64 count) {
        if (clientAddress == address(0)) {
            address[] memory clients = _clients(agentId);
            for (uint256 i = 0; i < clients.length; ++i) {
                count += _countOfClient(agentId, clients[i], responders);
            }
        } else if (feedbackIndex == 0) {
            count = _countOfClient(agentId, clientAddress, responders);
        } else {
            count = _responses[agentId][clientAddress][feedbackIndex].count(responders);
        }
    }

    /// @inheritdoc IFeedback
    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return _lastIndex(agentId, clientAddress);
    }

    /// @inheritdoc IFeedback
    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _clients(agentId);
    }

    /// @inheritdoc IFeedback
    function getClientCount(uint256 agentId) external view returns (uint256) {
        return _clients(agentId).length;
    }

    /// @inheritdoc IFeedback
    function getClientsWindow(uint256 agentId, uint256 start, uint256 limit) external view returns (address[] memory) {
        return _clients(agentId).slice(start, limit);
    }

    /// @dev In the order of their first feedback.
    function _clients(uint256 agentId) internal view virtual returns (address[] storage);

    /// @dev 0 for a client without feedback.
    function _lastIndex(uint256 agentId, address client) internal view virtual returns (uint64);

    /// @dev Whether the feedback, which exists, has the tags that are looked for; if it is revoked, it must be wanted, too.
    function _matches(uint256 agentId, address client, uint64 index, TagFilter memory sought, bool includeRevoked)
        internal
        view
        virtual
        returns (bool);

    /// @dev Where the matching feedback of the listed clients is (of all for an empty list), in the order of the list and
    /// then of the indices. Looks at each once: there is room for all of it, and what is left over is cut off. Room for
    /// one costs less than to look at it again.
    function _find(uint256 agentId, address[] calldata clientAddresses, TagFilter memory sought, bool includeRevoked)
        internal
        view
        returns (address[] memory clients, uint64[] memory indexes)
    {
        address[] memory listed = clientAddresses;
        if (listed.length == 0) listed = _clients(agentId);
        uint256 room = 0;
        for (uint256 i = 0; i < listed.length; ++i) {
            room += _lastIndex(agentId, listed[i]);
        }
        clients = new address[](room);
        indexes = new uint64[](room);
        uint256 found = 0;
        for (uint256 i = 0; i < listed.length; ++i) {
            uint64 last = _lastIndex(agentId, listed[i]);
            for (uint64 index = 1; index <= last; ++index) {
                if (!_matches(agentId, listed[i], index, sought, includeRevoked)) continue;
                (clients[found], indexes[found]) = (listed[i], index);
                found += 1;
            }
        }
        assembly ("memory-safe") {
            mstore(clients, found)
            mstore(indexes, found)
        }
    }

    /// @dev R18. Reverts for an unknown agent, so that AgentNotFound comes before SelfFeedback.
    function _requireNotSelf(uint256 agentId) internal view {
        if (IDENTITY_REGISTRY.isAuthorizedOrOwner(msg.sender, agentId)) revert SelfFeedback(agentId, msg.sender);
    }

    /// @dev Revoked or not.
    function _requireFeedback(uint256 agentId, address client, uint64 index) internal view {
        if (index == 0 || index > _lastIndex(agentId, client)) revert FeedbackNotFound(agentId, client, index);
    }

    /// @dev Everybody's responses to one feedback.
    function _responseCount(uint256 agentId, address client, uint64 index) internal view returns (uint64) {
        return _responses[agentId][client][index].total;
    }

    /// @dev The responses to all feedback of one client, by the listed responders (by everyone for an empty list).
    function _countOfClient(uint256 agentId, address client, address[] calldata responders)
        private
        view
        returns (uint64)
    {
        return _responses[agentId][client].countUpTo(_lastIndex(agentId, client), responders);
    }
}
