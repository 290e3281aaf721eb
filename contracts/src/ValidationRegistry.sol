// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {BoundRegistry} from "./BoundRegistry.sol";
import {IValidationRegistry} from "./interfaces/IValidationRegistry.sol";
import {Scores} from "./libraries/Scores.sol";
import {TagFilters, TagPattern} from "./libraries/TagFilters.sol";
import {Windows} from "./libraries/Windows.sol";

/// @title ValidationRegistry
/// @dev Documented in IValidationRegistry. The only other contract that is called is the identity registry, by STATICCALL.
contract ValidationRegistry is BoundRegistry, IValidationRegistry {
    using TagFilters for TagPattern;
    using Windows for bytes32[];

    /// @dev The first four share a slot. A request exists where the validator is not zero.
    struct Validation {
        address validatorAddress;
        uint64 lastUpdate; // seconds
        uint8 response;
        bool hasResponse;
        uint256 agentId;
        bytes32 responseHash;
        string tag;
    }

    /// @dev R20: a request hash is unique in the registry.
    mapping(bytes32 requestHash => Validation) private _validations;
    /// @dev In the order of the requests; the positions of summaries in parts.
    mapping(uint256 agentId => bytes32[]) private _requestsOfAgent;
    mapping(address validator => bytes32[]) private _requestsOfValidator;
    /// @dev Requests with at least one response.
    mapping(uint256 agentId => uint64) private _answeredCount;

    constructor(address identityRegistry) BoundRegistry(identityRegistry) {}

    /// @inheritdoc IValidationRegistry
    function validationRequest(
        address validatorAddress,
        uint256 agentId,
        string calldata requestURI,
        bytes32 requestHash
    ) external {
        if (validatorAddress == address(0)) revert ValidatorZero();
        Validation storage validation = _validations[requestHash];
        if (validation.validatorAddress != address(0)) revert RequestExists(requestHash);
        // Reverts for an unknown agent, so that AgentNotFound comes before NotAuthorized.
        if (!IDENTITY_REGISTRY.isAuthorizedOrOwner(msg.sender, agentId)) revert NotAuthorized(msg.sender, agentId); // R20

        validation.validatorAddress = validatorAddress;
        validation.lastUpdate = _now();
        validation.agentId = agentId;
        _requestsOfAgent[agentId].push(requestHash);
        _requestsOfValidator[validatorAddress].push(requestHash);
        emit ValidationRequest(validatorAddress, agentId, requestURI, requestHash);
    }

    /// @inheritdoc IValidationRegistry
    function validationResponse(
        bytes32 requestHash,
        uint8 response,
        string calldata responseURI,
        bytes32 responseHash,
        string calldata tag
    ) external {
        Validation storage validation = _existing(requestHash);
        if (msg.sender != validation.validatorAddress) revert NotValidator(msg.sender, validation.validatorAddress);
        if (response > Scores.MAX) revert ScoreOutOfRange(response); // R20

        uint256 agentId = validation.agentId;
        if (!validation.hasResponse) _answeredCount[agentId] += 1; // R20: once a request
        validation.response = response;
        validation.hasResponse = true;
        validation.lastUpdate = _now();
        validation.responseHash = responseHash;
        validation.tag = tag;
        emit ValidationResponse(msg.sender, agentId, requestHash, response, responseURI, responseHash, tag);
    }

    /// @inheritdoc IValidationRegistry
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
        )
    {
        Validation storage validation = _existing(requestHash);
        return (
            validation.validatorAddress,
            validation.agentId,
            validation.response,
            validation.responseHash,
            validation.tag,
            validation.lastUpdate
        );
    }

    /// @inheritdoc IValidationRegistry
    function hasResponse(bytes32 requestHash) external view returns (bool) {
        return _existing(requestHash).hasResponse;
    }

    /// @inheritdoc IValidationRegistry
    function getSummary(uint256 agentId, address[] calldata validatorAddresses, string calldata tag)
        external
        view
        returns (uint64 count, uint8 avgResponse)
    {
        SummaryPart memory part = getSummaryPart(agentId, validatorAddresses, tag, 0, type(uint256).max);
        return (part.count, Scores.average(part.count, part.sum));
    }

    /// @inheritdoc IValidationRegistry
    function getSummaryPart(
        uint256 agentId,
        address[] calldata validatorAddresses,
        string calldata tag,
        uint256 offset,
        uint256 limit
    ) public view returns (SummaryPart memory part) {
        TagPattern memory sought = TagFilters.ofText(tag);
        bytes32[] storage requestHashes = _requestsOfAgent[agentId];
        (uint256 from, uint256 to) = Windows.bounds(offset, limit, requestHashes.length);
        for (uint256 i = from; i < to; ++i) {
            Validation storage validation = _validations[requestHashes[i]];
            if (!validation.hasResponse) continue;
            if (!_isListed(validation.validatorAddress, validatorAddresses)) continue;
            if (!sought.matchesText(validation.tag)) continue;
            part.count += 1;
            part.sum += validation.response;
        }
    }

    /// @inheritdoc IValidationRegistry
    function finishSummary(SummaryPart[] calldata parts) external pure returns (uint64 count, uint8 avgResponse) {
        SummaryPart memory whole;
        for (uint256 i = 0; i < parts.length; ++i) {
            if (parts[i].sum > Scores.MAX * uint256(parts[i].count)) revert SummaryPartMismatch(i);
            if (parts[i].count > type(uint64).max - whole.count) revert CounterExhausted();
            whole.count += parts[i].count;
            whole.sum += parts[i].sum;
        }
        return (whole.count, Scores.average(whole.count, whole.sum));
    }

    /// @inheritdoc IValidationRegistry
    function getValidationCount(uint256 agentId) external view returns (uint64) {
        return _answeredCount[agentId];
    }

    /// @inheritdoc IValidationRegistry
    function getAgentValidations(uint256 agentId) external view returns (bytes32[] memory) {
        return _requestsOfAgent[agentId];
    }

    /// @inheritdoc IValidationRegistry
    function getAgentValidationsPage(uint256 agentId, uint256 offset, uint256 limit)
        external
        view
        returns (bytes32[] memory requestHashes, uint256 total)
    {
        bytes32[] storage all = _requestsOfAgent[agentId];
        return (all.slice(offset, limit), all.length);
    }

    /// @inheritdoc IValidationRegistry
    function getValidatorRequests(address validatorAddress) external view returns (bytes32[] memory) {
        return _requestsOfValidator[validatorAddress];
    }

    /// @inheritdoc IValidationRegistry
    function getValidatorRequestsPage(address validatorAddress, uint256 offset, uint256 limit)
        external
        view
        returns (bytes32[] memory requestHashes, uint256 total)
    {
        bytes32[] storage all = _requestsOfValidator[validatorAddress];
        return (all.slice(offset, limit), all.length);
    }

    /// @dev R20: an unknown request is reported before a caller without rights.
    function _existing(bytes32 requestHash) private view returns (Validation storage validation) {
        validation = _validations[requestHash];
        if (validation.validatorAddress == address(0)) revert RequestNotFound(requestHash);
    }

    /// @dev An empty list means every validator.
    function _isListed(address validator, address[] calldata list) private pure returns (bool) {
        for (uint256 i = 0; i < list.length; ++i) {
            if (list[i] == validator) return true;
        }
        return list.length == 0;
    }
}
