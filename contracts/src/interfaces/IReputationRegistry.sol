// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IFeedback} from "./IFeedback.sol";

/// @title Reputation registry of the open profile: a value with decimals, from anyone but the agent's own people
/// @notice Selectors and topics are those of the canonical ERC-8004 registry 2.0.0 (R2). Beside them stand windows and
/// summaries in parts, which carry an agent with more feedback than one call can read.
/// @dev A tag given as a filter matches by its bytes; the empty one matches all. A window names a start and a limit and
/// holds what exists of it. Indices count from 1 per agent and client and never go back (R8).
interface IReputationRegistry is IFeedback {
    /// @notice A summary in the making. Parts over disjoint feedback add up, field by field, to the part over all.
    struct SummaryPart {
        /// Sum of the values, each scaled to 18 decimals.
        int256 sum;
        /// How many values that are.
        uint64 count;
        /// How many of them have 0, 1, … 18 decimals.
        uint64[19] histogram;
    }

    /// @notice One feedback in a window.
    struct FeedbackRecord {
        uint64 feedbackIndex;
        int128 value;
        uint8 valueDecimals;
        string tag1;
        string tag2;
        bool isRevoked;
        uint64 responseCount;
    }

    /// @notice Emitted when `clientAddress` gave feedback. Endpoint, URI and hash are only reported here.
    /// @param value The value, times 10^decimals.
    /// @param valueDecimals Decimals of the value, 0 to 18.
    /// @param indexedTag1 The first tag as a topic: its keccak256.
    /// @param tag1 The first tag.
    /// @param tag2 The second tag.
    /// @param endpoint The service that was rated; any text.
    /// @param feedbackURI Where the feedback file is; may be empty.
    /// @param feedbackHash keccak256 of the bytes at the URI by convention (R21); may be zero.
    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        int128 value,
        uint8 valueDecimals,
        string indexed indexedTag1,
        string tag1,
        string tag2,
        string endpoint,
        string feedbackURI,
        bytes32 feedbackHash
    );

    /// @notice Thrown when `decimals` is above 18.
    /// @param decimals The decimals that were given.
    error DecimalsOutOfRange(uint8 decimals);

    /// @notice Thrown when `value` is above 1e38 or below -1e38.
    /// @param value The value that was given.
    error ValueOutOfRange(int128 value);

    /// @notice Thrown when a summary names no clients.
    error EmptyClients();

    /// @notice Thrown when the part at `position` is none that feedback makes: the histogram does not add up to the
    /// count; or the sum is more than values of 1e38 make at the decimals of the histogram, or less than values of -1e38;
    /// or it has a smaller unit than the value with the most decimals.
    /// @param position The part, counted from 0.
    error SummaryPartMismatch(uint256 position);

    /// @notice Gives the caller's feedback on an agent: `value / 10^valueDecimals`.
    /// @dev Reverts with `DecimalsOutOfRange`, `ValueOutOfRange`, `ERC721NonexistentToken`, `SelfFeedback`, in this
    /// order; and with `CounterExhausted` after 2^64 - 1 feedbacks by one client.
    /// @param value -1e38 to 1e38.
    /// @param valueDecimals 0 to 18.
    /// @param tag1 The first tag; any text; may be empty.
    /// @param tag2 The second tag, as the first.
    /// @param endpoint The service that was rated; any text.
    /// @param feedbackURI Where the feedback file is; may be empty.
    /// @param feedbackHash keccak256 of the bytes at `feedbackURI` by convention (R21).
    function giveFeedback(
        uint256 agentId,
        int128 value,
        uint8 valueDecimals,
        string calldata tag1,
        string calldata tag2,
        string calldata endpoint,
        string calldata feedbackURI,
        bytes32 feedbackHash
    ) external;

    /// @notice Count and average of what the listed clients gave, revoked feedback left out (R16).
    /// @dev The sum is exact. Sum and average are truncated toward zero. The result has the most frequent number of
    /// decimals, the fewest in a tie; or, where the average does not fit an int128 there, the largest smaller number at
    /// which it does. Reverts with `EmptyClients` for an empty list.
    /// @param clientAddresses One listed twice counts twice.
    /// @param tag1 The first tag of the feedback that counts; the empty one matches all.
    /// @param tag2 The second tag, in the same way.
    /// @return count How many feedbacks; with 0, the others are 0.
    /// @return summaryValue The average times `10^summaryValueDecimals`.
    /// @return summaryValueDecimals 0 to 18.
    function getSummary(uint256 agentId, address[] calldata clientAddresses, string calldata tag1, string calldata tag2)
        external
        view
        returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals);

    /// @notice What `getSummary` makes its answer of, for the same arguments.
    /// @param clientAddresses The clients whose feedback counts.
    /// @param tag1 The first tag of the feedback that counts; the empty one matches all.
    /// @param tag2 The second tag, in the same way.
    /// @return The part.
    function getSummaryPart(
        uint256 agentId,
        address[] calldata clientAddresses,
        string calldata tag1,
        string calldata tag2
    ) external view returns (SummaryPart memory);

    /// @notice The part of the clients at positions `start` to `start + limit - 1` of `getClients`.
    /// @param start The first position in `getClients`, counted from 0.
    /// @param limit The most clients that are read.
    /// @param tag1 The first tag of the feedback that counts; the empty one matches all.
    /// @param tag2 The second tag, in the same way.
    /// @return The part.
    function getSummaryPartOfClients(
        uint256 agentId,
        uint256 start,
        uint256 limit,
        string calldata tag1,
        string calldata tag2
    ) external view returns (SummaryPart memory);

    /// @notice The part of one client's feedback under the indices `start` to `start + limit - 1`.
    /// @param start The first index.
    /// @param limit The most feedbacks that are read.
    /// @param tag1 The first tag of the feedback that counts; the empty one matches all.
    /// @param tag2 The second tag, in the same way.
    /// @return The part.
    function getSummaryPartOfIndices(
        uint256 agentId,
        address clientAddress,
        uint64 start,
        uint64 limit,
        string calldata tag1,
        string calldata tag2
    ) external view returns (SummaryPart memory);

    /// @notice Adds parts up and answers as `getSummary` would over all their feedback at once.
    /// @dev Reverts with `SummaryPartMismatch` for a part that cannot be, and with `CounterExhausted` where the counts
    /// pass 2^64 - 1 together.
    /// @param parts Parts over disjoint entries.
    /// @return count How many entered it.
    /// @return summaryValue Their average, times 10^summaryValueDecimals.
    /// @return summaryValueDecimals 0 to 18.
    function finishSummary(SummaryPart[] calldata parts)
        external
        pure
        returns (uint64 count, int128 summaryValue, uint8 summaryValueDecimals);

    /// @notice One feedback. Reverts with `FeedbackNotFound` if there is none.
    /// @return value The value, times 10^decimals.
    /// @return valueDecimals Decimals of the value, 0 to 18.
    /// @return tag1 The first tag.
    /// @return tag2 The second tag.
    /// @return isRevoked Whether the client revoked it.
    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (int128 value, uint8 valueDecimals, string memory tag1, string memory tag2, bool isRevoked);

    /// @notice All matching feedback, in parallel arrays, in the order of the list and then of the indices.
    /// @param clientAddresses An empty list means `getClients`.
    /// @param tag1 The first tag of the feedback that counts; the empty one matches all.
    /// @param tag2 The second tag, in the same way.
    /// @param includeRevoked Whether revoked feedback is in.
    /// @return clients The client of each feedback.
    /// @return feedbackIndexes The number of each.
    /// @return values The value of each, times 10^decimals.
    /// @return valueDecimals Decimals of the value, 0 to 18.
    /// @return tag1s The first tag of each.
    /// @return tag2s The second tag of each.
    /// @return revokedStatuses Whether each is revoked.
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
        );

    /// @notice One client's feedback under the indices `start` to `start + limit - 1`, revoked or not.
    /// @param start The first index.
    /// @param limit The most feedbacks that are read.
    /// @return The feedback that exists in the window.
    function readFeedbackWindow(uint256 agentId, address clientAddress, uint64 start, uint64 limit)
        external
        view
        returns (FeedbackRecord[] memory);
}
