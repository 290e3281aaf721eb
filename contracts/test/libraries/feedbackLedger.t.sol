// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {FeedbackLedger} from "../../src/libraries/FeedbackLedger.sol";

/// @dev What the registry's calls do not show: where in storage the client's last index stands.
contract FeedbackLedgerTest is Test {
    using FeedbackLedger for FeedbackLedger.Ledger;

    address private constant CLIENT = address(0xC1);
    address private constant OTHER = address(0xC2);

    FeedbackLedger.Ledger private ledger;

    function test_WhenAppended_OnlyFirstEntryHoldsLastIndex() external {
        for (uint64 index = 1; index <= 3; ++index) {
            assertEq(ledger.append(CLIENT, 1_800_000_000 + index, 90, "quality", ""), index);
            assertEq(ledger.entries[CLIENT][1].lastIndex, index);
            assertEq(ledger.entries[CLIENT][index].timestamp, 1_800_000_000 + index);
        }
        assertEq(ledger.append(OTHER, 1_800_000_004, 80, "", ""), 1);
        assertEq(ledger.entries[CLIENT][1].lastIndex, 3);
        assertEq(ledger.entries[OTHER][1].lastIndex, 1);
        assertEq(ledger.entries[CLIENT][2].lastIndex, 0);
        assertEq(ledger.entries[CLIENT][3].lastIndex, 0);
    }
}
