// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IValidationRegistry as IValidation} from "../../src/interfaces/IValidationRegistry.sol";
import {listOf} from "../actors/AddressLists.sol";
import {ValidationTest} from "../actors/ValidationTest.sol";

contract ValidationSummaryPartsTest is ValidationTest {
    uint256 private constant CALL_GAS = 1_000_000; // stands for what a node grants a call

    address[] private everybody;

    function test_WhenWindowIsAsked_PartHasWhatIsInIt_R20() external {
        _answer(validator, 80, "");
        _request(keccak256("pending"));
        _answer(validator, 81, "");
        _answer(validator, 0, "");
        _assertPart(_part(0, 4), 3, 161);
        _assertPart(_part(0, 2), 1, 80);
        _assertPart(_part(1, 1), 0, 0);
        _assertPart(_part(2, 1), 1, 81);
        _assertPart(_part(2, type(uint256).max), 2, 81);
        _assertPart(_part(3, 9), 1, 0);
        _assertPart(_part(4, 1), 0, 0);
        _assertPart(_part(type(uint256).max, type(uint256).max), 0, 0);
        _assertPart(_part(0, 0), 0, 0);
    }

    function test_WhenPartIsFiltered_TakesWhatFits_R20() external {
        _answer(validator, 80, "tee");
        _answer(otherValidator, 20, "tee");
        _answer(otherValidator, 90, "zk");
        _assertPart(validation.getSummaryPart(agentId, listOf(otherValidator), "", 0, 3), 2, 110);
        _assertPart(validation.getSummaryPart(agentId, everybody, "tee", 0, 3), 2, 100);
        _assertPart(validation.getSummaryPart(agentId, listOf(otherValidator), "tee", 0, 3), 1, 20);
        _assertPart(validation.getSummaryPart(agentId, listOf(otherValidator), "tee", 2, 1), 0, 0);
        _assertPart(validation.getSummaryPart(otherAgentId, everybody, "", 0, 3), 0, 0);
    }

    /// @dev The attack: a validator of the owner's choosing makes a filtered summary too dear to read.
    function test_GivenLongTag_PartLoadsItsLengthAlone() external {
        _answer(validator, 80, string(new bytes(20_000)));
        vm.record();
        _assertPart(validation.getSummaryPart(agentId, everybody, "tee", 0, 1), 0, 0);
        (bytes32[] memory reads,) = vm.accesses(address(validation));
        assertLt(reads.length, 10);
    }

    /// @dev The attack: a former owner leaves pending requests behind, which nobody can take away.
    function test_GivenCrowdOfPending_PartsReachTheEnd() external {
        _answer(validator, 90, "");
        for (uint256 i = 0; i < 300; ++i) {
            _request(keccak256(abi.encode("crowd", i)));
        }
        vm.prank(owner.addr);
        identity.transferFrom(owner.addr, newOwner.addr, agentId);
        _answer(validator, 40, "");
        _cool();
        (bool fits,) = address(validation).staticcall{gas: CALL_GAS}(
            abi.encodeCall(validation.getSummary, (agentId, everybody, ""))
        );
        assertFalse(fits);

        IValidation.SummaryPart[] memory parts = new IValidation.SummaryPart[](4);
        for (uint256 i = 0; i < parts.length; ++i) {
            _cool();
            parts[i] = validation.getSummaryPart{gas: CALL_GAS}(agentId, everybody, "", 100 * i, 100);
        }
        _assertFinish(parts, 2, 65);
    }

    function testFuzz_ValidationPartsAddUpToTheWhole_R20(uint8[12] calldata scores, uint256 size, uint256 limit)
        external
    {
        size = bound(size, 0, scores.length);
        limit = bound(limit, 1, scores.length + 1);
        uint256 count = 0;
        uint256 sum = 0;
        for (uint256 i = 0; i < size; ++i) {
            if (scores[i] > 100) {
                _request(keccak256(abi.encode(i)));
                continue;
            }
            _answer(validator, scores[i], "");
            ++count;
            sum += scores[i];
        }
        IValidation.SummaryPart[] memory parts = new IValidation.SummaryPart[]((size + limit - 1) / limit);
        for (uint256 i = 0; i < parts.length; ++i) {
            parts[i] = _part(limit * i, limit);
        }
        _assertFinish(parts, count, count == 0 ? 0 : sum / count);
        (uint64 whole, uint8 average) = validation.getSummary(agentId, everybody, "");
        assertEq(whole, count);
        assertEq(average, count == 0 ? 0 : sum / count);
    }

    function test_WhenNoValidationPartsAreGiven_FinishesToZero() external view {
        _assertFinish(new IValidation.SummaryPart[](0), 0, 0);
        _assertFinish(new IValidation.SummaryPart[](3), 0, 0);
    }

    function test_WhenValidationCountsAreTheGreatest_Finishes() external view {
        IValidation.SummaryPart[] memory parts = new IValidation.SummaryPart[](2);
        parts[0] = _uniform(type(uint64).max - 1, 100);
        parts[1] = _uniform(1, 100);
        _assertFinish(parts, type(uint64).max, 100);
    }

    function test_RevertWhen_ValidationCountsPassTheGreatest_R8() external {
        IValidation.SummaryPart[] memory parts = new IValidation.SummaryPart[](2);
        parts[0] = _uniform(type(uint64).max, 100);
        parts[1] = _uniform(1, 0);
        vm.expectRevert(IBoundRegistry.CounterExhausted.selector);
        validation.finishSummary(parts);
    }

    function test_RevertWhen_ValidationPartCannotBe() external {
        _assertMismatch(IValidation.SummaryPart({sum: 201, count: 2}));
        _assertMismatch(IValidation.SummaryPart({sum: 1, count: 0}));
        _assertMismatch(IValidation.SummaryPart({sum: type(uint256).max, count: type(uint64).max}));
    }

    function _assertMismatch(IValidation.SummaryPart memory part) private {
        IValidation.SummaryPart[] memory parts = new IValidation.SummaryPart[](3);
        parts[1] = part;
        vm.expectRevert(abi.encodeWithSelector(IValidation.SummaryPartMismatch.selector, 1));
        validation.finishSummary(parts);
    }

    function _uniform(uint64 count, uint256 score) private pure returns (IValidation.SummaryPart memory) {
        return IValidation.SummaryPart({sum: count * score, count: count});
    }

    /// @dev Every read is of a cold slot, as in a call of its own.
    function _cool() private {
        vm.cool(address(validation));
    }

    function _answer(address by, uint8 score, string memory tag) private {
        bytes32 requestHash = keccak256(abi.encode(validation.getAgentValidations(agentId).length, "answered"));
        _requestOf(by, agentId, requestHash);
        _respondAs(by, requestHash, score, tag);
    }

    function _part(uint256 offset, uint256 limit) private view returns (IValidation.SummaryPart memory) {
        return validation.getSummaryPart(agentId, everybody, "", offset, limit);
    }

    function _assertPart(IValidation.SummaryPart memory part, uint256 count, uint256 sum) private pure {
        assertEq(part.count, count);
        assertEq(part.sum, sum);
    }

    function _assertFinish(IValidation.SummaryPart[] memory parts, uint256 count, uint256 average) private view {
        (uint64 actualCount, uint8 actualAverage) = validation.finishSummary(parts);
        assertEq(actualCount, count);
        assertEq(actualAverage, average);
    }
}
