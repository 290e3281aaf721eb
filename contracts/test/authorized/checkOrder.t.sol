// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";

/// @dev §3a: a call that breaks several rules is answered with the first of them. Each bit of a mask breaks one rule,
/// in the order of the table; the lowest bit names the error.
contract CheckOrderTest is RegistryTest {
    uint256 private constant SCORE_BIT = 1 << 0;
    uint256 private constant AGENT_BIT = 1 << 1;
    uint256 private constant SELF_BIT = 1 << 2;
    uint256 private constant MISSING_BIT = 1 << 3;
    uint256 private constant SHORT_BIT = 1 << 4;
    uint256 private constant DIRTY_BIT = 1 << 5;
    uint256 private constant LONG_BIT = 1 << 6;
    uint256 private constant EXPIRY_BIT = 1 << 7;
    uint256 private constant LIMIT_BIT = 1 << 8;
    uint256 private constant WRONG_AGENT_BIT = 1 << 9;
    uint256 private constant WRONG_CLIENT_BIT = 1 << 10;
    uint256 private constant WRONG_CHAIN_BIT = 1 << 11;
    uint256 private constant WRONG_REGISTRY_BIT = 1 << 12;
    uint256 private constant WRONG_SIGNER_BIT = 1 << 13;
    uint256 private constant SIGNATURE_BIT = 1 << 14;
    uint256 private constant RULES = 15;
    uint256 private constant UNKNOWN_AGENT = 99;

    /// @dev Half of the runs break only late rules, which a uniform mask would hardly reach.
    function testFuzz_ReportsFirstBrokenRule(uint256 mask, uint256 firstRule) external {
        firstRule = bound(firstRule, 0, RULES);
        _assertFirstBrokenRuleIsReported((mask >> firstRule << firstRule) % 2 ** RULES);
    }

    function test_ReportsFirstOfAnyTwoBrokenRules() external {
        for (uint256 i = 0; i < RULES; ++i) {
            for (uint256 j = i; j < RULES; ++j) {
                uint256 snapshot = vm.snapshotState();
                _assertFirstBrokenRuleIsReported(2 ** i | 2 ** j);
                assertTrue(vm.revertToState(snapshot));
            }
        }
    }

    function _assertFirstBrokenRuleIsReported(uint256 mask) private {
        address caller = mask & SELF_BIT != 0 ? owner.addr : client;
        uint256 agent = mask & AGENT_BIT != 0 ? UNKNOWN_AGENT : agentId;
        FeedbackAuthWords memory auth = _brokenAuth(mask, agent, caller);
        bytes memory blob = _brokenBlob(mask, auth);
        uint8 score = mask & SCORE_BIT != 0 ? 101 : SCORE;
        if (mask != 0) vm.expectRevert(_expected(mask, caller, auth, blob.length));
        _give(caller, agent, score, blob);
        assertEq(reputation.getLastIndex(agent, caller), mask == 0 ? 1 : 0);
    }

    function _brokenAuth(uint256 mask, uint256 agent, address caller)
        private
        view
        returns (FeedbackAuthWords memory auth)
    {
        auth = _auth(agentId, caller);
        auth.agentId = agent;
        if (mask & EXPIRY_BIT != 0) auth.expiry = block.timestamp;
        if (mask & LIMIT_BIT != 0) auth.indexLimit = 0;
        if (mask & WRONG_AGENT_BIT != 0) auth.agentId = otherAgentId;
        if (mask & WRONG_CLIENT_BIT != 0) auth.clientAddress = uint160(stranger);
        if (mask & WRONG_CHAIN_BIT != 0) auth.chainId = CHAIN_ID + 1;
        if (mask & WRONG_REGISTRY_BIT != 0) auth.identityRegistry = uint160(stranger);
        if (mask & WRONG_SIGNER_BIT != 0) auth.signerAddress = uint160(stranger);
        if (mask & DIRTY_BIT != 0) auth.clientAddress |= 1 << 160;
    }

    function _brokenBlob(uint256 mask, FeedbackAuthWords memory auth) private returns (bytes memory) {
        if (mask & MISSING_BIT != 0) return "";
        if (mask & SHORT_BIT != 0) return new bytes(223);
        bytes memory blob = _blob(auth, owner);
        if (mask & SIGNATURE_BIT != 0) blob[224] = ~blob[224];
        return mask & LONG_BIT != 0 ? bytes.concat(blob, hex"00") : blob;
    }

    function _expected(uint256 mask, address caller, FeedbackAuthWords memory auth, uint256 length)
        private
        view
        returns (bytes memory)
    {
        if (mask & SCORE_BIT != 0) return abi.encodeWithSelector(IReputation.ScoreOutOfRange.selector, 101);
        if (mask & AGENT_BIT != 0) {
            return abi.encodeWithSelector(IBoundRegistry.ERC721NonexistentToken.selector, UNKNOWN_AGENT);
        }
        if (mask & SELF_BIT != 0) return abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, caller);
        if (mask & MISSING_BIT != 0) return abi.encodeWithSelector(IReputation.AuthMissing.selector);
        if (mask & SHORT_BIT != 0) return abi.encodeWithSelector(IReputation.AuthLength.selector, 223);
        if (mask & DIRTY_BIT != 0) return abi.encodeWithSelector(IReputation.AuthDirtyWord.selector, 1);
        if (mask & LONG_BIT != 0) return abi.encodeWithSelector(IReputation.AuthLength.selector, length);
        if (mask & EXPIRY_BIT != 0) return abi.encodeWithSelector(IReputation.AuthExpired.selector, NOW, NOW);
        if (mask & LIMIT_BIT != 0) return abi.encodeWithSelector(IReputation.AuthIndexLimit.selector, 0, 0);
        if (mask & WRONG_AGENT_BIT != 0) {
            return abi.encodeWithSelector(IReputation.AuthWrongAgent.selector, otherAgentId);
        }
        if (mask & WRONG_CLIENT_BIT != 0) {
            return abi.encodeWithSelector(IReputation.AuthWrongClient.selector, stranger);
        }
        if (mask & WRONG_CHAIN_BIT != 0) {
            return abi.encodeWithSelector(IReputation.AuthWrongChain.selector, auth.chainId);
        }
        if (mask & WRONG_REGISTRY_BIT != 0) {
            return abi.encodeWithSelector(IReputation.AuthWrongRegistry.selector, stranger);
        }
        if (mask & WRONG_SIGNER_BIT != 0) {
            return abi.encodeWithSelector(IReputation.AuthWrongSigner.selector, stranger, owner.addr);
        }
        return abi.encodeWithSelector(IReputation.AuthBadSignature.selector);
    }
}
