// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

/// @dev Sizes and the initcode's hash, of which the CREATE2 address is made. The initcode is without the constructor's
/// arguments. `CONCORD_BLESS=1 forge test --match-contract 'GasTest|BytecodeTest'` writes the file anew.
contract BytecodeTest is Test {
    uint256 private constant RUNTIME_MAX = 24_576; // EIP-170
    string private constant FILE = "contracts/snapshots/bytecode.json";
    string[4] private names =
        ["IdentityRegistry", "ReputationRegistry", "AuthorizedReputationRegistry", "ValidationRegistry"];

    function test_SizesAndInitcodeAreTheCommittedOnes() external {
        string memory json = "{";
        for (uint256 i = 0; i < names.length; ++i) {
            json = string.concat(json, i == 0 ? "\n" : ",\n", _entry(names[i]));
        }
        json = string.concat(json, "\n}\n");
        if (vm.envOr("CONCORD_BLESS", false)) vm.writeFile(FILE, json);
        assertEq(vm.readFile(FILE), json);
    }

    function _entry(string memory name) private view returns (string memory) {
        string memory path = string.concat("contracts/out/", name, ".sol/", name, ".json");
        uint256 size = vm.getDeployedCode(path).length;
        bytes memory initcode = vm.getCode(path);
        assertLt(size, RUNTIME_MAX, name);
        string memory sizes =
            string.concat('"runtimeBytes": ', vm.toString(size), ', "initcodeBytes": ', vm.toString(initcode.length));
        return string.concat('  "', name, '": {', sizes, ', "initcodeHash": "', vm.toString(keccak256(initcode)), '"}');
    }
}
