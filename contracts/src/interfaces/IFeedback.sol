// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

/// @title What the two reputation registries have in common
interface IFeedback {
    /// @notice When `clientAddress` revoked its feedback.
    event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);

    /// @notice When `responder` answered a feedback. URI and hash are only reported here.
    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );

    /// @notice When the identity registry given to the constructor is the zero address.
    error RegistryZero();

    /// @notice When the agent does not exist; raised by the identity registry and passed on.
    error ERC721NonexistentToken(uint256 tokenId);

    /// @notice When `client` is the agent's owner, its approved address or an operator of its owner (R18).
    error SelfFeedback(uint256 agentId, address client);

    /// @notice When `client` has no feedback under `feedbackIndex` for this agent.
    error FeedbackNotFound(uint256 agentId, address client, uint64 feedbackIndex);

    /// @notice When the feedback is revoked already.
    error AlreadyRevoked(uint256 agentId, address client, uint64 feedbackIndex);

    /// @notice When a response has no URI (R19).
    error EmptyUri();

    /// @notice When a counter would pass 2^64 - 1.
    error CounterExhausted();

    /// @notice Takes the caller's feedback out of the summaries, for good; its index is not given again.
    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external;

    /// @notice Answers a feedback, revoked or not; anyone may, as often as they like (R19).
    /// @dev Reverts with `FeedbackNotFound` for index 0, then with `EmptyUri`, then with `FeedbackNotFound` for an
    /// index beyond the client's last (§3a).
    /// @param responseHash keccak256 of the bytes at `responseURI` by convention (R21).
    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external;

    /// @notice How many responses there are: to one feedback; with index 0 to all of the client's; with client 0 to
    /// everybody's, whatever the index. 0 where there is no such feedback.
    /// @param responders Whose responses count; one listed twice counts twice, and an empty list means everybody.
    function getResponseCount(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        address[] calldata responders
    ) external view returns (uint64 count);

    /// @notice The index of the client's last feedback on the agent, revoked ones included; 0 for none.
    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64);

    /// @notice Everybody who ever gave feedback on the agent, in the order of their first.
    function getClients(uint256 agentId) external view returns (address[] memory);

    /// @notice How many clients `getClients` lists.
    function getClientCount(uint256 agentId) external view returns (uint256);

    /// @notice The part of `getClients` at positions `start` to `start + limit - 1`, as far as there are any.
    function getClientsWindow(uint256 agentId, uint256 start, uint256 limit) external view returns (address[] memory);

    /// @notice The identity registry whose agents this registry is about.
    function getIdentityRegistry() external view returns (address);

    /// @notice The version of this implementation.
    function getVersion() external pure returns (string memory);
}
