// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IFeedback} from "./IFeedback.sol";

/// @title Reputation registry of the authorized profile: scores 0-100 that the agent's owner signed for
/// @notice Selectors and topics are those of the first ERC-8004 draft (R15), with `FeedbackIndexed`, timestamps in the
/// reads, `getSummary(uint256)`, and windows and totals in parts beside them, which carry an agent with more feedback than
/// one call can read. Indices count from 1 per agent and client and never go back (R8).
interface IAuthorizedReputationRegistry is IFeedback {
    /// @notice One feedback in a window; `timestamp` is its block's time in seconds.
    struct FeedbackRecord {
        uint64 feedbackIndex;
        uint8 score;
        bytes32 tag1;
        bytes32 tag2;
        bool isRevoked;
        uint64 timestamp;
        uint64 responseCount;
    }

    /// @notice Emitted when `clientAddress` gave feedback; tags, URI and hash are as the client sent them.
    /// @param score 0 to 100.
    /// @param tag1 The first tag.
    /// @param tag2 The second tag.
    /// @param feedbackUri Where the feedback file is; may be empty.
    /// @param feedbackHash keccak256 of the bytes at the URI by convention (R21); may be zero.
    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint8 score,
        bytes32 indexed tag1,
        bytes32 tag2,
        string feedbackUri,
        bytes32 feedbackHash
    );

    /// @notice Emitted when `clientAddress` gave feedback: the index and the block's time (seconds) that it is stored
    /// with. Follows `NewFeedback`, whose topic the first draft fixed without them.
    /// @param timestamp The time of the block, in unix seconds.
    event FeedbackIndexed(
        uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex, uint256 timestamp
    );

    /// @notice Thrown when `score` is above 100.
    /// @param score The score that was given.
    error ScoreOutOfRange(uint8 score);

    /// @notice Thrown when the authorization is empty.
    error AuthMissing();

    /// @notice Thrown when the authorization is shorter than its seven fields (224 bytes), or not 289 bytes long
    /// although its signer has no code.
    /// @param length The number of bytes that were given.
    error AuthLength(uint256 length);

    /// @notice Thrown when an address or uint64 field has bits above its width; `word` counts the fields from 0.
    /// @param word The field, counted from 0.
    error AuthDirtyWord(uint256 word);

    /// @notice Thrown when the block's time `timestamp` has reached `expiry` (both in seconds).
    /// @param expiry The second from which it counts no longer, in unix seconds.
    /// @param timestamp The block's time, in unix seconds.
    error AuthExpired(uint256 expiry, uint256 timestamp);

    /// @notice Thrown when the client's `lastIndex` on this agent has reached `indexLimit`.
    /// @param lastIndex The number of the client's last feedback.
    /// @param indexLimit The highest number that the authorization allows.
    error AuthIndexLimit(uint64 lastIndex, uint64 indexLimit);

    /// @notice Thrown when the authorization is for another agent.
    /// @param agentId The agent that it names.
    error AuthWrongAgent(uint256 agentId);

    /// @notice Thrown when the authorization is for another client.
    /// @param client The client that it names.
    error AuthWrongClient(address client);

    /// @notice Thrown when the authorization is for another chain.
    /// @param chainId The EIP-155 id of the chain that it names.
    error AuthWrongChain(uint256 chainId);

    /// @notice Thrown when the authorization is for another identity registry.
    /// @param identityRegistry The identity registry that it names.
    error AuthWrongRegistry(address identityRegistry);

    /// @notice Thrown when the authorization names a signer that is not the agent's `owner` now (R7).
    /// @param signer The signer that it names.
    /// @param owner The agent's owner now.
    error AuthWrongSigner(address signer, address owner);

    /// @notice Thrown when the signature is not the named signer's, over none of the accepted digests.
    error AuthBadSignature();

    /// @notice Gives the caller's feedback on an agent, with the authorization that the agent's owner signed for it.
    /// @dev The rules are checked in the order of the errors above.
    /// @param score 0 to 100.
    /// @param tag1 32 bytes, opaque here; by convention UTF-8, right-padded with zeros (R14).
    /// @param tag2 As `tag1`.
    /// @param fileuri Where the feedback file is; only reported in the event.
    /// @param filehash keccak256 of that file's bytes by convention (R21); only reported in the event.
    /// @param feedbackAuth R6: `abi.encode` of agentId, clientAddress, indexLimit, expiry, chainId, identityRegistry
    /// and signerAddress (224 bytes), then the signature: 65 bytes r, s, v (27 or 28) with low s, or whatever a
    /// contract owner's `isValidSignature` (ERC-1271) takes. It allows feedback while the client's last index is
    /// below indexLimit and the block's time below expiry.
    function giveFeedback(
        uint256 agentId,
        uint8 score,
        bytes32 tag1,
        bytes32 tag2,
        string calldata fileuri,
        bytes32 filehash,
        bytes calldata feedbackAuth
    ) external;

    /// @notice Count and average (rounded down; 0 for none) of the agent's feedback that is not revoked.
    /// @dev Costs the same however much feedback there is.
    /// @return count How many entered it.
    /// @return averageScore Their average, rounded down; 0 for none.
    function getSummary(uint256 agentId) external view returns (uint64 count, uint8 averageScore);

    /// @notice Count and sum of scores of the agent's feedback that is not revoked: what can be added up over
    /// registries, as averages cannot.
    /// @return count How many entered it.
    /// @return sum Sum of their scores.
    function getTotals(uint256 agentId) external view returns (uint64 count, uint64 sum);

    /// @notice Count and average (rounded down; 0 for none) of the matching feedback that is not revoked.
    /// @param clientAddresses One listed twice counts twice; an empty list means `getClients`.
    /// @param tag1 To be equal; 0 matches all.
    /// @param tag2 As `tag1`.
    /// @return count How many entered it.
    /// @return averageScore Their average, rounded down; 0 for none.
    function getSummary(uint256 agentId, address[] calldata clientAddresses, bytes32 tag1, bytes32 tag2)
        external
        view
        returns (uint64 count, uint8 averageScore);

    /// @notice Count and sum of scores of what `getSummary` takes for the same arguments. Over disjoint feedback they
    /// add up, and the average of all is their sum divided by their count.
    /// @param clientAddresses The clients whose feedback counts.
    /// @param tag1 The first tag of the feedback that counts; the empty one matches all.
    /// @param tag2 The second tag, in the same way.
    /// @return count How many entered it.
    /// @return sum Sum of their scores.
    function getTotals(uint256 agentId, address[] calldata clientAddresses, bytes32 tag1, bytes32 tag2)
        external
        view
        returns (uint64 count, uint64 sum);

    /// @notice The totals of the clients at positions `start` to `start + limit - 1` of `getClients`.
    /// @param start The first position in `getClients`, counted from 0.
    /// @param limit The most clients that are read.
    /// @param tag1 To be equal; 0 matches all.
    /// @param tag2 As `tag1`.
    /// @return count How many entered it.
    /// @return sum Sum of their scores.
    function getTotalsOfClients(uint256 agentId, uint256 start, uint256 limit, bytes32 tag1, bytes32 tag2)
        external
        view
        returns (uint64 count, uint64 sum);

    /// @notice The totals of one client's feedback under the indices `start` to `start + limit - 1`.
    /// @param start The first index.
    /// @param limit The most feedbacks that are read.
    /// @param tag1 To be equal; 0 matches all.
    /// @param tag2 As `tag1`.
    /// @return count How many entered it.
    /// @return sum Sum of their scores.
    function getTotalsOfIndices(
        uint256 agentId,
        address clientAddress,
        uint64 start,
        uint64 limit,
        bytes32 tag1,
        bytes32 tag2
    ) external view returns (uint64 count, uint64 sum);

    /// @notice All matching feedback, in parallel arrays, in the order of the list and then of the indices.
    /// @param clientAddresses An empty list means `getClients`.
    /// @param tag1 To be equal; 0 matches all.
    /// @param tag2 As `tag1`.
    /// @param includeRevoked Whether revoked feedback is in.
    /// @return clients The client of each feedback.
    /// @return scores The score of each.
    /// @return tag1s The first tag of each.
    /// @return tag2s The second tag of each.
    /// @return revokedStatuses Whether each is revoked.
    function readAllFeedback(
        uint256 agentId,
        address[] calldata clientAddresses,
        bytes32 tag1,
        bytes32 tag2,
        bool includeRevoked
    )
        external
        view
        returns (
            address[] memory clients,
            uint8[] memory scores,
            bytes32[] memory tag1s,
            bytes32[] memory tag2s,
            bool[] memory revokedStatuses
        );

    /// @notice One client's feedback under the indices `start` to `start + limit - 1`, as far as there is any, revoked
    /// or not.
    /// @param start The first index.
    /// @param limit The most feedbacks that are read.
    /// @return The feedback that exists in the window.
    function readFeedbackWindow(uint256 agentId, address clientAddress, uint64 start, uint64 limit)
        external
        view
        returns (FeedbackRecord[] memory);

    /// @notice One feedback, with the time of its block in seconds. Reverts with `FeedbackNotFound` where there is
    /// none.
    /// @return score 0 to 100.
    /// @return tag1 The first tag.
    /// @return tag2 The second tag.
    /// @return isRevoked Whether the client revoked it.
    /// @return timestamp The time of its block, in unix seconds.
    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp);

    /// @notice Whether the first draft's EIP-191 signatures are accepted beside EIP-712 ones. They do not name the
    /// reputation registry: two registries on one identity registry that both accept them, accept the same ones.
    /// @return Whether they are accepted.
    function acceptsDraftV1() external view returns (bool);
}
