// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {RegistryTest} from "./RegistryTest.sol";
import {WalletConsent} from "./WalletConsent.sol";

/// @dev A key that may become the agent's wallet, and the steps to make it so.
abstract contract WalletTest is RegistryTest {
    uint256 internal constant UNKNOWN_ID = 99;

    Vm.Wallet internal wallet;
    address internal operator = makeAddr("operator");

    function setUp() public virtual override {
        super.setUp();
        wallet = vm.createWallet("wallet");
    }

    /// @dev Everything right, with a minute to go.
    function _consent() internal view returns (WalletConsent memory) {
        return _consentOf(wallet.addr);
    }

    function _consentOf(address newWallet) internal view returns (WalletConsent memory) {
        return
            WalletConsent({agentId: agentId, newWallet: newWallet, owner: owner.addr, deadline: block.timestamp + 60});
    }

    function _digest(WalletConsent memory consent) internal view returns (bytes32) {
        return consent.digest(block.chainid, address(identity));
    }

    function _signed(WalletConsent memory consent) internal returns (bytes memory) {
        return _signature(wallet, _digest(consent));
    }

    function _set(WalletConsent memory consent, bytes memory signature) internal {
        _setAs(owner.addr, consent, signature);
    }

    function _setAs(address caller, WalletConsent memory consent, bytes memory signature) internal {
        vm.prank(caller);
        identity.setAgentWallet(consent.agentId, consent.newWallet, consent.deadline, signature);
    }

    function _assertMissing(WalletConsent memory consent, bytes memory signature) internal {
        address before = identity.getAgentWallet(agentId);
        vm.expectRevert(
            abi.encodeWithSelector(IIdentityRegistry.WalletConsentMissing.selector, consent.newWallet, _digest(consent))
        );
        _set(consent, signature);
        assertEq(identity.getAgentWallet(agentId), before);
    }

    function _assertUsed(WalletConsent memory consent, bytes memory signature) internal {
        vm.expectRevert(abi.encodeWithSelector(IIdentityRegistry.WalletConsentUsed.selector, _digest(consent)));
        _set(consent, signature);
    }

    /// @dev The one log that a change of the wallet leaves.
    function _assertWalletTold(Vm.Log memory log, uint256 id, bytes memory value) internal pure {
        assertEq(log.topics[0], IIdentityRegistry.MetadataSet.selector);
        assertEq(log.topics[1], bytes32(id));
        assertEq(log.topics[2], keccak256("agentWallet"));
        assertEq(log.data, abi.encode("agentWallet", value));
    }

    function _assertNotAuthorized(address caller) internal {
        vm.expectRevert(abi.encodeWithSelector(IIdentityRegistry.NotAuthorized.selector, caller, agentId));
        vm.prank(caller);
    }

    function _approveClientAndOperator() internal {
        vm.startPrank(owner.addr);
        identity.approve(client, agentId);
        identity.setApprovalForAll(operator, true);
        vm.stopPrank();
    }
}
