// SPDX-License-Identifier: MIT OR Apache-2.0
pragma solidity 0.8.37;

import {Vm} from "forge-std/Vm.sol";

import {IIdentityRegistry} from "../../../src/interfaces/IIdentityRegistry.sol";
import {WalletConsent} from "../../actors/WalletConsent.sol";
import {GasTable} from "./GasTable.sol";

abstract contract IdentityGas is GasTable {
    // As long as URI, and another.
    string private constant NEXT_URI = "ipfs://bafybeigdyrzt5sfp7udm7hu76uh7y26nf3efuylqabf3oclgtqy55fbzdj";
    string private constant KEY = "note";
    bytes private constant VALUE = hex"0102030405060708090a0b0c0d0e0f1011121314"; // 20 bytes
    bytes private constant NEXT_VALUE = hex"7265706c61636564000000000000000021212121";

    function _measureIdentity() internal {
        _measureRegistering();
        uint256 agent = _register(makeAddr("a manager"));
        _measureManaging(agent, makeAddr("a manager"));
        _measureWallet(agent, makeAddr("a manager"));
        _assertTable("identity", "IdentityRegistry.gas.json");
    }

    function _measureRegistering() private {
        address registrant = makeAddr("a registrant");
        vm.prank(registrant);
        identity.register();
        _row("register()", "new owner", 106_883, _used(), NO_BAR);
        vm.prank(registrant);
        identity.register();
        _row("register()", "same owner again", 89_783, _used(), NO_BAR);
        _register(makeAddr("another registrant"));
        _row("register(string)", "URI 66, new owner", 200_652, _used(), 86);
        IIdentityRegistry.MetadataEntry[] memory metadata = new IIdentityRegistry.MetadataEntry[](1);
        metadata[0] = IIdentityRegistry.MetadataEntry(KEY, VALUE);
        vm.prank(makeAddr("a third registrant"));
        identity.register(URI, metadata);
        _row("register(string,(string,bytes)[])", "URI 66, one value of 20 bytes, new owner", 230_915, _used(), NO_BAR);
    }

    function _measureManaging(uint256 agent, address manager) private {
        vm.prank(manager);
        identity.setAgentURI(agent, NEXT_URI);
        _row("setAgentURI", "66 bytes to 66", 47_162, _used(), NO_BAR);
        vm.prank(manager);
        identity.setMetadata(agent, KEY, VALUE);
        _row("setMetadata", "20 bytes, new key", NOT_MEASURED, _used(), NO_BAR);
        vm.prank(manager);
        identity.setMetadata(agent, KEY, NEXT_VALUE);
        _row("setMetadata", "20 bytes, key again", NOT_MEASURED, _used(), NO_BAR);
    }

    /// @dev "As registered": the canonical registry has stored the wallet by then, ours not yet.
    function _measureWallet(uint256 agent, address manager) private {
        _setWallet(agent, manager, 60);
        _row("setAgentWallet", "key, wallet as registered", 50_416, _used(), NO_BAR);
        _setWallet(agent, manager, 61);
        _row("setAgentWallet", "key, wallet set before", 50_416, _used(), NO_BAR);
        vm.prank(manager);
        identity.unsetAgentWallet(agent);
        _row("unsetAgentWallet", "wallet set before", 32_337, _used(), NO_BAR);
        _setWallet(agent, manager, 62);
        _transfer(agent, manager);
        _row("transferFrom", "to a new owner, wallet set before", 63_480, _used(), NO_BAR);
        agent = _register(manager);
        _transfer(agent, manager);
        _row("transferFrom", "to a new owner, wallet as registered", 63_480, _used(), NO_BAR);
    }

    function _transfer(uint256 agent, address from) private {
        vm.prank(from);
        identity.transferFrom(from, makeAddr(string.concat("buyer of ", vm.toString(agent))), agent);
    }

    function _setWallet(uint256 agent, address manager, uint256 delay) private {
        Vm.Wallet memory wallet = vm.createWallet("a wallet");
        WalletConsent memory consent = WalletConsent(agent, wallet.addr, manager, block.timestamp + delay);
        (uint8 v, bytes32 r, bytes32 s) = vm.sign(wallet, consent.digest(block.chainid, address(identity)));
        vm.prank(manager);
        identity.setAgentWallet(agent, wallet.addr, consent.deadline, abi.encodePacked(r, s, v));
    }
}
