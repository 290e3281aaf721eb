// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IERC721Errors} from "@openzeppelin/contracts/interfaces/draft-IERC6093.sol";
import {IERC721} from "@openzeppelin/contracts/token/ERC721/IERC721.sol";
import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry as IIdentity} from "../../src/interfaces/IIdentityRegistry.sol";
import {
    AnsweringOwner,
    ApprovingOwner,
    BurningOwner,
    FloodingOwner,
    RefusingDelegate,
    RevertingOwner,
    WritingOwner
} from "../actors/ContractOwners.sol";
import {ManagingRegistrant, ReenteringWallet} from "../actors/ReenteringWallets.sol";
import {WalletConsent} from "../actors/WalletConsent.sol";
import {WalletTest} from "../actors/WalletTest.sol";

/// @dev The lower half of setAgentWallet.tree: wallets that have code. Prague has delegated accounts (EIP-7702).
/// forge-config: default.evm_version = "prague"
contract WalletContractTest is WalletTest {
    bytes32 private constant MAGIC = 0x1626ba7e00000000000000000000000000000000000000000000000000000000;
    bytes private constant ANY_SIGNATURE = hex"0102030405";

    function test_WhenContractApproves_SetsWallet_R3() external {
        uint256[4] memory lengths = [uint256(0), 64, 65, 200];
        for (uint256 i = 0; i < lengths.length; ++i) {
            address account = makeAddr(vm.toString(i));
            bytes memory signature = new bytes(lengths[i]);
            vm.etch(account, address(new ApprovingOwner(_digest(_consentOf(account)), signature)).code);
            _assertMissing(_consentOf(account), bytes.concat(signature, hex"00"));
            _set(_consentOf(account), signature);
            assertEq(identity.getAgentWallet(agentId), account);
        }
    }

    function test_RevertWhen_ContractApprovesOtherDigest_R3() external {
        address account = makeAddr("wallet contract");
        WalletConsent memory other = _consentOf(account);
        other.deadline += 1;
        vm.etch(account, address(new ApprovingOwner(_digest(other), ANY_SIGNATURE)).code);
        _assertMissing(_consentOf(account), ANY_SIGNATURE);
        _set(other, ANY_SIGNATURE);
    }

    function test_RevertWhen_ContractConsentsAgain_R3() external {
        address account = address(new AnsweringOwner(abi.encode(MAGIC)));
        _set(_consentOf(account), ANY_SIGNATURE);
        _assertUsed(_consentOf(account), ANY_SIGNATURE);
        _assertUsed(_consentOf(account), "another signature");
    }

    function test_RevertWhen_ContractAnswersOtherwise_R3() external {
        _assertRefused(address(new AnsweringOwner(abi.encode(bytes4(0xffffffff)))));
        _assertRefused(address(new AnsweringOwner(abi.encode(uint256(1)))));
        // The magic value on the wrong side of its word.
        _assertRefused(address(new AnsweringOwner(abi.encode(uint256(0x1626ba7e)))));
    }

    function test_RevertWhen_MagicIsDirty_R3() external {
        _assertRefused(address(new AnsweringOwner(abi.encode(MAGIC | bytes32(uint256(1))))));
        _assertRefused(address(new AnsweringOwner(abi.encode(MAGIC | bytes32(uint256(1) << 223)))));
    }

    function test_RevertWhen_AnswerIsShort_R3() external {
        _assertRefused(address(new AnsweringOwner("")));
        _assertRefused(address(new AnsweringOwner(hex"1626ba7e")));
        _assertRefused(address(new FloodingOwner(31)));
    }

    function test_RevertWhen_ContractFails_R3() external {
        _assertRefused(address(new RevertingOwner()));
        _assertRefused(address(new BurningOwner()));
        WritingOwner account = new WritingOwner();
        _assertRefused(address(account));
        assertEq(account.questions(), 0);
    }

    function test_WhenAnswerIsHuge_CopiesOneWord_R3() external {
        uint256 gasForOneWord = _gasOfSetting(address(new FloodingOwner(32)));
        uint256 gasForFlood = _gasOfSetting(address(new FloodingOwner(100_000)));
        // The wallet's own frame pays 28,456 for 100,000 bytes of memory; a copy here would cost 37,000 more.
        assertGt(gasForFlood, gasForOneWord + 28_000);
        assertLt(gasForFlood, gasForOneWord + 32_000);
    }

    function test_RevertWhen_WalletIsPrecompileOrRegistry_R3() external {
        // The identity precompile (4) echoes the question, which begins with the magic value.
        for (uint160 precompile = 1; precompile <= 4; ++precompile) {
            _assertRefused(address(precompile));
        }
        _assertRefused(address(identity));
    }

    function test_WhenWalletIsDelegated_AcceptsItsKey_R3() external {
        _delegate(wallet, address(new RefusingDelegate()));
        _set(_consent(), _signed(_consent()));
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
    }

    function test_WhenDelegateOfWalletApproves_SetsWallet_R3() external {
        _delegate(wallet, address(new ApprovingOwner(_digest(_consent()), ANY_SIGNATURE)));
        _set(_consent(), ANY_SIGNATURE);
        assertEq(identity.getAgentWallet(agentId), wallet.addr);
    }

    function test_RevertWhen_WalletIsDelegatedAndAnotherKeySigns_R3() external {
        _delegate(wallet, address(new RefusingDelegate()));
        _assertMissing(_consent(), _signature(newOwner, _digest(_consent())));
    }

    /// @dev A delegated account has code, so that its delegate is asked whether it takes the token.
    function test_RevertWhen_RegistrantsDelegateDoesNotReceive() external {
        _delegate(wallet, address(new RefusingDelegate()));
        vm.expectRevert(abi.encodeWithSelector(IERC721Errors.ERC721InvalidReceiver.selector, wallet.addr));
        _register(wallet.addr);
        vm.signAndAttachDelegation(address(0), wallet.privateKey);
        assertEq(identity.ownerOf(_register(wallet.addr)), wallet.addr);
    }

    function test_WhenWalletReenters_NothingGoesThrough_R3() external {
        (ReenteringWallet account, uint256 prepared) = _reenteringWallet();
        uint256 snapshot = vm.snapshotState();
        assertEq(account.perform(), prepared, "each call works where it is allowed");
        assertTrue(vm.revertToState(snapshot));

        _set(_consentOf(address(account)), ""); // it consents only if none of its calls went through
        assertEq(identity.ownerOf(agentId), owner.addr);
        assertEq(identity.getAgentWallet(agentId), address(account));
        assertEq(identity.tokenURI(agentId), AGENT_URI);
        assertEq(identity.getMetadata(agentId, "note"), "");
        assertEq(identity.balanceOf(address(account)), 0);
    }

    function test_WhenWalletReenters_EventsAgreeWithStorage_R3() external {
        (ReenteringWallet account,) = _reenteringWallet();
        vm.recordLogs();
        _set(_consentOf(address(account)), "");
        Vm.Log[] memory logs = vm.getRecordedLogs();
        assertEq(logs.length, 1);
        _assertWalletTold(logs[0], agentId, abi.encodePacked(address(account)));
        assertEq(identity.getAgentWallet(agentId), address(account));
    }

    function test_WhenRegistrantManagesWithin_EventsAgreeWithStorage_R3() external {
        ManagingRegistrant registrant = new ManagingRegistrant(identity);
        uint256 id = agentId + 1;
        WalletConsent memory consent = WalletConsent(id, wallet.addr, address(registrant), NOW);
        registrant.prepare(abi.encodeCall(IIdentity.unsetAgentWallet, (id)));
        registrant.prepare(abi.encodeCall(IIdentity.setAgentURI, (id, "ipfs://second")));
        registrant.prepare(abi.encodeCall(IIdentity.setAgentWallet, (id, wallet.addr, NOW, _signed(consent))));
        vm.recordLogs();
        assertEq(registrant.register(), id);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        // Transfer, MetadataUpdate, Registered, MetadataSet; MetadataSet; MetadataUpdate, URIUpdated; MetadataSet.
        assertEq(logs.length, 8);
        assertEq(logs[2].topics[0], IIdentity.Registered.selector);
        _assertWalletTold(logs[3], id, abi.encodePacked(address(registrant)));
        _assertWalletTold(logs[4], id, "");
        assertEq(logs[6].data, abi.encode("ipfs://second"));
        _assertWalletTold(logs[7], id, abi.encodePacked(wallet.addr));
        assertEq(identity.tokenURI(id), "ipfs://second");
        assertEq(identity.getAgentWallet(id), wallet.addr);
    }

    /// @dev An operator of the owner, so that only the manner of the call can forbid what it tries.
    function _reenteringWallet() private returns (ReenteringWallet account, uint256 prepared) {
        account = new ReenteringWallet(address(identity));
        vm.prank(owner.addr);
        identity.setApprovalForAll(address(account), true);
        WalletConsent memory consent = _consent();
        bytes[6] memory calls = [
            abi.encodeCall(IIdentity.setAgentWallet, (agentId, wallet.addr, consent.deadline, _signed(consent))),
            abi.encodeCall(IIdentity.unsetAgentWallet, (agentId)),
            abi.encodeCall(IIdentity.setAgentURI, (agentId, "ipfs://other")),
            abi.encodeCall(IIdentity.setMetadata, (agentId, "note", "first")),
            abi.encodeCall(IERC721.approve, (stranger, agentId)),
            abi.encodeCall(IERC721.transferFrom, (owner.addr, stranger, agentId))
        ];
        prepared = calls.length;
        for (uint256 i = 0; i < prepared; ++i) {
            account.prepare(calls[i]);
        }
    }

    function _gasOfSetting(address account) private returns (uint256) {
        uint256 snapshot = vm.snapshotState();
        WalletConsent memory consent = _consentOf(account);
        uint256 before = gasleft();
        _set(consent, ANY_SIGNATURE);
        uint256 used = before - gasleft();
        assertTrue(vm.revertToState(snapshot));
        return used;
    }

    function _assertRefused(address account) private {
        _assertMissing(_consentOf(account), ANY_SIGNATURE);
    }
}
