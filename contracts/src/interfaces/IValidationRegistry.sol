// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity ^0.8.24;

/// @title Validation registry of ERC-8004: what validators found when they checked an agent's work
/// @notice Selectors, events and topics are those of the canonical ERC-8004 registry (R2). Added are `hasResponse`, which
/// tells a pending request from one that was answered 0, a count of answered requests, bounded pages of the two lists,
/// and summaries in parts, for an agent with more requests than one call can read.
interface IValidationRegistry {
    /// @notice A summary in the making. Parts over disjoint requests add up, field by field, to the part over all.
    struct SummaryPart {
        /// Sum of the scores.
        uint256 sum;
        /// How many scores that are.
        uint64 count;
    }

    /// @notice When a validation of `agentId` by `validatorAddress` was requested. URI and hash are as the caller sent them.
    event ValidationRequest(
        address indexed validatorAddress, uint256 indexed agentId, string requestURI, bytes32 indexed requestHash
    );

    /// @notice When the validator answered a request with the score `response`, for the first time or again.
    event ValidationResponse(
        address indexed validatorAddress,
        uint256 indexed agentId,
        bytes32 indexed requestHash,
        uint8 response,
        string responseURI,
        bytes32 responseHash,
        string tag
    );

    /// @notice When the identity registry given to the constructor is the zero address.
    error RegistryZero();

    /// @notice When the validator of a request is the zero address.
    error ValidatorZero();

    /// @notice When a request with this hash exists, whichever agent it is for.
    error RequestExists(bytes32 requestHash);

    /// @notice When the agent does not exist; raised by the identity registry and passed on.
    error ERC721NonexistentToken(uint256 tokenId);

    /// @notice When `caller` is neither the agent's owner, nor its approved address, nor an operator of its owner.
    error NotAuthorized(address caller, uint256 agentId);

    /// @notice When no request has this hash.
    error RequestNotFound(bytes32 requestHash);

    /// @notice When `caller` is not the `validator` that the request names.
    error NotValidator(address caller, address validator);

    /// @notice When `score` is above 100.
    error ScoreOutOfRange(uint8 score);

    /// @notice When the part at `position` is none that this registry makes: its sum is more than `count` scores of 100
    /// make.
    error SummaryPartMismatch(uint256 position);

    /// @notice When the counts of all parts together pass 2^64 - 1.
    error CounterExhausted();

    /// @notice Asks `validatorAddress` to validate work of the agent. By owner, approved or operator.
    /// @dev A hash can be requested once in this registry, by whoever comes first (R20). The registry compares it with
    /// nothing: anybody can copy a hash from a pending transaction and request it first, for an agent and a validator of
    /// their own. That an answer exists under a hash therefore says nothing about a certain agent. Whoever relies on it
    /// must compare `agentId` and `validatorAddress` of `getValidationStatus` with those that they mean. If the hash is
    /// `validation_request_hash` of the canonical crate, they must also compute it anew from chain, registry, agent,
    /// validator, payload hash and nonce. A requester whose hash was taken requests again with another nonce.
    /// The zero hash and an agent's owner as its validator are allowed.
    /// Checks in order: ValidatorZero, RequestExists, ERC721NonexistentToken, NotAuthorized.
    /// @param requestURI Where the validator finds what to check; in the event only.
    function validationRequest(
        address validatorAddress,
        uint256 agentId,
        string calldata requestURI,
        bytes32 requestHash
    ) external;

    /// @notice Answers a request; by its validator, as often as it likes: the last answer stands (R20).
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

    /// @notice Whether the request was answered: what tells 0 from pending. Reverts with RequestNotFound.
    function hasResponse(bytes32 requestHash) external view returns (bool);

    /// @notice Number and average (rounded down) of the agent's last answers; 0 and 0 where there is none.
    /// @param validatorAddresses Only their answers; all where it is empty.
    /// @param tag Only answers with this tag; all where it is empty.
    function getSummary(uint256 agentId, address[] calldata validatorAddresses, string calldata tag)
        external
        view
        returns (uint64 count, uint8 avgResponse);

    /// @notice What `getSummary` makes its answer of, for the requests at positions `offset` to `offset + limit - 1` of
    /// `getAgentValidations`. An agent keeps the pending requests of former owners: with thousands of them, `getSummary`
    /// does not fit into one call.
    function getSummaryPart(
        uint256 agentId,
        address[] calldata validatorAddresses,
        string calldata tag,
        uint256 offset,
        uint256 limit
    ) external view returns (SummaryPart memory);

    /// @notice Adds parts up and answers as `getSummary` would over all their requests at once.
    /// @dev Reverts with `SummaryPartMismatch` for a part that cannot be, and with `CounterExhausted` if the counts pass
    /// 2^64 - 1 together.
    function finishSummary(SummaryPart[] calldata parts) external pure returns (uint64 count, uint8 avgResponse);

    /// @notice How many of the agent's requests were answered. An answer that replaces another does not count (R20).
    function getValidationCount(uint256 agentId) external view returns (uint64);

    /// @notice The hashes of all requests for the agent, in the order of the requests.
    function getAgentValidations(uint256 agentId) external view returns (bytes32[] memory);

    /// @notice At most `limit` of `getAgentValidations(agentId)`, from position `offset` on, and the length of the whole.
    function getAgentValidationsPage(uint256 agentId, uint256 offset, uint256 limit)
        external
        view
        returns (bytes32[] memory requestHashes, uint256 total);

    /// @notice The hashes of all requests to the validator, in the order of the requests.
    function getValidatorRequests(address validatorAddress) external view returns (bytes32[] memory);

    /// @notice At most `limit` of `getValidatorRequests(validatorAddress)`, from position `offset` on, and the length of
    /// the whole.
    function getValidatorRequestsPage(address validatorAddress, uint256 offset, uint256 limit)
        external
        view
        returns (bytes32[] memory requestHashes, uint256 total);

    /// @notice The identity registry whose agents are validated.
    function getIdentityRegistry() external view returns (address);

    /// @notice The version of this implementation.
    function getVersion() external pure returns (string memory);
}
