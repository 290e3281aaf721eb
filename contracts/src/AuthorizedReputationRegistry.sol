// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {ECDSA} from "@openzeppelin/contracts/utils/cryptography/ECDSA.sol";
import {EIP712} from "@openzeppelin/contracts/utils/cryptography/EIP712.sol";
import {SignatureChecker} from "@openzeppelin/contracts/utils/cryptography/SignatureChecker.sol";

import {IAuthorizedReputationRegistry} from "./interfaces/IAuthorizedReputationRegistry.sol";
import {IIdentityRegistry} from "./interfaces/IIdentityRegistry.sol";
import {FeedbackAuth, FeedbackAuths} from "./libraries/FeedbackAuths.sol";
import {FeedbackLedger} from "./libraries/FeedbackLedger.sol";

/// @title AuthorizedReputationRegistry
/// @dev Documented in IAuthorizedReputationRegistry. Other contracts are called by STATICCALL only: the identity
/// registry, and owners that are contracts. None of them can come back here to change anything.
contract AuthorizedReputationRegistry is EIP712, IAuthorizedReputationRegistry {
    using FeedbackAuths for FeedbackAuth;
    using FeedbackLedger for FeedbackLedger.Ledger;

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

    function getSummary(uint256 agentId) external view returns (uint64 count, uint8 averageScore) {
        uint64 sum;
        (count, sum) = getTotals(agentId);
        // R15: rounded down. The average of scores is a score and fits.
        // forge-lint: disable-next-line(unsafe-typecast)
        if (count != 0) averageScore = uint8(sum / count);
    }

    function getTotals(uint256 agentId) public view returns (uint64 count, uint64 sum) {
        FeedbackLedger.Ledger storage ledger = _ledgers[agentId];
        return (ledger.count, ledger.sum);
    }

    function getLastIndex(uint256 agentId, address clientAddress) external view returns (uint64) {
        return _ledgers[agentId].lastIndex(clientAddress);
    }

    function getClients(uint256 agentId) external view returns (address[] memory) {
        return _ledgers[agentId].clients;
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
