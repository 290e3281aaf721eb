// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IBoundRegistry} from "../interfaces/IBoundRegistry.sol";
import {TagPair, TagPairs, TagShape} from "./TagPairs.sol";

/// @title OpenFeedbackLedger
/// @notice The open feedback on one agent.
/// @dev As in FeedbackLedger, a client's last index lives in the first slot of its feedback 1: a client with one
/// feedback is read, and known to have no more, with one slot. Feedback 1 is in a mapping of its own, which saves a
/// summary one hash for each client.
library OpenFeedbackLedger {
    using TagPairs for TagPair;

    /// @dev One slot.
    struct Feedback {
        int128 value;
        uint8 decimals;
        bool isRevoked;
        TagShape tagShape;
        uint64 lastIndex; // of the client; only in its feedback 1
    }

    /// @dev A feedback and its tags, whose lengths are in the feedback's slot.
    struct Entry {
        Feedback feedback;
        TagPair tags;
    }

    /// @dev The clients in the order of their first feedback, and their entries.
    struct Ledger {
        address[] clients;
        mapping(address client => Entry) firsts;
        mapping(address client => mapping(uint64 index => Entry)) others; // from index 2 on
    }

    /// @notice The index of the client's newest feedback; 0 for a client without feedback.
    function lastIndex(Ledger storage ledger, address client) internal view returns (uint64) {
        return ledger.firsts[client].feedback.lastIndex;
    }

    /// @notice The entry under an index, which may be vacant.
    function entry(Ledger storage ledger, address client, uint64 index) internal view returns (Entry storage) {
        return index == 1 ? ledger.firsts[client] : ledger.others[client][index];
    }

    /// @notice Stores a feedback under the next index.
    /// @dev Value and decimals are checked by the caller (R16).
    /// @return index Counts from 1 for each client.
    function append(
        Ledger storage ledger,
        address client,
        int128 value,
        uint8 decimals,
        string calldata tag1,
        string calldata tag2
    ) internal returns (uint64 index) {
        index = lastIndex(ledger, client);
        if (index == type(uint64).max) revert IBoundRegistry.CounterExhausted(); // R8
        index += 1;
        if (index == 1) ledger.clients.push(client);
        Entry storage added = entry(ledger, client, index);
        added.feedback = Feedback({
            value: value, decimals: decimals, isRevoked: false, tagShape: added.tags.write(tag1, tag2), lastIndex: 0
        });
        ledger.firsts[client].feedback.lastIndex = index;
    }
}
