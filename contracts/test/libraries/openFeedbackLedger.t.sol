// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {OpenFeedbackLedger} from "../../src/libraries/OpenFeedbackLedger.sol";

/// @dev What the registry's calls do not show: where in storage the client's last index stands.
contract OpenFeedbackLedgerTest is Test {
    using OpenFeedbackLedger for OpenFeedbackLedger.Ledger;

    address private constant CLIENT = address(0xC1);
    address private constant OTHER = address(0xC2);

    OpenFeedbackLedger.Ledger private ledger;

    /// @dev The library behind a call, as it takes tags from calldata.
    function append(address client, string calldata tag1, string calldata tag2) external returns (uint64) {
        return ledger.append(client, -7, 2, tag1, tag2);
    }

    function test_WhenFeedbackIsAppended_OnlyTheFirstHoldsLastIndex() external {
        for (uint64 index = 1; index <= 3; ++index) {
            assertEq(this.append(CLIENT, "quality", ""), index);
            assertEq(ledger.entry(CLIENT, 1).feedback.lastIndex, index);
        }
        assertEq(this.append(OTHER, "", ""), 1);
        assertEq(ledger.entry(CLIENT, 1).feedback.lastIndex, 3);
        assertEq(ledger.entry(OTHER, 1).feedback.lastIndex, 1);
        assertEq(ledger.entry(CLIENT, 2).feedback.lastIndex, 0);
        assertEq(ledger.entry(CLIENT, 3).feedback.lastIndex, 0);
    }
}
