// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";
import {VmSafe} from "forge-std/Vm.sol";

/// @dev The .tree files say what is tested: each leaf names its test in brackets. Here both sides are held together,
/// leaf for leaf and test for test.
contract TreesTest is Test {
    string[6] private folders = [
        "contracts/test/identity",
        "contracts/test/feedback",
        "contracts/test/libraries",
        "contracts/test/authorized",
        "contracts/test/open",
        "contracts/test/validation"
    ];

    function test_EveryLeafHasItsTestAndEveryTestItsLeaf() external {
        for (uint256 i = 0; i < folders.length; ++i) {
            string memory trees = _readAll(folders[i], ".tree");
            string memory tests = _readAll(folders[i], ".t.sol");
            uint256 leaves = _assertEachIn(trees, "[test", "]", tests, "function test", "(");
            uint256 functions = _assertEachIn(tests, "function test", "(", trees, "[test", "]");
            assertGt(leaves, 10);
            assertGt(functions, 10);
        }
    }

    /// @dev The pages name tests for what FS asks and for each attack: all of them exist.
    function test_EveryTestThatTheDocumentsNameExists() external {
        string memory tests;
        for (uint256 i = 0; i < folders.length; ++i) {
            tests = string.concat(tests, _readAll(folders[i], ".t.sol"));
        }
        tests = string.concat(
            tests, _readAll("contracts/test/goldens", ".t.sol"), _readAll("contracts/test/invariant", ".t.sol")
        );
        string memory document = vm.readFile("docs/FS-REQUIREMENTS.md");
        assertGt(_assertEachIn(document, "`test", "`", tests, "function test", "("), 100);
        assertGt(_assertEachIn(document, "`invariant", "`", tests, "function invariant", "("), 5);
        document = vm.readFile("docs/THREAT-MODEL.md");
        assertGt(_assertEachIn(document, "`test_", "`", tests, "function test_", "("), 10);
    }

    /// @dev Each name that `from` has between `open` and `close` stands in `to` between `otherOpen` and `otherClose`.
    function _assertEachIn(
        string memory from,
        string memory open,
        string memory close,
        string memory to,
        string memory otherOpen,
        string memory otherClose
    ) private returns (uint256 count) {
        string[] memory parts = vm.split(from, open);
        for (count = 1; count < parts.length; ++count) {
            string memory name = vm.split(parts[count], close)[0];
            assertTrue(vm.contains(to, string.concat(otherOpen, name, otherClose)), string.concat("test", name));
        }
    }

    function _readAll(string memory folder, string memory ending) private view returns (string memory all) {
        VmSafe.DirEntry[] memory entries = vm.readDir(folder);
        for (uint256 i = 0; i < entries.length; ++i) {
            string[] memory parts = vm.split(entries[i].path, ending);
            if (parts.length == 2 && bytes(parts[1]).length == 0) {
                all = string.concat(all, vm.readFile(entries[i].path));
            }
        }
    }
}
