// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IFeedback} from "./IFeedback.sol";

/// @title Reputation registry of the authorized profile: scores 0-100 that the agent's owner signed for
/// @notice Selectors and topics are those of the first ERC-8004 draft (R15), with `FeedbackIndexed`, timestamps in the
/// reads and `getSummary(uint256)` beside them. Indices count from 1 per agent and client and never go back (R8).
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

    /// @notice When `clientAddress` gave feedback; tags, URI and hash are as the client sent them.
    event NewFeedback(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint8 score,
        bytes32 indexed tag1,
        bytes32 tag2,
        string feedbackUri,
        bytes32 feedbackHash
    );

    /// @notice When `clientAddress` gave feedback: the index and the block's time (seconds) that it is stored with.
    /// Follows `NewFeedback`, whose topic the first draft fixed without them.
    event FeedbackIndexed(
        uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex, uint256 timestamp
    );

    /// @notice When `score` is above 100.
    error ScoreOutOfRange(uint8 score);

    /// @notice When the authorization is empty.
    error AuthMissing();

    /// @notice When the authorization is shorter than its seven fields (224 bytes), or not 289 bytes long although its
    /// signer has no code.
    error AuthLength(uint256 length);

    /// @notice When an address or uint64 field has bits above its width; `word` counts the fields from 0.
    error AuthDirtyWord(uint256 word);

    /// @notice When the block's time `timestamp` has reached `expiry` (both in seconds).
    error AuthExpired(uint256 expiry, uint256 timestamp);

    /// @notice When the client's `lastIndex` on this agent has reached `indexLimit`.
    error AuthIndexLimit(uint64 lastIndex, uint64 indexLimit);

    /// @notice When the authorization is for another agent.
    error AuthWrongAgent(uint256 agentId);

    /// @notice When the authorization is for another client.
    error AuthWrongClient(address client);

    /// @notice When the authorization is for another chain.
    error AuthWrongChain(uint256 chainId);

    /// @notice When the authorization is for another identity registry.
    error AuthWrongRegistry(address identityRegistry);

    /// @notice When the authorization names a signer that is not the agent's `owner` now (R7).
    error AuthWrongSigner(address signer, address owner);

    /// @notice When the signature is not the named signer's, over none of the accepted digests.
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
    function getSummary(uint256 agentId) external view returns (uint64 count, uint8 averageScore);

    /// @notice Count and sum of scores of the agent's feedback that is not revoked: what can be added up over
    /// registries, as averages cannot.
    function getTotals(uint256 agentId) external view returns (uint64 count, uint64 sum);

    /// @notice Count and average (rounded down; 0 for none) of the matching feedback that is not revoked.
    /// @param clientAddresses One listed twice counts twice; an empty list means `getClients`.
    /// @param tag1 To be equal; 0 matches all.
    /// @param tag2 As `tag1`.
    function getSummary(uint256 agentId, address[] calldata clientAddresses, bytes32 tag1, bytes32 tag2)
        external
        view
        returns (uint64 count, uint8 averageScore);

    /// @notice Count and sum of scores of what `getSummary` takes for the same arguments. Over disjoint lists of
    /// clients they add up.
    function getTotals(uint256 agentId, address[] calldata clientAddresses, bytes32 tag1, bytes32 tag2)
        external
        view
        returns (uint64 count, uint64 sum);

    /// @notice All matching feedback, in parallel arrays, in the order of the list and then of the indices.
    /// @param clientAddresses An empty list means `getClients`.
    /// @param tag1 To be equal; 0 matches all.
    /// @param tag2 As `tag1`.
    /// @param includeRevoked Whether revoked feedback is in.
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
    function readFeedbackWindow(uint256 agentId, address clientAddress, uint64 start, uint64 limit)
        external
        view
        returns (FeedbackRecord[] memory);

    /// @notice One feedback, with the time of its block in seconds. Reverts with `FeedbackNotFound` where there is none.
    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp);

    /// @notice Whether the first draft's EIP-191 signatures are accepted beside EIP-712 ones. They do not name the
    /// reputation registry: two registries on one identity registry that both accept them, accept the same ones.
    function acceptsDraftV1() external view returns (bool);
}
