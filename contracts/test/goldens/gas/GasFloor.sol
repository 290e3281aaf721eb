// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";
import {Vm, VmSafe} from "forge-std/Vm.sol";

/// @dev What a call costs at least with the slots, logs and other accounts that it touches: everything but computation.
/// It is counted from the accesses that the virtual machine reports, by Prague's prices.
abstract contract GasFloor is Test {
    uint256 private constant TRANSACTION = 21_000;
    uint256 private constant ZERO_BYTE = 4;
    uint256 private constant NONZERO_BYTE = 16;
    uint256 private constant COLD_ACCOUNT = 2_600;
    uint256 private constant COLD_SLOT = 2_100;
    uint256 private constant SLOT_SET = 20_000;
    uint256 private constant SLOT_CHANGED = 2_900;
    uint256 private constant SLOT_CLEARED = 4_800; // given back
    uint256 private constant LOG = 375; // and each topic
    uint256 private constant LOG_BYTE = 8;
    uint256 private constant CREATE = 32_000;
    uint256 private constant CODE_BYTE = 200;
    uint256 private constant ECRECOVER = 3_000;

    mapping(bytes32 what => uint256) private seenIn;
    uint256 private counted; // calls so far
    uint256 private refund; // of the call that is being counted

    /// @dev Makes the call and counts what it touched. From then on the virtual machine goes on reporting, which warms
    /// slots up before they are touched: no gas can be measured after it.
    function _floorOf(address from, address to, bytes memory data, bool isView) internal returns (uint256 floor) {
        vm.recordLogs();
        vm.startStateDiffRecording();
        vm.prank(from);
        (bool success,) = isView ? to.staticcall(data) : to.call(data);
        Vm.AccountAccess[] memory accesses = vm.stopAndReturnStateDiff();
        assertTrue(success);
        floor = _count(accesses, from, to);
        Vm.Log[] memory logs = vm.getRecordedLogs();
        for (uint256 i = 0; i < logs.length; ++i) {
            floor += LOG * (1 + logs[i].topics.length) + LOG_BYTE * logs[i].data.length;
        }
        if (!isView) floor += TRANSACTION + _data(data);
    }

    /// @dev The transaction already pays for the caller's and the called account; cheatcodes cost nothing.
    function _count(Vm.AccountAccess[] memory accesses, address from, address to) private returns (uint256 gas_) {
        ++counted;
        refund = 0;
        _isNew(abi.encode(from));
        _isNew(abi.encode(to));
        for (uint256 i = 0; i < accesses.length; ++i) {
            if (accesses[i].account == address(vm)) continue;
            gas_ += _account(accesses[i]) + _slots(accesses[i].storageAccesses);
        }
        gas_ -= refund;
    }

    function _data(bytes memory data) private pure returns (uint256 gas_) {
        for (uint256 i = 0; i < data.length; ++i) {
            gas_ += data[i] == 0 ? ZERO_BYTE : NONZERO_BYTE;
        }
    }

    function _account(Vm.AccountAccess memory access) private returns (uint256) {
        if (access.kind == VmSafe.AccountAccessKind.Resume) return 0;
        bool isNew = _isNew(abi.encode(access.account));
        if (access.kind == VmSafe.AccountAccessKind.Create) return CREATE + CODE_BYTE * access.deployedCode.length;
        if (access.account == address(1)) return ECRECOVER;
        return isNew ? COLD_ACCOUNT : 0;
    }

    function _slots(Vm.StorageAccess[] memory accesses) private returns (uint256 gas_) {
        for (uint256 i = 0; i < accesses.length; ++i) {
            Vm.StorageAccess memory access = accesses[i];
            if (_isNew(abi.encode(access.account, access.slot))) gas_ += COLD_SLOT;
            // A slot is paid for at its first change: what is written to it again is computation.
            if (!access.isWrite || access.previousValue == access.newValue) continue;
            if (!_isNew(abi.encode(access.account, access.slot, "changed"))) continue;
            gas_ += access.previousValue == 0 ? SLOT_SET : SLOT_CHANGED;
            if (access.newValue == 0) refund += SLOT_CLEARED;
        }
    }

    /// @dev Whether this call did not touch it before.
    function _isNew(bytes memory what) private returns (bool isNew) {
        isNew = seenIn[keccak256(what)] != counted;
        seenIn[keccak256(what)] = counted;
    }
}
