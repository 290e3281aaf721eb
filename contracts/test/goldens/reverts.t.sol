// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";
import {VmSafe} from "forge-std/Vm.sol";

/// @dev Each error that contracts/src reverts with is expected by a test that names its selector. (That each place which
/// reverts with it is reached, the mutation run shows: scripts/deep.)
contract RevertsTest is Test {
    function test_EveryErrorIsExpectedByATest() external {
        string memory tests = _expectingTests();
        string[] memory parts = vm.split(_sources(), "revert ");
        uint256 found = 0;
        for (uint256 i = 1; i < parts.length; ++i) {
            string memory name = vm.split(parts[i], "(")[0];
            if (vm.contains(name, " ") || vm.contains(name, "\n")) continue; // a sentence about reverting
            string[] memory path = vm.split(name, ".");
            string memory expectation = string.concat(".", path[path.length - 1], ".selector");
            assertTrue(vm.contains(tests, expectation), string.concat("no test expects ", name));
            found += 1;
        }
        assertGe(found, 18);
    }

    /// @dev `require` and empty reverts would name no rule.
    function test_EveryRevertHasAnError() external {
        string memory sources = _sources();
        assertFalse(vm.contains(sources, "require("));
        assertFalse(vm.contains(sources, "revert("));
        assertFalse(vm.contains(sources, "assert("));
    }

    function _sources() private returns (string memory) {
        return _readAll("contracts/src", ".sol", "/interfaces/");
    }

    /// @dev Without this folder, which states selectors and expects nothing, and without what forge does not run; with
    /// the contracts that tests share.
    function _expectingTests() private returns (string memory) {
        return string.concat(
            _readAll("contracts/test", ".t.sol", "/goldens/"), _readAll("contracts/test/actors", ".sol", "/goldens/")
        );
    }

    function _readAll(string memory folder, string memory ending, string memory without)
        private
        returns (string memory all)
    {
        VmSafe.DirEntry[] memory entries = vm.readDir(folder, 3);
        for (uint256 i = 0; i < entries.length; ++i) {
            string memory path = entries[i].path;
            string[] memory parts = vm.split(path, ending);
            if (entries[i].isDir || parts.length != 2 || bytes(parts[1]).length != 0) continue;
            if (!vm.contains(path, without)) all = string.concat(all, vm.readFile(path));
        }
    }
}
