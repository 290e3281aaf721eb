// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Test} from "forge-std/Test.sol";

import {IIdentityRegistry} from "../../src/interfaces/IIdentityRegistry.sol";
import {WalletHandler} from "./WalletHandler.sol";
import {Registries} from "../Registries.sol";

contract WalletsInvariantTest is Test {
    IIdentityRegistry private identity;
    WalletHandler private handler;

    function setUp() external {
        identity = Registries.newIdentityRegistry();
        handler = new WalletHandler(identity);
        bytes4[] memory selectors = new bytes4[](5);
        selectors[0] = WalletHandler.transfer.selector;
        selectors[1] = WalletHandler.setWallet.selector;
        selectors[2] = WalletHandler.replay.selector;
        selectors[3] = WalletHandler.unset.selector;
        selectors[4] = WalletHandler.unsetAsAnother.selector;
        targetContract(address(handler));
        targetSelector(FuzzSelector(address(handler), selectors));
    }

    /// @dev R3: the wallet is the last one that was set, and none after a transfer to another or an unset.
    function invariant_WalletIsAsRecorded_R3() external view {
        for (uint256 id = 1; id <= handler.agentCount(); ++id) {
            assertEq(identity.ownerOf(id), handler.expectedOwner(id));
            address wallet = handler.expectedWallet(id);
            assertEq(identity.getAgentWallet(id), wallet);
            bytes memory told = wallet == address(0) ? bytes("") : abi.encodePacked(wallet);
            assertEq(identity.getMetadata(id, "agentWallet"), told);
        }
    }

    /// @dev R3: neither the first nor the last consent that was used works again, whatever happened since.
    function invariant_UsedConsentsStayUsed_R3() external {
        uint256 count = handler.usedCount();
        if (count == 0) return;
        handler.replayAt(0);
        handler.replayAt(count - 1);
    }

    /// @dev A run in which an operation never happened has shown nothing about it.
    function afterInvariant() external view {
        assertGt(handler.calls("set"), 0);
        assertGt(handler.calls("replay") + handler.calls("replay under another owner"), 0);
        assertGt(handler.calls("transfer"), 0);
        assertGt(handler.calls("unset"), 0);
        assertGt(handler.calls("unset as another"), 0);
    }
}
