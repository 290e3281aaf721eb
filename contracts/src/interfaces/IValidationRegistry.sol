// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

import {IBoundRegistry} from "./IBoundRegistry.sol";

/// @title Validation registry of ERC-8004: what validators found when they checked an agent's work
/// @notice Selectors, events and topics are those of the canonical ERC-8004 registry (R2). Added are `hasResponse`, which
/// distinguishes a pending request from one that was answered 0, a count of answered requests, bounded pages of the two lists,
/// and summaries in parts, for an agent with more requests than one call can read.
/// @dev Everywhere here, `agentId` is the agent's token id at the identity registry, `requestHash` is the hash that names
/// the request, and `validatorAddress` is the validator, who is asked to answer.
interface IValidationRegistry is IBoundRegistry {
    /// @notice A summary in the making. Parts over disjoint requests add up, field by field, to the part over all.
    struct SummaryPart {
        /// Sum of the scores.
        uint256 sum;
        /// How many scores that are.
        uint64 count;
    }

    /// @notice Emitted when a validation of `agentId` by `validatorAddress` was requested. URI and hash are as the
    /// caller sent them.
    /// @param requestURI Where the validator finds what to check.
    event ValidationRequest(
        address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash
    );

    /// @notice Emitted when the validator answered a request with the score `response`, for the first time or again.
    /// @param response The score, 0 to 100.
    /// @param responseURI Where the evidence is.
    /// @param responseHash The hash of the evidence; may be zero.
    /// @param tag The tag.
    event ValidationResponse(
        address indexed validatorAddress,
        uint256 indexed agentId,
        bytes32 indexed requestHash,
        uint8 response,
        string responseURI,
        bytes32 responseHash,
        string tag
    );

    /// @notice Thrown when the validator of a request is the zero address.
    error ValidatorZero();

    /// @notice Thrown when a request with this hash exists, whichever agent it is for.
    error RequestExists(bytes32 requestHash);

    /// @notice Thrown when `caller` is neither the agent's owner, nor its approved address, nor an operator of its
    /// owner.
    /// @param caller The account that called.
    error NotAuthorized(address caller, uint256 agentId);

    /// @notice Thrown when no request has this hash.
    error RequestNotFound(bytes32 requestHash);

    /// @notice Thrown when `caller` is not the `validator` that the request names.
    /// @param caller The account that called.
    /// @param validator The validator that the request names.
    error NotValidator(address caller, address validator);

    /// @notice Thrown when `score` is above 100.
    /// @param score The score that was given.
    error ScoreOutOfRange(uint8 score);

    /// @notice Thrown when the part at `position` is none that this registry makes: its sum is more than `count`
    /// scores of 100 make.
    /// @param position The part, counted from 0.
    error SummaryPartMismatch(uint256 position);

    /// @notice Asks `validatorAddress` to validate work of the agent. By owner, approved or operator.
    /// @dev A hash can be requested once in this registry, by the first caller (R20). The registry compares it with
    /// nothing: anyone can copy a hash from a pending transaction and request it first, for an agent and a validator
    /// of their own. That an answer exists under a hash therefore says nothing about a certain agent. Whoever relies
    /// on it must compare `agentId` and `validatorAddress` of `getValidationStatus` with those that they mean. If the
    /// hash is `validation_request_hash` of the canonical crate, they must also compute it anew from chain, registry,
    /// agent, validator, payload hash and nonce. A requester whose hash was taken requests again with another nonce.
    /// The zero hash and an agent's owner as its validator are allowed. Checks in order: ValidatorZero, RequestExists,
    /// ERC721NonexistentToken, NotAuthorized.
    /// @param requestURI Where the validator finds what to check; in the event only.
    function validationRequest(
        address validatorAddress,
        uint256 agentId,
        string calldata requestURI,
        bytes32 requestHash
    ) external;

    /// @notice Answers a request; by its validator, as often as it likes. The last answer counts (R20).
    /// @dev Checks in order: RequestNotFound, NotValidator, ScoreOutOfRange.
    /// @param response The score, 0 to 100.
    /// @param responseURI Where the evidence is; in the event only.
    /// @param responseHash Hash of the evidence; may be zero.
    /// @param tag Any text; may be empty.
    function validationResponse(
        bytes32 requestHash,
        uint8 response,
        string calldata responseURI,
        bytes32 responseHash,
        string calldata tag
    ) external;

