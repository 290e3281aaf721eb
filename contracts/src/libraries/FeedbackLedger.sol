// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IBoundRegistry} from "../interfaces/IBoundRegistry.sol";
import {TagFilter} from "./TagFilters.sol";

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
    /// @param timestamp Of now, in seconds.
    /// @return index Counts from 1 for each client.
    function append(Ledger storage ledger, address client, uint64 timestamp, uint8 score, bytes32 tag1, bytes32 tag2)
        internal
        returns (uint64 index)
    {
        // R8. The index needs no check of its own: it is below the authorization's limit, which is a uint64.
        if (ledger.count == type(uint64).max || ledger.sum > type(uint64).max - score) {
            revert IBoundRegistry.CounterExhausted();
        }
        index = lastIndex(ledger, client) + 1;
        if (index == 1) ledger.clients.push(client);
        ledger.entries[client][index] = Entry({
            lastIndex: 0,
            timestamp: timestamp,
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

    /// @notice Count and sum of the scores that match and are not revoked, of the client's entries from index `from` to
    /// `to - 1`.
    /// @param to At most one more than the client's last index, which is a uint64.
    function totals(Ledger storage ledger, address client, uint256 from, uint256 to, TagFilter memory filter)
        internal
        view
        returns (uint64 count, uint64 sum)
    {
        mapping(uint64 index => Entry) storage entries = ledger.entries[client];
        for (uint256 index = from; index < to; ++index) {
            // forge-lint: disable-next-line(unsafe-typecast)
            Entry storage entry = entries[uint64(index)];
            // Read together, because they share a slot, which is then loaded once.
            (bool isRevoked, uint8 score) = (entry.isRevoked, entry.score);
            if (isRevoked || !matches(entry, filter)) continue;
            count += 1;
            sum += score;
        }
    }

    /// @notice Whether the entry has the tags that are looked for (R15), revoked or not. Loads no tag that may be any.
    function matches(Entry storage entry, TagFilter memory sought) internal view returns (bool) {
        if (sought.tag1.word != 0 && entry.tag1 != sought.tag1.word) return false;
        return sought.tag2.word == 0 || entry.tag2 == sought.tag2.word;
    }
}
