// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";

import {FeedbackRegistry} from "./FeedbackRegistry.sol";
import {IAuthorizedReputationRegistry} from "./interfaces/IAuthorizedReputationRegistry.sol";
import {IFeedback} from "./interfaces/IFeedback.sol";
import {FeedbackAuth, FeedbackAuths} from "./libraries/FeedbackAuths.sol";
import {FeedbackLedger} from "./libraries/FeedbackLedger.sol";
import {Scores} from "./libraries/Scores.sol";
import {Signatures} from "./libraries/Signatures.sol";
import {TagFilter, TagFilters} from "./libraries/TagFilters.sol";
import {Windows} from "./libraries/Windows.sol";

/// @title AuthorizedReputationRegistry
/// @dev Documented in IAuthorizedReputationRegistry. Other contracts are called by STATICCALL only: the identity
/// registry, and owners that are contracts. None of them can come back here to change anything.
contract AuthorizedReputationRegistry is EIP712, FeedbackRegistry, IAuthorizedReputationRegistry {
    using FeedbackAuths for FeedbackAuth;
    using FeedbackLedger for FeedbackLedger.Ledger;
    using FeedbackLedger for FeedbackLedger.Entry;
    using Signatures for address;
    using Windows for address[];

    /// @dev R6: fixed at deployment. Two registries over one identity registry must not both accept it.
    bool private immutable ACCEPTS_DRAFT_V1;

    /// @dev Private: reads go through the interface alone.
    mapping(uint256 agentId => FeedbackLedger.Ledger) private _ledgers;

    constructor(address identityRegistry, bool acceptsDraftV1_)
        EIP712("ERC8004ReputationRegistry", "1")
        FeedbackRegistry(identityRegistry)
    {
        ACCEPTS_DRAFT_V1 = acceptsDraftV1_;
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function giveFeedback(
        uint256 agentId,
        uint8 score,
        bytes32 tag1,
        bytes32 tag2,
        string calldata fileuri,
        bytes32 filehash,
        bytes calldata feedbackAuth
    ) external {
        if (score > Scores.MAX) revert ScoreOutOfRange(score);
        _requireNotSelf(agentId); // R18
        _requireAuthorized(agentId, feedbackAuth);

        uint64 feedbackIndex = _ledgers[agentId].append(msg.sender, _now(), score, tag1, tag2);
        emit NewFeedback(agentId, msg.sender, score, tag1, tag2, fileuri, filehash);
        emit FeedbackIndexed(agentId, msg.sender, feedbackIndex, block.timestamp);
    }

    /// @inheritdoc IFeedback
    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        _requireFeedback(agentId, msg.sender, feedbackIndex);
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        if (ledger.entries[msg.sender][feedbackIndex].isRevoked) {
            revert AlreadyRevoked(agentId, msg.sender, feedbackIndex);
        }

        ledger.revoke(msg.sender, feedbackIndex);
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function getSummary(uint256 agentId) external view returns (uint64 count, uint8 averageScore) {
        uint64 sum;
        (count, sum) = getTotals(agentId);
        averageScore = Scores.average(count, sum);
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function getSummary(uint256 agentId, address[] calldata clientAddresses, bytes32 tag1, bytes32 tag2)
        external
        view
        returns (uint64 count, uint8 averageScore)
    {
        uint64 sum;
        (count, sum) = getTotals(agentId, clientAddresses, tag1, tag2);
        averageScore = Scores.average(count, sum);
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function getTotals(uint256 agentId) public view returns (uint64 count, uint64 sum) {
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        return (ledger.count, ledger.sum);
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function getTotals(uint256 agentId, address[] calldata clientAddresses, bytes32 tag1, bytes32 tag2)
        public
        view
        returns (uint64 count, uint64 sum)
    {
        if (clientAddresses.length == 0) return getTotalsOfClients(agentId, 0, type(uint256).max, tag1, tag2);
        TagFilter memory filter = TagFilters.ofWords(tag1, tag2);
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        // Not shared with the function below: to copy the list to memory costs 65 gas a client.
        for (uint256 i = 0; i < clientAddresses.length; ++i) {
            (uint64 countOfClient, uint64 sumOfClient) = _totalsOfClient(ledger, clientAddresses[i], filter);
            count += countOfClient;
            sum += sumOfClient;
        }
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function getTotalsOfClients(uint256 agentId, uint256 start, uint256 limit, bytes32 tag1, bytes32 tag2)
        public
        view
        returns (uint64 count, uint64 sum)
    {
        TagFilter memory filter = TagFilters.ofWords(tag1, tag2);
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        address[] memory clients = ledger.clients.slice(start, limit);
        for (uint256 i = 0; i < clients.length; ++i) {
            (uint64 countOfClient, uint64 sumOfClient) = _totalsOfClient(ledger, clients[i], filter);
            count += countOfClient;
            sum += sumOfClient;
        }
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function getTotalsOfIndices(
        uint256 agentId,
        address clientAddress,
        uint64 start,
        uint64 limit,
        bytes32 tag1,
        bytes32 tag2
    ) external view returns (uint64 count, uint64 sum) {
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        (uint256 from, uint256 to) = Windows.indices(start, limit, ledger.lastIndex(clientAddress));
        return ledger.totals(clientAddress, from, to, TagFilters.ofWords(tag1, tag2));
    }

    /// @inheritdoc IAuthorizedReputationRegistry
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
        )
    {
        uint64[] memory indexes;
        (clients, indexes) = _find(agentId, clientAddresses, TagFilters.ofWords(tag1, tag2), includeRevoked);
        scores = new uint8[](clients.length);
        tag1s = new bytes32[](clients.length);
        tag2s = new bytes32[](clients.length);
        revokedStatuses = new bool[](clients.length);
        for (uint256 i = 0; i < clients.length; ++i) {
            FeedbackLedger.Entry memory entry = _ledgers[agentId].entries[clients[i]][indexes[i]];
            scores[i] = entry.score;
            tag1s[i] = entry.tag1;
            tag2s[i] = entry.tag2;
            revokedStatuses[i] = entry.isRevoked;
        }
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function readFeedbackWindow(uint256 agentId, address clientAddress, uint64 start, uint64 limit)
        external
        view
        returns (FeedbackRecord[] memory records)
    {
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        (uint256 from, uint256 to) = Windows.indices(start, limit, ledger.lastIndex(clientAddress));
        records = new FeedbackRecord[](to - from);
        for (uint256 i = 0; i < records.length; ++i) {
            // At most the last index, which is a uint64.
            // forge-lint: disable-next-line(unsafe-typecast)
            uint64 index = uint64(from + i);
            FeedbackLedger.Entry memory entry = ledger.entries[clientAddress][index];
            records[i] = FeedbackRecord({
                feedbackIndex: index,
                score: entry.score,
                tag1: entry.tag1,
                tag2: entry.tag2,
                isRevoked: entry.isRevoked,
                timestamp: entry.timestamp,
                responseCount: _responseCount(agentId, clientAddress, index)
            });
        }
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp)
    {
        _requireFeedback(agentId, clientAddress, feedbackIndex);
        FeedbackLedger.Entry storage entry = _ledgers[agentId].entries[clientAddress][feedbackIndex];
        return (entry.score, entry.tag1, entry.tag2, entry.isRevoked, entry.timestamp);
    }

    /// @inheritdoc IAuthorizedReputationRegistry
    function acceptsDraftV1() external view returns (bool) {
        return ACCEPTS_DRAFT_V1;
    }

    /// @dev The order is §3a's: the first rule that is broken answers.
    function _requireAuthorized(uint256 agentId, bytes calldata blob) private view {
        (FeedbackAuth memory auth, bytes calldata signature) = FeedbackAuths.decode(blob);
        // A proposer can move its block's time by seconds; an expiry is not meant to be finer.
        // forge-lint: disable-next-line(block-timestamp)
        if (block.timestamp >= auth.expiry) revert AuthExpired(auth.expiry, block.timestamp); // R8
        uint64 lastIndex = _ledgers[agentId].lastIndex(msg.sender);
        if (lastIndex >= auth.indexLimit) revert AuthIndexLimit(lastIndex, auth.indexLimit); // R8

        if (auth.agentId != agentId) revert AuthWrongAgent(auth.agentId); // R5, and the three below
        if (auth.clientAddress != msg.sender) revert AuthWrongClient(auth.clientAddress);
        if (auth.chainId != block.chainid) revert AuthWrongChain(auth.chainId);
        if (auth.identityRegistry != address(IDENTITY_REGISTRY)) revert AuthWrongRegistry(auth.identityRegistry);

        address owner = IDENTITY_REGISTRY.ownerOf(agentId);
        if (auth.signerAddress != owner) revert AuthWrongSigner(auth.signerAddress, owner); // R7
        if (!_isGranted(auth, signature)) revert AuthBadSignature();
    }

    /// @dev R6: the two accepted forms. FS's five-field struct and PROFILE's packed hash are not among them. The signer
    /// is the agent's owner by now, and so not the zero address.
    function _isGranted(FeedbackAuth memory auth, bytes calldata signature) private view returns (bool) {
        if (auth.signerAddress.isSigned(_hashTypedDataV4(auth.structHash()), signature)) return true;
        return ACCEPTS_DRAFT_V1 && auth.signerAddress.isSigned(auth.draftV1Digest(), signature);
    }

    /// @dev Everything that the client gave.
    function _totalsOfClient(FeedbackLedger.Ledger storage ledger, address client, TagFilter memory filter)
        private
        view
        returns (uint64 count, uint64 sum)
    {
        return ledger.totals(client, 1, uint256(ledger.lastIndex(client)) + 1, filter);
    }

    /// @inheritdoc FeedbackRegistry
    function _clients(uint256 agentId) internal view override returns (address[] storage) {
        return _ledgers[agentId].clients;
    }

    /// @inheritdoc FeedbackRegistry
    function _lastIndex(uint256 agentId, address client) internal view override returns (uint64) {
        return _ledgers[agentId].lastIndex(client);
    }

    /// @inheritdoc FeedbackRegistry
    function _matches(uint256 agentId, address client, uint64 index, TagFilter memory sought, bool includeRevoked)
        internal
        view
        override
        returns (bool)
    {
        FeedbackLedger.Entry storage entry = _ledgers[agentId].entries[client][index];
        return (includeRevoked || !entry.isRevoked) && entry.matches(sought);
    }
}
