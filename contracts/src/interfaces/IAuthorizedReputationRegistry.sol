// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

/// @title Reputation registry of the authorized profile: scores 0-100 that the agent's owner signed for
/// @notice Selectors and topics are those of the first ERC-8004 draft (R15), with `FeedbackIndexed`, timestamps in the
/// reads and `getSummary(uint256)` beside them. Indices count from 1 per agent and client and never go back (R8).
interface IAuthorizedReputationRegistry {
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

    /// @notice When `clientAddress` revoked its feedback.
    event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);

    /// @notice When the identity registry given to the constructor is the zero address.
    error RegistryZero();

    /// @notice When `score` is above 100.
    error ScoreOutOfRange(uint8 score);

    /// @notice When the agent does not exist; raised by the identity registry and passed on.
    error ERC721NonexistentToken(uint256 tokenId);

    /// @notice When `client` is the agent's owner, its approved address or an operator of its owner (R18).
    error SelfFeedback(uint256 agentId, address client);

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

    /// @notice When `client` has no feedback under `feedbackIndex` for this agent.
    error FeedbackNotFound(uint256 agentId, address client, uint64 feedbackIndex);

    /// @notice When the feedback is revoked already.
    error AlreadyRevoked(uint256 agentId, address client, uint64 feedbackIndex);

    /// @notice When the agent's feedback count or sum of scores would pass 2^64 - 1.
    error CounterExhausted();

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

    /// @notice Takes the caller's feedback out of the summaries, for good; its index is not given again.
    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external;

    /// @notice Count and average (rounded down; 0 for none) of the agent's feedback that is not revoked.
    /// @dev Costs the same however much feedback there is.
    function getSummary(uint256 agentId) external view returns (uint64 count, uint8 averageScore);

    /// @notice Count and sum of scores of the agent's feedback that is not revoked: what can be added up over
    /// registries, as averages cannot.
    function getTotals(uint256 agentId) external view returns (uint64 count, uint64 sum);

    /// @notice The index of the client's last feedback on the agent, revoked ones included; 0 for none.
    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64);

    /// @notice Everybody who ever gave feedback on the agent, in the order of their first.
    function getClients(uint256 agentId) external view returns (address[] memory);

    /// @notice One feedback, with the time of its block in seconds. Reverts with `FeedbackNotFound` where there is none.
    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp);

    /// @notice The identity registry whose agents this registry is about.
    function getIdentityRegistry() external view returns (address);

    /// @notice Whether the first draft's EIP-191 signatures are accepted beside EIP-712 ones. They do not name the
    /// reputation registry: two registries on one identity registry that both accept them, accept the same ones.
    function acceptsDraftV1() external view returns (bool);

    /// @notice The version of this implementation.
    function getVersion() external pure returns (string memory);
}
