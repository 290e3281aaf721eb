// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IBoundRegistry} from "./IBoundRegistry.sol";

/// @title What the two reputation registries have in common
/// @dev Here and in the interfaces of both, `agentId` is the agent's token id at the identity registry, `clientAddress` is
/// the client, who gave the feedback, and `feedbackIndex` is the number of the feedback, from 1 per agent and client.
interface IFeedback is IBoundRegistry {
    /// @notice Emitted when `clientAddress` revoked its feedback.
    event FeedbackRevoked(uint256 indexed agentId, address indexed clientAddress, uint64 indexed feedbackIndex);

    /// @notice Emitted when `responder` answered a feedback. URI and hash are only reported here.
    /// @param responder The account that answered.
    /// @param responseURI Where the response is; any text.
    /// @param responseHash keccak256 of the bytes at `responseURI` by convention (R21); may be zero.
    event ResponseAppended(
        uint256 indexed agentId,
        address indexed clientAddress,
        uint64 feedbackIndex,
        address indexed responder,
        string responseURI,
        bytes32 responseHash
    );

    /// @notice Thrown when `client` is the agent's owner, its approved address or an operator of its owner (R18).
    /// @param client The client.
    error SelfFeedback(uint256 agentId, address client);

    /// @notice Thrown when `client` has no feedback under `feedbackIndex` for this agent.
    /// @param client The client.
    error FeedbackNotFound(uint256 agentId, address client, uint64 feedbackIndex);

    /// @notice Thrown when the feedback is revoked already.
    /// @param client The client.
    error AlreadyRevoked(uint256 agentId, address client, uint64 feedbackIndex);

    /// @notice Thrown when a response has no URI (R19).
    error EmptyUri();

    /// @notice Takes the caller's feedback out of the summaries, for good; its index is not given again.
    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external;

    /// @notice Answers a feedback, revoked or not; anyone may, as often as they like (R19).
    /// @dev Reverts with `FeedbackNotFound` for index 0, then with `EmptyUri`, then with `FeedbackNotFound` for an
    /// index beyond the client's last (§3a).
    /// @param responseURI Where the response is; any text.
    /// @param responseHash keccak256 of the bytes at `responseURI` by convention (R21).
    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external;

    /// @notice How many responses there are: to one feedback; with index 0 to all of the client's; with client 0 to
    /// everyone's, whatever the index. 0 if there is no such feedback.
    /// @param clientAddress The client, or zero for every client.
    /// @param feedbackIndex The number of the feedback, or 0 for all of the client's.
    /// @param responders Whose responses count; one listed twice counts twice, and an empty list means everyone.
    /// @return count How many responses there are.
    function getResponseCount(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        address[] calldata responders
    ) external view returns (uint64 count);

    /// @notice The index of the client's last feedback on the agent, revoked ones included; 0 for none.
    /// @return The number of the last feedback; 0 for none.
    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64);

    /// @notice Everybody who ever gave feedback on the agent, in the order of their first.
    /// @return The clients.
    function getClients(uint256 agentId) external view returns (address[] memory);

    /// @notice How many clients `getClients` lists.
    /// @return Their number.
    function getClientCount(uint256 agentId) external view returns (uint256);

    /// @notice The part of `getClients` at positions `start` to `start + limit - 1`, as far as there are any.
    /// @param start The first position, counted from 0.
    /// @param limit The most clients that are listed.
    /// @return The clients that exist in the window.
    function getClientsWindow(uint256 agentId, uint256 start, uint256 limit) external view returns (address[] memory);
}
