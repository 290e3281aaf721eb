// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IBoundRegistry} from "../../src/interfaces/IBoundRegistry.sol";
import {IReputationRegistry as IReputation} from "../../src/interfaces/IReputationRegistry.sol";
import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";

/// @dev The vectors that Rust reads too; their expected values come from an oracle in BigInt, and the measured ones from
/// the canonical contract's bytecode.
contract SummaryVectorsTest is OpenRegistryTest {
    function test_EveryVectorHolds_R16() external {
        string memory file = vm.readFile("tests/vectors/summary.json");
        string[] memory lines = vm.split(file, "\n");
        uint256 held = 0;
        uint256 refused = 0;
        for (uint256 i = 0; i < lines.length; ++i) {
            if (!vm.contains(lines[i], '{"id":"')) continue;
            uint256 snapshot = vm.snapshotState();
            if (_check(vm.split(vm.trim(lines[i]), ',"comment":')[0], _object(lines[i]))) ++held;
            else ++refused;
            assertTrue(vm.revertToState(snapshot));
        }
        assertEq(held, vm.parseJsonUint(file, ".counts.ok"));
        assertEq(refused, vm.parseJsonUint(file, ".counts.error"));
    }

    /// @dev `finishSummary` over the same parts. What is no part at all (too long a histogram, too wide a number) cannot be
    /// sent.
    function test_EveryVectorOfPartsHolds_R16() external {
        string memory file = vm.readFile("tests/vectors/summary_merge.json");
        string[] memory lines = vm.split(file, "\n");
        uint256 held = 0;
        uint256 refused = 0;
        for (uint256 i = 0; i < lines.length; ++i) {
            if (!vm.contains(lines[i], '{"id":"')) continue;
            string memory vector = _object(lines[i]);
            if (vm.keyExistsJson(vector, ".ok")) {
                (uint64 count, int128 value, uint8 decimals) = reputation.finishSummary(_parts(vector));
                assertEq(count, vm.parseJsonUint(vector, ".ok.count"), lines[i]);
                assertEq(value, vm.parseJsonInt(vector, ".ok.value"), lines[i]);
                assertEq(decimals, vm.parseJsonUint(vector, ".ok.value_decimals"), lines[i]);
                ++held;
                continue;
            }
            ++refused;
            if (vm.contains(lines[i], '"flags":["Request"')) continue;
            IReputation.SummaryPart[] memory parts = _parts(vector);
            vm.expectPartialRevert(_errorOf(vm.parseJsonString(vector, ".error")));
            reputation.finishSummary(parts);
        }
        assertEq(held, vm.parseJsonUint(file, ".counts.ok"));
        assertEq(refused, vm.parseJsonUint(file, ".counts.error"));
    }

    function _parts(string memory vector) private view returns (IReputation.SummaryPart[] memory parts) {
        uint256 length = 0;
        while (vm.keyExistsJson(vector, string.concat(".parts[", vm.toString(length), "]"))) ++length;
        parts = new IReputation.SummaryPart[](length);
        for (uint256 i = 0; i < length; ++i) {
            string memory part = string.concat(".parts[", vm.toString(i), "]");
            parts[i].sum = vm.parseJsonInt(vector, string.concat(part, ".sum"));
            parts[i].count = uint64(vm.parseJsonUint(vector, string.concat(part, ".count")));
            uint256[] memory histogram = vm.parseJsonUintArray(vector, string.concat(part, ".histogram"));
            assertEq(histogram.length, 19);
            for (uint256 decimals = 0; decimals < 19; ++decimals) {
                parts[i].histogram[decimals] = uint64(histogram[decimals]);
            }
        }
    }

    /// @dev One vector a line, all but the last with a comma after it.
    function _object(string memory line) private pure returns (string memory) {
        string memory object = vm.trim(line);
        uint256 length = bytes(object).length;
        if (bytes(object)[length - 1] == ",") {
            assembly ("memory-safe") {
                mstore(object, sub(length, 1))
            }
        }
        return object;
    }

    function _check(string memory id, string memory vector) private returns (bool isHeld) {
        isHeld = vm.keyExistsJson(vector, ".ok");
        bytes4 refusal = isHeld ? bytes4(0) : _errorOf(vm.parseJsonString(vector, ".error"));
        uint256 i = 0;
        for (string memory entry = _at(0); vm.keyExistsJson(vector, entry); entry = _at(++i)) {
            if (!_giveOne(vector, entry, refusal)) return false;
        }
        address[] memory clients = _clients(vector);
        string memory tag1 = vm.parseJsonString(vector, ".query.tag1");
        string memory tag2 = vm.parseJsonString(vector, ".query.tag2");
        if (!isHeld) {
            vm.expectPartialRevert(refusal);
            reputation.getSummary(agentId, clients, tag1, tag2);
            return false;
        }
        (uint64 count, int128 value, uint8 decimals) = reputation.getSummary(agentId, clients, tag1, tag2);
        assertEq(count, vm.parseJsonUint(vector, ".ok.count"), id);
        assertEq(value, vm.parseJsonInt(vector, ".ok.value"), id);
        assertEq(decimals, vm.parseJsonUint(vector, ".ok.value_decimals"), id);
    }

    /// @dev False where the registry refused the feedback itself, as the vector said.
    function _giveOne(string memory vector, string memory entry, bytes4 refusal) private returns (bool) {
        address from = makeAddr(vm.parseJsonString(vector, string.concat(entry, ".client")));
        int256 value = vm.parseJsonInt(vector, string.concat(entry, ".value"));
        uint256 decimals = vm.parseJsonUint(vector, string.concat(entry, ".value_decimals"));
        string memory tag1 = vm.parseJsonString(vector, string.concat(entry, ".tag1"));
        string memory tag2 = vm.parseJsonString(vector, string.concat(entry, ".tag2"));
        // The cast is the assertion.
        // forge-lint: disable-next-line(unsafe-typecast)
        assertEq(int128(value), value);
        // The cast is the assertion.
        // forge-lint: disable-next-line(unsafe-typecast)
        assertEq(uint8(decimals), decimals);
        bool isRefused =
            refusal == IReputation.DecimalsOutOfRange.selector || refusal == IReputation.ValueOutOfRange.selector;
        if (isRefused) vm.expectPartialRevert(refusal);
        // Asserted above.
        // forge-lint: disable-next-line(unsafe-typecast)
        _give(from, agentId, int128(value), uint8(decimals), tag1, tag2);
        if (isRefused) return false;
        if (vm.parseJsonBool(vector, string.concat(entry, ".revoked"))) {
            _revoke(from, reputation.getLastIndex(agentId, from));
        }
        return true;
    }

    function _clients(string memory vector) private returns (address[] memory clients) {
        string[] memory labels = vm.parseJsonStringArray(vector, ".query.clients");
        clients = new address[](labels.length);
        for (uint256 i = 0; i < labels.length; ++i) {
            clients[i] = makeAddr(labels[i]);
        }
    }

    function _errorOf(string memory class) private pure returns (bytes4) {
        bytes32 name = keccak256(bytes(class));
        if (name == keccak256("BadRequest")) return IReputation.SummaryPartMismatch.selector;
        if (name == keccak256("CounterExhausted")) return IBoundRegistry.CounterExhausted.selector;
        if (name == keccak256("EmptyClients")) return IReputation.EmptyClients.selector;
        if (name == keccak256("DecimalsOutOfRange")) return IReputation.DecimalsOutOfRange.selector;
        assertEq(class, "ValueOutOfRange");
        return IReputation.ValueOutOfRange.selector;
    }

    function _at(uint256 i) private pure returns (string memory) {
        return string.concat(".feedback[", vm.toString(i), "]");
    }
}
