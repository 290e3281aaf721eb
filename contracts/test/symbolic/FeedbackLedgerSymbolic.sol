// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {FeedbackLedger} from "../../src/libraries/FeedbackLedger.sol";

/// @dev Proven by halmos for all arguments (scripts/deep), not run by forge: forge runs what begins with test.
contract FeedbackLedgerSymbolic is Test {
    using FeedbackLedger for FeedbackLedger.Ledger;

    struct Step {
        bool isRevocation;
        bool isByOther;
        uint8 score;
        uint64 index;
    }

    address private constant CLIENT = address(0xC1);
    address private constant OTHER = address(0xC2);

    FeedbackLedger.Ledger private ledger;

    /// @dev Any three calls of two clients; a revocation is of an entry that stands, as the registry sees to it.
    function check_TotalsAreThoseOfTheStanding_R15(Step memory first, Step memory second, Step memory third) external {
        _take(first);
        _take(second);
        _take(third);
        (uint256 count, uint256 sum) = _recount(CLIENT);
        (uint256 otherCount, uint256 otherSum) = _recount(OTHER);
        assertEq(ledger.count, count + otherCount);
        assertEq(ledger.sum, sum + otherSum);
    }

    /// @dev An append adds one to its client's index; nothing takes from an index, and nobody else's changes.
    function check_IndexGrowsByOneAndNeverShrinks_R8(Step memory first, Step memory second, Step memory third)
        external
    {
        _assertIndexAfter(first);
        _assertIndexAfter(second);
        _assertIndexAfter(third);
    }

    /// @dev From any totals whatever: they are exact, or the append is refused with the one error for it.
    function check_TotalsNeverWrap_R8(uint64 count, uint64 sum, uint8 score) external {
        ledger.count = count;
        ledger.sum = sum;
        bool fits = uint256(count) + 1 <= type(uint64).max && uint256(sum) + score <= type(uint64).max;
        try this.append(score) {
            assertTrue(fits);
            assertEq(ledger.count, uint256(count) + 1);
            assertEq(ledger.sum, uint256(sum) + score);
        } catch (bytes memory reason) {
            assertFalse(fits);
            assertEq(keccak256(reason), keccak256(abi.encodeWithSelector(IBoundRegistry.CounterExhausted.selector)));
        }
    }

    function append(uint8 score) external {
        ledger.append(CLIENT, 0, score, "", "");
    }

    function _assertIndexAfter(Step memory step) private {
        (address client, address other) = step.isByOther ? (OTHER, CLIENT) : (CLIENT, OTHER);
        uint64 before = ledger.lastIndex(client);
        uint64 otherBefore = ledger.lastIndex(other);
        _take(step);
        assertEq(ledger.lastIndex(client), step.isRevocation ? before : before + 1);
        assertEq(ledger.lastIndex(other), otherBefore);
    }

    function _take(Step memory step) private {
        address client = step.isByOther ? OTHER : CLIENT;
        if (!step.isRevocation) {
            ledger.append(client, 0, step.score, "", "");
            return;
        }
        vm.assume(step.index != 0 && step.index <= ledger.lastIndex(client));
        vm.assume(!ledger.entries[client][step.index].isRevoked);
        ledger.revoke(client, step.index);
    }

    function _recount(address client) private view returns (uint256 count, uint256 sum) {
        for (uint64 index = 1; index <= 3 && index <= ledger.lastIndex(client); ++index) {
            FeedbackLedger.Entry storage entry = ledger.entries[client][index];
            if (entry.isRevoked) continue;
            count += 1;
            sum += entry.score;
        }
    }
}