    /// @notice A request with its last answer. While it is pending, `response`, `responseHash` and `tag` are empty and
    /// `lastUpdate` (seconds) is the time of the request. Reverts with RequestNotFound.
    /// @return validatorAddress Its validator.
    /// @return agentId The agent that it is about.
    /// @return response The last score, 0 to 100; 0 while the request is pending.
    /// @return responseHash The hash of the evidence, as the validator sent it.
    /// @return tag The tag of the last answer.
    /// @return lastUpdate When it was requested or last answered, in unix seconds.
    function getValidationStatus(bytes32 requestHash)
        external
        view
        returns (
            address validatorAddress,
            uint256 agentId,
            uint8 response,
            bytes32 responseHash,
            string memory tag,
            uint256 lastUpdate
        );

    /// @notice Whether the request was answered. Distinguishes an answer of 0 from a pending request. Reverts with RequestNotFound.
    /// @return Whether it was answered.
    function hasResponse(bytes32 requestHash) external view returns (bool);

    /// @notice Number and average (rounded down) of the agent's last answers; 0 and 0 if there is none.
    /// @param validatorAddresses Only their answers; all if it is empty.
    /// @param tag Only answers with this tag; all if it is empty.
    /// @return count How many entered it.
    /// @return avgResponse Their average, rounded down; 0 for none.
    function getSummary(uint256 agentId, address[] calldata validatorAddresses, string calldata tag)
        external
        view
        returns (uint64 count, uint8 avgResponse);

    /// @notice What `getSummary` makes its answer of, for the requests at positions `offset` to `offset + limit - 1` of
    /// `getAgentValidations`. An agent keeps the pending requests of former owners: with thousands of them,
    /// `getSummary` does not fit into one call.
    /// @param validatorAddresses The validators whose answers count.
    /// @param tag Only answers with this tag; all if it is empty.
    /// @param offset The first position, counted from 0.
    /// @param limit The most requests that are read.
    /// @return The part.
    function getSummaryPart(
        uint256 agentId,
        address[] calldata validatorAddresses,
        string calldata tag,
        uint256 offset,
        uint256 limit
    ) external view returns (SummaryPart memory);

    /// @notice Adds parts up and answers as `getSummary` would over all their requests at once.
    /// @dev Reverts with `SummaryPartMismatch` for a part that cannot be, and with `CounterExhausted` if the counts
    /// pass 2^64 - 1 together.
    /// @param parts Parts over disjoint entries.
    /// @return count How many entered it.
    /// @return avgResponse Their average, rounded down; 0 for none.
    function finishSummary(SummaryPart[] calldata parts) external pure returns (uint64 count, uint8 avgResponse);

    /// @notice How many of the agent's requests were answered. An answer that replaces another does not count (R20).
    /// @return How many were answered.
    function getValidationCount(uint256 agentId) external view returns (uint64);

    /// @notice The hashes of all requests for the agent, in the order of the requests.
    /// @return The hashes.
    function getAgentValidations(uint256 agentId) external view returns (bytes32[] memory);

    /// @notice At most `limit` of `getAgentValidations(agentId)`, from position `offset` on, and the length of the
    /// whole.
    /// @param offset The first position, counted from 0.
    /// @param limit The most hashes on the page.
    /// @return requestHashes The hashes on the page.
    /// @return total How many there are altogether.
    function getAgentValidationsPage(uint256 agentId, uint256 offset, uint256 limit)
        external
        view
        returns (bytes32[] memory requestHashes, uint256 total);

    /// @notice The hashes of all requests to the validator, in the order of the requests.
    /// @return The hashes.
    function getValidatorRequests(address validatorAddress) external view returns (bytes32[] memory);

    /// @notice At most `limit` of `getValidatorRequests(validatorAddress)`, from position `offset` on, and the length
    /// of the whole.
    /// @param offset The first position, counted from 0.
    /// @param limit The most hashes on the page.
    /// @return requestHashes The hashes on the page.
    /// @return total How many there are altogether.
    function getValidatorRequestsPage(address validatorAddress, uint256 offset, uint256 limit)
        external
        view
        returns (bytes32[] memory requestHashes, uint256 total);
}
