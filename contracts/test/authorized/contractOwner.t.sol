// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IAuthorizedReputationRegistry as IReputation} from "../../src/interfaces/IAuthorizedReputationRegistry.sol";
import {
    AnsweringOwner,
    ApprovingOwner,
    BurningOwner,
    FloodingOwner,
    RefusingDelegate,
    RevertingOwner,
    WritingOwner
} from "../actors/ContractOwners.sol";
import {FeedbackAuthWords} from "../actors/FeedbackAuthWords.sol";
import {ReenteringWallet} from "../actors/ReenteringWallets.sol";
import {RegistryTest} from "../actors/RegistryTest.sol";

/// @dev The lower half of feedbackAuthSignature.tree: owners that have code. Prague has delegated accounts (EIP-7702).
/// forge-config: default.evm_version = "prague"
contract ContractOwnerTest is RegistryTest {
    bytes32 private constant MAGIC = 0x1626ba7e00000000000000000000000000000000000000000000000000000000;
    bytes private constant ANY_SIGNATURE = hex"0102030405";

    function test_WhenContractApproves_Accepts_R7() external {
        _acceptDraftV1();
        bytes memory signature = new bytes(65);
        address account = makeAddr("wallet contract");
        FeedbackAuthWords memory auth = _ownedBy(account);
        bytes32[2] memory digests = [_digest(auth), auth.eip191Digest()];
        for (uint256 i = 0; i < digests.length; ++i) {
            vm.etch(account, address(new ApprovingOwner(digests[i], signature)).code);
            _give(bytes.concat(auth.fields(), signature));
        }
        vm.etch(account, address(new ApprovingOwner(auth.packedHash(), signature)).code);
        _assertRefused(auth, signature);
    }

    function test_WhenContractApprovesAnyLength_Accepts_R6() external {
        address account = makeAddr("wallet contract");
        FeedbackAuthWords memory auth = _ownedBy(account);
        uint256[3] memory lengths = [uint256(0), 64, 200];
        for (uint256 i = 0; i < lengths.length; ++i) {
            bytes memory signature = new bytes(lengths[i]);
            if (lengths[i] != 0) signature[lengths[i] - 1] = 0x5a;
            vm.etch(account, address(new ApprovingOwner(_digest(auth), signature)).code);
            _assertRefused(auth, bytes.concat(signature, hex"00"));
            _give(bytes.concat(auth.fields(), signature));
        }
    }

    function test_RevertWhen_ContractAnswersOtherwise_R7() external {
        _assertRefusedFrom(address(new AnsweringOwner(abi.encode(bytes4(0xffffffff)))));
        _assertRefusedFrom(address(new AnsweringOwner(abi.encode(uint256(1)))));
        // The magic value on the wrong side of its word.
        _assertRefusedFrom(address(new AnsweringOwner(abi.encode(uint256(0x1626ba7e)))));
    }

    function test_RevertWhen_MagicIsDirty_R7() external {
        _assertRefusedFrom(address(new AnsweringOwner(abi.encode(MAGIC | bytes32(uint256(1))))));
        _assertRefusedFrom(address(new AnsweringOwner(abi.encode(MAGIC | bytes32(uint256(1) << 223)))));
    }

    function test_RevertWhen_AnswerIsShort_R7() external {
        _assertRefusedFrom(address(new AnsweringOwner("")));
        _assertRefusedFrom(address(new AnsweringOwner(hex"1626ba7e")));
        _assertRefusedFrom(address(new FloodingOwner(31)));
    }

    function test_RevertWhen_ContractReverts_R7() external {
        _assertRefusedFrom(address(new RevertingOwner()));
    }

    function test_RevertWhen_ContractBurnsGas_R7() external {
        _assertRefusedFrom(address(new BurningOwner()));
    }

    function test_RevertWhen_ContractWrites_R7() external {
        WritingOwner account = new WritingOwner();
        _assertRefusedFrom(address(account));
        assertEq(account.questions(), 0);
    }

    function test_WhenAnswerIsHuge_CopiesOneWord_R7() external {
        uint256 gasForOneWord = _gasOfGiving(address(new FloodingOwner(32)));
        uint256 gasForFlood = _gasOfGiving(address(new FloodingOwner(100_000)));
        // The owner's own frame pays 28,456 for 100,000 bytes of memory; a copy here would cost 37,000 more.
        assertGt(gasForFlood, gasForOneWord + 28_000);
        assertLt(gasForFlood, gasForOneWord + 32_000);
    }

    function test_WhenOwnerReenters_NothingGoesThrough_R7() external {
        _give(_granted(agentId, client));
        ReenteringWallet account = new ReenteringWallet(address(reputation));
        account.prepare(abi.encodeCall(reputation.appendResponse, (agentId, client, 1, "ipfs://response", 0)));
        account.prepare(abi.encodeCall(reputation.appendResponse, (agentId, client, 1, "ipfs://again", 0)));
        uint256 snapshot = vm.snapshotState();
        assertEq(account.perform(), 2, "each call works where it is allowed");
        assertTrue(vm.revertToState(snapshot));

        bytes memory blob = _ownedBy(address(account)).fields(); // it consents only if none of its calls went through
        _give(blob);
        assertEq(reputation.getLastIndex(agentId, client), 2);
        assertEq(reputation.getResponseCount(agentId, client, 0, new address[](0)), 0);
    }

    function test_WhenOwnerIsDelegated_AcceptsItsKey_R7() external {
        _acceptDraftV1();
        _delegate(owner, address(new RefusingDelegate()));
        _give(_granted(agentId, client));
        _give(bytes.concat(_auth(agentId, client).fields(), _signature(owner, _auth(agentId, client).eip191Digest())));
        assertEq(reputation.getLastIndex(agentId, client), 2);
    }

    function test_WhenDelegateApproves_Accepts_R7() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        _delegate(owner, address(new ApprovingOwner(_digest(auth), ANY_SIGNATURE)));
        _give(bytes.concat(auth.fields(), ANY_SIGNATURE));
        assertEq(reputation.getLastIndex(agentId, client), 1);
    }

    function test_RevertWhen_OwnerIsDelegatedAndAnotherKeySigns_R7() external {
        _delegate(owner, address(new RefusingDelegate()));
        FeedbackAuthWords memory auth = _auth(agentId, client);
        _assertRefused(auth, _signature(newOwner, _digest(auth)));
    }

    /// @dev To delegate to the zero address takes the code away again: then only 289 bytes count (R6).
    function test_GivenDelegationWasTakenBack_OnlyItsKeyCounts_R7() external {
        FeedbackAuthWords memory auth = _auth(agentId, client);
        _delegate(owner, address(new ApprovingOwner(_digest(auth), ANY_SIGNATURE)));
        vm.signAndAttachDelegation(address(0), owner.privateKey);
        assertEq(owner.addr.code.length, 0);
        vm.expectRevert(abi.encodeWithSelector(IReputation.AuthLength.selector, 224 + ANY_SIGNATURE.length));
        _give(bytes.concat(auth.fields(), ANY_SIGNATURE));
        _give(_granted(agentId, client));
    }

    function _ownedBy(address account) private returns (FeedbackAuthWords memory) {
        address holder = identity.ownerOf(agentId);
        vm.prank(holder);
        identity.transferFrom(holder, account, agentId);
        return _auth(agentId, client);
    }

    function _gasOfGiving(address account) private returns (uint256) {
        uint256 snapshot = vm.snapshotState();
        bytes memory blob = bytes.concat(_ownedBy(account).fields(), ANY_SIGNATURE);
        uint256 before = gasleft();
        _give(blob);
        uint256 used = before - gasleft();
        assertTrue(vm.revertToState(snapshot));
        return used;
    }

    function _assertRefusedFrom(address account) private {
        _assertRefused(_ownedBy(account), ANY_SIGNATURE);
    }

    function _assertRefused(FeedbackAuthWords memory auth, bytes memory signature) private {
        vm.expectRevert(abi.encodeWithSelector(IReputation.AuthBadSignature.selector));
        _give(bytes.concat(auth.fields(), signature));
    }
}
