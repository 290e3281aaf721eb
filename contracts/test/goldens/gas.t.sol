// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {OpenRegistryTest} from "../actors/OpenRegistryTest.sol";

/// @dev What the bars of docs/GAS.md speak of: whole transactions of the calls, and the views' execution. Each call is
/// a transaction of its own (`isolate`), under the rules of Prague. The figures are deterministic and equal to the
/// committed ones; `CONCORD_BLESS=1 forge test --match-contract GasTest` writes them anew.
/// forge-config: default.isolate = true
/// forge-config: default.evm_version = "prague"
contract GasTest is OpenRegistryTest {
    function test_A() external {
        address a= makeAddr("a");
        vm.prank(a);
        reputation.giveFeedback(agentId, 95, 0, "quality", "quality", "", "", 0);
        emit log_named_uint("first", vm.lastCallGas().gasTotalUsed);
        vm.prank(client);
        reputation.giveFeedback(agentId, 95, 0, "quality", "quality", "", "", 0);
        emit log_named_uint("new", vm.lastCallGas().gasTotalUsed);
        vm.prank(client);
        reputation.giveFeedback(agentId, 95, 0, "quality", "quality", "", "", 0);
        emit log_named_uint("again", vm.lastCallGas().gasTotalUsed);
        address[] memory l = new address[](100);
        for(uint160 i=0;i<100;++i){
            l[i]=address(0x10000+i);
            vm.prank(l[i]);
            reputation.giveFeedback(agentId, 95, 0, "quality", "quality", "", "", 0);
        }
        reputation.getSummary(agentId, l, "", "");
        emit log_named_uint("summary", vm.lastCallGas().gasTotalUsed);
    }
}
