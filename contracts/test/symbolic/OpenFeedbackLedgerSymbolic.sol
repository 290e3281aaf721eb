// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {OpenFeedbackLedger} from "../../src/libraries/OpenFeedbackLedger.sol";

/// @dev Proven by halmos for all arguments (scripts/deep), not run by forge: forge runs what begins with test.
contract OpenFeedbackLedgerSymbolic is Test {
    using OpenFeedbackLedger for OpenFeedbackLedger.Ledger;

    address private constant CLIENT = address(0xC1);
    address private constant OTHER = address(0xC2);

    OpenFeedbackLedger.Ledger private ledger;

    /// @dev Any three calls of two clients, any values and decimals: an append adds one to its client's index and
    /// nothing to the other's, and what was stored before stays as it was.
    function check_OpenIndexGrowsByOneAndNeverShrinks_R8(
        bool[3] memory isByOther,
        int128[3] memory values,
        uint8[3] memory decimals
    ) external {
        for (uint256 i = 0; i < 3; ++i) {
            (address client, address other) = isByOther[i] ? (OTHER, CLIENT) : (CLIENT, OTHER);
            uint64 before = ledger.lastIndex(client);
            uint64 otherBefore = ledger.lastIndex(other);
            int128 firstValue = ledger.entry(client, 1).feedback.value;
            assertEq(this.append(client, values[i], decimals[i], "", ""), before + 1);
            assertEq(ledger.lastIndex(client), before + 1);
            assertEq(ledger.lastIndex(other), otherBefore);
            assertEq(ledger.entry(client, before + 1).feedback.value, values[i]);
            assertEq(ledger.entry(client, before + 1).feedback.decimals, decimals[i]);
            if (before != 0) assertEq(ledger.entry(client, 1).feedback.value, firstValue);
        }
    }

    function append(address client, int128 value, uint8 decimals, string calldata tag1, string calldata tag2)
        external
        returns (uint64)
    {
        return ledger.append(client, value, decimals, tag1, tag2);
    }
}
