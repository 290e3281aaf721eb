// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IReputationRegistry} from "../../src/interfaces/IReputationRegistry.sol";
import {IAuthorizedReputationRegistry as IAuthorized} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {IFeedback} from "../../src/interfaces/IFeedback.sol";
import {AbsentOwner} from "../actors/AbsentOwner.sol";
import {BurningOwner} from "../actors/ContractOwners.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {WalletConsent} from "../actors/WalletConsent.sol";
import {WalletTest} from "../actors/WalletTest.sol";
import {Registries} from "../Registries.sol";

/// @dev What an attacker can do, and docs/THREAT-MODEL.md says so. A test that begins to fail means that a sentence there
/// has become wrong.
contract ThreatsTest is WalletTest {
    uint256 private constant CALL_GAS = 2_000_000;

    IReputationRegistry private open;

    function setUp() public override {
        super.setUp();
        open = Registries.newReputationRegistry(address(identity));
    }

    function test_GivenOwnerApprovesReviewer_ReviewerIsSilenced_R18() external {
        _giveOpen(client);
        bytes memory blob = _granted(agentId, client);
        vm.prank(owner.addr);
        identity.setApprovalForAll(client, true); // the client is not asked
        _assertSilenced(blob);
        vm.startPrank(owner.addr);
        identity.setApprovalForAll(client, false);
        identity.approve(client, agentId);
        vm.stopPrank();
        _assertSilenced(blob);
        // What was given stays, and stays the reviewer's to revoke.
        assertEq(open.getLastIndex(agentId, client), 1);
        vm.prank(client);
        open.revokeFeedback(agentId, 1);

        vm.prank(owner.addr);
        identity.approve(address(0), agentId);
        _giveOpen(client);
        _give(blob);
    }

    function test_GivenAgentIsAwayForOneCall_OwnerRatesIt_R18() external {
        AbsentOwner absent = new AbsentOwner(identity, open);
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, address(absent), agentId);
        WalletConsent memory consent = _consent();
        consent.owner = address(absent);
        bytes memory signature = _signed(consent);
        _setAs(address(absent), consent, signature);
        vm.expectRevert(abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, address(absent)));
        absent.rate(agentId, 100);

        absent.rateWhileAway(agentId, 100);
        assertEq(identity.ownerOf(agentId), address(absent));
        assertEq(open.getLastIndex(agentId, address(absent)), 1);
        // What shows it: two transfers around the feedback, and no wallet (R3).
        assertEq(identity.getAgentWallet(agentId), address(0));
    }

    function test_GivenWalletIsTheAgents_WalletRatesIt_R18() external {
        WalletConsent memory consent = _consent();
        _set(consent, _signed(consent));
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
        _giveOpen(wallet.addr);
        _give(wallet.addr, agentId, SCORE, _granted(agentId, wallet.addr));
        assertEq(open.getLastIndex(agentId, wallet.addr), 1);
        assertEq(reputation.getLastIndex(agentId, wallet.addr), 1);
    }

    function test_GivenAgentReturnsToSigner_OldGrantCounts_R7() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        bytes memory blob = _blob(auth, owner);
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        vm.expectRevert(abi.encodeWithSelector(IAuthorized.AuthWrongSigner.selector, owner.addr, newOwner.addr));
        _give(blob);

        vm.prank(newOwner.addr);
        identity.transferFrom(newOwner.addr, owner.addr, agentId);
        _give(blob);
        assertEq(reputation.getLastIndex(agentId, client), 1);
        vm.warp(auth.expiry);
        vm.expectRevert(abi.encodeWithSelector(IAuthorized.AuthExpired.selector, auth.expiry, block.timestamp));
        _give(blob);
    }

    function test_GivenOwnerBurnsGas_ClientPays_R7() external {
        address burning = address(new BurningOwner());
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, burning, agentId);
        bytes memory blob = bytes.concat(_auth(agentId, client).fields(), new bytes(65));
        bytes memory data =
            abi.encodeCall(reputation.giveFeedback, (agentId, SCORE, TAG1, TAG2, FILE_URI, FILE_HASH, blob));
        vm.prank(client);
        uint256 before = gasleft();
        (bool success, bytes memory reason) = address(reputation).call{gas: CALL_GAS}(data);
        assertGt(before - gasleft(), CALL_GAS * 95 / 100);
        assertFalse(success);
        assertEq(reason, abi.encodeWithSelector(IAuthorized.AuthBadSignature.selector));
        assertEq(reputation.getLastIndex(agentId, client), 0);
    }

    function test_GivenSecondRegistry_DraftGrantCountsInBoth_R6() external {
        _acceptDraftV1();
        IAuthorized second = _deployedByStranger(true);
        FeedbackAuthWords memory auth = _auth(agentId, client);
        bytes memory blob = bytes.concat(auth.fields(), _signature(owner, auth.eip191Digest()));
        _give(blob);
        _giveTo(second, blob);
        // Each registry counts for itself: the limit of one grant is spent in each.
        assertEq(reputation.getLastIndex(agentId, client), 1);
        assertEq(second.getLastIndex(agentId, client), 1);
        IAuthorized strict = _deployedByStranger(false);
        vm.expectRevert(IAuthorized.AuthBadSignature.selector);
        _giveTo(strict, blob);
    }

    function test_GivenSecondRegistry_TypedGrantCountsInOne_R6() external {
        _acceptDraftV1();
        IAuthorized second = _deployedByStranger(true);
        bytes memory blob = _granted(agentId, client);
        vm.expectRevert(IAuthorized.AuthBadSignature.selector);
        _giveTo(second, blob);
        _give(blob);
    }

    /// @dev By this contract, which has no part in the registries.
    function _deployedByStranger(bool acceptsDraftV1) private returns (IAuthorized) {
        return Registries.newAuthorizedReputationRegistry(address(identity), acceptsDraftV1);
    }

    function _giveTo(IAuthorized registry, bytes memory blob) private {
        vm.prank(client);
        registry.giveFeedback(agentId, SCORE, TAG1, TAG2, FILE_URI, FILE_HASH, blob);
    }

    function _giveOpen(address from) private {
        vm.prank(from);
        open.giveFeedback(agentId, 95, 0, "", "", "", "", 0);
    }

    function _assertSilenced(bytes memory blob) private {
        bytes memory refusal = abi.encodeWithSelector(IFeedback.SelfFeedback.selector, agentId, client);
        vm.expectRevert(refusal);
        _giveOpen(client);
        vm.expectRevert(refusal);
        _give(blob);
    }
}
