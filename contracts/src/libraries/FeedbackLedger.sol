// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IFeedback} from "../interfaces/IFeedback.sol";

/// @title FeedbackLedger
/// @notice The authorized feedback of one agent, with totals that are kept and never recounted.
/// @dev A client's last index lives in the first slot of its feedback 1, which exists whenever the index is not 0:
/// a new client costs one slot less than with a slot of its own, and an old one costs the same.
library FeedbackLedger {
    /// @dev Slot 0: lastIndex, timestamp, score, isRevoked. Slots 1 and 2: the tags.
    struct Entry {
        uint64 lastIndex; // of the client; only in its entry 1
        uint64 timestamp; // seconds
        uint8 score;
        bool isRevoked;
        bytes32 tag1;
        bytes32 tag2;
    }

    /// @dev What a read asks for; tag 0 is any.
    struct Query {
        bytes32 tag1;
        bytes32 tag2;
        bool includeRevoked;
    }

    /// @dev Slot 0: count and sum of the entries that are not revoked.
    struct Ledger {
        uint64 count;
        uint64 sum;
        address[] clients;
        mapping(address client => mapping(uint64 index => Entry)) entries;
    }

    /// @notice The index of the client's newest feedback; 0 for a client without feedback.
    function lastIndex(Ledger storage ledger, address client) internal view returns (uint64) {
        return ledger.entries[client][1].lastIndex;
    }

    /// @notice Stores a feedback under the next index, and adds it to the totals.
    /// @return index Counts from 1 for each client.
    function append(Ledger storage ledger, address client, uint8 score, bytes32 tag1, bytes32 tag2)
        internal
        returns (uint64 index)
    {
        // R8. The index needs no check of its own: it is below the authorization's limit, which is a uint64.
        if (ledger.count == type(uint64).max || ledger.sum > type(uint64).max - score) {
            revert IFeedback.CounterExhausted();
        }
        index = lastIndex(ledger, client) + 1;
        if (index == 1) ledger.clients.push(client);
        ledger.entries[client][index] = Entry({
            lastIndex: 0,
            // 2^64 seconds are 584 thousand million years.
            // forge-lint: disable-next-line(unsafe-typecast)
            timestamp: uint64(block.timestamp),
            score: score,
            isRevoked: false,
            tag1: tag1, // R14: opaque, as tag2 is
            tag2: tag2
        });
        ledger.entries[client][1].lastIndex = index;
        ledger.count += 1;
        ledger.sum += score;
    }

    /// @dev The totals give back what the entry added; the index gives nothing back (R8).
    function revoke(Ledger storage ledger, address client, uint64 index) internal {
        Entry storage entry = ledger.entries[client][index];
        entry.isRevoked = true;
        ledger.count -= 1;
        ledger.sum -= entry.score;
    }

    /// @notice Where the matching entries of the listed clients are, in the order of the list and then of the indices.
    /// @dev Counts, then fills: memory costs more than reading a slot again.
    function find(Ledger storage ledger, address[] memory listed, Query memory query)
        internal
        view
        returns (address[] memory clients, uint64[] memory indexes)
    {
        uint256 length = _visit(ledger, listed, query, new address[](0), new uint64[](0));
        clients = new address[](length);
        indexes = new uint64[](length);
        _visit(ledger, listed, query, clients, indexes);
    }

    /// @dev Counts what matches; writes it down where the arrays have room.
    function _visit(
        Ledger storage ledger,
        address[] memory listed,
        Query memory query,
        address[] memory clients,
        uint64[] memory indexes
    ) private view returns (uint256 found) {
        for (uint256 i = 0; i < listed.length; ++i) {
            uint64 last = lastIndex(ledger, listed[i]);
            for (uint64 index = 1; index <= last; ++index) {
                if (!_matches(ledger.entries[listed[i]][index], query)) continue;
                if (found < clients.length) (clients[found], indexes[found]) = (listed[i], index);
                found += 1;
            }
        }
    }

    /// @dev R15: a zero tag in the query is any tag.
    function _matches(Entry storage entry, Query memory query) private view returns (bool) {
        if (entry.isRevoked && !query.includeRevoked) return false;
        if (query.tag1 != 0 && entry.tag1 != query.tag1) return false;
        return query.tag2 == 0 || entry.tag2 == query.tag2;
    }
}
