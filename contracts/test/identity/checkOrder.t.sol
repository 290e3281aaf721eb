// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";

import {IIdentityRegistry as IIdentity} from "../../src/interfaces/IIdentityRegistry.sol";
import {WalletConsent} from "../actors/WalletConsent.sol";
import {WalletTest} from "../actors/WalletTest.sol";

/// @dev §3a: a call that breaks several rules is answered with the first of them. Each bit of a mask breaks one rule,
/// in the order of the table; the lowest bit names the error.
contract IdentityCheckOrderTest is WalletTest {
    uint256 private constant AGENT_BIT = 1 << 0;
    uint256 private constant CALLER_BIT = 1 << 1;
    uint256 private constant ZERO_BIT = 1 << 2;
    uint256 private constant PASSED_BIT = 1 << 3;
    uint256 private constant FAR_BIT = 1 << 4;
    uint256 private constant USED_BIT = 1 << 5;
    uint256 private constant MISSING_BIT = 1 << 6;
    uint256 private constant KEY_BIT = 1 << 2;

    function testFuzz_WhenSettingWalletBreaksSeveralRules_FirstAnswers(uint256 mask, uint256 delay, address caller)
        external
    {
        mask %= 128;
        if (mask & PASSED_BIT != 0) mask &= ~FAR_BIT; // a deadline is passed or too far, never both
        delay = bound(delay, 0, 300);
        vm.assume(caller != owner.addr);
        _assertFirstAnswers(mask, block.timestamp + delay, mask & CALLER_BIT != 0 ? caller : owner.addr);
    }

    function testFuzz_WhenSettingMetadataBreaksSeveralRules_FirstAnswers(uint256 unknownId, address caller) external {
        unknownId = bound(unknownId, agentId + 1, type(uint256).max);
        vm.assume(caller != owner.addr);
        for (uint256 mask = 1; mask < 8; ++mask) {
            if (mask & AGENT_BIT != 0) _expectUnknown(unknownId);
            else if (mask & CALLER_BIT != 0) _expectNotAuthorized(caller);
            else vm.expectRevert(IIdentity.ReservedKey.selector);
            vm.prank(mask & CALLER_BIT != 0 ? caller : owner.addr);
            identity.setMetadata(
                mask & AGENT_BIT != 0 ? unknownId : agentId, mask & KEY_BIT != 0 ? "agentWallet" : "note", "value"
            );
        }
        assertEq(identity.getMetadata(agentId, "note"), "");
    }

    function testFuzz_WhenUriOrUnsetBreaksBothRules_FirstAnswers(uint256 unknownId, address caller) external {
        unknownId = bound(unknownId, agentId + 1, type(uint256).max);
        vm.assume(caller != owner.addr);
        _expectUnknown(unknownId);
        vm.prank(caller);
        identity.setAgentURI(unknownId, "");
        _expectUnknown(unknownId);
        vm.prank(caller);
        identity.unsetAgentWallet(unknownId);
        _expectNotAuthorized(caller);
        vm.prank(caller);
        identity.setAgentURI(agentId, "");
        _expectNotAuthorized(caller);
        vm.prank(caller);
        identity.unsetAgentWallet(agentId);
    }

    function _assertFirstAnswers(uint256 mask, uint256 deadline, address caller) private {
        WalletConsent memory consent = WalletConsent(agentId, wallet.addr, owner.addr, deadline);
        if (mask & AGENT_BIT != 0) consent.agentId = UNKNOWN_ID;
        if (mask & ZERO_BIT != 0) consent.newWallet = address(0);
        if (mask & PASSED_BIT != 0) consent.deadline = block.timestamp - 1;
        if (mask & FAR_BIT != 0) consent.deadline = block.timestamp + 301;
        bytes memory signature = _signed(consent);
        if (mask == USED_BIT || mask == USED_BIT | MISSING_BIT) _set(consent, signature);
        if (mask & MISSING_BIT != 0) signature[0] = ~signature[0];
        bytes memory expected = _expected(mask, consent, caller);
        if (mask != 0) vm.expectRevert(expected);
        _setAs(caller, consent, signature);
        if (mask == 0) assertEq(identity.getAgentWallet(agentId), wallet.addr);
    }

    function _expected(uint256 mask, WalletConsent memory consent, address caller) private view returns (bytes memory) {
        if (mask & AGENT_BIT != 0) {
            return abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, UNKNOWN_ID);
        }
        if (mask & CALLER_BIT != 0) return abi.encodeWithSelector(IIdentity.NotAuthorized.selector, caller, agentId);
        if (mask & ZERO_BIT != 0) return abi.encodeWithSelector(IIdentity.WalletZero.selector);
        if (mask & PASSED_BIT != 0) {
            return abi.encodeWithSelector(IIdentity.DeadlinePassed.selector, consent.deadline, NOW);
        }
        if (mask & FAR_BIT != 0) {
            return abi.encodeWithSelector(IIdentity.DeadlineTooFar.selector, consent.deadline, NOW + 300);
        }
        if (mask & USED_BIT != 0) {
            return abi.encodeWithSelector(IIdentity.WalletConsentUsed.selector, _digest(consent));
        }
        return abi.encodeWithSelector(IIdentity.WalletConsentMissing.selector, wallet.addr, _digest(consent));
    }

    function _expectUnknown(uint256 id) private {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, id));
    }

    function _expectNotAuthorized(address caller) private {
        vm.expectRevert(abi.encodeWithSelector(IIdentity.NotAuthorized.selector, caller, agentId));
    }
}
