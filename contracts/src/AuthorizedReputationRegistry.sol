// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

import {IAuthorizedReputationRegistry} from "./interfaces/IAuthorizedReputationRegistry.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {FeedbackAuth, FeedbackAuths} from "./libraries/FeedbackAuths.sol";
import {FeedbackLedger} from "./libraries/FeedbackLedger.sol";
import {ResponseCount, ResponseCounts} from "./libraries/ResponseCounts.sol";
import {Windows} from "./libraries/Windows.sol";

/// @title AuthorizedReputationRegistry
/// @dev Documented in IAuthorizedReputationRegistry. Other contracts are called by STATICCALL only: the identity
/// registry, and owners that are contracts. None of them can come back here to change anything.
contract AuthorizedReputationRegistry is EIP712, IAuthorizedReputationRegistry {
    using FeedbackAuths for FeedbackAuth;
    using FeedbackLedger for FeedbackLedger.Ledger;
    using ResponseCounts for ResponseCount;
    using ResponseCounts for mapping(uint64 index => ResponseCount);
    using Windows for address[];

    uint8 private constant SCORE_MAX = 100;

    IIdentityRegistry private immutable IDENTITY_REGISTRY;
    bool private immutable ACCEPTS_DRAFT_V1;

    mapping(uint256 agentId => FeedbackLedger.Ledger) private _ledgers;

    constructor(address identityRegistry, bool acceptsDraftV1_) EIP712("ERC8004ReputationRegistry", "1") {
        if (identityRegistry == address(0)) revert RegistryZero();
        IDENTITY_REGISTRY = IIdentityRegistry(identityRegistry);
        ACCEPTS_DRAFT_V1 = acceptsDraftV1_;
    }

    function giveFeedback(
        uint256 agentId,
        uint8 score,
        bytes32 tag1,
        bytes32 tag2,
        string calldata fileuri,
        bytes32 filehash,
        bytes calldata feedbackAuth
    ) external {
        if (score > SCORE_MAX) revert ScoreOutOfRange(score);
        // Reverts for an unknown agent, so that AgentNotFound comes before SelfFeedback.
        if (IDENTITY_REGISTRY.isAuthorizedOrOwner(msg.sender, agentId)) revert SelfFeedback(agentId, msg.sender); // R18
        _requireAuthorized(agentId, feedbackAuth);

        uint64 feedbackIndex = _ledgers[agentId].append(msg.sender, score, tag1, tag2);
        emit NewFeedback(agentId, msg.sender, score, tag1, tag2, fileuri, filehash);
        emit FeedbackIndexed(agentId, msg.sender, feedbackIndex, block.timestamp);
    }

    function revokeFeedback(uint256 agentId, uint64 feedbackIndex) external {
        FeedbackLedger.Entry storage entry = _existing(agentId, msg.sender, feedbackIndex);
        if (entry.isRevoked) revert AlreadyRevoked(agentId, msg.sender, feedbackIndex);

        _ledgers[agentId].revoke(msg.sender, feedbackIndex);
        emit FeedbackRevoked(agentId, msg.sender, feedbackIndex);
    }

    function appendResponse(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        string calldata responseURI,
        bytes32 responseHash
    ) external {
        // §3a: an index that can never be answers before the URI, one that is not yet answers after it.
        if (feedbackIndex == 0) revert FeedbackNotFound(agentId, clientAddress, 0);
        if (bytes(responseURI).length == 0) revert EmptyUri(); // R19
        _existing(agentId, clientAddress, feedbackIndex);

        _ledgers[agentId].responses[clientAddress][feedbackIndex].append(msg.sender);
        emit ResponseAppended(agentId, clientAddress, feedbackIndex, msg.sender, responseURI, responseHash);
    }

    function getSummary(uint256 agentId) external view returns (uint64 count, uint8 averageScore) {
        uint64 sum;
        (count, sum) = getTotals(agentId);
        averageScore = _average(count, sum);
    }

    function getSummary(uint256 agentId, address[] calldata clientAddresses, bytes32 tag1, bytes32 tag2)
        external
        view
        returns (uint64 count, uint8 averageScore)
    {
        uint64 sum;
        (count, sum) = getTotals(agentId, clientAddresses, tag1, tag2);
        averageScore = _average(count, sum);
    }

    function getTotals(uint256 agentId) public view returns (uint64 count, uint64 sum) {
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        return (ledger.count, ledger.sum);
    }

    function getTotals(uint256 agentId, address[] calldata clientAddresses, bytes32 tag1, bytes32 tag2)
        public
        view
        returns (uint64 count, uint64 sum)
    {
        (address[] memory clients, uint64[] memory indexes) = _find(agentId, clientAddresses, tag1, tag2, false);
        for (uint256 i = 0; i < clients.length; ++i) {
            sum += _ledgers[agentId].entries[clients[i]][indexes[i]].score;
        }
        // Nobody has memory for 2^64 of them.
        // forge-lint: disable-next-line(unsafe-typecast)
        count = uint64(clients.length);
    }

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
        (clients, indexes) = _find(agentId, clientAddresses, tag1, tag2, includeRevoked);
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
                responseCount: ledger.responses[clientAddress][index].total
            });
        }
    }

    function getResponseCount(
        uint256 agentId,
        address clientAddress,
        uint64 feedbackIndex,
        address[] calldata responders
    ) external view returns (uint64 count) {
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        if (clientAddress == address(0)) {
            address[] memory clients = ledger.clients;
            for (uint256 i = 0; i < clients.length; ++i) {
                count += ledger.responses[clients[i]].countUpTo(ledger.lastIndex(clients[i]), responders);
            }
        } else if (feedbackIndex == 0) {
            count = ledger.responses[clientAddress].countUpTo(ledger.lastIndex(clientAddress), responders);
        } else {
            count = ledger.responses[clientAddress][feedbackIndex].count(responders);
        }
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return _ledgers[agentId].lastIndex(clientAddress);
    }

    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _ledgers[agentId].clients;
    }

    function getClientCount(uint256 agentId) external view returns (uint256) {
        return _ledgers[agentId].clients.length;
    }

    function getClientsWindow(uint256 agentId, uint256 start, uint256 limit) external view returns (address[] memory) {
        return _ledgers[agentId].clients.slice(start, limit);
    }

    function readFeedback(uint256 agentId, address clientAddress, uint64 feedbackIndex)
        external
        view
        returns (uint8 score, bytes32 tag1, bytes32 tag2, bool isRevoked, uint64 timestamp)
    {
        FeedbackLedger.Entry storage entry = _existing(agentId, clientAddress, feedbackIndex);
        return (entry.score, entry.tag1, entry.tag2, entry.isRevoked, entry.timestamp);
    }

    function getIdentityRegistry() external view returns (address) {
        return address(IDENTITY_REGISTRY);
    }

    function acceptsDraftV1() external view returns (bool) {
        return ACCEPTS_DRAFT_V1;
    }

    function getVersion() external pure returns (string memory) {
        return "2.0.0-concord.1";
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

    /// @dev R6: the two accepted forms. FS's five-field struct and PROFILE's packed hash are not among them.
    function _isGranted(FeedbackAuth memory auth, bytes calldata signature) private view returns (bool) {
        if (_isSigned(auth.signerAddress, _hashTypedDataV4(auth.structHash()), signature)) return true;
        return ACCEPTS_DRAFT_V1 && _isSigned(auth.signerAddress, auth.draftV1Digest(), signature);
    }

    /// @dev R7. ECDSA comes first, because a delegated EOA (EIP-7702) has code and still signs with its key. A failed
    /// recovery yields the zero address, which owns nothing. The ERC-1271 check compares the first word of the answer
    /// and copies no more of it; an address without code answers with none.
    function _isSigned(address signer, bytes32 digest, bytes calldata signature) private view returns (bool) {
        (address recovered,,) = ECDSA.tryRecoverCalldata(digest, signature);
        if (recovered == signer) return true;
        return SignatureChecker.isValidERC1271SignatureNowCalldata(signer, digest, signature);
    }

    /// @dev R15: rounded down. The average of scores is a score and fits.
    function _average(uint64 count, uint64 sum) private pure returns (uint8) {
        // forge-lint: disable-next-line(unsafe-typecast)
        return count == 0 ? 0 : uint8(sum / count);
    }

    /// @dev R15: an empty list means all clients, a zero tag any tag.
    function _find(uint256 agentId, address[] calldata clientAddresses, bytes32 tag1, bytes32 tag2, bool includeRevoked)
        private
        view
        returns (address[] memory clients, uint64[] memory indexes)
    {
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        address[] memory listed = clientAddresses;
        if (listed.length == 0) listed = ledger.clients;
        return ledger.find(listed, FeedbackLedger.Query({tag1: tag1, tag2: tag2, includeRevoked: includeRevoked}));
    }

    function _existing(uint256 agentId, address client, uint64 feedbackIndex)
        private
        view
        returns (FeedbackLedger.Entry storage)
    {
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        if (!ledger.contains(client, feedbackIndex)) revert FeedbackNotFound(agentId, client, feedbackIndex);
        return ledger.entries[client][feedbackIndex];
    }
}
