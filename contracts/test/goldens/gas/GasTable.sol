// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {IIdentityRegistry} from "../../../src/interfaces/IIdentityRegistry.sol";
import {GasFloor} from "./GasFloor.sol";
import {Registries} from "../../Registries.sol";

/// @dev The rows of one table of docs/GAS.md and of one file of contracts/snapshots, and what every table measures on:
/// "one earlier agent by another owner exists" (SPEC §8).
abstract contract GasTable is GasFloor {
    uint256 internal constant NO_BAR = 0;
    uint256 internal constant NOT_MEASURED = 0;
    // 66 and 31 bytes, as in the canonical measurements.
    string internal constant URI = "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdi";
    string internal constant MCP = "https://agent.example.org/mcp/1";
    bytes32 internal constant FILE_HASH = keccak256("a file");
    string private constant TABLE_FILE = "docs/GAS.md";

    IIdentityRegistry internal identity;
    address internal client = makeAddr("client");
    address internal otherClient = makeAddr("otherClient");
    address internal stranger = makeAddr("stranger");

    /// @dev The gas of each call, in order. The calls are made twice, because their floors cannot be counted while gas is
    /// measured (GasFloor): first to measure them all, then to count.
    uint256[] private figures;
    uint256 private figureCount; // figures that have their floor
    bool private isCounting;
    uint256 private floorGas;
    string private rows;
    string private json;

    function setUp() public virtual {
        assertEq(bytes(URI).length, 66);
        assertEq(bytes(MCP).length, 31);
        identity = Registries.newIdentityRegistry();
        _register(stranger);
    }

    function _measureTables() internal virtual;

    function _assertTables() internal {
        uint256 start = vm.snapshotState();
        _measureTables();
        uint256[] memory measured = figures;
        assertTrue(vm.revertToState(start)); // which empties `figures` too
        figures = measured;
        isCounting = true;
        _measureTables();
        assertEq(figureCount, measured.length);
    }

    function _register(address registrant) internal returns (uint256) {
        vm.prank(registrant);
        return identity.register(URI);
    }

    /// @dev Measures a transaction, with the 21,000 of any and its data.
    function _transact(address from, address to, bytes memory data) internal {
        if (isCounting) {
            floorGas = _floorOf(from, to, data, false);
            ++figureCount;
            return;
        }
        vm.prank(from);
        (bool success,) = to.call(data);
        _measured(success);
    }

    /// @dev Measures the execution of a view with cold slots. It is not a transaction, not even here.
    function _look(address to, bytes memory data) internal {
        if (isCounting) {
            floorGas = _floorOf(address(this), to, data, true);
            ++figureCount;
            return;
        }
        vm.cool(to);
        (bool success,) = to.staticcall(data);
        _measured(success);
    }

    function _measured(bool success) private {
        figures.push(vm.lastCallGas().gasTotalUsed);
        assertTrue(success);
    }

    /// @dev The row of what was measured last.
    /// @param bar Percent of the canonical figure, at most.
    function _row(string memory call, string memory arguments, uint256 canonical, uint256 bar) internal {
        if (!isCounting) return;
        (uint256 ours, uint256 floor) = (figures[figureCount - 1], floorGas);
        string memory name = bytes(arguments).length == 0 ? call : string.concat(call, ": ", arguments);
        assertLe(floor, ours, name);
        if (bar != NO_BAR) assertLe(100 * ours, bar * canonical, name);
        string memory theirs = unicode"– | ";
        string memory ratio = "";
        if (canonical != NOT_MEASURED) {
            theirs = string.concat(_thousands(canonical), " | ");
            ratio = _hundredths((100 * ours + canonical / 2) / canonical);
        }
        string memory limit = bar == NO_BAR ? "" : string.concat(unicode"≤ ", _hundredths(bar));
        rows = string.concat(rows, "| `", call, "` | ", arguments, " | ", theirs);
        rows = string.concat(rows, _thousands(ours), " | ", ratio, " | ", limit, " | ");
        rows = string.concat(rows, _thousands(floor), " |\n");
        json = string.concat(json, bytes(json).length == 0 ? '  "' : ',\n  "', name, '": ', vm.toString(ours));
    }

    /// @dev Holds the rows so far to the committed file and to the table of that title, and begins anew.
    function _assertTable(string memory title, string memory file) internal {
        if (!isCounting) return;
        _assertFile(string.concat("contracts/snapshots/", file), string.concat("{\n", json, "\n}\n"));
        string memory begin = string.concat("<!-- table: ", title, " -->\n");
        string memory end = "<!-- end -->\n";
        string memory head =
            "| call | arguments | canonical | ours | ratio | bar | floor |\n|---|---|---:|---:|---:|---:|---:|\n";
        string memory document = vm.readFile(TABLE_FILE);
        assertTrue(vm.contains(document, begin), title);
        string memory before = vm.split(document, begin)[0];
        string memory tail = vm.replace(document, string.concat(before, begin), "");
        tail = vm.replace(tail, string.concat(vm.split(tail, end)[0], end), end);
        _assertFile(TABLE_FILE, string.concat(before, begin, head, rows, tail));
        (rows, json) = ("", "");
    }

    function _hundredths(uint256 value) private pure returns (string memory) {
        string memory digits = vm.toString(value % 100);
        return string.concat(vm.toString(value / 100), value % 100 < 10 ? ".0" : ".", digits);
    }

    function _thousands(uint256 value) private pure returns (string memory) {
        if (value < 1000) return vm.toString(value);
        uint256 rest = value % 1000;
        string memory zeros = rest < 10 ? ",00" : rest < 100 ? ",0" : ",";
        return string.concat(_thousands(value / 1000), zeros, vm.toString(rest));
    }

    function _assertFile(string memory path, string memory expected) private {
        if (vm.envOr("CONCORD_BLESS", false)) vm.writeFile(path, expected);
        assertEq(vm.readFile(path), expected, path);
    }
}
