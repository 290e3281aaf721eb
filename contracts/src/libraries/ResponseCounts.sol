// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IBoundRegistry} from "../interfaces/IBoundRegistry.sol";

/// @notice How often a feedback was answered, in all and by whom.
struct ResponseCount {
    uint64 total;
    mapping(address responder => uint64) by;
}

/// @title ResponseCounts
library ResponseCounts {
    /// @notice Counts one more response, in all and for its responder.
    function append(ResponseCount storage responses, address responder) internal {
        // R8. A responder's own count is never above the total.
        if (responses.total == type(uint64).max) revert IBoundRegistry.CounterExhausted();
        responses.total += 1;
        responses.by[responder] += 1;
    }

    /// @notice The listed responders' responses, one listed twice counting twice; everyone's for an empty list.
    function count(ResponseCount storage responses, address[] calldata responders) internal view returns (uint64 sum) {
        if (responders.length == 0) return responses.total;
        for (uint256 i = 0; i < responders.length; ++i) {
            sum += responses.by[responders[i]];
        }
    }

    /// @notice The same over the feedback under the indices 1 to `last`.
    function countUpTo(
        mapping(uint64 index => ResponseCount) storage responses,
        uint64 last,
        address[] calldata responders
    ) internal view returns (uint64 sum) {
        for (uint64 index = 1; index <= last; ++index) {
            sum += count(responses[index], responders);
        }
    }
}
