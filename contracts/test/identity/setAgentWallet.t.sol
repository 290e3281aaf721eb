// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry as IIdentity} from "../../src/interfaces/IIdentityRegistry.sol";
import {WalletConsent} from "../actors/WalletConsent.sol";
import {WalletTest} from "../actors/WalletTest.sol";

/// @dev The upper half of setAgentWallet.tree: wallets that sign with a key.
contract SetAgentWalletTest is WalletTest {
    function test_RevertWhen_WalletOfUnknownAgentIsSet() external {
        WalletConsent memory consent = _consent();
        consent.agentId = UNKNOWN_ID;
        bytes memory signature = _signed(consent);
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, UNKNOWN_ID));
        _set(consent, signature);
    }

    function test_RevertWhen_StrangerSetsWallet() external {
        WalletConsent memory consent = _consent();
        bytes memory signature = _signed(consent);
        address[3] memory callers = [stranger, client, wallet.addr];
        for (uint256 i = 0; i < callers.length; ++i) {
            _assertNotAuthorized(callers[i]);
            identity.setAgentWallet(agentId, wallet.addr, consent.deadline, signature);
        }
        assertEq(identity.getAgentWallet(agentId), owner.addr);
    }

    function test_RevertWhen_WalletIsZero_R3() external {
        vm.expectRevert(IIdentity.WalletZero.selector);
        _set(_consentOf(address(0)), "");
        // A recovery that fails yields the zero address: it must not pass for its consent.
        vm.expectRevert(IIdentity.WalletZero.selector);
        _set(_consentOf(address(0)), new bytes(65));
    }

    function test_RevertWhen_DeadlineIsPassed_R3() external {
        uint256[2] memory deadlines = [uint256(NOW) - 1, 0];
        for (uint256 i = 0; i < deadlines.length; ++i) {
            WalletConsent memory consent = _consent();
            consent.deadline = deadlines[i];
            bytes memory signature = _signed(consent);
            vm.expectRevert(abi.encodeWithSelector(IIdentity.DeadlinePassed.selector, deadlines[i], NOW));
            _set(consent, signature);
        }
    }

    function test_RevertWhen_DeadlineIsTooFar_R3() external {
        uint256[2] memory deadlines = [uint256(NOW) + 301, type(uint256).max];
        for (uint256 i = 0; i < deadlines.length; ++i) {
            WalletConsent memory consent = _consent();
            consent.deadline = deadlines[i];
            bytes memory signature = _signed(consent);
            vm.expectRevert(abi.encodeWithSelector(IIdentity.DeadlineTooFar.selector, deadlines[i], NOW + 300));
            _set(consent, signature);
        }
    }

    function test_WhenDeadlineIsOnABoundary_SetsWallet_R3() external {
        uint256[2] memory deadlines = [uint256(NOW), uint256(NOW) + 300];
        for (uint256 i = 0; i < deadlines.length; ++i) {
            WalletConsent memory consent = _consent();
            consent.deadline = deadlines[i];
            _set(consent, _signed(consent));
            assertEq(identity.getAgentWallet(agentId), wallet.addr);
            vm.prank(owner.addr);
            identity.unsetAgentWallet(agentId);
        }
    }

    function testFuzz_DeadlineIsWithin300Seconds_R3(uint256 deadline, bool isNear) external {
        WalletConsent memory consent = _consent();
        consent.deadline = isNear ? bound(deadline, NOW - 600, NOW + 600) : deadline;
        bool isAccepted = consent.deadline >= NOW && consent.deadline <= NOW + 300;
        bytes memory signature = _signed(consent);
        if (!isAccepted) vm.expectPartialRevert(_deadlineError(consent.deadline));
        _set(consent, signature);
        assertEq(identity.getAgentWallet(agentId), isAccepted ? wallet.addr : owner.addr);
    }

    function test_RevertWhen_SeveralRulesAreBroken_FirstAnswers() external {
        WalletConsent memory used = _consent();
        _set(used, _signed(used));
        WalletConsent memory consent =
            WalletConsent({agentId: UNKNOWN_ID, newWallet: address(0), owner: owner.addr, deadline: NOW - 1});
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, UNKNOWN_ID));
        _setAs(stranger, consent, "");
        consent.agentId = agentId;
        vm.expectRevert(abi.encodeWithSelector(IIdentity.NotAuthorized.selector, stranger, agentId));
        _setAs(stranger, consent, "");
        vm.expectRevert(IIdentity.WalletZero.selector);
        _set(consent, "");
        consent.deadline = NOW + 301;
        vm.expectRevert(IIdentity.WalletZero.selector);
        _set(consent, "");
        consent.newWallet = wallet.addr;
        vm.expectRevert(abi.encodeWithSelector(IIdentity.DeadlineTooFar.selector, NOW + 301, NOW + 300));
        _set(consent, "");
        _assertUsed(used, ""); // and the signature is missing too
        vm.warp(used.deadline + 1);
        vm.expectRevert(abi.encodeWithSelector(IIdentity.DeadlinePassed.selector, used.deadline, used.deadline + 1));
        _set(used, "");
    }

    function test_WhenWalletSigns_SetsItAndTells_R3() external {
        WalletConsent memory consent = _consent();
        bytes memory signature = _signed(consent);
        vm.recordLogs();
        _set(consent, signature);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        _assertWalletTold(logs[0], agentId, abi.encodePacked(wallet.addr));
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
        assertEq(identity.getMetadata(agentId, "agentWallet"), abi.encodePacked(wallet.addr));
        assertEq(identity.ownerOf(agentId), owner.addr);
        assertEq(identity.getAgentWallet(otherAgentId), stranger);
    }

    function test_WhenApprovedOrOperatorSets_SetsWallet_R3() external {
        _approveClientAndOperator();
        WalletConsent memory consent = _consent();
        _setAs(client, consent, _signed(consent));
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
        vm.prank(owner.addr);
        identity.unsetAgentWallet(agentId);
        consent.deadline += 1;
        _setAs(operator, consent, _signed(consent));
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
    }

    function test_WhenOwnerIsTheWallet_SetsWallet_R3() external {
        vm.prank(owner.addr);
        identity.unsetAgentWallet(agentId);
        WalletConsent memory consent = _consentOf(owner.addr);
        _set(consent, _signature(owner, _digest(consent)));
        assertEq(identity.getAgentWallet(agentId), owner.addr);
    }

    function test_GivenWalletWasSet_TransferClearsIt_R3() external {
        WalletConsent memory consent = _consent();
        _set(consent, _signed(consent));
        _transfer(owner.addr, owner.addr);
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
        _transfer(owner.addr, newOwner.addr);
        assertEq(identity.getAgentWallet(agentId), address(0));
        assertEq(identity.getMetadata(agentId, "agentWallet"), "");
    }

    function testFuzz_SetsTheWalletThatSigned_R3(uint256 key, uint256 seconds_) external {
        Vm.Wallet memory signer = vm.createWallet(bound(key, 1, SECP256K1_ORDER - 1));
        vm.assume(signer.addr.code.length == 0);
        WalletConsent memory consent = _consentOf(signer.addr);
        consent.deadline = NOW + bound(seconds_, 0, 300);
        bytes memory signature = _signature(signer, _digest(consent));
        _set(consent, signature);
        assertEq(identity.getAgentWallet(agentId), signer.addr);
        _assertUsed(consent, signature);
    }

    function test_RevertWhen_ConsentIsUsedAgain_R3() external {
        WalletConsent memory consent = _consent();
        bytes memory signature = _signed(consent);
        _set(consent, signature);
        _assertUsed(consent, signature);
        vm.warp(consent.deadline);
        _assertUsed(consent, signature);
    }

    function test_RevertWhen_ConsentIsUsedAgainAfterUnset_R3() external {
        WalletConsent memory consent = _consent();
        bytes memory signature = _signed(consent);
        _set(consent, signature);
        vm.prank(owner.addr);
        identity.unsetAgentWallet(agentId);
        _assertUsed(consent, signature);
        assertEq(identity.getAgentWallet(agentId), address(0));
    }

    function test_RevertWhen_ConsentIsUsedAgainAfterReturn_R3() external {
        WalletConsent memory consent = _consent();
        bytes memory signature = _signed(consent);
        _set(consent, signature);
        _transfer(owner.addr, newOwner.addr);
        _transfer(newOwner.addr, owner.addr);
        _assertUsed(consent, signature);
        assertEq(identity.getAgentWallet(agentId), address(0));
    }

    function test_RevertWhen_ConsentIsUsedAgainWithOtherSignature_R3() external {
        WalletConsent memory consent = _consent();
        bytes memory signature = _signed(consent);
        _set(consent, signature);
        _assertUsed(consent, _highS(signature));
        _assertUsed(consent, "");
    }

    function test_GivenAttemptWasRefused_ConsentIsStillGood_R3() external {
        WalletConsent memory consent = _consent();
        _assertMissing(consent, new bytes(65));
        _set(consent, _signed(consent));
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
    }

    function test_GivenNewConsentOfTheSameWallet_SetsWallet_R3() external {
        WalletConsent memory consent = _consent();
        _set(consent, _signed(consent));
        vm.prank(owner.addr);
        identity.unsetAgentWallet(agentId);
        consent.deadline += 1;
        _set(consent, _signed(consent));
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
    }

    function test_RevertWhen_ConsentIsForOtherFields_R3() external {
        WalletConsent[4] memory others = [_consent(), _consent(), _consent(), _consent()];
        others[0].agentId = otherAgentId;
        others[1].newWallet = client;
        others[2].owner = newOwner.addr;
        others[3].deadline += 1;
        for (uint256 i = 0; i < others.length; ++i) {
            _assertMissing(_consent(), _signed(others[i]));
        }
        _set(_consent(), _signed(_consent()));
    }

    function test_RevertWhen_ConsentIsForOtherDomain_R3() external {
        WalletConsent memory consent = _consent();
        bytes32[5] memory digests = [
            consent.digest(CHAIN_ID + 1, address(identity)),
            consent.digest(CHAIN_ID, address(reputation)),
            consent.digestIn("ERC8004ReputationRegistry", "1", CHAIN_ID, address(identity)),
            consent.digestIn("ERC8004IdentityRegistry", "2", CHAIN_ID, address(identity)),
            consent.structHash()
        ];
        for (uint256 i = 0; i < digests.length; ++i) {
            _assertMissing(consent, _signature(wallet, digests[i]));
        }
    }

    function test_WhenChainForks_DomainFollows_R3() external {
        WalletConsent memory consent = _consent();
        bytes memory signature = _signed(consent);
        vm.chainId(CHAIN_ID + 1);
        _assertMissing(consent, signature);
        _set(consent, _signed(consent));
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
    }

    function test_RevertWhen_OwnerChangedSinceConsent_R3() external {
        WalletConsent memory consent = _consent();
        bytes memory signature = _signed(consent);
        _transfer(owner.addr, newOwner.addr);
        consent.owner = newOwner.addr;
        vm.expectRevert(abi.encodeWithSelector(IIdentity.WalletConsentMissing.selector, wallet.addr, _digest(consent)));
        _setAs(newOwner.addr, consent, signature);
        assertEq(identity.getAgentWallet(agentId), address(0));
    }

    function test_RevertWhen_AnotherKeySigns_R3() external {
        bytes32 digest = _digest(_consent());
        _assertMissing(_consent(), _signature(owner, digest));
        _assertMissing(_consent(), _signature(newOwner, digest));
    }

    function test_RevertWhen_WalletSignatureIsMalformed_R23() external {
        WalletConsent memory consent = _consent();
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(wallet, _digest(consent));
        bytes32 vs = bytes32(uint256(s) | (uint256(v - 27) << 255));
        _assertMissing(consent, abi.encodePacked(r, s, v - 27));
        _assertMissing(consent, _highS(abi.encodePacked(r, s, v)));
        _assertMissing(consent, abi.encodePacked(r, vs));
        _assertMissing(consent, abi.encodePacked(r, s, v, uint8(0)));
        _assertMissing(consent, abi.encodePacked(r, s));
        _assertMissing(consent, "");
        _set(consent, abi.encodePacked(r, s, v));
    }

    function testFuzz_RevertWhen_ABitOfTheSignatureDiffers_R3(uint256 bit) external {
        bytes memory signature = _signed(_consent());
        bit = bound(bit, 0, 65 * 8 - 1);
        signature[bit / 8] ^= bytes1(uint8(2 ** (bit % 8)));
        _assertMissing(_consent(), signature);
    }

    function test_RevertWhen_WalletOfUnknownAgentIsUnset() external {
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721NonexistentToken.selector, UNKNOWN_ID));
        vm.prank(owner.addr);
        identity.unsetAgentWallet(UNKNOWN_ID);
    }

    function test_RevertWhen_StrangerUnsetsWallet() external {
        WalletConsent memory consent = _consent();
        _set(consent, _signed(consent));
        address[3] memory callers = [stranger, client, wallet.addr];
        for (uint256 i = 0; i < callers.length; ++i) {
            _assertNotAuthorized(callers[i]);
            identity.unsetAgentWallet(agentId);
        }
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
    }

    function test_GivenWalletIsTheRegistrant_UnsetClearsIt_R3() external {
        vm.recordLogs();
        vm.prank(owner.addr);
        identity.unsetAgentWallet(agentId);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        _assertWalletTold(logs[0], agentId, "");
        assertEq(identity.getAgentWallet(agentId), address(0));
        assertEq(identity.getMetadata(agentId, "agentWallet"), "");
        assertEq(identity.getAgentWallet(otherAgentId), stranger);
    }

    function test_GivenWalletWasSet_UnsetClearsIt_R3() external {
        _approveClientAndOperator();
        address[3] memory callers = [owner.addr, client, operator];
        WalletConsent memory consent = _consent();
        for (uint256 i = 0; i < callers.length; ++i) {
            consent.deadline += 1;
            _set(consent, _signed(consent));
            assertEq(identity.getAgentWallet(agentId), wallet.addr);
            vm.prank(callers[i]);
            identity.unsetAgentWallet(agentId);
            assertEq(identity.getAgentWallet(agentId), address(0));
        }
    }

    function test_GivenThereIsNoWallet_UnsetTellsAgain() external {
        vm.startPrank(owner.addr);
        identity.unsetAgentWallet(agentId);
        vm.recordLogs();
        identity.unsetAgentWallet(agentId);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        _assertWalletTold(logs[0], agentId, "");
        assertEq(identity.getAgentWallet(agentId), address(0));
    }

    function _deadlineError(uint256 deadline) private pure returns (bytes4) {
        return deadline < NOW ? IIdentity.DeadlinePassed.selector : IIdentity.DeadlineTooFar.selector;
    }

    /// @dev The other signature that the same key and digest have.
    function _highS(bytes memory signature) private pure returns (bytes memory) {
        bytes memory pair = new bytes(64);
        for (uint256 i = 0; i < 64; ++i) {
            pair[i] = signature[i];
        }
        (bytes32 r, uint256 s) = abi.decode(pair, (bytes32, uint256));
        return abi.encodePacked(r, SECP256K1_ORDER - s, uint8(signature[64]) == 27 ? uint8(28) : uint8(27));
    }

    function _transfer(address from, address to) private {
        vm.prank(from);
        identity.transferFrom(from, to, agentId);
    }
}
